"""Watanabe et al., sections 4 and 5: the error where training on few samples ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnet.papers.watanabe import misprints
from linnet.papers.watanabe.claims.rules import corrected
from linnet.papers.watanabe.tables import errors as errors_table
from linnet.randomness import generator
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest
from linnet.reproduction.old_claim import old as Claim
from linnet.theories import spiked

if TYPE_CHECKING:
    import xarray as xr

SETTING = (
    "networks of width d from a Gaussian start of scale 1e-5, trained to 1e-8 of their first loss; d/n = 2, 6, spikes "
    "0, 4, 20, 50, alignments 0, 0.5, 1; d = 1200, 20 trials (240, 30 quick, without spike 50)"
)
LARGE_SIZE = "n, d large at fixed d/n > 1; small start"
JOINT = Limit(0.01, "the probability that the largest of all points' Student's t exceeds its limit by chance")
FINITE_SIZE = Limit(3.0, "the law is one of d -> infinity; each prediction may be off by 3/d of itself")
SIGNIFICANT = Limit(4.0, "standard errors beyond which a difference is no accident of the draw")
IDENTITY = Limit(1e-12, "an algebraic identity, up to rounding")


def plain_errors(trial: Trial) -> tuple[xr.DataArray, int]:
    """Errors of the trained networks, not divided by the signal's power, and their number of inputs."""
    return errors_table.plain(errors_table.TABLE.results(trial)), errors_table.sweep(trial).fixed["dim"]


def scores(errors: xr.DataArray, predicted: np.ndarray, dim: int) -> np.ndarray:
    """|t| of every point, beyond what the finite size explains."""
    trials = errors.sizes["seed"]
    gap = np.maximum(np.abs(errors.mean("seed").values - predicted) - FINITE_SIZE / dim * predicted, 0)
    return gap / (errors.std("seed", ddof=1).values / np.sqrt(trials))


def joint_limit(points: int, trials: int) -> float:
    """What the largest of `points` Student's t exceeds with a probability of at most `JOINT` (Bonferroni)."""
    from scipy.stats import t

    return float(t.ppf(1 - JOINT / (2 * points), trials - 1))


def measure_eq27(trial: Trial) -> dict[str, float]:
    errors, dim = plain_errors(trial)
    found = {name: scores(errors, law, dim) for name, law in errors_table.laws(errors).items()}
    point = errors.sel(ratio=2.0, spike=20.0, alignment=0.5)
    return {
        "value": float(found["right"].max()),
        "printed": float(found["printed"].max()),
        "limit": joint_limit(found["right"].size, errors.sizes["seed"]),
        "points": found["right"].size,
        "trained": float(point.mean()) / 6,
        "right": float(spiked.generalization_error(20.0, 0.5, 2.0)) / 6,
        "printed there": float(misprints.generalization_error(0.5, 2.0)) / 6,
    }


def judge_eq27(numbers: Numbers) -> Verdict:
    return corrected(numbers["limit"])(numbers)


def tell_eq27(numbers: Numbers) -> str:
    return (
        f"largest |t| over {numbers['points']} points {numbers['value']:.2f} with rho in the bracket, "
        f"{numbers['printed']:.1f} with the kappa of our copy (joint 1% limit {numbers['limit']:.2f}); at rho = 20, "
        f"A = 0.5, d/n = 2, normalised: trained {numbers['trained']:.4f}, with rho {numbers['right']:.4f}, with kappa "
        f"{numbers['printed there']:.4f}"
    )


def measure_isotropic(trial: Trial) -> dict[str, float]:
    errors, dim = plain_errors(trial)
    isotropic = np.broadcast_to(1 - 1 / errors["ratio"].values[:, None, None], errors.shape[:3])
    found = scores(errors, isotropic, dim)
    chosen = np.concatenate([found[:, 0].ravel(), found[:, 1:, 0].ravel()])  # no spike, or one orthogonal to the target
    gaps = [
        abs(spiked.generalization_error(rho, A, g) - (1 - 1 / g))
        for rho, A in ((0, 0.1), (0, 0.9), (50, 0))
        for g in (1.5, 7.0)
    ]
    limit = joint_limit(chosen.size, errors.sizes["seed"])
    return {"value": float(chosen.max()), "limit": limit, "formula": highest(gaps)}


