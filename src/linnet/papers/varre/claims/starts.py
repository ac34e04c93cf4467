"""What the start decides beyond its scale: balance, zero, Gaussian entries, and a second layer that is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.varre.claims.dynamics import plain_step
from linnet.papers.varre.networks.regression import BothLayers, both_layers, plain_flow, two_frames
from linnet.papers.varre.settings import INPUTS, OUTPUTS, SAMPLES, WIDTH
from linnet.papers.varre.tables.flows import paths
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, highest, lowest, within
from linnet.reproduction.old_claim import old as Claim

ROUNDING = Limit(1e-7, "the flow is integrated to a relative tolerance of 1e-9 and rank is conserved exactly")
MOVED = Limit(1e-3, "the layer must have been trained, or its rank says nothing")
HALF = Limit(0.05, "fluctuations of a sum of l terms: an exponent of -1/2, sampled")
DEPARTS = Limit(1e-8, "a matrix of zeros has a gradient of zero; rounding alone")
RANK = 1e-6  # singular values of the constraints below this are rounding: squares of them are zeros of 1e-16
EXACT = Limit(1e-6, "the flow is integrated to a relative tolerance of 1e-9")
IDLE = Limit(
    0.3, "change of the values that should stay: Gaussian layers of width 200 are sqrt(d/l) = 0.22 from orthogonal"
)
GROWTH = Limit(0.9, "share of draws in which every one of the k values grows and ends above the others")
CLOSER = Limit(0.2, "the same distance for the values that grow, of which it is a smaller part")


def _problem(seed: int) -> ln.Problem:
    return ln.problems.gaussian_regression([seed, 21], samples=SAMPLES, in_dim=INPUTS, out_dim=OUTPUTS)


def measure_dimensions(trial: Trial) -> dict[str, Any]:
    """Ranks of the constraints on the predictor and on the layers, at a trained network of width 200."""
    path = next(iter(paths(trial, "regression")))
    scales, vectors = np.linalg.eigh(path.whole_cov)
    seen = np.sqrt(np.maximum(scales, 0.0))[:, None] * vectors.T  # X up to a rotation of the samples
    linear = np.kron(seen, np.eye(OUTPUTS))  # beta -> X beta
    # dA = W2 dW1 + dW2 W1 for each weight in turn, seen by the samples
    first = np.einsum("ko,si->oski", path.whole_second.T, seen).reshape(-1, INPUTS * WIDTH)
    second = np.kron(np.eye(OUTPUTS), seen @ path.whole_first.T).reshape(OUTPUTS * INPUTS, -1)
    layers = np.concatenate([first, second], axis=1)
    return {
        "value": layers.shape[1] - int(np.linalg.matrix_rank(layers, tol=RANK)),
        "claimed": WIDTH * (INPUTS + OUTPUTS) - SAMPLES * OUTPUTS,
        "predictor": linear.shape[1] - int(np.linalg.matrix_rank(linear, tol=RANK)),
        "claimed_predictor": (INPUTS - SAMPLES) * OUTPUTS,
    }


def judge_dimensions(numbers: Numbers) -> Verdict:
    equal = numbers["value"] == numbers["claimed"] and numbers["predictor"] == numbers["claimed_predictor"]
    return Verdict.HOLDS if equal else Verdict.REFUTED


def tell_dimensions(numbers: Numbers) -> str:
    return (
        f"directions that keep the labels: {numbers['predictor']} for the predictor (claimed "
        f"{numbers['claimed_predictor']}), {numbers['value']} for the layers (claimed {numbers['claimed']})"
    )


def measure_balanced(trial: Trial) -> dict[str, Any]:
    """sigma_(k+1)/sigma_1 of W1 along flows from balanced starts of three scales."""
    problem, times = _problem(trial.seed), np.geomspace(0.1, 100.0, 20)
    random = np.random.default_rng([trial.seed, 22])
    product = random.standard_normal((OUTPUTS, INPUTS))
    ratios, moves = [], []
    for scale in (1e-3, 0.1, 3.0):
        narrow = ln.inits.balanced(scale * product)  # k hidden units; turned into 20
        frame = np.linalg.qr(random.standard_normal((2 * INPUTS, narrow.width)))[0]
        start = ln.Weights(frame @ narrow.first, narrow.second @ frame.T)
        states = plain_flow(problem, start, times)
        values = np.linalg.svd(np.stack([state.first for state in states]), compute_uv=False)
        ratios.append(float((values[:, OUTPUTS] / values[:, 0]).max()))
        moves.append(float(np.abs(values[-1] - values[0]).max()))
    return {"value": highest(ratios), "moved": lowest(moves)}


def judge_balanced(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < ROUNDING and numbers["moved"] > MOVED else Verdict.REFUTED


def tell_balanced(numbers: Numbers) -> str:
    return (
        f"sigma_4/sigma_1 of W1 is {numbers['value']:.0e} at most along flows from balanced starts of scale 0.001 to 3 "
        f"(limit {ROUNDING:.0e}), while its values move by {numbers['moved']:.2g} or more"
    )


def measure_zero(trial: Trial) -> dict[str, Any]:
    """Ten steps from zero, and the loss a little to both sides of it along the steepest direction there."""
    problem = _problem(trial.seed)
    layers = np.zeros((WIDTH, INPUTS)), np.zeros((OUTPUTS, WIDTH))
    for _ in range(10):
        layers = plain_step(layers, problem, 0.1)
    left, _, right = np.linalg.svd(problem.cross)
    base, gains = float(problem.loss(np.zeros((OUTPUTS, INPUTS)))), []
    for sign in (1.0, -1.0):
        product = 1e-4 * sign * np.outer(left[:, 0], right[0])
        gains.append(float(problem.loss(product)) - base)
    return {"value": highest(np.abs(layers[0]).max(), np.abs(layers[1]).max()), "down": gains[0], "up": gains[1]}


def judge_zero(numbers: Numbers) -> Verdict:
    saddle = numbers["down"] < 0 < numbers["up"]
    return Verdict.HOLDS if numbers["value"] < DEPARTS and saddle else Verdict.REFUTED


def tell_zero(numbers: Numbers) -> str:
    return (
        f"ten steps from W1 = W2 = 0 move the layers by {numbers['value']:.0e}; beside it the loss changes by "
        f"{numbers['down']:+.1e} and {numbers['up']:+.1e}: a saddle"
    )


def measure_gaussian(trial: Trial) -> dict[str, Any]:
    """Distance of W1^T W1/(l sigma^2) from the identity, for d = 10 Gaussian vectors of growing length."""
    widths, distances = (200, 800, 3200, 12_800), []
    for width in widths:
        draws = []
        for draw in range(10):
            first = ln.inits.gaussian(
                [trial.seed, 23, draw], in_dim=INPUTS, out_dim=1, width=width, first_std=1.0, second_std=0.0
            ).first
            draws.append(np.linalg.norm(first.T @ first / width - np.eye(INPUTS), 2))
        distances.append(float(np.mean(draws)))
    slope = exponent(widths, distances)
    return {"value": slope[0], "uncertainty": slope[1], "first": distances[0], "last": distances[-1]}


def judge_gaussian(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if abs(numbers["value"] + 0.5) < HALF else Verdict.REFUTED


def tell_gaussian(numbers: Numbers) -> str:
    slope = within((numbers["value"], numbers["uncertainty"]))
    return (
        f"W1^T W1/(l sigma^2) is {numbers['first']:.2f} from the identity at l = 200, {numbers['last']:.2f} at "
        f"l = 12 800: it falls like l^{slope}"
    )


def measure_both_layers(trial: Trial) -> dict[str, Any]:
    """Figure 4: which values grow and which stay, and both predictions; and the same from exactly orthogonal layers."""
    theory = ln.theories.spectral_bias
    settings = BothLayers(seed=1000 * trial.seed, seeds=8 if trial.quick else 20)
    values, modes, losses = both_layers(settings, np.array([0.01, 300.0]))
    start, end = values
    trend, idle, printed, ours = [], 0.0, 0.0, 0.0
    gamma = settings.first_variance * WIDTH / 2
    for i, variance in enumerate(settings.second_variances):
        grown = (end[:, i, :OUTPUTS] > start[:, i, :OUTPUTS]).all(axis=1)
        apart = end[:, i, OUTPUTS - 1] > end[:, i, OUTPUTS]
        trend.append(grown & apart)
        idle = highest(idle, np.abs(end[:, i, OUTPUTS:] / np.sort(start[:, i])[:, ::-1][:, OUTPUTS:] - 1).max())
        for name, second in (("printed", 0.0), ("ours", variance * WIDTH / 2)):
            expected = theory.final_singular_values(modes[:, i], gamma, INPUTS, second_gamma=second)[0][:, :OUTPUTS]
            error = float(np.abs(end[:, i, :OUTPUTS] / expected - 1).max())
            printed, ours = (highest(printed, error), ours) if name == "printed" else (printed, highest(ours, error))
    return {
        "value": float(np.mean(trend)),
        "idle": idle,
        "printed": printed,
        "ours": ours,
        "exact": _exact_second_layer(trial.seed),
        "loss": float(losses.max()),
        "draws": settings.seeds,
    }


def _exact_second_layer(seed: int) -> float:
    """Distance of the final singular values from the formula with a second scale, from orthogonal layers."""
    theory, worst = ln.theories.spectral_bias, 0.0
    scales = ((0.1, 1.0), (0.1, 0.1), (1.0, 0.05))
    problem = _problem(seed)
    modes = np.linalg.svd(problem.min_norm_solution(), compute_uv=False)
    for first_gamma, second_gamma in scales:
        start = two_frames(
            [seed, 24],
            in_dim=INPUTS,
            out_dim=OUTPUTS,
            width=2 * INPUTS,
            first_gamma=first_gamma,
            second_gamma=second_gamma,
        )
        end = plain_flow(problem, start, np.array([400.0]))[-1]
        expected = theory.final_singular_values(modes, first_gamma, INPUTS, second_gamma=second_gamma)
        for layer, values in zip((end.first, end.second), expected, strict=True):
            found = np.linalg.svd(layer, compute_uv=False)
            worst = highest(worst, np.abs(found - np.sort(values)[::-1]).max())
    return worst


def judge_both_layers(numbers: Numbers) -> Verdict:
    trend = numbers["value"] >= GROWTH and numbers["idle"] < IDLE
    explained = numbers["exact"] < EXACT and numbers["ours"] < CLOSER
    return Verdict.HOLDS if trend and explained else Verdict.REFUTED


def tell_both_layers(numbers: Numbers) -> str:
    return (
        f"in {numbers['value']:.0%} of {2 * numbers['draws']} runs exactly the three values grow that should, the "
        f"others move by {numbers['idle']:.1%} at most; they end up to {numbers['printed']:.0%} from Corollary 3.1, "
        f"which has no second layer, and {numbers['ours']:.0%} from the formula with one (exact to "
        f"{numbers['exact']:.0e} for orthogonal layers)"
    )


CLAIMS = [
    Claim(
        name="interpolators",
        number="section 2, Interpolators",
        sentence="Interpolating predictors form an affine set of dimension (d - n) k, interpolating layers a manifold "
        "of dimension l(d + k) - nk.",
        assumptions="data in general position",
        setting="n = 5, d = 10, k = 3, width 200, at a trained network",
        claimed="15 and 2585",
        expected=Verdict.HOLDS,
        measure=measure_dimensions,
        judge=judge_dimensions,
        tell=tell_dimensions,
    ),
    Claim(
        name="balanced-rank",
        number="section 2, Initialization",
        sentence="From a balanced start the first layer has rank k at most at all times, whatever the scale.",
        assumptions="W1 W1^T = W2^T W2 at the start",
        setting="gradient flow, n = 5, d = 10, k = 3, 20 hidden units, scales 0.001, 0.1 and 3",
        claimed="sigma_(k+1) = 0",
        expected=Verdict.HOLDS,
        measure=measure_balanced,
        judge=judge_balanced,
        tell=tell_balanced,
        limits={"ratio": ROUNDING, "moved": MOVED},
    ),
    Claim(
        name="zero-start",
        number="after Theorem 3.1",
        sentence="With gamma = 0 training stays where it starts, at a saddle point of the loss.",
        assumptions="W1 = W2 = 0",
        setting="ten steps of descent, n = 5, d = 10, k = 3, width 200",
        claimed="no motion, and a descent direction",
        expected=Verdict.HOLDS,
        measure=measure_zero,
        judge=judge_zero,
        tell=tell_zero,
        limits={"motion": DEPARTS},
    ),
    Claim(
        name="gaussian-orthogonal",
        number="section 2, Initialization",
        sentence="For a large width, d Gaussian vectors of that length are almost orthogonal.",
        assumptions="independent entries",
        setting="d = 10, width 200 to 12 800, ten draws each",
        claimed="almost orthogonal",
        expected=Verdict.HOLDS,
        measure=measure_gaussian,
        judge=judge_gaussian,
        tell=tell_gaussian,
        limits={"exponent": HALF},
    ),
    Claim(
        name="second-layer",
        number="Figure 4, Appendix C.1",
        sentence="With a second layer that does not start at zero the singular values continue to follow the predicted "
        "trend.",
        assumptions="Gaussian starts, variance 0.001 in the first layer, 0.01 and 0.001 in the second",
        setting="gradient flow, n = 5, d = 10, k = 3, width 200, 20 seeds (8 in quick mode)",
        claimed="k values grow, the others stay",
        expected=Verdict.HOLDS,
        measure=measure_both_layers,
        judge=judge_both_layers,
        tell=tell_both_layers,
        limits={"runs": GROWTH, "idle values": IDLE, "orthogonal layers": EXACT, "Gaussian layers": CLOSER},
    ),
]
