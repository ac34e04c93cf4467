"""Watanabe et al., section 3.2.2: what the bound (20) on the later phase is worth, and where that phase ends."""

from __future__ import annotations

import numpy as np

from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Rows, Trial, above, at_least, at_most, below, claim, fact, given, printed
from linnet_papers.reproduction.fits import highest
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.grids.phase_times import DELTAS, GRID, TIGHT, by_pair, comma_list, mean_of, theory_of
from linnet_papers.watanabe.settings import DELTA, NETWORKS, SMALL, pair_name
from linnet_papers.watanabe.training.phases import trained_networks


@claim(
    "eq20",
    says="The later phase takes at most the bound (20), provided that $w_1$ stays above its limit and $w_2$ below.",
    assumes="$w_1$ at least its limit and $w_2$ at most its own from $t_1$ on, as the paper states them",
    tried=rf"{GRID}; {TIGHT}; $\delta$ = {comma_list(DELTAS)}; $t_1$ is the moment from which the hypothesis is met",
)
def later_bound(trial: Trial) -> Rows:
    rows, tight = (phase_times.read(cells(trial)) for cells in (phase_times.grid, phase_times.tight_grid))
    met, hard = (phase_times.inside_hypothesis(some) for some in (rows, tight))
    from_half = by_pair(met, lambda cell: highest(cell.length / theory_of(cell).later_bound(DELTA)))
    yield given("pairs inside the hypothesis", len(met), at_least(1, "without one the bound says nothing"))
    yield printed(
        "largest $(t_2 - t_1)$/bound",
        by_pair([*met, *hard], lambda cell: cell.share.max(skipna=False)),
        at_most(1, "the bound itself: $t_2 - t_1$ may not exceed it"),
    )
    yield printed(
        f"largest of them at {TIGHT}",
        highest(cell.share.max(skipna=False) for cell in hard) if hard else [],
        above(0.96, "where $w_1$ hardly changes the bound is attained: one 5% too small would be exceeded"),
    )
    yield fact("pairs tried", len(rows))
    yield fact(
        "pairs inside it when $w_1^2$ is at half its plateau",
        sum(bool((cell.allowed <= cell.early).all()) for cell in met),
    )
    yield fact("fraction of its limit that $w_2$ has when it is met", by_pair(met, lambda cell: highest(cell.w2_there)))
    yield fact(
        "$(t_2 - t_1)$/bound counted from half the plateau, where it exceeds 1",
        {pair: ratio for pair, ratio in from_half.items() if ratio > 1},
    )


def least_rate(theory: TwoPhase, w2: np.ndarray) -> np.ndarray:
    """Return the right side of (39)."""
    w1 = theory.fixed_point[0]
    return (w1**2 + w2**2) * (theory.nu * w1 - theory.lambda2 * w2)


@claim(
    "eq39",
    says=r"While $w_1 \ge w_1^*$ and $w_2 \le w_2^*$, $dw_2/dt$ is at least "
    r"$({w_1^*}^2 + w_2^2)(\nu w_1^* - \lambda_2 w_2)$.",
    assumes="the hypothesis of (20)",
    tried=f"{NETWORKS}; spike 20 with alignments 0.3 and 0.9, spike 100 with alignment 0.1, every state that meets the "
    "hypothesis",
)
def rate_bound(trial: Trial) -> Rows:
    excess, ratios, states = {}, {}, {}
    for pair in ((20.0, 0.3), (20.0, 0.9), (100.0, 0.1)):
        run = trained_networks(trial, pair)
        speed, right, limit = run.w2_velocity, least_rate(run.theory, run.w2), run.moments.limit
        met = (run.w1 >= limit[0]) & (run.w2 <= limit[1])
        name = pair_name(*pair)
        excess[name] = (right - speed)[met].max() / speed.max()
        ratios[name] = (right / speed)[met & (run.w2 < 0.95 * limit[1])].max()
        states[name] = met.sum()
    yield given("states that meet the hypothesis", states, at_least(10, "a trajectory, and not a single point of it"))
    yield printed(
        "largest excess of the right side, over the largest speed",
        excess,
        at_most(1e-4, "an inequality up to $O(s)$: ten times the scale $s$"),
    )
    yield printed(
        "largest ratio of the right side to the left where $w_2$ is below 95% of its limit",
        highest(ratios.values()),
        above(0.96, "at $w_1 = w_1^*$ both sides are equal: a right side 5% too large would be caught"),
    )


