"""What section 5.1 says of every neuron in the first stage and after: signs, growth, where it ends; and our limit."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.tables import neurons
from linnet_papers.huang.tables.neurons import where_dominant, where_well_inside
from linnet_papers.huang.training.runs import train
from linnet_papers.reproduction import AtLeast, AtMost, Below, Claim, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, lowest, relative_distance

of_neurons = partial(claim, assumes=settings.ASSUMED, tried=settings.OVER_RATIOS)
ALL = Limit(0.999, "one neuron in a thousand may be caught while it turns")
NONE = Limit(0, "it is said of every neuron")
OFF_THE_LIMIT = Limit(
    0.02, "XX' is a multiple of the identity to a few percent, and the limit assumes that it is one exactly"
)


@of_neurons(
    "limit",
    says="The squared alignment of each neuron tends to gamma^(5/2)/phi.",
    holds=AtMost(OFF_THE_LIMIT, "spread", what="distance of the median neuron from the mean", form=".0%"),
    corrected=AtMost(OFF_THE_LIMIT, what="largest distance of the mean from gamma^(5/2)/phi", form=".2%"),
    correction="the mean over neurons of rho^2 tends to gamma^(5/2)/phi",
    reads="the mean over neurons of rho_r^2 phi/gamma^(5/2) at the end, by v_0/(sigma_0 sqrt(log m)): {means:.4f}; the "
    "median neuron is off it by {spread:.0%}",
)
def limit(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    off = highest(abs(mean - 1) for mean in rows["limit"].values())
    return {"value": off, "means": rows["limit"], "spread": rows["spread"]}


@claim(
    "exact-end",
    where="ours, for the limit below Eq. (11)",
    says="From a small start training ends, for any K = XX', at v^2 = sqrt(y'K^-1 y), rho/v = |y|^2/sqrt(y'K^-1 y), "
    "mean rho^2 = |y|^4/sqrt(y'K^-1 y) and the kernel v^2 (K + yy'/(y'K^-1 y)).",
    assumes="v_0 and sigma_0 small against the end",
    tried="n = 10, d = 40, 400, 2000 with eigenvalues of the covariance falling as i^-1 or flat, m = 64, v_0 = 1e-3 "
    "of the end, trained until 1e-8 of the loss is left",
    holds=Below(
        0.01,
        "off",
        what="largest relative distance of any of the four",
        form=".1e",
        because="the start is 1e-6 of the end in squares; steps of 0.02 growth times keep the layers balanced to 1%",
    ),
    reads="relative distance, by data, of the worst of mean v^2, rho/v, mean rho^2 and the kernel: {off:.1e}; there "
    "the ratio rho/(v sqrt(gamma)) ends at {settled:.3f}, where the paper has 1",
)
def exact_end(trial: Trial) -> Numbers:
    return by_name(
        {f"d = {dim}": _end_errors(trial, dim, power) for dim, power in ((40, 1.0), (400, 1.0), (2000, 0.0))}
    )


def _end_errors(trial: Trial, dim: int, power: float) -> Numbers:
    """Return how far the end of training is from the closed form, and where that has the ratio of the layers."""
    data = ln.problems.subgaussian_regression(
        key=[trial.seed, dim],
        samples=settings.SAMPLES,
        covariance=np.arange(1, dim + 1) ** -power,
        teacher=np.ones(dim) / np.sqrt(dim),
        noise_variance=0.01,
    )
    gram = data.inputs @ data.inputs.T
    gamma = data.outputs @ gram @ data.outputs
    predicted = ln.theories.feature_learning.final_state(gram, data.outputs)
    size = np.sqrt(predicted.square)
    for longer in (1, 4, 16, 64):
        run = train(
            data,
            trial.seed,
            width=64,
            first_std=1e-4 * size / np.sqrt(dim),
            magnitude=1e-3 * size,
            learning_rate=0.02 * data.samples / np.sqrt(gamma),
            steps=2000 * longer,
            save_every=100 * longer,
        )
        if run.loss_share[-1] <= 1e-8:
            break
    v, rho = run.history.magnitudes[-1], run.history.alignments[-1]
    off = highest(
        abs((v**2).mean() / predicted.square - 1),
        abs(np.median(rho / v) / predicted.ratio - 1),
        abs((rho**2).mean() / predicted.alignment_square - 1),
        relative_distance(run.history.kernels[-1], predicted.kernel, 2),
    )
    return {"off": off, "settled": predicted.settled}


@of_neurons(
    "difference",
    says="Over time the difference between rho_r and sqrt(gamma) v_r diminishes.",
    holds=AtMost(
        0.001,
        "grown",
        what="share of neurons in which it is larger at t1 than at the start",
        form=".0%",
        because="one neuron in a thousand may be caught while it turns",
    ),
    corrected=AtMost(
        0.05,
        what="distance of the difference at t1 from -<w_r(0), X'y>",
        form=".2%",
        because="the part of the difference that decays, e^(-2 t1), is a few percent of c_r at these scales",
    ),
    correction="the difference tends to -<w_r(0), X'y>, so that only the relative difference vanishes",
    reads="rho_r - sqrt(gamma) v_r at t1 is off -<w_r(0), X'y> by {value:.2%} (median neuron, worst ratio below 3); it "
    "is larger in size than at the start, by v_0/(sigma_0 sqrt(log m)), for {grown:.0%} of the neurons",
)
def difference(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    # where v_0 dominates, what has not yet decayed at t1 outweighs <w_r(0), X'y>; so it does from a start at the limit
    off = where_well_inside(rows["difference"])
    return {"value": highest(off[key] for key in off.keys() - where_dominant(off)), "grown": rows["grown"]}


@of_neurons(
    "signs-determined",
    says="The signs of alignment and magnitude are determined by the initial <w_r(0), X'y> and v_r(0).",
    holds=AtLeast(
        0.995,
        "determined",
        what="share whose sign is that of sqrt(gamma) v_r(0) + <w_r(0), X'y>",
        form=".2%",
        because="where that sum is below a two-hundredth of its size, what (9) neglects decides",
    ),
    reads="the sign of v_r at the end is that of sqrt(gamma) v_r(0) + <w_r(0), X'y>, by v_0/(sigma_0 sqrt(log m)), for "
    "{determined:.2%} of the neurons ({count} in all)",
)
def signs_determined(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    return {"determined": rows["determined"], "count": sum(rows["count"].values())}


@of_neurons(
    "signs",
    says="Each neuron's alignment and magnitude maintain consistent signs throughout the training.",
    assumes=settings.ASSUMED_AND_DOMINANT,
    holds=AtLeast(ALL, "kept", what="share of neurons that keep the sign of v(0)", form=".1%"),
    corrected=AtLeast(ALL, what="share that keeps it where v_0 dominates", form=".1%")
    & AtMost(
        4.0,
        "off",
        what="standard errors from Phi(v_0/sigma_0)",
        form=".1f",
        because="standard errors of the share, neurons being drawn independently",
    ),
    correction="a share Phi(v_0/sigma_0) of the neurons keeps its sign, all where v_0 is well above sigma_0 "
    "sqrt(log m)",
    reads="neurons whose rho and v keep the sign of v(0), by v_0/(sigma_0 sqrt(log m)): {kept:.1%}; they are at most "
    "{off:.1f} standard errors from the normal law's Phi(v_0/sigma_0) ({count} neurons each)",
)
def signs(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    return {
        "value": lowest(where_dominant(rows["kept"]).values()),
        "kept": rows["kept"],
        "off": highest(rows["kept_off"].values()),
        "count": next(iter(rows["count"].values())),
    }


def _never_falls(name: str, *, says: str, falling: str) -> Claim:
    """Declare that a quantity of every neuron never falls in the second stage; `falling` counts those where it does."""

    @of_neurons(
        name,
        says=says,
        holds=AtMost(NONE, "falling", what="neurons in which it falls", form=".0f"),
        corrected=AtMost(NONE, what="neurons in which it falls where v_0 dominates", form=".0f"),
        correction="none falls where v_0 is well above sigma_0 sqrt(log m): those that fall turn within stage 2",
        reads="neurons in which it falls between two saved states of stage 2, of {count} in all, by v_0/(sigma_0 "
        "sqrt(log m)): {falling:.0f}; networks with one whose |rho_r| falls, of {networks}: {falling_networks:.0f}",
    )
    def measured(trial: Trial) -> Numbers:
        rows = neurons.TABLE.rows(trial)
        return {
            "value": sum(where_dominant(rows[falling]).values()),
            "falling": rows[falling],
            "falling_networks": rows["falling_networks"],
            "networks": next(iter(rows["networks"].values())),
            "count": sum(rows["count"].values()),
        }

    return measured


rising = _never_falls("rising", says="Every |rho_r| consistently increases during the second stage.", falling="rising")
products = _never_falls("products", says="rho_r(t) v_r(t) is monotone in the second stage.", falling="multiplying")


@of_neurons(
    "output-aligns",
    says="X'X W v tends to align closely with the direction of X'y.",
    holds=AtLeast(
        0.98,
        what="least cosine at t1",
        form=".4f",
        because="XX' is a multiple of the identity up to sqrt(n/d), 7% in quick mode: a cosine of about 0.995",
    ),
    reads="the cosine of X'X W v to X'y is {value:.4f} or more at t1, where the median network's is {start:.3f} or "
    "less at the first saved state",
)
def output_aligns(trial: Trial) -> Numbers:
    rows = neurons.TABLE.rows(trial)
    return {"value": lowest(rows["output_first"].values()), "start": highest(rows["output_start"].values())}
