"""Watanabe et al., Appendix C: the equations of the alignment proof, tried on the states of trained networks.

Velocities and residuals are the network's own, from its covariance matrix; lambda1, lambda2, nu and |Sigma_xy| in the
formulas are the theory's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.reproduction import Range, Rows, Trial, above, below, both, claim, corrected, fact, printed
from linnet_papers.reproduction.fits import exponent, slopes
from linnet_papers.watanabe import misprints
from linnet_papers.watanabe.claims.equations import numeric_gradient, paper_loss
from linnet_papers.watanabe.settings import AT_PAIR, LARGE, NETWORK, PLANE, SCALES, SEEDS
from linnet_papers.watanabe.training.phases import (
    SCAN_DIM,
    SCAN_WIDTH,
    Networks,
    moments,
    runs_by_scale,
    trained_networks,
)

SETTING = f"{NETWORK}, {SEEDS} seeds, {AT_PAIR}, every saved state of a gradient flow"
STATES = "20 random states of networks at each setting, $d = 6$, $m = 10$, whatever the direction $r_1$"
REGION = {**PLANE, "scale": Range(0.03, 3, log=True)}
IDENTITY = below(1e-9, "an algebraic identity, up to rounding")
INEQUALITY = below(1e-9, "an inequality between numbers of order 1, up to rounding")
RATE = below(1e-4, "a difference quotient over a step of $10^{-4}$ of the weights, good to the square of that")
FINITE = 1.0  # a finite time, the same for every s; training has not begun by then at s = 1e-6


@dataclass(frozen=True)
class Terms:
    """The scalars of Appendix C at every state (time, seed): the brackets of (43) and (44), and sigma^2 a.w_i for
    i >= 3 in the last axis."""

    bracket1: np.ndarray
    bracket2: np.ndarray
    rest: np.ndarray

    @property
    def printed_rate(self) -> np.ndarray:
        """C of (49)."""
        return misprints.growth_rate(self.bracket1, self.bracket2, self.rest)

    @property
    def rate(self) -> np.ndarray:
        """The C that the two inequalities before (48) give."""
        return 2 * np.abs(self.bracket1) + 2 * np.abs(self.bracket2) + np.abs(self.rest).sum(-1)

    @property
    def sharp_rate(self) -> np.ndarray:
        """The least C that serves all deviations of a, w1 and w2 where the other components vanish."""
        return 2 * np.hypot(self.bracket1, self.bracket2)


def terms(run: Networks) -> Terms:
    """Return the scalars, with the constants of the theory."""
    along, theory = run.overlaps, run.theory
    bracket1 = theory.correlation - (theory.lambda1 * along[..., 0] - theory.nu * along[..., 1])
    bracket2 = -theory.nu * along[..., 0] + theory.lambda2 * along[..., 1]
    return Terms(bracket1, bracket2, theory.variance * along[..., 2:])


def relative_error(true: np.ndarray, formula: np.ndarray) -> float:
    """Return the largest error of a formula over the largest true value."""
    return float(np.abs(true - formula).max() / np.abs(true).max())


def random_states(trial: Trial) -> dict[str, Networks]:
    """Draw 20 states of networks at each setting of the region, with random directions for r1."""
    found = {}
    for name, at in trial.region(4).items():
        problem = ln.problems.spiked_covariance(SCAN_DIM, spike=at["spike"], alignment=at["alignment"])
        random = generator(trial.seed, 31)
        first = at["scale"] * random.standard_normal((1, 20, SCAN_WIDTH, SCAN_DIM))
        second, r = at["scale"] * random.standard_normal((1, 20, SCAN_WIDTH)), random.standard_normal((20, SCAN_WIDTH))
        found[name] = Networks(
            spike=at["spike"],
            alignment=at["alignment"],
            moments=moments(problem),
            problem=problem,
            times=np.zeros(1),
            first=first,
            second=second,
            loss=np.zeros((1, 20)),
            r=r / np.linalg.norm(r, axis=1, keepdims=True),
            u0=np.zeros(20),
        )
    return found


def along_second(run: Networks) -> np.ndarray:
    """Return the part of (45) that stands before its sum over i >= 3."""
    scalars, (_, first) = terms(run), run.orthogonal_parts
    return scalars.bracket1[..., None] * first[..., 0] - scalars.bracket2[..., None] * first[..., 1]


@claim(
    "eq43",
    says="The deviations of $w_1$ and $w_2$ obey (43) and (44).",
    assumes="none: an identity",
    tried=STATES,
    region=REGION,
)
def deviation_of_first(trial: Trial) -> Rows:
    def error(run: Networks) -> float:
        scalars, (second, _) = terms(run), run.orthogonal_parts
        brackets = (scalars.bracket1, -scalars.bracket2)
        formula = np.stack([bracket[..., None] * second for bracket in brackets], -1)
        return relative_error(run.orthogonal_part(run.velocities[1])[..., :2], formula)

    errors = {name: error(run) for name, run in random_states(trial).items()}
    yield printed("relative distance of (43) and (44) from the network's own velocities", errors, IDENTITY)


MINUS = r"a minus stands before the sum over $i \ge 3$"


def both_signs(trial: Trial, sides: Callable[[Networks], tuple[np.ndarray, ...]], words: str) -> Rows:
    """Yield the rows of an equation whose sum over i >= 3 is printed with a plus; `sides` are the true rate, what
    stands before the sum, and the sum."""
    printed_errors, errors = {}, {}
    for name, run in random_states(trial).items():
        true, known, rest = sides(run)
        printed_errors[name] = relative_error(true, known + misprints.deviation_rest(rest))
        errors[name] = relative_error(true, known - rest)
    yield printed(f"relative distance of {words}", printed_errors, IDENTITY)
    yield corrected("relative distance with a minus", errors, IDENTITY)


@claim(
    "eq45",
    says=r"The deviation of $a$ obeys (45), with a plus before the sum over $i \ge 3$.",
    assumes="none: an identity",
    tried=STATES,
    region=REGION,
    correction=MINUS,
)
def deviation_of_second(trial: Trial) -> Rows:
    def sides(run: Networks) -> tuple[np.ndarray, ...]:
        rest = np.einsum("tsi,tshi->tsh", terms(run).rest, run.orthogonal_parts[1][..., 2:])
        return run.orthogonal_part(run.velocities[0]), along_second(run), rest

    yield from both_signs(trial, sides, "(45) from the network's own velocity")


@claim(
    "eq47",
    says=r"The energy of the deviations changes by (47), with a plus before the sum over $i \ge 3$.",
    assumes="none: an identity",
    tried=STATES,
    region=REGION,
    correction=MINUS,
)
def energy_rate(trial: Trial) -> Rows:
    def sides(run: Networks) -> tuple[np.ndarray, ...]:
        scalars, (second, first) = terms(run), run.orthogonal_parts
        turn, push = (run.orthogonal_part(velocity) for velocity in run.velocities)
        true = np.einsum("tsh,tsh->ts", second, turn) + np.einsum("tshk,tshk->ts", first[..., :2], push[..., :2])
        inner = np.einsum("tsh,tshi->tsi", second, first)
        known = 2 * scalars.bracket1 * inner[..., 0] - 2 * scalars.bracket2 * inner[..., 1]
        return true, known, (scalars.rest * inner[..., 2:]).sum(-1)

    yield from both_signs(trial, sides, "(47) from the rate by the network's own velocities")


@claim(
    "eq49",
    says="The energy of the deviations grows at most at the rate $C(t)$ of (49).",
    assumes="small Gaussian initialization",
    tried=f"{SETTING}, $s = 10^{{-5}}$; {STATES}; deviations of any direction",
    region=REGION,
    correction="$C(t)$ with absolute values and twice the terms is never exceeded",
)
def growth_bound(trial: Trial) -> Rows:
    excess: dict[str, dict[str, float]] = {"printed": {}, "corrected": {}, "sharp": {}}
    for name, run in {**random_states(trial), "training": trained_networks(trial)}.items():
        scalars = terms(run)
        residual = run.moments.cross - run.overlaps @ run.moments.cov
        # deviations of a, w1, w2 along one hidden direction move by this matrix: dE/dt <= 2 lambda_max E, attained
        matrix = np.zeros((*residual.shape[:2], 3, 3))
        matrix[..., 0, 1:] = matrix[..., 1:, 0] = residual[..., :2]
        worst = 2 * np.linalg.eigvalsh(matrix)[..., -1]
        excess["printed"][name] = (worst - scalars.printed_rate).max() / worst.max()
        excess["corrected"][name] = (worst - scalars.rate).max() / worst.max()
        excess["sharp"][name] = np.abs(worst - scalars.sharp_rate).max() / worst.max()
    words = "excess of the largest growth over {} $C(t)$, in units of the largest rate"
    yield printed(words.format("the printed"), excess["printed"], INEQUALITY)
    trained = excess["corrected"].pop("training")
    yield corrected(words.format("that"), excess["corrected"], INEQUALITY)
    yield corrected(words.format("that") + ", along training", trained, INEQUALITY)
    yield corrected(
        r"distance of the largest growth from the least $C$ that serves, $2 \sqrt{b_1^2 + b_2^2}$ of the two brackets",
        excess["sharp"],
        INEQUALITY,
    )


@claim(
    "eq48",
    says=r"What (48) leaves to the deviations of other $w_i$, the sum of $\sigma^2 \lvert a^\top w_i \rvert \lvert "
    r"\Delta w_i \rvert^2/2$, is $O(s^3)$.",
    assumes="small Gaussian initialization",
    tried=f"{SETTING}, {SCALES}",
)
def rest_of_the_bound(trial: Trial) -> Rows:
    sizes = {}
    for s, run in runs_by_scale(trial).items():
        _, first = run.orthogonal_parts
        sizes[s] = 0.5 * (np.abs(terms(run).rest) * (first[..., 2:] ** 2).sum(-2)).sum(-1).max()
    cubic = above(2.9, "the power 3 that is claimed, less 0.1 for a fit over decades")
    yield printed(
        "least slope in $s$ of the largest value of the sum", slopes(list(sizes), list(sizes.values()))[1], cubic
    )
    yield fact("largest value of the sum, by $s$", sizes)


@claim(
    "eq50",
    says="For any finite time the bound (50) on $E$ is $O(s^2)$.",
    assumes="small Gaussian initialization; $C$ as the inequalities give it",
    tried=f"{SETTING}, {SCALES}, $t$ up to {FINITE:g}",
)
def gronwall(trial: Trial) -> Rows:
    from scipy.integrate import cumulative_trapezoid

    early, end = {}, {}  # the bound's factor: the largest up to `FINITE`, and of the whole run
    energies, shares = {}, {}
    for s, run in runs_by_scale(trial).items():
        factors = np.exp(cumulative_trapezoid(terms(run).rate, run.times, axis=0, initial=0))
        finite = run.times <= FINITE
        energy = run.energy
        early[s], end[s] = factors[finite].max(), factors.max()
        energies[s] = energy[finite].max()
        shares[s] = (energy / (energy[0] * factors))[finite].max()
    used = list(early)
    yield printed(
        f"slope in $s$ of the bound's factor up to $t = {FINITE:g}$, smallest scales",
        exponent(used[-2:], list(early.values())[-2:])[0],
        above(-0.1, r"bounded as $s \to 0$ is slope 0; the factor at the end of training has slope $-2$"),
    )
    yield printed(
        "$E$ over its bound, by $s$",
        shares,
        below(1 + 1e-3, "an inequality; the integral is taken on the saved times by trapezia"),
    )
    yield printed(
        "least slope in $s$ of $E$",
        slopes(used, list(energies.values()))[1],
        above(1.9, "the power 2 that is claimed, less 0.1 for a fit over decades"),
    )
    yield fact(
        r"slope in $s$ of the bound's factor up to the end of training, which takes $\ln(1/s)$",
        exponent(used, list(end.values()))[0],
    )


@claim(
    "eq51",
    says=r"The loss never rises, and falls at the rate $\lvert \nabla L \rvert^2/\tau$.",
    assumes="gradient flow (6)-(7)",
    tried=f"one of the {STATES[3:]}; the loss along {SETTING}, $s = {LARGE:g}$",
    region=REGION,
    correction=r"$dL/dt = -\lvert \nabla L \rvert^2/(2 \tau)$",
)
def loss_rate(trial: Trial) -> Rows:
    ratios = {}
    for name, run in random_states(trial).items():
        turn, push = run.velocities
        first, second, data = run.first[0, 0], run.second[0, 0], (run.moments.cov, run.moments.limit)
        gradient = numeric_gradient(first, second, *data)
        power = sum((part**2).sum() for part in gradient)
        nudge = 1e-4 * np.linalg.norm(first) / np.sqrt(power)
        ahead, behind = (paper_loss(first + h * push[0, 0], second + h * turn[0, 0], *data) for h in (nudge, -nudge))
        ratios[name] = (ahead - behind) / (2 * nudge) / power

    def errors(rate: float) -> dict[str, float]:
        return {name: abs(ratio - rate) for name, ratio in ratios.items()}

    error = r"error of the rate, over $\lvert \nabla L \rvert^2/\tau$ with a numerical gradient"
    yield printed(error, errors(misprints.LOSS_RATE), RATE)
    yield corrected(f"{error}, with the factor 1/2", errors(0.5 * misprints.LOSS_RATE), RATE)
    yield both(
        "largest change of the loss from one saved time to the next",
        np.diff(trained_networks(trial, scale=LARGE).loss, axis=0).max(),
        below(1e-12, "a loss that never rises, up to rounding where it has come to zero"),
    )