@claim(
    "eq42",
    says="The integral of the bounded rate has the closed form (42).",
    assumes="none: an identity",
    tried="four pairs of spike and alignment",
)
def closed_bound(trial: Trial) -> Rows:
    pairs = ((20.0, 0.3), (2.0, 0.9), (100.0, 0.5), (0.5, 0.1))
    yield printed(
        "relative distance of (42) from the integral (40)",
        {pair_name(*pair): closed_form_error(*pair) for pair in pairs},
        below(1e-8, "an integral in closed form against quadrature"),
    )


def closed_form_error(spike: float, alignment: float) -> float:
    """Return the distance of (42) from the integral (40) by quadrature, relative to it."""
    from scipy.integrate import quad

    c = 1 + spike * (2 + spike) * alignment**2  # |Sigma_xy|^2, and v2^T Sigma v2, v1^T Sigma v2 from the spike
    lambda2 = 1 + spike * (1 - alignment**2) / c
    nu = spike * (1 + spike) * alignment * np.sqrt(1 - alignment**2) / c
    first = lambda2 / np.hypot(lambda2, nu)
    end = -np.expm1(-DELTA) * nu / lambda2 * first

    def integrand(w2: float) -> float:
        return 1 / ((first**2 + w2**2) * (nu * first - lambda2 * w2))

    integral = quad(integrand, 0, end, epsabs=1e-13, epsrel=1e-12)[0]
    return abs(TwoPhase(spike, alignment).later_bound(DELTA) / integral - 1)


@claim(
    "eq41",
    says=r"The components end at $w_1^* = \lambda_2 w_2^*/\nu$ with ${w_1^*}^2 + {w_2^*}^2 = {a^*}^2 = 1$.",
    assumes=SMALL,
    tried=f"{NETWORKS}; (20, 0.3), (20, 0.9) and, not in quick mode, (1, 0.5)",
)
def limits(trial: Trial) -> Rows:
    errors = {}
    for pair in [(20.0, 0.3), (20.0, 0.9), (1.0, 0.5)][: 2 if trial.quick else 3]:
        run = trained_networks(trial, pair)
        errors[f"$w$, {pair_name(*pair)}"] = np.abs(run.components[-1] - run.theory.fixed_point).max()
        errors[f"$a$, {pair_name(*pair)}"] = np.abs(np.linalg.norm(run.second[-1], axis=-1) - 1).max()
    left = below(1e-3, "what is left of the approach to the limit after ten time units, $e^{-8}$")
    yield printed("largest distance of a network's end from these values", errors, left)


@claim(
    "tight",
    says="The bound is tight if $w_1$ changes little during the growth of $w_2$.",
    assumes="the hypothesis of (20), $w_2$ negligible at $t_1$",
    tried=rf"{NETWORKS}; {TIGHT}; $\delta$ = {DELTA:g}",
)
def tight(trial: Trial) -> Rows:
    cells = phase_times.read(phase_times.tight_grid(trial))
    excess = by_pair(cells, lambda cell: mean_of(cell, "slack") - 1)
    yield printed(
        "distance of the bound from $t_2 - t_1$ at the best alignment, over it",
        abs(list(excess.values())[-1]),
        below(0.05, "tight: within 5%, where $w_1$ varies by less than 1%"),
    )
    yield printed(
        "change of the excess of the bound from one alignment to the next",
        np.diff(list(excess.values())),
        below(0, "at one spike, the less $w_1$ changes, the tighter the bound"),
    )
    yield fact("excess of the bound over $t_2 - t_1$", excess)
    yield fact("relative variation of $w_1$ while $w_2$ grows", by_pair(cells, lambda cell: mean_of(cell, "change")))
