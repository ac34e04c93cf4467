"""Inequalities of appendix B: the induction of stage 1, Eq. (13), and the steps of the proxy in stage 2."""

from __future__ import annotations

import numpy as np

from linnet.papers.huang import misprints, settings
from linnet.papers.huang.claims.rules import ASSUMED, INSIDE, holds_if
from linnet.papers.huang.networks import FeatureRun, inside
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest
from linnet.reproduction.old_claim import old as Claim

OUTSIDE = Limit(0.01, "the share of neurons that may break a bound said to hold for all of them")
EXIST = Limit(0.01, "the share of neurons whose proxy may cease to exist before the loss is 4 epsilon")
QUARTER = Limit(0.25, "Lemma B.2: a step multiplies the proxy by at least 1 + eta sqrt(gamma)/(4mn)")
ROUNDING = 1e-12


def _every_step(trial: Trial, ratio: float | None, growth_times: float) -> FeatureRun:
    size = settings.SMALL if trial.quick else settings.LARGE
    return inside(trial.seed, **size, ratio=ratio, growth_times=growth_times, states=100_000)


def measure_bounds(trial: Trial) -> Numbers:
    run = _every_step(trial, None, 1.0)
    history, gamma = run.history, run.history.gamma
    until = int(np.searchsorted(history.times, run.first_time()))
    growth, v0 = run.scales["learning_rate"] * np.sqrt(gamma) / run.data.samples, history.magnitudes[0]
    rho, v = (history.alignments[:until] * v0)[1:], (history.magnitudes[:until] * v0)[1:]
    unit, steps = run.data.trace / gamma**1.5, run.steps[1:until]  # gamma_u = gamma (1 + C unit)^2
    scale = np.sqrt(gamma) * v0[0] ** 2 / 2
    across = (history.deviations[1:until] / np.abs(history.alignments[1:until])).max() * np.sqrt(gamma) / unit
    # at step 1 the two printed bounds on v coincide at v_0^2 for every gamma_u and gamma_l: only c_r = 0 satisfies both
    gaps = np.abs(v[0] / v0**2 - 1)
    return {
        "value": float((gaps > ROUNDING).mean()),
        "largest": float(gaps.max()),
        "upper": float((_effective(rho.max(axis=1), steps, growth, scale) - 1).max() / unit),
        "lower": float((1 - _effective(rho.min(axis=1), steps, growth, scale)).max() / unit),
        "across": float(across),
    }


def _effective(values: np.ndarray, steps: np.ndarray, growth: float, scale: float) -> np.ndarray:
    """The x for which scale ((1 + growth x)^t - (1 - growth x)^t) is each value: where the bound would touch it."""
    from scipy.optimize import brentq

    def touch(value: float, t: int) -> float:
        return brentq(lambda x: scale * ((1 + growth * x) ** t - (1 - growth * x) ** t) - value, 0.0, 10.0, xtol=1e-13)

    return np.array([touch(value, int(t)) for value, t in zip(values, steps, strict=True)])


def judge_bounds(numbers: Numbers) -> Verdict:
    return holds_if(numbers["value"] <= OUTSIDE)


def tell_bounds(numbers: Numbers) -> str:
    return (
        f"{numbers['value']:.0%} of the neurons break the bounds on v at step 1, where both are v_0^2 whatever the "
        f"constants (by up to {numbers['largest']:.1g}: v_r(1) = v_r(0) + eta/(mn) <w_r(0), X'y>); rho needs C2 = "
        f"{numbers['upper']:.3g} and, with gamma_l in the lower bound, C1 = {numbers['lower']:.3g}; the deviation C = "
        f"{numbers['across']:.2g}"
    )


def measure_proxy(trial: Trial) -> Numbers:
    found = {}
    for name, ratio in (("alike", None), ("printed", 1.0)):
        run = _every_step(trial, ratio, 8.0)
        history, gamma = run.history, run.history.gamma
        first = int(np.searchsorted(history.times, run.first_time()))
        last = int(np.argmax(history.loss <= 4 * settings.EPSILON))
        proxy = misprints.appendix_proxy(history.alignments[first : last + 1], gamma=gamma, trace=run.data.trace)
        growth = run.scales["learning_rate"] * np.sqrt(gamma) / run.data.samples
        with np.errstate(invalid="ignore"):
            factor = (proxy[1:] / proxy[:-1] - 1) / growth
        exists = np.isfinite(proxy).all(axis=0)
        steps = factor[:, exists]
        found[name] = {
            "gone": float((~exists).mean()),
            "least": float(steps.min()) if exists.any() else float("nan"),
            "most": float(steps.max()) if exists.any() else float("nan"),
        }
    return {"value": found["printed"]["gone"], **found}


def judge_proxy(numbers: Numbers) -> Verdict:
    gone = highest(numbers["alike"]["gone"], numbers["printed"]["gone"])
    return holds_if(gone <= EXIST and numbers["printed"]["least"] >= QUARTER)


def tell_proxy(numbers: Numbers) -> str:
    text = "; ".join(
        f"{words}: it ceases to exist for {found['gone']:.0%} of the neurons (their rho_r^2 passes the limit of "
        "the mean), "
        f"and grows by {found['least']:.2g} to {found['most']:.2g} times eta sqrt(gamma)/(mn) a step in the others"
        for words, found in (
            ("neurons alike", numbers["alike"]),
            ("v_0 = sigma_0 sqrt(log m)", numbers["printed"]),
        )
    )
    return f"each neuron's proxy from t1 until the loss is 4 epsilon; {text}"


EQ13 = Claim(
    name="eq13",
    number="Eq. (13)",
    sentence="Through stage 1 rho and v lie between discrete sinh and cosh with gamma_l and gamma_u.",
    assumptions=ASSUMED,
    setting=INSIDE,
    claimed="absolute constants C1, C2, C, for every neuron",
    expected=Verdict.REFUTED,
    measure=measure_bounds,
    judge=judge_bounds,
    tell=tell_bounds,
    limits={"outside": OUTSIDE},
)
PROXY = Claim(
    name="proxy-step",
    number="Section 5.1 and Lemma B.2, third and fourth claim",
    sentence=(
        "Every neuron's proxy escalates exponentially: each step multiplies it by at least 1 + eta sqrt(gamma)/(4mn)."
    ),
    assumptions=ASSUMED,
    setting=INSIDE + ", with the admissible v_0 and with v_0 = sigma_0 sqrt(log m)",
    claimed="it exists until the loss is 4 epsilon and grows at least by a quarter of eta sqrt(gamma)/(mn) a step",
    expected=Verdict.REFUTED,
    measure=measure_proxy,
    judge=judge_proxy,
    tell=tell_proxy,
    limits={"exist": EXIST, "growth of a step": QUARTER},
)
