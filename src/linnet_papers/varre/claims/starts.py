"""What the start decides beyond its scale: balance, zero, Gaussian entries, and a second layer that is not zero."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent
from linnet_papers.reproduction.rows import above, at_least, below, both, corrected, fact, printed, within
from linnet_papers.varre.grids import flows
from linnet_papers.varre.settings import INPUTS, OUTPUTS, SAMPLES, SIZES, WIDTH
from linnet_papers.varre.training.regression import (
    BothLayers,
    draw_regression,
    flows_from_both_layers,
    orthogonal_layers,
    plain_flow,
    plain_step,
)

RANK = 1e-6  # singular values of the constraints below this are rounding: squares of them are zeros of 1e-16
ROUNDING = below(1e-7, "the flow is integrated to a relative tolerance of $10^{-9}$ and rank is conserved exactly")
EXACT = below(1e-6, "the flow is integrated to a relative tolerance of $10^{-9}$")


def _draw_problem(seed: int) -> ln.Problem:
    """Draw the regression that these claims share."""
    return draw_regression([seed, 21])


WHOLE = partial(within, 0.5, "dimensions are whole numbers")


@claim(
    "interpolators",
    says="Interpolating predictors form an affine set of dimension $(d - n) k$, interpolating layers "
    "a manifold of dimension $l(d + k) - n k$.",
    assumes="data in general position",
    tried=f"{SIZES}, width {WIDTH}, at a trained network",
)
def dimensions(trial: Trial) -> Rows:
    """Ranks of the constraints on the predictor and on the layers, at a trained network of width 200."""
    path = flows.regression(trial)[0]
    scales, vectors = np.linalg.eigh(path.whole_cov)
    seen = np.sqrt(np.maximum(scales, 0.0))[:, None] * vectors.T  # X up to a rotation of the samples
    linear = np.kron(seen, np.eye(OUTPUTS))  # beta -> X beta
    # dA = W2 dW1 + dW2 W1 for each weight in turn, seen by the samples
    first = np.einsum("ko,si->oski", path.whole_second.T, seen).reshape(-1, INPUTS * WIDTH)
    second = np.kron(np.eye(OUTPUTS), seen @ path.whole_first.T).reshape(OUTPUTS * INPUTS, -1)
    layers = np.concatenate([first, second], axis=1)
    counts = {
        "layers": (layers, WIDTH * (INPUTS + OUTPUTS) - SAMPLES * OUTPUTS),
        "predictor": (linear, (INPUTS - SAMPLES) * OUTPUTS),
    }
    for name, (constraints, expected) in counts.items():
        found = constraints.shape[1] - int(np.linalg.matrix_rank(constraints, tol=RANK))
        yield printed(f"number of directions of the {name} that keep the labels", found, WHOLE(of=expected))


def _balanced_start(product: np.ndarray, random: np.random.Generator) -> ln.Weights:
    """Draw balanced layers of this product with 20 hidden units: those of k units, turned into a random frame."""
    narrow = ln.inits.balanced(product)
    frame = np.linalg.qr(random.standard_normal((2 * INPUTS, narrow.width)))[0]
    return ln.Weights(frame @ narrow.first, narrow.second @ frame.T)


MOVED = above(1e-3, "the rank of a layer says something only if training moves it, by far more than rounding")


@claim(
    "balanced-rank",
    says="From a balanced initialization the first layer has rank $k$ at most at all times, whatever the scale.",
    assumes=r"$W_1 W_1^\top = W_2^\top W_2$ at initialization",
    tried=f"gradient flow, {SIZES}, 20 hidden units, scales 0.001, 0.1 and 3",
)
def balanced_rank(trial: Trial) -> Rows:
    """sigma_(k+1)/sigma_1 of W1 along flows from balanced starts of three scales.

    One generator draws the product, and then a frame for each scale in turn: another order changes the numbers.
    """
    problem = _draw_problem(trial.seed)
    times = np.geomspace(0.1, 100.0, 20)
    random = np.random.default_rng([trial.seed, 22])
    product = random.standard_normal((OUTPUTS, INPUTS))

    def measure_flow(scale: float) -> dict[str, float]:
        states = plain_flow(problem, _balanced_start(scale * product, random), times)
        values = np.linalg.svd(states.first, compute_uv=False)
        return {"ratio": (values[:, OUTPUTS] / values[:, 0]).max(), "moved": np.abs(values[-1] - values[0]).max()}

    found = by_name(measure_flow(scale) for scale in (1e-3, 0.1, 3.0))
    yield printed(r"largest $\sigma_4/\sigma_1$ of $W_1$ along a flow, by scale", found["ratio"], ROUNDING)
    yield printed("motion of the singular values of $W_1$, by scale", found["moved"], MOVED)


NO_SLOWER = below(1, "a larger initialization is faster, so that speed and quality are told apart")
FASTER = below(0, "only if a larger initialization is faster, speed is decoupled from anything")
SOLVED = below(1e-4, r"flows end with less than $10^{-8}$ of the loss left at the worst condition")


@claim(
    "balanced-decoupled",
    says="From balanced initializations the speed of learning and the quality of the solution are decoupled.",
    assumes=r"$W_1 W_1^\top = W_2^\top W_2$ at initialization (Braun et al., cited)",
    tried=f"gradient flow, 20 hidden units, a balanced product of standard normal entries times the scale: {SIZES} at "
    "the scales 0.001, 0.1 and 1; the region on data that see every input, with eigenvalues from one over the "
    "condition to 1",
    correction="so they are where the data see every input; else a larger initialization is faster and its predictor "
    "farther from the minimum-norm solution",
    region={"scale": Range(1e-3, 1.0, log=True), "condition": Range(1.0, 10.0, log=True)},
)
def balanced_decoupled(trial: Trial) -> Rows:
    random = np.random.default_rng([trial.seed, 27])
    product = random.standard_normal((OUTPUTS, INPUTS))
    frame = np.linalg.qr(random.standard_normal((INPUTS, INPUTS)))[0]
    times = np.append(np.geomspace(0.01, 100.0, 200), 300.0)

    def measure_flow(problem: ln.Problem, scale: float) -> dict[str, float]:
        start = _balanced_start(scale * product, np.random.default_rng([trial.seed, 28]))
        states = plain_flow(problem, start, times, rtol=1e-8)
        losses = np.asarray(problem.loss(states.product))
        end, solution = states[-1], problem.min_norm_solution()
        norms = 0.5 * sum((layer**2).sum() for layer in (end.first, end.second))
        return {
            "times": times[np.argmax(losses < 0.5 * losses[0])],
            "away": np.linalg.norm(end.product - solution) / np.linalg.norm(solution),
            "excess": abs(norms / np.linalg.norm(solution, "nuc") - 1),
        }

    def on_all_inputs(scale: float, condition: float) -> dict[str, float]:
        cov = (frame * np.geomspace(1 / condition, 1.0, INPUTS)) @ frame.T
        return measure_flow(ln.Problem.from_moments(cov, random_truth @ cov), scale)

    random_truth = random.standard_normal((OUTPUTS, INPUTS))
    few = by_name({f"scale {scale:g}": measure_flow(_draw_problem(trial.seed), scale) for scale in (1e-3, 0.1, 1.0)})
    region = by_name({label: on_all_inputs(**setting) for label, setting in trial.region(3).items()})
    away = "distance of the predictor from the minimum-norm solution, over its norm"
    sooner = f"change of the time to half of the loss, from one scale to the next larger one, {SIZES}"
    yield both(sooner, np.diff(list(few["times"].values())), FASTER)
    yield printed(f"{away}, {SIZES}", few["away"], SOLVED)
    yield corrected(f"{away}, on data that see every input", region["away"], SOLVED)
    excess = "half the squared norms over the nuclear norm of that solution, minus 1, on data that see every input"
    yield corrected(excess, region["excess"], SOLVED)
    slow, fast = list(region["times"].values())[0:3:2]
    yield corrected("time to half of the loss at scale 1 over that at 0.001, condition 1", fast / slow, NO_SLOWER)
    yield fact("the same excess of the squared norms on data that do not", few["excess"])


RELATIVE = below(2e-3, r"twice the first order of $\gamma_2/\gamma = 0.001$")
FIRST_ORDER = within(
    0.05, r"the distance is of first order; at ratios up to 0.1 the second order begins to count", of=1
)


@claim(
    "small-second-layer",
    says="A second layer at zero is the limiting case of one of very small relative scale.",
    assumes=r"orthogonal layers, of scales $\gamma = 0.1$ and $\gamma_2$ far below it",
    tried=rf"gradient flow, {SIZES}, 20 hidden units, $\gamma_2/\gamma = 0.1$, 0.01, 0.001 and 0",
)
def small_second_layer(trial: Trial) -> Rows:
    ratios = (0.1, 0.01, 0.001)
    *ends, limit = (_end_values(trial.seed, 29, 0.1, 0.1 * ratio)[0] for ratio in (*ratios, 0.0))
    distances = [np.abs(values / limit - 1).max() for values in ends]
    slope, _ = exponent(ratios, distances)
    distance = "largest relative distance of the final singular values of $W_1$ from those with $W_2(0) = 0$"
    yield printed(rf"{distance}, at $\gamma_2/\gamma = 0.001$", distances[-1], RELATIVE)
    yield printed(r"power of $\gamma_2$ with which that distance falls", slope, FIRST_ORDER)
    by_ratio = {rf"$\gamma_2/\gamma = {ratio:g}$": one for ratio, one in zip(ratios, distances, strict=True)}
    yield fact("that distance", by_ratio)


def _end_values(seed: int, draw: int, first_gamma: float, second_gamma: float) -> list[np.ndarray]:
    """Return the singular values of both layers at the end, from orthogonal layers of these scales."""
    start = orthogonal_layers([seed, draw], width=2 * INPUTS, first_gamma=first_gamma, second_gamma=second_gamma)
    end = plain_flow(_draw_problem(seed), start, np.array([400.0]))[-1]
    return [np.linalg.svd(layer, compute_uv=False) for layer in (end.first, end.second)]


DEPARTS = below(1e-8, "a matrix of zeros has a gradient of zero; rounding alone")
DESCENT = below(0, "a point from which one direction descends is no minimum")
ASCENT = above(0, "a point from which one direction ascends is no maximum")


@claim(
    "zero-start",
    says=r"With $\gamma = 0$ training stays where it starts, at a saddle point of the loss.",
    assumes="$W_1 = W_2 = 0$",
    tried=f"ten steps of descent, {SIZES}, width {WIDTH}",
)
def zero_start(trial: Trial) -> Rows:
    """Ten steps from zero, and the loss a little to both sides of it along the steepest direction there."""
    problem = _draw_problem(trial.seed)
    layers = np.zeros((WIDTH, INPUTS)), np.zeros((OUTPUTS, WIDTH))
    for _ in range(10):
        layers = plain_step(layers, problem, 0.1)
    left, _, right = np.linalg.svd(problem.cross)
    base = float(problem.loss(np.zeros((OUTPUTS, INPUTS))))
    down, up = (float(problem.loss(size * np.outer(left[:, 0], right[0]))) - base for size in (1e-4, -1e-4))
    yield printed("largest motion of a weight, by layer", [np.abs(layer).max() for layer in layers], DEPARTS)
    yield printed("change of the loss by a small step along the first singular vectors of the target", down, DESCENT)
    yield printed("change of the loss by a small step against them", up, ASCENT)


HALF = within(
    0.05, "a sum of $l$ terms fluctuates with exponent $-1/2$; ten draws scatter the fit by 0.01 or 0.02", of=-0.5
)


@claim(
    "gaussian-orthogonal",
    says="For a large width, $d$ Gaussian vectors of that length are almost orthogonal.",
    assumes="independent entries",
    tried="$d = 10$, width 200 to 12 800, ten draws each",
)
def gaussian_orthogonal(trial: Trial) -> Rows:
    """Distance of W1^T W1/(l sigma^2) from the identity, for d = 10 Gaussian vectors of growing length."""

    def distance_from_identity(width: int, draw: int) -> float:
        sizes = {"in_dim": INPUTS, "out_dim": 1, "width": width}
        first = ln.inits.gaussian(key=[trial.seed, 23, draw], stds=(1.0, 0.0), **sizes).first
        return float(np.linalg.norm(first.T @ first / width - np.eye(INPUTS), 2))

    widths = (200, 800, 3200, 12_800)
    distances = [np.mean([distance_from_identity(width, draw) for draw in range(10)]) for width in widths]
    slope, error = exponent(widths, distances)
    yield printed(r"exponent of the width in the distance of $W_1^\top W_1/(l \sigma^2)$ from $I$", slope, HALF)
    by_width = {f"$l = {width}$": distance for width, distance in zip(widths, distances, strict=True)}
    yield fact("that distance", by_width)
    yield fact("standard error of the fitted exponent", error)


GROWTH = at_least(0.9, "the trend is the rule: nine runs in ten show it")
IDLE = below(0.3, r"Gaussian layers of width 200 are $\sqrt{d/l} = 0.22$ from orthogonal")
CLOSER = below(0.2, r"the distance from orthogonal, $\sqrt{d/l} = 0.22$, is a smaller part of the values that grow")


@claim(
    "second-layer",
    says="With a second layer that is not zero at initialization, the singular values continue to follow the predicted "
    "trend.",
    assumes="Gaussian initializations, variance 0.001 in the first layer, 0.01 and 0.001 in the second",
    tried=f"gradient flow, {SIZES}, width {WIDTH}, 20 seeds (8 in quick mode)",
)
def second_layer(trial: Trial) -> Rows:
    """Figure 4: which values grow and which stay, and both predictions; and the same from exactly orthogonal layers."""
    settings = BothLayers(seed=1000 * trial.seed, seeds=8 if trial.quick else 20)
    flows = flows_from_both_layers(settings, np.array([0.01, 300.0]))
    start, end = flows.values
    grown = (end[..., :OUTPUTS] > start[..., :OUTPUTS]).all(axis=-1) & (end[..., OUTPUTS - 1] > end[..., OUTPUTS])
    gammas = [settings.first_variance * WIDTH / 2] * len(settings.second_variances)
    seconds = [variance * WIDTH / 2 for variance in settings.second_variances]
    off, size = (np.linalg.norm(matrices, axis=(-1, -2)) for matrices in (flows.off, flows.solution))

    def distance(expected: np.ndarray) -> float:
        """Return the largest relative distance of a value that grows from the expected one."""
        return float(np.abs(end / expected - 1)[..., :OUTPUTS].max())

    idle = np.abs(end[..., OUTPUTS:] / -np.sort(-start)[..., OUTPUTS:] - 1).max()
    away = distance(flows.predicted_values(gammas, seconds))
    without = distance(flows.predicted_values(gammas))
    scales = ((0.1, 1.0), (0.1, 0.1), (1.0, 0.05))
    exact = [error for pair in scales for error in _distances_by_layer(trial.seed, *pair)]
    formula = "the formula with a second scale, by layer: orthogonal layers, $W_2 W_1 = 0$"
    yield printed("fraction of runs in which exactly the three values grow that should", grown.mean(), GROWTH)
    yield printed("largest relative motion of the other values", idle, IDLE)
    yield printed(f"largest distance of singular values from {formula}", exact, EXACT)
    yield printed("largest relative distance of the values that grow from that formula", away, CLOSER)
    yield fact("number of seeds", settings.seeds)
    crossed = r"relative distance from that formula for orthogonal layers with $W_2 W_1 \ne 0$"
    yield fact(crossed, _crossed_second_layer(trial.seed))
    yield fact("largest relative distance from Corollary 3.1, which has no second layer", without)
    yield fact("relative distance of the predictor from the minimum-norm solution", off / size)


def _crossed_second_layer(seed: int) -> float:
    """Return the largest relative distance of the singular values of W1 from the formula with a second scale, from
    orthogonal layers whose frames are drawn independently of each other."""
    random = np.random.default_rng([seed, 24])
    frames = [np.linalg.qr(random.standard_normal((2 * INPUTS, size)))[0] for size in (INPUTS, OUTPUTS)]
    start = ln.Weights(np.sqrt(0.2) * frames[0], np.sqrt(0.2) * frames[1].T)
    end = plain_flow(_draw_problem(seed), start, np.array([400.0]))[-1]
    return float(np.abs(np.linalg.svd(end.first, compute_uv=False) / _predicted_ends(seed, 0.1, 0.1)[0] - 1).max())


def _predicted_ends(seed: int, gamma: float, second_gamma: float) -> list[np.ndarray]:
    """Return the final singular values of both layers by the formula with a second scale, from the largest on."""
    modes = np.linalg.svd(_draw_problem(seed).min_norm_solution(), compute_uv=False)
    ends = ln.theories.spectral_bias.final_singular_values(modes, gamma, INPUTS, second_gamma=second_gamma)
    return [np.sort(values)[::-1] for values in ends]


def _distances_by_layer(seed: int, gamma: float, second_gamma: float) -> list[float]:
    """Return the largest distance of the final singular values of each layer from that formula."""
    layers = zip(_end_values(seed, 24, gamma, second_gamma), _predicted_ends(seed, gamma, second_gamma), strict=True)
    return [np.abs(measured - predicted).max() for measured, predicted in layers]
