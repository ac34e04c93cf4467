"""Watanabe et al., Appendix C: the equations of the alignment proof, tried on the states of trained networks.

Velocities and residuals are the network's own, from its covariance matrix; lambda1, lambda2, nu and |Sigma_xy| in the
formulas are the theory's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linnet_papers.reproduction import Above, AllOf, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.fits import exponent, slopes
from linnet_papers.watanabe import misprints
from linnet_papers.watanabe.claims.equations import numeric_gradient, paper_loss
from linnet_papers.watanabe.settings import AT_PAIR, DIM, LARGE, POINTS, SCALE, SEEDS, WIDTH
from linnet_papers.watanabe.training.phases import Networks, runs_by_scale, trained_networks

SETTING = f"d = {DIM}, m = {WIDTH}, {SEEDS} seeds, {AT_PAIR}, every saved state of a gradient flow"
IDENTITY = Limit(1e-9, "an algebraic identity, up to rounding")
INEQUALITY = Limit(1e-9, "an inequality between numbers of order 1, up to rounding")
RATE = Limit(1e-4, "a difference quotient of a loss of size 3 over 2e-4 time units, good to 1e-6")
NO_RISE = Below(
    1e-12,
    "rise",
    what="largest change of the loss from one saved time to the next",
    form=".0e",
    because="a loss that never rises, up to rounding where it has come to zero",
)
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


def relative_errors(true: np.ndarray, **formulas: np.ndarray) -> Numbers:
    """Return the largest error of each formula over the largest true value."""
    return {name: float(np.abs(true - formula).max() / np.abs(true).max()) for name, formula in formulas.items()}


@claim(
    "eq43",
    says="The deviations of w1 and w2 obey (43) and (44).",
    assumes="none: an identity",
    tried=f"{SETTING}, s = {LARGE:g}",
    holds=Below(IDENTITY, what="largest relative error", form=".1e"),
    reads="both identities against the network's own velocities",
)
def deviation_of_first(trial: Trial) -> Numbers:
    run = trained_networks(trial, scale=LARGE)
    scalars, (second, _) = terms(run), run.deviations
    true = run.orthogonal_part(run.velocities[1])[..., :2]
    brackets = (scalars.bracket1, -scalars.bracket2)
    return relative_errors(true, value=np.stack([bracket[..., None] * second for bracket in brackets], -1))


@claim(
    "eq45",
    says="The deviation of a obeys (45), with a plus before the sum over i >= 3.",
    assumes="none: an identity",
    tried=f"{SETTING}, s = {LARGE:g}",
    holds=Below(IDENTITY, "printed", what="relative error", form=".1e"),
    corrected=Below(IDENTITY, what="relative error", form=".1e"),
    correction="a minus stands before the sum over i >= 3",
    reads="the identity against the network's own velocity",
)
def deviation_of_second(trial: Trial) -> Numbers:
    run = trained_networks(trial, scale=LARGE)
    scalars, (_, first) = terms(run), run.deviations
    known = scalars.bracket1[..., None] * first[..., 0] - scalars.bracket2[..., None] * first[..., 1]
    rest = np.einsum("tsi,tshi->tsh", scalars.rest, first[..., 2:])
    printed = known + misprints.deviation_rest(rest)
    return relative_errors(run.orthogonal_part(run.velocities[0]), value=known - rest, printed=printed)


@claim(
    "eq47",
    says="The energy of the deviations changes by (47), with a plus before the sum over i >= 3.",
    assumes="none: an identity",
    tried=f"{SETTING}, s = {LARGE:g}",
    holds=Below(IDENTITY, "printed", what="relative error", form=".1e"),
    corrected=Below(IDENTITY, what="relative error", form=".1e"),
    correction="a minus stands before the sum over i >= 3",
    reads="the identity against the rate of change by the network's own velocities",
)
def energy_rate(trial: Trial) -> Numbers:
    run = trained_networks(trial, scale=LARGE)
    scalars, (second, first) = terms(run), run.deviations
    turn, push = (run.orthogonal_part(velocity) for velocity in run.velocities)
    true = np.einsum("tsh,tsh->ts", second, turn) + np.einsum("tshk,tshk->ts", first[..., :2], push[..., :2])
    inner = np.einsum("tsh,tshi->tsi", second, first)
    known = 2 * scalars.bracket1 * inner[..., 0] - 2 * scalars.bracket2 * inner[..., 1]
    rest = (scalars.rest * inner[..., 2:]).sum(-1)
    return relative_errors(true, value=known - rest, printed=known + misprints.deviation_rest(rest))


@claim(
    "eq49",
    says="The energy of the deviations grows at most at the rate C(t) of (49).",
    assumes="small Gaussian start",
    tried=f"{SETTING}, s = {SCALE:g}; deviations of any direction",
    holds=Below(INEQUALITY, "printed", what="excess over the printed C(t), in units of the largest rate"),
    corrected=AllOf(
        Below(INEQUALITY, what="excess over it"),
        Below(
            INEQUALITY, "sharp", what="distance from the least C that serves, 2 sqrt(first^2 + second^2)", form=".0e"
        ),
    ),
    correction="C(t) with absolute values and twice the terms is never exceeded",
    reads="deviations in the worst proportion grow at up to {size:.1f}",
)
def growth_bound(trial: Trial) -> Numbers:
    run = trained_networks(trial)
    scalars = terms(run)
    residual = run.moments.cross - run.overlaps @ run.moments.cov
    # deviations of a, w1, w2 along one hidden direction move by this matrix: dE/dt <= 2 lambda_max E, attained
    matrix = np.zeros((*residual.shape[:2], 3, 3))
    matrix[..., 0, 1:] = matrix[..., 1:, 0] = residual[..., :2]
    worst = 2 * np.linalg.eigvalsh(matrix)[..., -1]
    size = worst.max()
    return {
        "value": (worst - scalars.rate).max() / size,
        "printed": (worst - scalars.printed_rate).max() / size,
        "sharp": np.abs(worst - scalars.sharp_rate).max() / size,
        "size": size,
    }


@claim(
    "eq48",
    says="What (48) leaves to the deviations of other w_i, the sum of sigma^2 |a^T w_i| |Delta w_i|^2/2, is O(s^3).",
    assumes="small Gaussian start",
    tried=f"{SETTING}, s from 1e-2 to 1e-6",
    holds=Above(2.9, what="least slope in s", because="O(s^3) is slope 3"),
    reads="the largest value of the sum along the runs: {sizes:.1e} for s = {scales:g}",
)
def rest_of_the_bound(trial: Trial) -> Numbers:
    runs = runs_by_scale(trial)
    sizes = []
    for run in runs.values():
        _, first = run.deviations
        sizes.append(0.5 * (np.abs(terms(run).rest) * (first[..., 2:] ** 2).sum(-2)).sum(-1).max())
    return {"value": slopes(list(runs), sizes)[1], "sizes": sizes, "scales": list(runs)}


@claim(
    "eq50",
    says="For any finite time the bound (50) on E is O(s^2).",
    assumes="small Gaussian start; C as the inequalities give it",
    tried=f"{SETTING}, s from 1e-2 to 1e-6, t up to {FINITE:g}",
    holds=AllOf(
        Above(
            -0.1,
            what="slope in s of the bound's factor",
            because="bounded as s -> 0 is slope 0; the factor at the end of training has slope -2",
        ),
        Below(
            1 + 1e-3,
            "share",
            what="E over its bound",
            because="an inequality; the integral is taken on the saved times by trapezia",
        ),
        Above(1.9, "energy", what="slope in s of E", because="O(s^2) is slope 2"),
    ),
    reads=f"up to t = {FINITE:g} the bound's factor is O(s^{{value:.2f}}); up to the end of training, which takes "
    "ln(1/s), it goes as s^{end:.2f}",
)
def gronwall(trial: Trial) -> Numbers:
    from scipy.integrate import cumulative_trapezoid

    runs = runs_by_scale(trial)
    early, end = [], []  # the bound's factor: the largest up to `FINITE`, and of the whole run
    energies, shares = [], []
    for run in runs.values():
        factors = np.exp(cumulative_trapezoid(terms(run).rate, run.times, axis=0, initial=0))
        finite = run.times <= FINITE
        energy = run.energy
        early.append(factors[finite].max())
        end.append(factors.max())
        energies.append(energy[finite].max())
        shares.append((energy / (energy[0] * factors))[finite].max())
    used = list(runs)
    return {
        "energy": slopes(used, energies)[1],
        "share": shares,
        "end": exponent(used, end)[0],
        "value": exponent(used[-2:], early[-2:])[0],
    }


@claim(
    "eq51",
    says="The loss never rises, and falls at the rate |grad L|^2/tau.",
    assumes="gradient flow (6)-(7)",
    tried=f"{SETTING}, s = {LARGE:g}; three of its states",
    holds=Below(RATE, "printed", what="error of dL/dt = -|grad L|^2/tau, over |grad L|^2/tau", form=".1e") & NO_RISE,
    corrected=Below(RATE, "right", what="error", form=".1e") & NO_RISE,
    correction="dL/dt = -|grad L|^2/(2 tau)",
    reads="(dL/dt)/|grad L|^2 = {ratio:.5f} in units of 1/tau, with a numerical gradient",
)
def loss_rate(trial: Trial) -> Numbers:
    run = trained_networks(trial, scale=LARGE)
    nudge = 1e-4
    turn, push = run.velocities
    ratios = []
    for i in (1, POINTS // 8, POINTS // 4):  # before, in and after the growth of w1
        first, second = run.first[i, 0], run.second[i, 0]
        data = run.moments.cov, run.moments.limit
        ahead, behind = (paper_loss(first + h * push[i, 0], second + h * turn[i, 0], *data) for h in (nudge, -nudge))
        gradient = numeric_gradient(first, second, *data)
        ratios.append((ahead - behind) / (2 * nudge) / sum((part**2).sum() for part in gradient))
    right, printed = (np.abs(np.array(ratios) - rate) for rate in (0.5 * misprints.LOSS_RATE, misprints.LOSS_RATE))
    return {"right": right, "printed": printed, "ratio": ratios[0], "rise": np.diff(run.loss, axis=0).max()}
