"""Lemma 5.3, for every neuron through stage 2: all inside the printed assumption, with one t1 and one t2."""

from __future__ import annotations

from functools import partial

from linnet_papers.huang import settings
from linnet_papers.huang.tables import neurons
from linnet_papers.huang.tables.neurons import where_dominant, where_well_inside
from linnet_papers.reproduction import AtMost, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.fits import highest, lowest

of_neurons = partial(claim, assumes=settings.ASSUMED_AND_DOMINANT, tried=settings.OVER_RATIOS)
HALF = Limit(0.5, "the lemma's own 1/2")
KERNEL = Limit(0.2, "a fifth of the 1 that the lazy kernel, v^2 XX', needs: a constant near that says nothing")


@of_neurons(
    "lemma5.3-weights",
    says="In stage 2 |w_r - w_r(0) - rho_r X'y| is at most half of rho_r/(sqrt(n tr)|beta|), for every neuron.",
    holds=AtMost(HALF, "printed", what="constant needed as printed", form=".1g"),
    corrected=AtMost(HALF, what="constant needed with X'y/gamma, where v_0 dominates", form=".2g"),
    correction="the weights move along X'y/gamma",
    reads="the constant needed in place of 1/2, worst neuron of stage 2, with X'y/gamma and by v_0/(sigma_0 sqrt(log "
    "m)): {across:.2g} (a neuron that turns within stage 2 can need any); as printed, {printed:.1g} and more",
)
def weights_along_the_feature(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    across = rows["across"]
    # printed, the feature is not divided by gamma: what is left has the length rho (1 - 1/gamma) sqrt(gamma)
    printed = lowest(rows["gamma"].values()) - 1
    return {"value": highest(where_dominant(across).values()), "printed": printed, "across": across}


@of_neurons(
    "lemma5.3-layers",
    says="In stage 2 |rho_r - v_r sqrt(gamma)| is at most rho_r/2 for every neuron, from the t1 of Lemma 5.2 on.",
    holds=AtMost(HALF, "gaps", what="largest gap of any neuron", form=".2g"),
    corrected=AtMost(HALF, what="largest gap where v_0 dominates", form=".2g"),
    correction="it holds for every neuron where v_0 is well above sigma_0 sqrt(log m)",
    reads="the largest |rho - v sqrt(gamma)|/|rho| of any neuron from t1 on, by v_0/(sigma_0 sqrt(log m)): {gaps:.2g}; "
    "networks with a neuron above 1/2, of {of}: {networks:.0f}; share of neurons below: {shares.lowest:.2%} or more",
)
def layers_together(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    gaps = rows["gap"]
    return {
        "value": highest(where_dominant(gaps).values()),
        "gaps": gaps,
        "shares": rows["gap_share"],
        "networks": rows["gap_networks"],
        "of": next(iter(rows["networks"].values())),
    }


@of_neurons(
    "lemma5.3-kernel",
    says="In stage 2 the kernel is within C v_r^2 tr/m of the target-aligned one, C an absolute constant, for every r.",
    assumes=settings.ASSUMED,
    holds=AtMost(KERNEL, "each", what="constant needed for every neuron's v_r^2", form=".2g"),
    corrected=AtMost(
        KERNEL, what="constant needed with the mean of v_r^2, from starts a tenth of the limits", form=".2g"
    ),
    correction="the mean over neurons stands where v_r^2 is printed",
    reads="the constant C needed in stage 2 for every neuron's v_r^2, by v_0/(sigma_0 sqrt(log m)): {each:.2g}; with "
    "the mean over neurons of v_r^2: {means:.2g} (at the limit v_0^2 gamma is no longer small); a kernel of zero would "
    "need {none:.2f}",
)
def kernel_through_the_second_stage(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    smallest, largest, means = (rows[f"kernel_{name}"] for name in ("smallest", "largest", "mean"))
    return {
        "value": highest(where_well_inside(means).values()),
        "each": {ratio: max(smallest[ratio], largest[ratio]) for ratio in means},
        "means": means,
        "none": lowest(rows["kernel_none"].values()),
    }
