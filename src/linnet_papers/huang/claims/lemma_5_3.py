"""Lemma 5.3, for every neuron through stage 2: all inside the printed assumption, with one t1 and one t2."""

from __future__ import annotations

from functools import partial

from linnet_papers.huang import settings
from linnet_papers.huang.grids import neurons
from linnet_papers.huang.grids.neurons import where_dominant, where_well_inside
from linnet_papers.reproduction import Rows, Trial, at_most, claim, corrected, fact, printed
from linnet_papers.reproduction.fits import lowest

of_neurons = partial(claim, assumes=settings.ASSUMED_AND_DOMINANT, tried=settings.OVER_RATIOS)
HALF = at_most(0.5, "the lemma's own 1/2")
KERNEL = at_most(
    0.2, r"a fifth of the 1 that the lazy kernel, $v^2 X X^\top$, needs: a constant near that says nothing"
)


@of_neurons(
    "lemma5.3-weights",
    says=r"In stage 2 $\lvert w_r - w_r(0) - \rho_r X^\top y \rvert$ is at most half of "
    r"$\rho_r/(\sqrt{n\,\mathrm{tr}}\, \lvert \beta \rvert)$, for every neuron.",
    correction=r"the weights move along $X^\top y/\gamma$",
)
def weights_along_the_feature(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    across = rows["across"]
    # printed, the feature is not divided by gamma: what is left has the length rho (1 - 1/gamma) sqrt(gamma)
    yield printed("constant needed for 1/2, at least", lowest(rows["gamma"].values()) - 1, HALF)
    needed = r"constant needed for 1/2 with $X^\top y/\gamma$"
    yield corrected(f"{needed}, worst neuron where $v_0$ dominates", where_dominant(across), HALF)
    yield fact(f"{needed}, by {settings.RATIO}", across, "a neuron that turns within stage 2 can need any")


@of_neurons(
    "lemma5.3-layers",
    says=r"In stage 2 $\lvert \rho_r - v_r \sqrt{\gamma} \rvert$ is at most $\rho_r/2$ for every neuron, from the "
    "$t_1$ of Lemma 5.2 on.",
    correction=f"it holds for every neuron where {settings.DOMINATES}",
)
def layers_together(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    gap = r"largest $\lvert \rho_r - v_r \sqrt{\gamma} \rvert/\lvert \rho_r \rvert$ of any neuron"
    yield printed(f"{gap}, by {settings.RATIO}", rows["gap"], HALF)
    yield corrected(f"{gap}, where $v_0$ dominates", where_dominant(rows["gap"]), HALF)
    yield fact("networks with a neuron above 1/2", rows["gap_networks"], f"of {next(iter(rows['networks'].values()))}")
    yield fact("fraction of neurons below 1/2, at least", lowest(rows["gap_share"].values()))


@of_neurons(
    "lemma5.3-kernel",
    says=r"In stage 2 the kernel is within $C v_r^2 \mathrm{tr}/m$ of the target-aligned one, $C$ an absolute "
    "constant, for every $r$.",
    assumes=settings.ASSUMED,
    correction="the mean over neurons stands where $v_r^2$ is printed",
)
def kernel_through_the_second_stage(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    smallest, largest, means = (rows[f"kernel_{name}"] for name in ("smallest", "largest", "mean"))
    each = {ratio: max(smallest[ratio], largest[ratio]) for ratio in means}
    yield printed(f"$C$ needed for every neuron's $v_r^2$, by {settings.RATIO}", each, KERNEL)
    mean = "$C$ needed with the mean of $v_r^2$"
    yield corrected(f"{mean}, from starts a tenth of the limits", where_well_inside(means), KERNEL)
    yield fact(f"{mean}, from all starts", means, r"at the limit $v_0^2 \gamma$ is no longer small")
    yield fact("$C$ that a kernel of zero would need", lowest(rows["kernel_none"].values()))