def judge_isotropic(numbers: Numbers) -> Verdict:
    right = numbers["value"] < numbers["limit"] and numbers["formula"] < IDENTITY
    return Verdict.HOLDS if right else Verdict.REFUTED


def tell_isotropic(numbers: Numbers) -> str:
    return (
        "networks without a spike, and with one orthogonal to the target, against 1 - n/d: largest |t| "
        f"{numbers['value']:.2f} (joint 1% limit {numbers['limit']:.2f}); the formula differs by "
        f"{numbers['formula']:.0e}"
    )


def monotone_form(rho: Any, A: Any, gamma: Any) -> Any:
    r"""The normalised error as $(1 - 1/\gamma)[1 - f g]$ with $f = A^2(1+\rho)/(1+\rho A^2)$, which rises with both
    arguments, and $g = 1 - (1 + \rho/\gamma)^{-2}$, which rises with $\rho$: a proof that it falls with both."""
    return (1 - 1 / gamma) * (1 - A**2 * (1 + rho) / (1 + rho * A**2) * (1 - (1 + rho / gamma) ** -2))


def measure_normalised(trial: Trial) -> dict[str, Any]:
    random = generator(trial.seed, 27)
    rho, A, gamma = 100 * random.random(2000), random.random(2000), 1 + 20 * random.random(2000)
    law = spiked.generalization_error(rho, A, gamma, normalized=True)
    gap = float(np.abs(law - monotone_form(rho, A, gamma)).max())
    errors, dim = plain_errors(trial)
    shares = errors / (1 + errors["spike"] * errors["alignment"] ** 2)
    means, variances = shares.mean("seed").values, shares.var("seed", ddof=1).values / shares.sizes["seed"]
    rises = []
    for axis in (1, 2):  # along the spikes, along the alignments
        weaker, stronger = (np.arange(means.shape[axis])[part] for part in (slice(None, -1), slice(1, None)))
        before, after = means.take(weaker, axis), means.take(stronger, axis)
        spread = np.sqrt(variances.take(weaker, axis) + variances.take(stronger, axis))
        rises.append((after - before - FINITE_SIZE / dim * before) / spread)
    points = sum(rise.size for rise in rises)
    return {
        "value": gap,
        "rise": highest(rise.max() for rise in rises),
        "limit": joint_limit(points, 2 * shares.sizes["seed"] - 1),
        "trained": shares.mean("seed").sel(ratio=2.0, alignment=0.5).values.tolist(),
        "spikes": errors["spike"].values.tolist(),
    }


def judge_normalised(numbers: Numbers) -> Verdict:
    falls = numbers["rise"] < numbers["limit"] and highest(np.diff(numbers["trained"])) < 0
    return Verdict.HOLDS if numbers["value"] < IDENTITY and falls else Verdict.REFUTED


def tell_normalised(numbers: Numbers) -> str:
    return (
        f"the law is (1 - 1/g)[1 - A^2 (1 + rho)/(1 + rho A^2) (1 - (1 + rho/g)^-2)] to {numbers['value']:.0e}, every "
        f"factor monotone; networks at d/n = 2, A = 0.5: {', '.join(f'{x:.4f}' for x in numbers['trained'])} for "
        f"spikes {', '.join(f'{x:g}' for x in numbers['spikes'])}, and no neighbours on the grid rise by more than "
        f"chance (largest t {numbers['rise']:.1f}, joint 1% limit {numbers['limit']:.1f})"
    )


