"""Watanabe et al., section 3.2.2: what the bound (20) on the later phase is worth, and where that phase ends."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Above, AllOf, AtLeast, AtMost, Below, Falls, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.fits import highest
from linnet_papers.watanabe.settings import DELTA, NETWORKS, SMALL
from linnet_papers.watanabe.tables import phase_times
from linnet_papers.watanabe.tables.phase_times import DELTAS, GRID, TIGHT, TIGHT_RANGE, comma_list, mean_of, theory_of
from linnet_papers.watanabe.training.phases import trained_networks


def pairs_text(rows: list[Dataset]) -> str:
    """Return the pairs of these cells as text, `spike: alignments` for each spike."""
    groups = groupby(rows, key=lambda cell: float(cell.spike))
    return "; ".join(f"{s:g}: {comma_list([float(cell.alignment) for cell in cells])}" for s, cells in groups) or "none"


@claim(
    "eq20",
    says="The later phase takes at most the bound (20), provided that w1 stays above its limit and w2 below.",
    assumes="w1 >= its limit and w2 <= its limit from t1 on, as the paper states them",
    tried=f"{GRID}; {TIGHT}; delta = {comma_list(DELTAS)}; t1 is the moment from which the hypothesis is met",
    given=AtLeast(1, "inside", what="pairs inside the hypothesis", because="without one the bound says nothing"),
    holds=AllOf(
        AtMost(1.0, what="largest (t2 - t1)/bound", form=".4f", because="the bound itself: t2 - t1 may not exceed it"),
        Above(
            0.96,
            "attained",
            what=f"the same at {TIGHT_RANGE}",
            form=".4f",
            because="where w1 hardly changes the bound is attained: one 5% too small would be exceeded",
        ),
    ),
    reads="the hypothesis is met before t2 in {inside} of {pairs} pairs ({literal} of them by the time w1^2 is at half "
    "its plateau; w2 has up to {w2:.0%} of its limit then), and t2 - t1 counted from that moment; counted from half "
    "the plateau it exceeds the bound in {from half} of these pairs ({over})",
)
def later_bound(trial: Trial) -> Numbers:
    rows = phase_times.TABLE.rows(trial)
    met = phase_times.inside_hypothesis(rows)
    tight = phase_times.inside_hypothesis(phase_times.tight_cells(trial))
    over = [cell for cell in met if (cell.length > theory_of(cell).later_bound(DELTA)).any()]
    return {
        "value": highest(cell.share.max(skipna=False) for cell in met + tight) if met else float("nan"),
        "attained": highest(cell.share.max(skipna=False) for cell in tight) if tight else float("nan"),
        "pairs": len(rows),
        "inside": len(met),
        "literal": sum(bool((cell.allowed <= cell.early).all()) for cell in met),
        "over": pairs_text(over),
        "from half": len(over),
        "w2": highest(cell.w2_there.max(skipna=False) for cell in met) if met else float("nan"),
    }


def least_rate(theory: TwoPhase, w2: np.ndarray) -> np.ndarray:
    """Return the right side of (39)."""
    w1 = theory.fixed_point[0]
    return (w1**2 + w2**2) * (theory.nu * w1 - theory.lambda2 * w2)


@claim(
    "eq39",
    says="While w1 >= w1* and w2 <= w2*, dw2/dt is at least (w1*^2 + w2^2)(nu w1* - lambda2 w2).",
    assumes="the hypothesis of (20)",
    tried=f"{NETWORKS}; spike 20 with alignments 0.3 and 0.9, spike 100 with alignment 0.1, every state that meets the "
    "hypothesis",
    given=AtLeast(10, "states", what="states that meet the hypothesis", because="of each pair, to say anything"),
    holds=AllOf(
        AtMost(
            1e-4,
            what="largest excess of the right side, over the largest speed",
            form=".1e",
            because="an inequality up to O(s): ten times the start's scale",
        ),
        Above(
            0.96,
            "attained",
            what="largest ratio of the right side to the left where w2 is below 95% of its limit",
            form=".3f",
            because="at w1 = w1* both sides are equal: a right side 5% too large would be caught",
        ),
    ),
    reads="the right side of (39) over the network's own dw2/dt, at {states} states or more of each pair",
)
def rate_bound(trial: Trial) -> Numbers:
    excess, ratios, states = [], [], []
    for pair in ((20.0, 0.3), (20.0, 0.9), (100.0, 0.1)):
        run = trained_networks(trial, pair)
        speed = run.w2_velocity
        right = least_rate(run.theory, run.w2)
        limit = run.moments.limit
        met = (run.w1 >= limit[0]) & (run.w2 <= limit[1])
        excess.append((right - speed)[met].max() / speed.max())
        ratios.append((right / speed)[met & (run.w2 < 0.95 * limit[1])].max())
        states.append(met.sum())
    return {"value": highest(excess), "attained": highest(ratios), "states": min(states)}


@claim(
    "eq42",
    says="The integral of the bounded rate has the closed form (42).",
    assumes="none: an identity",
    tried="four pairs of spike and alignment",
    holds=Below(
        1e-8, what="largest relative error", form=".1e", because="an integral in closed form against quadrature"
    ),
    reads="(42) against the integral (40) by quadrature, at four pairs",
)
def closed_bound(trial: Trial) -> Numbers:
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


@claim(
    "eq41",
    says="The components end at w1* = lambda2 w2*/nu with w1*^2 + w2*^2 = a*^2 = 1.",
    assumes=SMALL,
    tried=f"{NETWORKS}; two or three pairs",
    holds=Below(
        1e-3,
        what="largest distance",
        form=".1e",
        because="what is left of the approach to the limit after ten time units, e^-8",
    ),
    reads="where networks end, against w1* = lambda2/hypot(lambda2, nu), w2* = nu w1*/lambda2 and a* = 1",
)
def limits(trial: Trial) -> Numbers:
    errors = []
    for pair in [(20.0, 0.3), (20.0, 0.9), (1.0, 0.5)][: 2 if trial.quick else 3]:
        run = trained_networks(trial, pair)
        errors.append(np.abs(run.components[-1] - run.theory.fixed_point).max())
        errors.append(np.abs(np.linalg.norm(run.second[-1], axis=-1) - 1).max())
    return {"value": highest(errors)}


@claim(
    "tight",
    says="The bound is tight if w1 changes little during the growth of w2.",
    assumes="the hypothesis of (20)",
    tried=f"{NETWORKS}; {TIGHT}; delta = {DELTA:g}",
    holds=AllOf(
        Below(0.05, what="last excess", form=".1%", because="tight: within 5%, where w1 varies by less than 1%"),
        Falls(0, "excess", form=".1%", because="the less w1 changes, the tighter the bound"),
    ),
    reads=f"the bound exceeds t2 - t1 by {{excess:.1%}}, where w1 varies by {{changes:.1%}} while w2 grows "
    f"({TIGHT_RANGE})",
)
def tight(trial: Trial) -> Numbers:
    cells = phase_times.tight_cells(trial)
    changes, slacks = ([mean_of(cell, name) for cell in cells] for name in ("change", "slack"))
    return {"value": abs(slacks[-1] - 1), "changes": changes, "excess": [slack - 1 for slack in slacks]}
