"""Watanabe et al., sections 4 and 5: the error where training on few samples ends."""

from __future__ import annotations

import numpy as np

from linnet._randomness import generator
from linnet.theories import spiked
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import DataArray, Dataset
from linnet_papers.reproduction.fits import largest_t_by_chance
from linnet_papers.reproduction.rows import Estimate, above, below, corrected, fact, printed, summary
from linnet_papers.watanabe.grids import errors as grid
from linnet_papers.watanabe.settings import FINITE_SIZE, JOINT, PLANE
from linnet_papers.watanabe.training.samples import spiked_inputs, target

SETTING = (
    "networks of width $d$ from a Gaussian initialization of scale $10^{-5}$, trained to $10^{-8}$ of the first loss; "
    "$d/n$ = 2, 6, spikes 0, 4, 20, 50, alignments 0, 0.5, 1; $d = 1200$, 20 trials (240 quick, without spike 50)"
)
LARGE_SIZE = "$n$, $d$ large at fixed $d/n > 1$; small initialization"
SIGNIFICANT = "one in 15 000 draws of a normal number lies beyond four standard errors"
IDENTITY = below(1e-12, "an algebraic identity, up to rounding")


def t_statistics(points: Dataset, predicted: DataArray) -> DataArray:
    """Return |t| of every point, for the distance beyond what the finite size explains."""
    gap = abs(points.error.mean("seed", skipna=False) - predicted) - FINITE_SIZE / points.dim * predicted
    return np.maximum(gap, 0) / (points.error.std("seed", ddof=1, skipna=False) / np.sqrt(points.sizes["seed"]))


def min_norm_errors(trial: Trial, place: int, ratio: float, spike: float, alignment: float) -> tuple[np.ndarray, int]:
    """Return the test errors of the minimum-norm solutions of 30 data sets, in the units of (27), and their size n."""
    random = generator(trial.seed, 28, place)
    dim, beta = (240, target(alignment, 240)) if trial.quick else (1200, target(alignment, 1200))
    errors, samples = [], round(dim / ratio)
    for _ in range(30):
        X = spiked_inputs(random, samples, spike, dim)
        miss = X.T @ np.linalg.solve(X @ X.T, X @ beta) - beta
        errors.append(miss @ miss + spike * miss[0] ** 2)
    return np.array(errors), samples


@claim(
    "eq27",
    says="The test error of the trained network is (27).",
    assumes=LARGE_SIZE,
    tried=f"{SETTING}; in the region minimum-norm solutions of 30 data sets, $d = 240$ (1200 in full mode)",
    region={"ratio": Range(1.3, 13, log=True, paper=(3,)), "spike": PLANE["spike"], "alignment": (0, 1)},
    correction=r"$\rho$ stands in the bracket of (27) where our copy has $\kappa$",
)
def generalization_error(trial: Trial) -> Rows:
    points = grid.errors(trial)
    right, wrong = (t_statistics(points, points[law]) for law in ("right", "printed"))
    limit = largest_t_by_chance(right.size, points.sizes["seed"])
    there = points.sel(ratio=2.0, spike=20.0, alignment=0.5).mean("seed", skipna=False) / 6  # over 1 + rho A^2
    at = {"networks": there.error, r"$\rho$": there.right, r"$\kappa$": there.printed}
    scores = {}
    for place, (name, one) in enumerate(trial.region(4).items()):
        errors, samples = min_norm_errors(trial, place, **one)
        law = spiked.generalization_error(one["spike"], one["alignment"], one["ratio"])
        gap = max(abs(errors.mean() - law) - 6 / samples * law, 0)
        scores[name] = gap / Estimate.of_mean(errors).error
    yield printed(r"$\lvert t \rvert$ with the $\kappa$ of our copy", wrong.values, below(limit, JOINT))
    yield corrected(r"$\lvert t \rvert$ with $\rho$", right.values, below(limit, JOINT))
    spread = JOINT.replace("$3/d$", "$6/n$, by which the spread of the drawn spike raises the mean")
    drawn = below(largest_t_by_chance(len(scores), 30), spread)
    yield corrected(r"$\lvert t \rvert$ of minimum-norm solutions with $\rho$, over the region", scores, drawn)
    yield fact(r"normalized error at $\rho = 20$, $A = 0.5$, $d/n = 2$", {name: one.item() for name, one in at.items()})


@claim(
    "isotropic",
    says="Without a spike the error is the isotropic one, $1 - n/d$, and a spike orthogonal to the target changes "
    "nothing.",
    assumes=LARGE_SIZE,
    tried=SETTING,
)
def isotropic(trial: Trial) -> Rows:
    points = grid.errors(trial)
    t = t_statistics(points, 1 - 1 / points.ratio)
    chosen = t.values[:, ((t.spike == 0) | (t.alignment == 0)).values]  # no spike, or one orthogonal to the target
    ratios = np.array([1.5, 7.0])
    laws = np.array([spiked.generalization_error(rho, A, ratios) for rho, A in ((0, 0.1), (0, 0.9), (50, 0))])
    limit = largest_t_by_chance(chosen.size, points.sizes["seed"])
    yield printed(
        r"$\lvert t \rvert$ of networks without a spike, or with an orthogonal one", chosen, below(limit, JOINT)
    )
    yield printed("distance of the formula from $1 - n/d$", np.abs(laws - (1 - 1 / ratios)), IDENTITY)


