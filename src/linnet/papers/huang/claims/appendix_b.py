"""Inequalities of appendix B: the induction of stage 1, Eq. (13), and the steps of the proxy in stage 2."""

from __future__ import annotations

import numpy as np

from linnet.papers.huang import misprints, settings
from linnet.papers.huang.networks import FeatureRun, inside
from linnet.reproduction import AtLeast, AtMost, Numbers, Trial, Verdict, claim

ROUNDING = 1e-12


def _every_step(trial: Trial, ratio: float | None, growth_times: float) -> FeatureRun:
    return inside(trial.seed, **settings.size(trial.quick), ratio=ratio, growth_times=growth_times, states=100_000)


@claim(
    "eq13",
    where="Eq. (13)",
    says="Through stage 1 rho and v of every neuron lie between discrete sinh and cosh with gamma_l and gamma_u, with "
    "absolute constants C1, C2, C.",
    assumes=settings.ASSUMED,
    tried=settings.INSIDE,
    holds=AtMost(
        0.01,
        what="share of neurons that break the bounds on v at step 1",
        form=".0%",
        because="the share of neurons that may break a bound said to hold for all of them",
    ),
    expected=Verdict.REFUTED,
    reads="at step 1 both bounds on v are v_0^2 whatever the constants, and v_r(1) = v_r(0) + eta/(mn) <w_r(0), X'y> "
    "is off by up to {largest:.1g}; rho needs C2 = {upper:.3g} and, with gamma_l in the lower bound, C1 = {lower:.3g}; "
    "the deviation C = {across:.2g}",
)
def bounds_of_the_first_stage(trial: Trial) -> Numbers:
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


@claim(
    "proxy-step",
    where="Section 5.1 and Lemma B.2, third and fourth claim",
    says="Every neuron's proxy escalates exponentially until the loss is 4 epsilon: each step multiplies it by at "
    "least 1 + eta sqrt(gamma)/(4mn).",
    assumes=settings.ASSUMED,
    tried=settings.INSIDE + ", with the admissible v_0 (neurons alike) and with v_0 = sigma_0 sqrt(log m)",
    holds=AtMost(
        0.01,
        "gone",
        what="share of neurons whose proxy ceases to exist",
        form=".0%",
        because="the share of neurons whose proxy may cease to exist before the loss is 4 epsilon",
        otherwise="their rho_r^2 passes the limit of the mean",
    )
    & AtLeast(
        0.25,
        "least",
        what="least growth of a step over eta sqrt(gamma)/(mn)",
        form=".2g",
        because="Lemma B.2: a step multiplies the proxy by at least 1 + eta sqrt(gamma)/(4mn)",
    ),
    expected=Verdict.REFUTED,
    reads="each neuron's proxy from t1 until the loss is 4 epsilon; it ceases to exist for a share of {gone:.0%}, and "
    "grows in the others, in units of eta sqrt(gamma)/(mn) a step, by {least:.2g} and more, {most:.2g} and less",
)
def proxy_step(trial: Trial) -> Numbers:
    found: dict[str, dict[str, float]] = {"gone": {}, "least": {}, "most": {}}
    for name, ratio in (("alike", None), ("v_0 = sigma_0 sqrt(log m)", 1.0)):
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
        found["gone"][name] = float((~exists).mean())
        found["least"][name] = float(steps.min()) if exists.any() else float("nan")
        found["most"][name] = float(steps.max()) if exists.any() else float("nan")
    return {"value": found["gone"][name], **found}
