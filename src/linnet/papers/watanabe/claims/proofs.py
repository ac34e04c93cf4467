"""Watanabe et al., Appendix C: the equations of the alignment proof, tried on the states of trained networks.

Velocities and residuals are the network's own, from its covariance matrix; lambda1, lambda2, nu and |Sigma_xy| in the
formulas are the theory's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linnet.papers.watanabe import misprints
from linnet.papers.watanabe.claims.alignment import LARGE
from linnet.papers.watanabe.claims.equations import numeric_gradient, paper_loss
from linnet.papers.watanabe.claims.rules import below, corrected, scales, slopes
from linnet.papers.watanabe.networks import Networks, trained
from linnet.papers.watanabe.settings import ALIGNMENT, DIM, POINTS, SCALE, SEEDS, SPIKE, WIDTH
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, highest
from linnet.reproduction.old_claim import old as Claim
from linnet.theories.spiked import TwoPhase

SETTING = f"d = {DIM}, m = {WIDTH}, {SEEDS} seeds, spike 20, alignment 0.3, every saved state of a gradient flow"
IDENTITY = Limit(1e-9, "an algebraic identity, up to rounding")
INEQUALITY = Limit(1e-9, "an inequality between numbers of order 1, up to rounding")
RATE = Limit(1e-4, "a difference quotient of a loss of size 3 over 2e-4 time units, good to 1e-6")
FIXED_SLOPE = Limit(-0.1, "bounded as s -> 0 is slope 0; the factor at the end of training has slope -2")
ENERGY_SLOPE = Limit(1.9, "O(s^2) is slope 2")
GRONWALL = Limit(1 + 1e-3, "an inequality; the integral is taken on the saved times by trapezia")
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
    """The scalars, with the constants of the theory."""
    along, theory = run.overlaps, TwoPhase(run.spike, run.alignment)
    bracket1 = theory.correlation - (theory.lambda1 * along[..., 0] - theory.nu * along[..., 1])
    bracket2 = -theory.nu * along[..., 0] + theory.lambda2 * along[..., 1]
    return Terms(bracket1, bracket2, theory.variance * along[..., 2:])


def energy(run: Networks) -> np.ndarray:
    """E of (46) (time, seed)."""
    second, first = run.deviations
    return 0.5 * ((second**2).sum(-1) + (first[..., :2] ** 2).sum((-1, -2)))


def measure_eq43(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, LARGE, trial.seed)
    found, (second, _) = terms(run), run.deviations
    true = run.across(run.velocities[1])[..., :2]
    formula = np.stack([found.bracket1[..., None] * second, -found.bracket2[..., None] * second], axis=-1)
    return {"value": float(np.abs(true - formula).max() / np.abs(true).max())}


def tell_eq43(numbers: Numbers) -> str:
    return f"both identities hold to {numbers['value']:.1e} of their size"


def measure_eq45(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, LARGE, trial.seed)
    found, (_, first) = terms(run), run.deviations
    true = run.across(run.velocities[0])
    known = found.bracket1[..., None] * first[..., 0] - found.bracket2[..., None] * first[..., 1]
    rest = np.einsum("tsi,tshi->tsh", found.rest, first[..., 2:])
    size = np.abs(true).max()
    formulas = {"value": known - rest, "printed": known + misprints.deviation_rest(rest)}
    return {name: float(np.abs(true - formula).max() / size) for name, formula in formulas.items()}


def tell_sign(numbers: Numbers) -> str:
    return (
        f"with a minus before the last sum the identity holds to {numbers['value']:.1e}; with the printed plus it is "
        f"off by {numbers['printed']:.1%}"
    )


def measure_eq47(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, LARGE, trial.seed)
    found, (second, first) = terms(run), run.deviations
    turn, push = (run.across(velocity) for velocity in run.velocities)
    true = np.einsum("tsh,tsh->ts", second, turn) + np.einsum("tshk,tshk->ts", first[..., :2], push[..., :2])
    inner = np.einsum("tsh,tshi->tsi", second, first)
    known = 2 * found.bracket1 * inner[..., 0] - 2 * found.bracket2 * inner[..., 1]
    rest = (found.rest * inner[..., 2:]).sum(-1)
    formulas = {"value": known - rest, "printed": known + misprints.deviation_rest(rest)}
    return {name: float(np.abs(true - form).max() / np.abs(true).max()) for name, form in formulas.items()}


def measure_eq49(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, SCALE, trial.seed)
    found = terms(run)
    residual = run.moments.cross - run.overlaps @ run.moments.cov
    # deviations of a, w1, w2 along one hidden direction move by this matrix: dE/dt <= 2 lambda_max E, attained
    matrix = np.zeros((*residual.shape[:2], 3, 3))
    matrix[..., 0, 1:] = matrix[..., 1:, 0] = residual[..., :2]
    worst = 2 * np.linalg.eigvalsh(matrix)[..., -1]
    size = float(worst.max())
    return {
        "value": float((worst - found.rate).max() / size),
        "printed": float((worst - found.printed_rate).max() / size),
        "sharp": float(np.abs(worst - found.sharp_rate).max() / size),
        "size": size,
    }


def judge_eq49(numbers: Numbers) -> Verdict:
    if numbers["printed"] < INEQUALITY:
        return Verdict.HOLDS
    right = numbers["value"] < INEQUALITY and numbers["sharp"] < INEQUALITY
    return Verdict.CORRECTED if right else Verdict.REFUTED


def tell_eq49(numbers: Numbers) -> str:
    return (
        f"deviations in the worst proportion grow faster than the printed C(t) by up to {numbers['printed']:.0%} of "
        f"the largest rate {numbers['size']:.1f}; with absolute values and twice the terms C(t) is never exceeded, and "
        f"the least C that serves, 2 sqrt(first^2 + second^2), is attained to {numbers['sharp']:.0e}"
    )


def measure_eq50(trial: Trial) -> dict[str, float]:
    from scipy.integrate import cumulative_trapezoid

    used, early, end, energies, shares = scales(trial), [], [], [], []
    for s in used:
        run = trained(SPIKE, ALIGNMENT, s, trial.seed)
        exponents = cumulative_trapezoid(terms(run).rate, run.times, axis=0, initial=0)
        finite = run.times <= FINITE
        early.append(float(np.exp(exponents[finite]).max()))
        end.append(float(np.exp(exponents).max()))
        E = energy(run)
        energies.append(float(E[finite].max()))
        shares.append(float((E / (E[0] * np.exp(exponents)))[finite].max()))
    return {
        "value": exponent(used[-2:], early[-2:])[0],
        "energy": slopes(used, energies)[1],
        "share": highest(shares),
        "end": exponent(used, end)[0],
    }


def judge_eq50(numbers: Numbers) -> Verdict:
    bounded = numbers["value"] > FIXED_SLOPE and numbers["share"] < GRONWALL
    return Verdict.HOLDS if bounded and numbers["energy"] > ENERGY_SLOPE else Verdict.REFUTED


def tell_eq50(numbers: Numbers) -> str:
    return (
        f"up to t = {FINITE:g} the bound's factor is O(s^{numbers['value']:.2f}), E is O(s^{numbers['energy']:.2f}) "
        f"and below it; up to the end of training, which takes ln(1/s), the factor grows as s^{numbers['end']:.2f}: "
        "'for any finite time' is right, 'throughout training' does not follow from it, though it is true (appC)"
    )


def measure_eq51(trial: Trial) -> dict[str, float]:
    run, nudge = trained(SPIKE, ALIGNMENT, LARGE, trial.seed), 1e-4
    turn, push = run.velocities
    ratios = []
    for i in (1, POINTS // 8, POINTS // 4):  # before, in and after the growth of w1
        first, second = run.first[i, 0], run.second[i, 0]
        data = run.moments.cov, run.moments.limit
        ahead, behind = (paper_loss(first + h * push[i, 0], second + h * turn[i, 0], *data) for h in (nudge, -nudge))
        gradient = numeric_gradient(first, second, *data)
        ratios.append(float((ahead - behind) / (2 * nudge) / sum((part**2).sum() for part in gradient)))
    return {
        "value": highest(abs(ratio - 0.5 * misprints.LOSS_RATE) for ratio in ratios),
        "printed": highest(abs(ratio - misprints.LOSS_RATE) for ratio in ratios),
        "ratio": ratios[0],
        "rise": float(np.diff(run.loss, axis=0).max()),
    }


def tell_eq51(numbers: Numbers) -> str:
    return (
        f"(dL/dt)/|grad L|^2 = {numbers['ratio']:.5f} in units of 1/tau, with a numerical gradient: -1/2, where -1 is "
        f"printed; the loss never rises along the runs (largest change {numbers['rise']:.0e})"
    )


CLAIMS = [
    Claim(
        name="eq43",
        number="Eqs. (43)-(44)",
        sentence="The deviations of w1 and w2 obey (43) and (44).",
        assumptions="none: an identity",
        setting=f"{SETTING}, s = {LARGE:g}",
        claimed="identity",
        expected=Verdict.HOLDS,
        measure=measure_eq43,
        judge=below(value=IDENTITY),
        tell=tell_eq43,
        limits={"relative error": IDENTITY},
    ),
    Claim(
        name="eq45",
        number="Eq. (45)",
        sentence="The deviation of a obeys (45), with a plus before the sum over i >= 3.",
        assumptions="none: an identity",
        setting=f"{SETTING}, s = {LARGE:g}",
        claimed="identity",
        expected=Verdict.CORRECTED,
        measure=measure_eq45,
        judge=corrected(IDENTITY),
        tell=tell_sign,
        limits={"relative error": IDENTITY},
    ),
    Claim(
        name="eq47",
        number="Eqs. (46)-(47)",
        sentence="The energy of the deviations changes by (47), with a plus before the sum over i >= 3.",
        assumptions="none: an identity",
        setting=f"{SETTING}, s = {LARGE:g}",
        claimed="identity",
        expected=Verdict.CORRECTED,
        measure=measure_eq47,
        judge=corrected(IDENTITY),
        tell=tell_sign,
        limits={"relative error": IDENTITY},
    ),
    Claim(
        name="eq49",
        number="Eqs. (48)-(49)",
        sentence="The energy of the deviations grows at most at the rate C(t) of (49).",
        assumptions="small Gaussian start",
        setting=f"{SETTING}, s = {SCALE:g}; deviations of any direction",
        claimed="dE/dt <= C E",
        expected=Verdict.CORRECTED,
        measure=measure_eq49,
        judge=judge_eq49,
        tell=tell_eq49,
        limits={"excess over the largest rate": INEQUALITY},
    ),
    Claim(
        name="eq50",
        number="Eq. (50)",
        sentence="For any finite time the bound (50) on E is O(s^2).",
        assumptions="small Gaussian start; C as the inequalities give it",
        setting=f"{SETTING}, s from 1e-2 to 1e-6, t up to {FINITE:g}",
        claimed="bounded factor, E = O(s^2)",
        expected=Verdict.HOLDS,
        measure=measure_eq50,
        judge=judge_eq50,
        tell=tell_eq50,
        limits={"slope of the factor": FIXED_SLOPE, "slope of E": ENERGY_SLOPE, "E over its bound": GRONWALL},
    ),
    Claim(
        name="eq51",
        number="Eq. (51)",
        sentence="The loss falls at the rate |grad L|^2/tau.",
        assumptions="gradient flow (6)-(7)",
        setting=f"{SETTING}, s = {LARGE:g}; three of its states",
        claimed="dL/dt = -|grad L|^2/tau",
        expected=Verdict.CORRECTED,
        measure=measure_eq51,
        judge=corrected(RATE),
        tell=tell_eq51,
        limits={"error of the ratio": RATE},
    ),
]
