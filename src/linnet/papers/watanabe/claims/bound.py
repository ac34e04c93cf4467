"""Watanabe et al., section 3.2.2: what the bound (20) on the later phase is worth, and where that phase ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linnet.papers.watanabe.claims.early import SMALL
from linnet.papers.watanabe.claims.phases import GRID, row_of_pairs, table
from linnet.papers.watanabe.claims.rules import below
from linnet.papers.watanabe.networks import trained
from linnet.papers.watanabe.settings import (
    DELTA,
    NETWORKS,
    SCALE,
)
from linnet.papers.watanabe.tables.phase_times import Cell, read
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest
from linnet.reproduction.old_claim import old as Claim
from linnet.theories.spiked import TwoPhase

CLOSED_FORM = Limit(1e-8, "an integral in closed form against quadrature")
ENDS = Limit(1e-3, "what is left of the approach to the limit after ten time units, e^-8")
BOUND = Limit(1.0, "the bound itself: t2 - t1 may not exceed it")
TIGHT = Limit(0.05, "tight: within 5%, where w1 varies by less than 1%")


def names(rows: Sequence[Cell]) -> str:
    """The pairs as `spike: alignments`."""
    spikes = sorted({cell.spike for cell in rows})
    parts = [f"{s:g}: {', '.join(f'{c.alignment:g}' for c in rows if c.spike == s)}" for s in spikes]
    return "; ".join(parts) or "none"


def measure_bound(trial: Trial) -> dict[str, Any]:
    rows = table(trial)
    inside = [cell for cell in rows if cell.inside]
    over = [cell for cell in inside if (cell.length > cell.bound).any()]
    shares = [float((1 / cell.slack).max()) for cell in inside]
    literal = sum(bool((cell.allowed <= cell.early).all()) for cell in inside)
    return {
        "value": highest(shares) if shares else float("nan"),
        "pairs": len(rows),
        "inside": len(inside),
        "literal": literal,
        "over": names(over),
        "from half": len(over),
        "w2": highest(cell.w2_there.max() for cell in inside) if inside else float("nan"),
    }


def judge_bound(numbers: Numbers) -> Verdict:
    if not numbers["inside"]:
        return Verdict.OUTSIDE
    return Verdict.HOLDS if numbers["value"] <= BOUND else Verdict.REFUTED


def tell_bound(numbers: Numbers) -> str:
    return (
        f"counted from the moment its hypothesis is met, t2 - t1 is at most {numbers['value']:.3f} of the bound in the "
        f"{numbers['inside']} of {numbers['pairs']} pairs where that happens before t2 ({numbers['literal']} of them "
        f"by the time w1^2 is at half its plateau; w2 has up to {numbers['w2']:.0%} of its limit then); counted from "
        f"half the plateau it is exceeded in {numbers['from half']} of these pairs ({numbers['over']})"
    )


def measure_closed_bound(trial: Trial) -> dict[str, float]:
    from scipy.integrate import quad

    errors = []
    for spike, alignment in ((20.0, 0.3), (2.0, 0.9), (100.0, 0.5), (0.5, 0.1)):
        run = TwoPhase(spike, alignment)
        c = 1 + spike * (2 + spike) * alignment**2  # |Sigma_xy|^2, and v2^T Sigma v2, v1^T Sigma v2 from the spike
        lambda2 = 1 + spike * (1 - alignment**2) / c
        nu = spike * (1 + spike) * alignment * np.sqrt(1 - alignment**2) / c
        first = lambda2 / np.hypot(lambda2, nu)
        end = -np.expm1(-DELTA) * nu / lambda2 * first

        def integrand(w2: float, first: float = first, nu: float = nu, lambda2: float = lambda2) -> float:
            return 1 / ((first**2 + w2**2) * (nu * first - lambda2 * w2))

        errors.append(abs(run.later_bound(DELTA) / quad(integrand, 0, end, epsabs=1e-13, epsrel=1e-12)[0] - 1))
    return {"value": highest(errors)}


def tell_closed_bound(numbers: Numbers) -> str:
    return f"(42) against the integral (40) by quadrature, at four pairs: relative error {numbers['value']:.1e}"


def measure_limits(trial: Trial) -> dict[str, float]:
    errors = []
    for pair in [(20.0, 0.3), (20.0, 0.9), (1.0, 0.5)][: 2 if trial.quick else 3]:
        run = trained(*pair, SCALE, trial.seed)
        size = np.linalg.norm(run.second[-1], axis=-1)
        errors.append(float(np.abs(run.components[-1] - TwoPhase(*pair).fixed_point).max()))
        errors.append(float(np.abs(size - 1).max()))
    return {"value": highest(errors)}


def tell_limits(numbers: Numbers) -> str:
    limits = "w1* = lambda2/hypot(lambda2, nu), w2* = nu w1*/lambda2 and a* = 1"
    return f"networks end within {numbers['value']:.1e} of {limits}"


def measure_tight(trial: Trial) -> dict[str, Any]:
    rows = read(row_of_pairs(trial, "watanabe-tight", 100.0, (0.8, 0.95, 0.99)))
    changes, excess = [[float(x.mean()) for x in part] for part in zip(*((c.change, c.slack - 1) for c in rows))]
    return {"value": abs(excess[-1]), "rise": highest(np.diff(excess)), "changes": changes, "excess": excess}


def judge_tight(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < TIGHT and numbers["rise"] < 0 else Verdict.REFUTED


def tell_tight(numbers: Numbers) -> str:
    pairs = zip(numbers["changes"], numbers["excess"], strict=True)
    return (
        "by how much the bound exceeds t2 - t1, and w1 varies while w2 grows: "
        f"{', '.join(f'{e:.1%} at {c:.1%}' for c, e in pairs)} (spike 100, alignments 0.8 to 0.99)"
    )


CLAIMS = [
    Claim(
        name="eq20",
        number="Eqs. (20), (39)-(42)",
        sentence="The later phase takes at most the bound (20), provided that w1 stays above its limit and w2 below.",
        assumptions="w1 >= its limit and w2 <= its limit from t1 on, as the paper states them",
        setting=f"{GRID}; delta = 3; t1 is the moment from which the hypothesis is met",
        claimed="t2 - t1 <= bound",
        expected=Verdict.HOLDS,
        measure=measure_bound,
        judge=judge_bound,
        tell=tell_bound,
        limits={"(t2 - t1)/bound": BOUND},
    ),
    Claim(
        name="eq42",
        number="Eqs. (40), (42)",
        sentence="The integral of the bounded rate has the closed form (42).",
        assumptions="none: an identity",
        setting="four pairs of spike and alignment",
        claimed="identity",
        expected=Verdict.HOLDS,
        measure=measure_closed_bound,
        judge=below(value=CLOSED_FORM),
        tell=tell_closed_bound,
        limits={"relative error": CLOSED_FORM},
    ),
    Claim(
        name="eq41",
        number="Eq. (41)",
        sentence="The components end at w1* = lambda2 w2*/nu with w1*^2 + w2*^2 = a*^2 = 1.",
        assumptions=SMALL,
        setting=f"{NETWORKS}; two or three pairs",
        claimed="limits",
        expected=Verdict.HOLDS,
        measure=measure_limits,
        judge=below(value=ENDS),
        tell=tell_limits,
        limits={"distance": ENDS},
    ),
    Claim(
        name="tight",
        number="below Eq. (20)",
        sentence="The bound is tight if w1 changes little during the growth of w2.",
        assumptions="the hypothesis of (20)",
        setting=f"{NETWORKS}; spike 100, alignments 0.8, 0.95, 0.99; delta = 3",
        claimed="bound close to t2 - t1",
        expected=Verdict.HOLDS,
        measure=measure_tight,
        judge=judge_tight,
        tell=tell_tight,
        limits={"excess": TIGHT},
    ),
]
