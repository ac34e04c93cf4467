"""Watanabe et al., sections 4 and 5: the error where training on few samples ends."""

from __future__ import annotations

import numpy as np

from linnet._randomness import generator
from linnet.theories import spiked
from linnet_papers.reproduction import Above, AllOf, Below, Estimate, Falls, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import DataArray, Dataset
from linnet_papers.reproduction.fits import joint_limit
from linnet_papers.watanabe.settings import FINITE_SIZE, JOINT
from linnet_papers.watanabe.tables import errors as errors_table

SETTING = (
    "networks of width d from a Gaussian start of scale 1e-5, trained to 1e-8 of their first loss; d/n = 2, 6, spikes "
    "0, 4, 20, 50, alignments 0, 0.5, 1; d = 1200, 20 trials (240, 30 quick, without spike 50)"
)
LARGE_SIZE = "n, d large at fixed d/n > 1; small start"
SIGNIFICANT = "standard errors beyond which a difference is no accident of the draw"
IDENTITY = Limit(1e-12, "an algebraic identity, up to rounding")


def t_statistics(points: Dataset, predicted: DataArray) -> DataArray:
    """Return |t| of every point, for the distance beyond what the finite size explains."""
    gap = abs(points.error.mean("seed", skipna=False) - predicted) - FINITE_SIZE / points.dim * predicted
    return np.maximum(gap, 0) / (points.error.std("seed", ddof=1, skipna=False) / np.sqrt(points.sizes["seed"]))


@claim(
    "eq27",
    says="The test error of the trained network is (27).",
    assumes=LARGE_SIZE,
    tried=SETTING,
    holds=Below(
        1.0, "printed", times="limit", what="largest |t| with the kappa of our copy", because=JOINT, form=".2f"
    ),
    corrected=Below(1.0, times="limit", what="largest |t|", because=JOINT, form=".2f"),
    correction="rho stands in the bracket of (27) where our copy has kappa",
    reads="{points} points; at rho = 20, A = 0.5, d/n = 2, normalized: trained {trained:.4f}, with rho {right:.4f}, "
    "with kappa {printed there:.4f}",
)
def generalization_error(trial: Trial) -> Numbers:
    points = errors_table.TABLE.rows(trial)
    right, printed = (t_statistics(points, points[law]) for law in ("right", "printed"))
    there = points.sel(ratio=2.0, spike=20.0, alignment=0.5).mean("seed", skipna=False) / 6  # over 1 + rho A^2
    return {
        "value": right.values.max(),
        "printed": printed.values.max(),
        "limit": joint_limit(right.size, points.sizes["seed"]),
        "points": right.size,
        "trained": there.error.item(),
        "right": there.right.item(),
        "printed there": there.printed.item(),
    }


@claim(
    "isotropic",
    says="Without a spike the error is the isotropic one, 1 - n/d, and a spike orthogonal to the target changes "
    "nothing.",
    assumes=LARGE_SIZE,
    tried=SETTING,
    holds=AllOf(
        Below(1.0, times="limit", what="largest |t|", because=JOINT, form=".2f"),
        Below(IDENTITY, "formula", what="distance of the formula", form=".0e"),
    ),
    reads="networks without a spike, and with one orthogonal to the target, against 1 - n/d",
)
def isotropic(trial: Trial) -> Numbers:
    points = errors_table.TABLE.rows(trial)
    t = t_statistics(points, 1 - 1 / points.ratio)
    chosen = t.values[:, ((t.spike == 0) | (t.alignment == 0)).values]  # no spike, or one orthogonal to the target
    ratios = np.array([1.5, 7.0])
    laws = np.array([spiked.generalization_error(rho, A, ratios) for rho, A in ((0, 0.1), (0, 0.9), (50, 0))])
    limit = joint_limit(chosen.size, points.sizes["seed"])
    return {"value": chosen.max(), "limit": limit, "formula": np.abs(laws - (1 - 1 / ratios)).max()}


