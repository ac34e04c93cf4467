"""Lemma 5.3, for every neuron through stage 2: all inside the printed assumption, with one t1 and one t2."""

from __future__ import annotations

from functools import partial

import numpy as np

from linnet_papers.huang import settings
from linnet_papers.huang.grids import neurons, region, starts
from linnet_papers.huang.training.cells.inside import kernel_constant
from linnet_papers.huang.training.runs import FeatureRun
from linnet_papers.reproduction import Rows, Trial, above, at_most, claim, corrected, fact, printed
from linnet_papers.reproduction.fits import lowest

of_neurons = partial(
    claim,
    assumes=settings.ASSUMED,
    tried=f"{settings.OVER_RATIOS}; and {settings.OVER_SIGNALS}; {starts.OVER_ALIKE}, until 8% of the loss is left",
    region=starts.ALIKE,
)
HALF = at_most(0.5, "the lemma's own 1/2")
WIDE = above(0.5, "the condition on $v_0^2 \\gamma$ is needed: beyond it the lemma's own 1/2 is passed")
KERNEL = at_most(
    0.2, r"a fifth of the 1 that the lazy kernel, $v^2 X X^\top$, needs: a constant near that says nothing"
)


@of_neurons(
    "lemma5.3-weights",
    says=r"In stage 2 $\lvert w_r - w_r(0) - \rho_r X^\top y \rvert$ is at most half of "
    r"$\rho_r/(\sqrt{n\,\mathrm{tr}}\, \lvert \beta \rvert)$, for every neuron.",
    correction=r"the weights move along $X^\top y/\gamma$; " + starts.IF_ALIKE,
)
def weights_along_the_feature(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    across = rows["across"]
    # printed, the feature is not divided by gamma: what is left has the length rho (1 - 1/gamma) sqrt(gamma)
    yield printed("constant needed for 1/2, at least", lowest(rows["gamma"].values()) - 1, HALF)
    needed = r"constant needed for 1/2 with $X^\top y/\gamma$"

    def needed_by(run: FeatureRun) -> float:
        """Return the constant that the worst neuron of stage 2 needs."""
        stage = run.stage
        return (stage.deviations / np.abs(stage.alignments)).max() * run.inverse_magnitude_unit

    yield corrected(f"{needed}, worst neuron over the region", starts.read_over_region(trial, needed_by), HALF)
    yield fact(f"{needed}, by {settings.RATIO}", across, "a neuron that turns within stage 2 can need any")


@of_neurons(
    "lemma5.3-layers",
    says=r"In stage 2 $\lvert \rho_r - v_r \sqrt{\gamma} \rvert$ is at most $\rho_r/2$ for every neuron, from the "
    "$t_1$ of Lemma 5.2 on.",
    correction=starts.IF_ALIKE,
)
def layers_together(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    gap = r"largest $\lvert \rho_r - v_r \sqrt{\gamma} \rvert/\lvert \rho_r \rvert$ of any neuron"
    small = region.where_reached(region.rows(trial), "gap")
    over_region = starts.read_over_region(trial, lambda run: run.stage.layer_gaps.max())
    outside = starts.network(trial, strength=1e3, start=3.0, ratio=3.0).stage.layer_gaps.max()
    yield printed(f"{gap}, by {settings.RATIO} or signal", rows["gap"] | small, HALF)
    yield corrected(f"{gap}, over the region", over_region, HALF)
    yield corrected(f"{gap}, just outside, at a start of 3", outside, WIDE)
    yield fact("networks with a neuron above 1/2", rows["gap_networks"], f"of {next(iter(rows['networks'].values()))}")
    yield fact("fraction of neurons below 1/2, at least", lowest(rows["gap_share"].values()))


@of_neurons(
    "lemma5.3-kernel",
    says=r"In stage 2 the kernel is within $C v_r^2 \mathrm{tr}/m$ of the target-aligned one, $C$ an absolute "
    "constant, for every $r$.",
    correction="the mean over neurons stands where $v_r^2$ is printed; " + starts.IF_ALIKE,
)
def kernel_through_the_second_stage(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    smallest, largest, means = (rows[f"kernel_{name}"] for name in ("smallest", "largest", "mean"))
    each = {ratio: max(smallest[ratio], largest[ratio]) for ratio in means}
    yield printed(f"$C$ needed for every neuron's $v_r^2$, by {settings.RATIO}", each, KERNEL)
    mean = "$C$ needed with the mean of $v_r^2$"
    yield corrected(f"{mean}, over the region", starts.read_over_region(trial, _constant_of_mean), KERNEL)
    yield fact(f"{mean}, by {settings.RATIO}", means, r"at the limit $v_0^2 \gamma$ is no longer small")
    yield fact("$C$ that a kernel of zero would need", lowest(rows["kernel_none"].values()))


def _constant_of_mean(run: FeatureRun) -> float:
    """Return the C with which every kernel of stage 2 is within C v^2 tr of the target-aligned one, v^2 the mean."""
    stage = run.stage
    return kernel_constant(run, stage.kernels, (stage.magnitudes**2).mean(axis=1))
