"""How training gets there: the projection, the invariant, the Riccati equation, rates, discrete steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre import misprints
from linnet.papers.varre.networks.path import transposed
from linnet.papers.varre.settings import INPUTS, OUTPUTS, SAMPLES, WIDTH
from linnet.papers.varre.tables.flows import paths
from linnet.randomness import generator
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import highest
from linnet.reproduction.old_claim import old as Claim

START = "orthogonal start of scale gamma"
SETTING = "gradient flow, n = 5, d = 10, k = 3, width 200, gamma from 1e-6 to 10"

EQUAL = Limit(1e-12, "500 steps of plain arithmetic, each with rounding of 1e-16")
INVARIANT = Limit(1e-8, "drift of a flow integrated to a relative tolerance of 1e-11")
OF_GAMMA = Limit(1e-3, "the invariant is 2 gamma I itself: at gamma = 1e-6 a drift of 1e-8 would hide it")
FRAME = Limit(1e-10, "the part outside the start's frame is an equilibrium of the flow: rounding alone")
RICCATI = Limit(1e-6, "alpha is divided by gamma >= 1e-3, which leaves about seven digits")
SPAN = Limit(1e-8, "outside the span of the data alpha never moves: rounding, over gamma")
PRINTED = Limit(1e-3, "a printed formula this near would pass for right")
RISE = Limit(1e-4, "a rise of |R|^2 far above the flow's tolerance")
SLACK = Limit(1e-12, "the inequality has no slack but rounding, in units of the first loss")
ONE_DIRECTION = Limit(1e-12, "rank one is exact: rounding alone")
TRAINED = Limit(0.1, "share of the loss that may be left by descent that trains")


def corrected(printed: bool, right: bool) -> Verdict:
    """Holds as printed, holds with the correction, or neither."""
    return Verdict.HOLDS if printed else Verdict.CORRECTED if right else Verdict.REFUTED


def measure_projection(trial: Trial) -> dict[str, Any]:
    """Descent at full width and at width d, in plain NumPy: the projection commutes with any step."""
    problem = ln.problems.gaussian_regression(trial.seed, samples=SAMPLES, in_dim=INPUTS, out_dim=OUTPUTS)
    start = ln.inits.orthogonal(trial.seed, in_dim=INPUTS, out_dim=OUTPUTS, width=WIDTH, scale=0.1)
    frame = start.first / np.sqrt(0.2)  # h x d, orthonormal columns: the paper's P transposed
    wide, narrow = (start.first, start.second), (frame.T @ start.first, start.second @ frame)
    for _ in range(500):
        wide, narrow = (plain_step(layers, problem, 0.02) for layers in (wide, narrow))
    error = highest(np.abs(frame @ narrow[0] - wide[0]).max(), np.abs(narrow[1] @ frame.T - wide[1]).max())
    return {"value": error, "uncertainty": float(EQUAL)}


def plain_step(
    layers: tuple[np.ndarray, np.ndarray], problem: ln.Problem, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """One step of gradient descent."""
    first, second = layers
    residual = problem.cross - second @ first @ problem.cov
    return first + rate * second.T @ residual, second + rate * residual @ first.T


def judge_projection(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < EQUAL else Verdict.REFUTED


def tell_projection(numbers: Numbers) -> str:
    return f"width 200 against width 10, 500 steps: largest difference {numbers['value']:.1e}"


def measure_invariant(trial: Trial) -> dict[str, Any]:
    """Z1^T Z1 - Z2 Z2^T against 2 gamma I on all ten inputs, in the frame of the start; what leaves the frame."""
    drift, share, outside, count = 0.0, 0.0, 0.0, 0
    for path in paths(trial, "regression", "scalar"):
        first, second = path.projected_first, path.projected_second
        gram = first @ transposed(first) - transposed(second) @ second
        error = float(np.abs(gram - 2 * path.gamma * np.eye(INPUTS)).max())
        drift, outside, count = highest(drift, error), highest(outside, path.off_frame), count + 1
        if path.gamma >= 1e-6:
            share = highest(share, error / (2 * path.gamma))
    return {"value": drift, "share": share, "off_frame": outside, "flows": count, "uncertainty": float(INVARIANT)}


def judge_invariant(numbers: Numbers) -> Verdict:
    holds = numbers["value"] < INVARIANT and numbers["share"] < OF_GAMMA and numbers["off_frame"] < FRAME
    return Verdict.HOLDS if holds else Verdict.REFUTED


def tell_invariant(numbers: Numbers) -> str:
    return (
        f"Z1^T Z1 - Z2 Z2^T is {numbers['value']:.1e} from 2 gamma I at most (limit {INVARIANT:.0e}), "
        f"{numbers['share']:.1e} of 2 gamma from gamma = 1e-6 on (limit {OF_GAMMA:.0e}), on all 10 inputs of "
        f"{numbers['flows']} flows; outside the start's frame {numbers['off_frame']:.0e}"
    )


def measure_alpha(trial: Trial) -> dict[str, Any]:
    """alpha from the trained layers, its velocity against the Riccati equation, the predictor with and without 2
    gamma."""
    theory = ln.theories.spectral_bias
    speed, back, printed = 0.0, 0.0, 0.0
    for path in paths(trial, "regression"):
        if path.gamma < 1e-3:  # 1 - |alpha| is of order gamma: below, arithmetic loses the predictor
            continue
        for i in range(0, len(path.times), 7):
            first, second, product = path.first[i], path.second[i], path.product[i]
            inverse = np.linalg.inv(first.T @ first)
            a = product @ inverse
            moving = first.T @ (second.T @ path.residual[i])
            velocity = (path.velocity[i] - a @ (moving + moving.T)) @ inverse
            expected = theory.alpha_velocity(a, path.cov, path.cross, path.gamma)
            speed = highest(speed, float(np.abs(velocity - expected).max() / np.abs(path.cross).max()))
            size = np.abs(product).max()
            back = highest(back, float(np.abs(theory.predictor(a, path.gamma) - product).max() / size))
            printed = highest(printed, float(np.abs(misprints.predictor(a) - product).max() / size))
    # the inverse in alpha is as badly conditioned as gamma is small
    leak = highest(path.outside for path in paths(trial, "regression", "scalar", "white") if path.gamma >= 1e-3)
    return {"value": printed, "uncertainty": float(RICCATI), "back": back, "speed": speed, "leak": leak}


def judge_alpha(numbers: Numbers) -> Verdict:
    right = numbers["speed"] < RICCATI and numbers["back"] < RICCATI and numbers["leak"] < SPAN
    return corrected(numbers["value"] < PRINTED, right)


def tell_alpha(numbers: Numbers) -> str:
    return (
        f"predictor from alpha: {numbers['back']:.1e} off with the factor 2 gamma of Lemma C.2, {numbers['value']:.1e} "
        f"without it as in Lemma 3.3; Riccati equation of alpha {numbers['speed']:.1e} off; outside the span of the "
        f"data {numbers['leak']:.0e} of alpha"
    )


def measure_rate(trial: Trial) -> dict[str, Any]:
    theory = ln.theories.spectral_bias
    rises, slack, count = [], -np.inf, 0
    for path in paths(trial, "regression"):
        square = (path.residual**2).sum(axis=(-1, -2))
        square = square[square > 1e-16 * square[0]]
        if path.gamma == 1e-4:
            rises.append(float((square / np.minimum.accumulate(square)).max() - 1))
        rate = theory.loss_rate(path.cov, path.gamma)
        falling = -(path.residual * path.velocity).sum(axis=(-1, -2))
        keep = path.loss > 1e-16 * path.loss[0]
        slack = highest(slack, float((falling + rate * path.loss)[keep].max() / path.loss[0]))
        count += 1
    return {
        "value": built_rise(),
        "rising": sum(rise > RISE for rise in rises),
        "draws": len(rises),
        "largest_rise": highest(rises),
        "slack": slack,
        "flows": count,
    }


def judge_rate(numbers: Numbers) -> Verdict:
    return corrected(numbers["rising"] == 0 and numbers["value"] < RISE, numbers["slack"] < SLACK)


def tell_rate(numbers: Numbers) -> str:
    return (
        f"|R|^2 rises by {numbers['value']:.0%} for Sigma = diag(9, 0.09) and A = [[1, 0], [1, 5]], and in "
        f"{numbers['rising']} of {numbers['draws']} seeds of the regression by up to {numbers['largest_rise']:.1%}; "
        f"dL/dt <= -4 gamma lambda L holds on {numbers['flows']} flows (worst excess {numbers['slack']:.0e})"
    )


def built_rise() -> float:
    """How much |R|^2 rises above its least earlier value, gamma = 1e-4, by SciPy on two inputs and two outputs."""
    from scipy.integrate import solve_ivp

    cov, target = np.diag([9.0, 0.09]), np.array([[1.0, 0.0], [1.0, 5.0]])

    def residual(w: np.ndarray) -> np.ndarray:
        return (target - w[1] @ w[0]) @ cov

    def velocity(_: float, flat: np.ndarray) -> np.ndarray:
        w = flat.reshape(2, 2, 2)
        r = residual(w)
        return np.stack([w[1].T @ r, r @ w[0].T]).ravel()

    start = np.stack([np.sqrt(2e-4) * np.eye(2), np.zeros((2, 2))])
    times = np.linspace(0, 15, 300)
    run = solve_ivp(velocity, (0, 15.0), start.ravel(), t_eval=times, method="DOP853", rtol=1e-11, atol=1e-13)
    squares = np.array([(residual(state.reshape(2, 2, 2)) ** 2).sum() for state in run.y.T])
    return float((squares / np.minimum.accumulate(squares)).max() - 1)


def measure_discrete(trial: Trial) -> dict[str, Any]:
    """One output, whitened data, W1 = I: the second singular value of W1 - I under descent with any step, and the
    directions of R and a."""
    target = generator(trial.seed, 8).standard_normal((1, 6))
    problem = ln.Problem.from_target(target / np.linalg.norm(target))
    rates = np.array([0.01, 0.1, 0.4, 0.8])
    starts = ln.Weights(np.repeat(np.eye(6)[None], 4, 0), np.zeros((4, 1, 6)))
    run = ln.gradient_descent(problem, starts, learning_rate=rates, steps=200, save_every=20)
    values = np.linalg.svd(run.weights.first - np.eye(6), compute_uv=False)[1:]
    direction = problem.cross[0] / np.linalg.norm(problem.cross)
    vectors = np.concatenate([problem.cross - run.products[:-1], run.weights.second[1:]])[..., 0, :]
    along = vectors @ direction
    turned = np.linalg.norm(vectors - along[..., None] * direction, axis=-1).max()  # a and R at first have length one
    first, second = np.eye(6), np.zeros((1, 6))
    for _ in range(200):
        first, second = misprints.discrete_step(first, second, problem.cross - second @ first, 0.1)
    return {
        "value": float((values[..., 1] / values[..., 0]).max()),
        "uncertainty": float(ONE_DIRECTION),
        "left": float((run.loss[-1] / run.loss[0]).max()),
        "turned": float(turned),
        "printed": float(problem.loss(second @ first) / run.loss[0, 0]),
    }


def judge_discrete(numbers: Numbers) -> Verdict:
    right = highest(numbers["value"], numbers["turned"]) < ONE_DIRECTION and numbers["left"] < TRAINED
    return corrected(numbers["printed"] < TRAINED, right)


def tell_discrete(numbers: Numbers) -> str:
    return (
        f"second over first singular value of W - W(0): {numbers['value']:.0e} at most for steps 0.01 to 0.8, with "
        f"a + eta W^T R, R and a turn by {numbers['turned']:.0e}, and {numbers['left']:.0e} of the loss is left at "
        f"most; with the printed a + eta W^T a, which never leaves a = 0, {numbers['printed']:.0%}"
    )


CLAIMS = [
    Claim(
        name="lemma-3.1",
        number="Lemma 3.1",
        sentence="A wide network from this start stays in the span of its start: it is a network of width d, lifted.",
        assumptions=START,
        setting="descent in plain NumPy, width 200 against width 10, 500 steps",
        claimed="equal",
        expected=Verdict.HOLDS,
        measure=measure_projection,
        judge=judge_projection,
        tell=tell_projection,
        limits={"difference": EQUAL},
    ),
    Claim(
        name="lemma-3.2",
        number="Lemma 3.2, Lemma C.1",
        sentence="The difference of the layers' Gram matrices stays 2 gamma times the identity.",
        assumptions=START,
        setting=SETTING,
        claimed="2 gamma I",
        expected=Verdict.HOLDS,
        measure=measure_invariant,
        judge=judge_invariant,
        tell=tell_invariant,
        limits={"difference": INVARIANT, "difference over 2 gamma": OF_GAMMA, "outside the frame": FRAME},
    ),
    Claim(
        name="lemma-3.3",
        number="Lemma 3.3, Lemma C.2, Lemma C.3",
        sentence="The matrix alpha follows a Riccati equation in the span of the data, and gives the predictor.",
        assumptions=START,
        setting=SETTING + "; of them gamma >= 1e-3 alone",
        claimed="beta = (1 - alpha alpha^T)^-1 alpha",
        expected=Verdict.CORRECTED,
        measure=measure_alpha,
        judge=judge_alpha,
        tell=tell_alpha,
        limits={"as printed": PRINTED, "equation and predictor": RICCATI, "outside the span": SPAN},
    ),
    Claim(
        name="lemma-C.6-rate",
        number="Lemma C.6, eq. (C.13)",
        sentence="The squared norm of the residual decays at least at the rate 2 gamma lambda, lambda the least "
        "eigenvalue.",
        assumptions=START,
        setting=SETTING + "; 12 seeds at gamma = 1e-4 (6 if quick), a case built for it",
        claimed="|R|^2 never rises",
        expected=Verdict.CORRECTED,
        measure=measure_rate,
        judge=judge_rate,
        tell=tell_rate,
        limits={"rise": RISE, "slack": SLACK},
    ),
    Claim(
        name="discrete-step",
        number="Appendix C.1",
        sentence="On whitened data, descent with any step changes the first layer by a matrix of rank one.",
        assumptions="one output, W1 = I, a = 0, whitened data",
        setting="descent, d = 6, steps 0.01 to 0.8",
        claimed="rank one",
        expected=Verdict.CORRECTED,
        measure=measure_discrete,
        judge=judge_discrete,
        tell=tell_discrete,
        limits={"rank one": ONE_DIRECTION, "loss left": TRAINED},
    ),
]