def monotone_form(rho: np.ndarray, A: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    r"""Return the normalized error as $(1 - 1/\gamma)[1 - f g]$ with $f = A^2(1+\rho)/(1+\rho A^2)$, which rises with
    both arguments, and $g = 1 - (1 + \rho/\gamma)^{-2}$, which rises with $\rho$: a proof that it falls with both."""
    return (1 - 1 / gamma) * (1 - A**2 * (1 + rho) / (1 + rho * A**2) * (1 - (1 + rho / gamma) ** -2))


@claim(
    "normalized-error",
    says="The normalized error falls with the spike and with the alignment.",
    assumes=LARGE_SIZE,
    tried=f"the corrected (27) in a form whose factors are monotone, at 2000 random points; {SETTING}; allowance 3/d",
    holds=AllOf(
        Below(IDENTITY, what="distance of the law from its monotone form", form=".0e"),
        Below(1.0, "rise", times="limit", what="largest t of a rise on the grid", because=JOINT, form=".1f"),
        Falls(0, "trained", what="trained error along the spikes", form=".4f", because="the sentence says so"),
    ),
    reads="the law against (1 - 1/g)[1 - A^2 (1 + rho)/(1 + rho A^2) (1 - (1 + rho/g)^-2)]; networks at d/n = 2, A = "
    "0.5 for spikes {spikes:g}",
)
def normalized_error(trial: Trial) -> Numbers:
    random = generator(trial.seed, 27)
    rho, A, gamma = 100 * random.random(2000), random.random(2000), 1 + 20 * random.random(2000)
    law = spiked.generalization_error(rho, A, gamma, normalized=True)
    points = errors_table.TABLE.rows(trial)
    shares = points.error / (1 + points.spike * points.alignment**2)
    means = shares.mean("seed", skipna=False)
    variances = shares.var("seed", ddof=1, skipna=False) / shares.sizes["seed"]
    rises = []
    for axis in ("spike", "alignment"):
        before = means.shift({axis: 1})
        spread = np.sqrt(variances + variances.shift({axis: 1}))
        rise = (means - before - FINITE_SIZE / points.dim * before) / spread
        rises.append(rise.isel({axis: slice(1, None)}).values.ravel())  # the first point has none before it
    return {
        "value": np.abs(law - monotone_form(rho, A, gamma)).max(),
        "rise": np.concatenate(rises),
        "limit": joint_limit(sum(map(len, rises)), 2 * shares.sizes["seed"] - 1),
        "trained": means.sel(ratio=2.0, alignment=0.5).values,
        "spikes": points.spike.values,
    }


@claim(
    "plain-error",
    says="A larger, well aligned spike lowers the test error.",
    assumes=LARGE_SIZE,
    tried=f"{SETTING}; with and without dividing by the signal's power, as section 4 does",
    holds=Below(-4.0, "rise", what="change of the error, in standard errors", form=".0f", because=SIGNIFICANT),
    corrected=AllOf(
        Above(4.0, "rise", what="change of the error not divided, in standard errors", form=".0f", because=SIGNIFICANT),
        Below(-4.0, "fall", what="of the normalized one", form=".0f", because=SIGNIFICANT),
    ),
    correction="it lowers the error over the signal's power",
    reads="at d/n = 6 and A = 1 the error of networks goes from {without:.3f} without a spike to {share:.3f} of the "
    "signal's power with rho = 4, and, not divided, to {with:.3f} (by the law from {laws.first:.3f} to {laws.last:.3f}"
    "); by the law it rises up to rho = {peaks.first:.2f} for A = 0.2 and {peaks.last:.2f} for A = 1",
)
def plain_error(trial: Trial) -> Numbers:
    ratio = 6.0
    errors = errors_table.TABLE.rows(trial).error.sel(ratio=ratio, alignment=1.0)
    without, spiked_error = (Estimate.of_mean(errors.sel(spike=spike).values) for spike in (0.0, 4.0))
    share = Estimate(spiked_error.value / 5, spiked_error.error / 5)  # of the signal's power 1 + rho A^2
    spikes = np.linspace(0, 50, 5001)
    peaks = [spikes[np.argmax(spiked.generalization_error(spikes, A, ratio))] for A in (0.2, 1.0)]
    return {
        "rise": spiked_error.minus(without).errors_above(0),
        "fall": share.minus(without).errors_above(0),
        "without": without.value,
        "with": spiked_error.value,
        "share": share.value,
        "laws": spiked.generalization_error([0.0, 4.0], 1.0, ratio),
        "peaks": peaks,
    }