def measure_plain(trial: Trial) -> dict[str, float]:
    ratio = 6.0
    errors, _ = plain_errors(trial)
    without, with_spike = (errors.sel(ratio=ratio, alignment=1.0, spike=spike).values for spike in (0.0, 4.0))
    gap = float(with_spike.mean() - without.mean())
    error = float(np.sqrt(with_spike.var(ddof=1) / with_spike.size + without.var(ddof=1) / without.size))
    scaled = with_spike / 5  # the signal's power 1 + rho A^2
    share_error = np.sqrt(scaled.var(ddof=1) / scaled.size + without.var(ddof=1) / without.size)
    spikes = np.linspace(0, 50, 5001)
    peaks = [float(spikes[np.argmax(spiked.generalization_error(spikes, A, ratio))]) for A in (0.2, 0.6, 1.0)]
    return {
        "value": gap,
        "uncertainty": error,
        "rise": gap / error,
        "fall": float((scaled.mean() - without.mean()) / share_error),
        "without": float(without.mean()),
        "with": float(with_spike.mean()),
        "share": float(scaled.mean()),
        "lowest peak": min(peaks),
        "highest peak": max(peaks),
    }


def judge_plain(numbers: Numbers) -> Verdict:
    if numbers["rise"] < -SIGNIFICANT:
        return Verdict.HOLDS
    right = numbers["rise"] > SIGNIFICANT and numbers["fall"] < -SIGNIFICANT
    return Verdict.CORRECTED if right else Verdict.REFUTED


def tell_plain(numbers: Numbers) -> str:
    return (
        f"at d/n = 6 and A = 1 the error of networks goes from {numbers['without']:.3f} without a spike to "
        f"{numbers['share']:.3f} of the signal's power with rho = 4: lower ({numbers['fall']:.0f} standard errors); "
        f"not divided, it rises to {numbers['with']:.3f} ({numbers['rise']:.0f}); by the formula it rises up to rho = "
        f"{numbers['lowest peak']:.2f} for A = 0.2 and {numbers['highest peak']:.2f} for A = 1, d/n - 2 = 4 for every A"
    )


CLAIMS = [
    Claim(
        name="eq27",
        number="Eq. (27)",
        sentence="The test error of the trained network is (27).",
        assumptions=LARGE_SIZE,
        setting=SETTING,
        claimed="equality",
        expected=Verdict.CORRECTED,
        measure=measure_eq27,
        judge=judge_eq27,
        tell=tell_eq27,
        limits={"joint probability": JOINT, "allowance times d": FINITE_SIZE},
    ),
    Claim(
        name="isotropic",
        number="below Eq. (27)",
        sentence="Without a spike the error is the isotropic one, and a spike orthogonal to the target changes "
        "nothing.",
        assumptions=LARGE_SIZE,
        setting=SETTING,
        claimed="1 - n/d",
        expected=Verdict.HOLDS,
        measure=measure_isotropic,
        judge=judge_isotropic,
        tell=tell_isotropic,
        limits={"joint probability": JOINT, "allowance times d": FINITE_SIZE, "formula": IDENTITY},
    ),
    Claim(
        name="normalised-error",
        number="Section 4, Figure 4",
        sentence="The normalised error falls with the spike and with the alignment.",
        assumptions=LARGE_SIZE,
        setting=f"the corrected (27) in a form whose factors are monotone, at 2000 random points; {SETTING}; "
        "allowance 3/d",
        claimed="monotone",
        expected=Verdict.HOLDS,
        measure=measure_normalised,
        judge=judge_normalised,
        tell=tell_normalised,
        limits={"identity": IDENTITY, "joint probability": JOINT, "allowance times d": FINITE_SIZE},
    ),
    Claim(
        name="plain-error",
        number="Section 5",
        sentence="A larger, well aligned spike lowers the test error.",
        assumptions=LARGE_SIZE,
        setting=f"{SETTING}; with and without dividing by the signal's power, as section 4 does",
        claimed="falls with the spike",
        expected=Verdict.CORRECTED,
        measure=measure_plain,
        judge=judge_plain,
        tell=tell_plain,
        limits={"standard errors": SIGNIFICANT},
    ),
]
