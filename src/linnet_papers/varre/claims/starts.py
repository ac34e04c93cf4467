"""What the start decides beyond its scale: balance, zero, Gaussian entries, and a second layer that is not zero."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Above, AllOf, AtLeast, Below, Falls, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent
from linnet_papers.varre.settings import INPUTS, OUTPUTS, SAMPLES, SIZES, WIDTH
from linnet_papers.varre.tables import flows
from linnet_papers.varre.training.regression import (
    BothLayers,
    draw_regression,
    flows_from_both_layers,
    orthogonal_layers,
    plain_flow,
    plain_step,
)

RANK = 1e-6  # singular values of the constraints below this are rounding: squares of them are zeros of 1e-16
ROUNDING = Limit(1e-7, "the flow is integrated to a relative tolerance of 1e-9 and rank is conserved exactly")
EXACT = Limit(1e-6, "the flow is integrated to a relative tolerance of 1e-9")


def _draw_problem(seed: int) -> ln.Problem:
    """Draw the regression that these claims share."""
    return draw_regression([seed, 21])


WHOLE = Limit(0.5, "dimensions are whole numbers")


@claim(
    "interpolators",
    says="Interpolating predictors form an affine set of dimension (d - n) k, interpolating layers a manifold of "
    "dimension l(d + k) - nk.",
    assumes="data in general position",
    tried=f"{SIZES}, width {WIDTH}, at a trained network",
    holds=AllOf(
        Within(WHOLE, of="claimed", what="directions of the layers that keep the labels", form=".0f"),
        Within(
            WHOLE, "predictor", of="claimed_predictor", what="directions of the predictor that keep them", form=".0f"
        ),
    ),
    reads="{value} directions of the layers and {predictor} of the predictor keep the labels",
)
def dimensions(trial: Trial) -> Numbers:
    """Ranks of the constraints on the predictor and on the layers, at a trained network of width 200."""
    path = flows.LIMITS.rows(trial)[0]
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


def _balanced_start(product: np.ndarray, random: np.random.Generator) -> ln.Weights:
    """Draw balanced layers of this product with 20 hidden units: those of k units, turned into a random frame."""
    narrow = ln.inits.balanced(product)
    frame = np.linalg.qr(random.standard_normal((2 * INPUTS, narrow.width)))[0]
    return ln.Weights(frame @ narrow.first, narrow.second @ frame.T)


MOVED = Limit(1e-3, "the layer must have been trained, or its rank says nothing")


@claim(
    "balanced-rank",
    says="From a balanced start the first layer has rank k at most at all times, whatever the scale.",
    assumes="W1 W1^T = W2^T W2 at the start",
    tried=f"gradient flow, {SIZES}, 20 hidden units, scales 0.001, 0.1 and 3",
    holds=AllOf(
        Below(ROUNDING, "ratio", what="largest sigma_4/sigma_1 of W1 along the flows", form=".0e"),
        Above(MOVED, "moved", what="least motion of its values"),
    ),
    reads="three flows from balanced starts of scale 0.001 to 3",
)
def balanced_rank(trial: Trial) -> Numbers:
    """sigma_(k+1)/sigma_1 of W1 along flows from balanced starts of three scales.

    One generator draws the product, and then a frame for each scale in turn: another order changes the numbers.
    """
    problem = _draw_problem(trial.seed)
    times = np.geomspace(0.1, 100.0, 20)
    random = np.random.default_rng([trial.seed, 22])
    product = random.standard_normal((OUTPUTS, INPUTS))

    def measure_flow(scale: float) -> Numbers:
        states = plain_flow(problem, _balanced_start(scale * product, random), times)
        values = np.linalg.svd(states.first, compute_uv=False)
        return {"ratio": (values[:, OUTPUTS] / values[:, 0]).max(), "moved": np.abs(values[-1] - values[0]).max()}

    return by_name(measure_flow(scale) for scale in (1e-3, 0.1, 3.0))


FASTER = Limit(0, "a larger start must be faster, or nothing is decoupled from the speed")


@claim(
    "balanced-decoupled",
    says="From balanced starts the speed of learning and the quality of the solution are decoupled.",
    assumes="W1 W1^T = W2^T W2 at the start (Braun et al., cited)",
    tried=f"gradient flow, {SIZES}, 20 hidden units, balanced starts of scale 0.001, 0.01, 0.1 and 1",
    holds=AllOf(
        Falls(FASTER, "times", what="times to half of the loss, from the least scale on", form=".2f"),
        Below(
            EXACT,
            "excess",
            what="largest excess of the squared norms over twice the predictor's nuclear norm",
            form=".0e",
        ),
        Below(ROUNDING, "rank", what="largest sigma_4/sigma_1 of W1 at the end", form=".0e"),
    ),
    reads="times to half of the loss: {times:.2f}",
)
def balanced_decoupled(trial: Trial) -> Numbers:
    problem = _draw_problem(trial.seed)
    times = np.geomspace(0.01, 100.0, 200)
    product = np.random.default_rng([trial.seed, 27]).standard_normal((OUTPUTS, INPUTS))

    def measure_flow(scale: float) -> Numbers:
        states = plain_flow(problem, _balanced_start(scale * product, np.random.default_rng([trial.seed, 28])), times)
        losses = np.asarray(problem.loss(states.product))
        end = states[-1]
        norms = 0.5 * sum((layer**2).sum() for layer in (end.first, end.second))
        values = np.linalg.svd(end.first, compute_uv=False)
        return {
            "times": times[np.argmax(losses < 0.5 * losses[0])],
            "excess": abs(norms / np.linalg.norm(end.product, "nuc") - 1),
            "rank": values[OUTPUTS] / values[0],
        }

    return by_name(measure_flow(scale) for scale in (1e-3, 1e-2, 0.1, 1.0))


RELATIVE = Limit(2e-3, "of the first order of gamma_2/gamma = 0.001")
FIRST_ORDER = Limit(0.05, "of the first order of gamma_2/gamma, at ratios up to 0.1, where the second begins to count")


@claim(
    "small-second-layer",
    says="A second layer at zero is the limiting case of one of very small relative scale.",
    assumes="orthogonal layers, of scales gamma = 0.1 and gamma_2 far below it",
    tried=f"gradient flow, {SIZES}, 20 hidden units, gamma_2/gamma = 0.1, 0.01, 0.001 and 0",
    holds=AllOf(
        Within(FIRST_ORDER, "power", of=1, what="power of gamma_2 with which the distance falls", form=".3f"),
        Below(RELATIVE, what="distance of W1's singular values at gamma_2/gamma = 0.001, of them", form=".1e"),
    ),
    reads="largest distance of the final singular values of W1 from those with W2(0) = 0, by gamma_2/gamma: "
    "{distances:.1e}",
)
def small_second_layer(trial: Trial) -> Numbers:
    ratios = (0.1, 0.01, 0.001)
    *ends, limit = (_end_values(trial.seed, 29, 0.1, 0.1 * ratio)[0] for ratio in (*ratios, 0.0))
    distances = [np.abs(values / limit - 1).max() for values in ends]
    slope, _ = exponent(ratios, distances)
    return {"value": distances[-1], "power": slope, "distances": dict(zip(ratios, distances, strict=True))}


def _end_values(seed: int, draw: int, first_gamma: float, second_gamma: float) -> list[np.ndarray]:
    """Return the singular values of both layers at the end, from orthogonal layers of these scales."""
    start = orthogonal_layers([seed, draw], width=2 * INPUTS, first_gamma=first_gamma, second_gamma=second_gamma)
    end = plain_flow(_draw_problem(seed), start, np.array([400.0]))[-1]
    return [np.linalg.svd(layer, compute_uv=False) for layer in (end.first, end.second)]


DEPARTS = Limit(1e-8, "a matrix of zeros has a gradient of zero; rounding alone")
DESCENT = Limit(0, "a saddle has a direction of descent")
ASCENT = Limit(0, "a saddle has a direction of ascent")


@claim(
    "zero-start",
    says="With gamma = 0 training stays where it starts, at a saddle point of the loss.",
    assumes="W1 = W2 = 0",
    tried=f"ten steps of descent, {SIZES}, width {WIDTH}",
    holds=AllOf(
        Below(DEPARTS, "moved", what="motion of the layers", form=".0e"),
        Below(DESCENT, "down", what="change of the loss to one side", form="+.1e", then="a direction of descent"),
        Above(ASCENT, "up", what="change to the other", form="+.1e", then="and one of ascent"),
    ),
    reads="ten steps from W1 = W2 = 0, and the loss beside it",
)
def zero_start(trial: Trial) -> Numbers:
    """Ten steps from zero, and the loss a little to both sides of it along the steepest direction there."""
    problem = _draw_problem(trial.seed)
    layers = np.zeros((WIDTH, INPUTS)), np.zeros((OUTPUTS, WIDTH))
    for _ in range(10):
        layers = plain_step(layers, problem, 0.1)
    left, _, right = np.linalg.svd(problem.cross)
    base = float(problem.loss(np.zeros((OUTPUTS, INPUTS))))
    down, up = (float(problem.loss(size * np.outer(left[:, 0], right[0]))) - base for size in (1e-4, -1e-4))
    return {"moved": [np.abs(layer).max() for layer in layers], "down": down, "up": up}


HALF = Limit(0.05, "fluctuations of a sum of l terms: an exponent of -1/2, sampled")


@claim(
    "gaussian-orthogonal",
    says="For a large width, d Gaussian vectors of that length are almost orthogonal.",
    assumes="independent entries",
    tried="d = 10, width 200 to 12 800, ten draws each",
    holds=Within(HALF, of=-0.5, what="exponent of the width", form=".3f"),
    reads="W1^T W1/(l sigma^2) is {distances.first:.2f} from the identity at l = 200, {distances.last:.2f} at "
    "l = 12 800; the fitted exponent has a standard error of {uncertainty:.3f}",
)
def gaussian_orthogonal(trial: Trial) -> Numbers:
    """Distance of W1^T W1/(l sigma^2) from the identity, for d = 10 Gaussian vectors of growing length."""

    def distance_from_identity(width: int, draw: int) -> float:
        sizes = {"in_dim": INPUTS, "out_dim": 1, "width": width}
        first = ln.inits.gaussian(key=[trial.seed, 23, draw], stds=(1.0, 0.0), **sizes).first
        return float(np.linalg.norm(first.T @ first / width - np.eye(INPUTS), 2))

    widths = (200, 800, 3200, 12_800)
    distances = [np.mean([distance_from_identity(width, draw) for draw in range(10)]) for width in widths]
    slope, error = exponent(widths, distances)
    return {"value": slope, "uncertainty": error, "distances": distances}


GROWTH = Limit(0.9, "share of draws in which every one of the k values grows and ends above the others")
IDLE = Limit(0.3, "Gaussian layers of width 200 are sqrt(d/l) = 0.22 from orthogonal")
CLOSER = Limit(0.2, "the distance from orthogonal, sqrt(d/l) = 0.22, is a smaller part of the values that grow")


@claim(
    "second-layer",
    says="With a second layer that does not start at zero the singular values continue to follow the predicted trend.",
    assumes="Gaussian starts, variance 0.001 in the first layer, 0.01 and 0.001 in the second",
    tried=f"gradient flow, {SIZES}, width {WIDTH}, 20 seeds (8 in quick mode)",
    holds=AllOf(
        AtLeast(GROWTH, what="share of runs in which exactly the three values grow that should", form=".0%"),
        Below(IDLE, "idle", what="largest motion of the others", form=".1%"),
        Below(EXACT, "exact", what="distance of orthogonal layers from the formula with a second scale", form=".0e"),
        Below(CLOSER, "ours", what="distance of the values that grow from it", form=".0%"),
    ),
    reads="{draws} seeds, two variances of the second layer; from Corollary 3.1, which has no second layer, the values "
    "that grow end up to {printed:.0%} away; the predictor ends {off:.1%} from the minimum-norm solution",
)
def second_layer(trial: Trial) -> Numbers:
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

    return {
        "value": grown.mean(),
        "idle": np.abs(end[..., OUTPUTS:] / -np.sort(-start)[..., OUTPUTS:] - 1).max(),
        "printed": distance(flows.predicted_values(gammas)),
        "ours": distance(flows.predicted_values(gammas, seconds)),
        "exact": _exact_second_layer(trial.seed),
        "off": [(off / size).min(), (off / size).max()],
        "draws": settings.seeds,
    }


def _exact_second_layer(seed: int) -> list[float]:
    """Return the distances of final singular values from the formula with a second scale, from orthogonal layers."""
    modes = np.linalg.svd(_draw_problem(seed).min_norm_solution(), compute_uv=False)
    errors = []
    for gamma, second_gamma in ((0.1, 1.0), (0.1, 0.1), (1.0, 0.05)):
        predicted = ln.theories.spectral_bias.final_singular_values(modes, gamma, INPUTS, second_gamma=second_gamma)
        for measured, values in zip(_end_values(seed, 24, gamma, second_gamma), predicted, strict=True):
            errors.append(np.abs(measured - np.sort(values)[::-1]).max())
    return errors