def monotone_form(rho: np.ndarray, A: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    r"""Return the normalized error as $(1 - 1/\gamma)[1 - f g]$ with $f = A^2(1+\rho)/(1+\rho A^2)$, which rises with
    both arguments, and $g = 1 - (1 + \rho/\gamma)^{-2}$, which rises with $\rho$: a proof that it falls with both."""
    return (1 - 1 / gamma) * (1 - A**2 * (1 + rho) / (1 + rho * A**2) * (1 - (1 + rho / gamma) ** -2))


@claim(
    "normalized-error",
    says="The normalized error falls with the spike and with the alignment.",
    assumes=LARGE_SIZE,
    tried=f"the corrected (27) in a form whose factors are monotone, at 2000 random points; {SETTING}; allowance $3/d$",
)
def normalized_error(trial: Trial) -> Rows:
    random = generator(trial.seed, 27)
    rho, A, gamma = 100 * random.random(2000), random.random(2000), 1 + 20 * random.random(2000)
    law = spiked.generalization_error(rho, A, gamma, normalized=True)
    points = grid.errors(trial)
    shares = points.error / (1 + points.spike * points.alignment**2)
    means = shares.mean("seed", skipna=False)
    variances = shares.var("seed", ddof=1, skipna=False) / shares.sizes["seed"]
    rises = []
    for axis in ("spike", "alignment"):
        before = means.shift({axis: 1})
        spread = np.sqrt(variances + variances.shift({axis: 1}))
        rise = (means - before - FINITE_SIZE / points.dim * before) / spread
        rises.append(rise.isel({axis: slice(1, None)}).values.ravel())  # the first point has none before it
    limit = largest_t_by_chance(sum(map(len, rises)), 2 * shares.sizes["seed"] - 1)
    trained = means.sel(ratio=2.0, alignment=0.5)
    form = r"$(1 - 1/g)[1 - A^2 (1 + \rho)/(1 + \rho A^2) (1 - (1 + \rho/g)^{-2})]$"
    yield printed(f"distance of the law from {form}", np.abs(law - monotone_form(rho, A, gamma)).max(), IDENTITY)
    yield printed("$t$ of a rise on the grid", np.concatenate(rises), below(limit, JOINT))
    yield printed(
        "step of the trained error along the spikes",
        np.diff(trained),
        below(0, "'falls': each larger spike has less error"),
    )
    yield fact(
        "trained error at $d/n = 2$, $A = 0.5$ by spike", dict(zip(points.spike.values, trained.values, strict=True))
    )


@claim(
    "plain-error",
    says="A larger, well aligned spike lowers the test error.",
    assumes=LARGE_SIZE,
    tried=f"{SETTING}; with and without dividing by the signal's power, as section 4 does; in the region minimum-norm "
    "solutions of 30 data sets, $d = 240$ (1200 in full mode)",
    region={"ratio": Range(1.3, 13, log=True, paper=(3,)), "spike": PLANE["spike"], "alignment": (0.5, 1)},
    correction="it lowers the error over the signal's power",
)
def plain_error(trial: Trial) -> Rows:
    ratio = 6.0
    cells = grid.errors(trial).error.sel(ratio=ratio, alignment=1.0)
    without, plain, share = (
        Estimate.of_mean(cells.sel(spike=spike).values / by) for spike, by in ((0.0, 1), (4.0, 1), (4.0, 5))
    )
    laws = [float(spiked.generalization_error(spike, 1.0, ratio)) for spike in (0.0, 4.0)]
    spikes = np.linspace(0, 50, 5001)
    peaks = {f"$A = {A}$": spikes[np.argmax(spiked.generalization_error(spikes, A, ratio))] for A in (0.2, 1.0)}
    rise, fall = (one.minus(without).errors_above(0) for one in (plain, share))
    falls = {}
    for place, (name, one) in enumerate(trial.region(4).items()):
        with_spike, none = (min_norm_errors(trial, 50 + place, **setting)[0] for setting in (one, one | {"spike": 0.0}))
        change = with_spike / (1 + one["spike"] * one["alignment"] ** 2) - none  # the same draws but for the spike
        falls[name] = Estimate.of_mean(change).errors_above(0)
    yield printed("change of the error with a spike of 4, in standard errors", rise, below(-4, SIGNIFICANT))
    yield corrected("the same change, a rise", rise, above(4, SIGNIFICANT))
    yield corrected("change of the error over the signal's power, in standard errors", fall, below(-4, SIGNIFICANT))
    yield corrected("the same change over the region, in standard errors", falls, below(-4, SIGNIFICANT))
    yield summary(
        f"At $d/n = 6$ and $A = 1$ the error of networks goes from {without.value:.3f} without a spike to "
        rf"{share.value:.3f} of the signal's power with $\rho = 4$, and, not divided, to {plain.value:.3f} (by the law "
        f"from {laws[0]:.3f} to {laws[1]:.3f})."
    )
    yield fact("spike up to which the error by the law rises", peaks)
