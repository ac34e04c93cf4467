"""Claims on depth: whether what the four papers find of two layers is true of deeper networks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

import linnet as ln
from linnet.inits.weights import product_of
from linnet_papers.own.training.deep import descent_products, wide_layers
from linnet_papers.reproduction import Above, AllOf, AtLeast, AtMost, Estimate, Numbers, Trial, Within, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import line

DEPTHS = (2, 3, 4)
SMALL = {2: 0.02, 3: 0.1, 4: 0.2}  # couplings: small starts, whose plateaus end within the steps that are taken
WIDTH = 40


def _start(inputs: int, outputs: int, depth: int, coupling: float, key: Sequence[int]) -> Sequence[np.ndarray]:
    """Return the layers of a Gaussian start, (out, in) each; the coupling is sqrt(w) sigma."""
    sizes = {"in_dim": inputs, "out_dim": outputs, "width": WIDTH, "depth": depth}
    return ln.inits.gaussian(**sizes, stds=coupling * WIDTH**-0.5, key=list(key)).layers


def _starts(inputs: int, outputs: int, depth: int, coupling: float, keys: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return a start for each key, layer by layer, (draw, out, in)."""
    return [np.stack(layers) for layers in zip(*(_start(inputs, outputs, depth, coupling, key) for key in keys))]


@claim(
    "depth-phases",
    says="Under a spiked covariance deep networks learn the direction of the correlation, v1, first and its "
    "correction, v2, later, as two layers do (Watanabe et al., section 3).",
    assumes="one output, infinitely many samples, a small Gaussian start",
    tried="spike 5 and 20, alignment 0.3 and 0.8, 10 inputs, width 40, depth 2, 3 and 4; mean of 4 starts (full: 32)",
    holds=AllOf(
        AtMost(
            0.2,
            "share",
            what="largest share of v2 that is learned when v1 has reached 90% of its plateau",
            form=".2f",
            because="an order of two phases, where equal rates would give 0.9",
        ),
        AtLeast(
            0.5,
            "delay",
            what="least delay of half of v2, over the time in which v1 rises from 10% to 90%",
            form=".2f",
            because="a phase of its own lasts about as long as the one before",
        ),
    ),
    reads="share of v2 learned by then {share.lowest:.2g} to {share.highest:.2g}, delay {delay.lowest:.2g} to "
    "{delay.highest:.2g}",
)
def two_phases(trial: Trial) -> Numbers:
    keys = range(4 if trial.quick else 32)

    def measure_phases(spike: float, alignment: float, depth: int) -> Numbers:
        """Return how much of v2 is learned at the plateau of v1, and the delay of its half; means over the starts."""
        cov = np.diag([1 + spike, *np.ones(9)])
        truth = np.array([alignment, np.sqrt(1 - alignment**2), *np.zeros(8)])
        correlation = cov @ truth
        v1 = correlation / np.linalg.norm(correlation)
        v2 = truth - (truth @ v1) * v1
        plateau = np.linalg.norm(correlation) / (v1 @ cov @ v1)
        rate = 0.1 / (depth * (1 + spike))
        start = _starts(10, 1, depth, SMALL[depth], [[trial.seed, depth, key] for key in keys])
        steps = round(4 * depth * np.sqrt(5 / spike) / rate)
        products = descent_products(start, truth, rate, steps, weighted=lambda error: error @ cov)[:, :, 0]
        first, second = products @ v1, products @ v2 / (v2 @ v2)  # (time, start)
        begin, end = (np.argmax(first > level * plateau, axis=0) for level in (0.1, 0.9))
        delays = (np.argmax(second > 0.5, axis=0) - end) / (end - begin)
        return {"share": second[end, keys].mean(), "delay": delays.mean()}

    cases = itertools.product((5.0, 20.0), (0.3, 0.8), DEPTHS)  # the corners of a region
    return by_name(
        {f"spike {s:g}, alignment {a:g}, depth {depth}": measure_phases(s, a, depth) for s, a, depth in cases}
    )


@claim(
    "depth-stages",
    says="From a small start the first layer of a deep network aligns with the correlation of inputs and output before "
    "the loss falls, and then keeps its ratio to the last layer, as in two layers (Huang et al., section 4).",
    assumes="one output, a small Gaussian start",
    tried="6 inputs, whitened and of eigenvalues 1 to 1/4, width 40, depth 2, 3 and 4",
    holds=AllOf(
        AtLeast(
            0.9,
            "loss",
            what="least share of the loss that is left when the cosine of alignment reaches 0.95",
            form=".2f",
            because="the first stage barely lowers the loss",
        ),
        AtMost(
            0.05,
            "drift",
            what="largest change of the ratio from half of the loss to the end, whitened inputs",
            form=".3f",
            because="the second stage keeps the ratio",
        ),
        AtMost(
            0.05,
            "end",
            what="largest distance of the last ratio to the cosine of target and correlation",
            form=".3f",
            because="where inputs are not whitened the first layer turns to the target, at every depth",
        ),
    ),
    reads="loss left at alignment: {loss:.3g}; ratio at half of the loss and at the end, and the cosine: {ratios:.3g}",
)
def two_stages(trial: Trial) -> Numbers:
    truth = np.random.default_rng([trial.seed, 1]).standard_normal(6)
    truth /= np.linalg.norm(truth)

    def measure_stages(cov: np.ndarray, depth: int) -> Numbers:
        """Return the loss that is left at alignment, and the ratios of the layers from half of the loss on."""
        towards = cov @ truth / np.linalg.norm(cov @ truth)

        def kept_numbers(layers: list[np.ndarray]) -> np.ndarray:
            """Return the loss, the cosine of alignment, and the first layer's length along it over the last one's."""
            left = truth - product_of(layers)[0]
            aligned = abs(np.linalg.eigh(layers[0].T @ layers[0])[1][:, -1] @ towards)
            return np.array(
                [left @ cov @ left, aligned, np.linalg.norm(layers[0] @ towards) / np.linalg.norm(layers[-1])]
            )

        rate = 0.1 / depth
        start = _start(6, 1, depth, SMALL[depth], [trial.seed, depth])
        loss, aligned, ratio = descent_products(
            start, truth, rate, round(20 * depth / rate), weighted=lambda error: error @ cov, keep=kept_numbers
        ).T
        at_half = ratio[np.argmax(loss < 0.5 * loss[0])]
        at_end = ratio[-1]
        cosine = truth @ towards
        return {
            "loss": loss[np.argmax(aligned > 0.95)] / loss[0],
            "ratios": [at_half, at_end, cosine],
            "drift": abs(at_end - at_half),
            "end": abs(at_end - cosine),
        }

    sloped = np.diag(np.geomspace(1.0, 0.25, 6))
    whitened = {f"depth {depth}, whitened": measure_stages(np.eye(6), depth) for depth in DEPTHS}
    not_whitened = {f"depth {depth}, not whitened": measure_stages(sloped, depth) for depth in DEPTHS}
    # the ratio is kept for whitened inputs only: else the first layer turns to the target
    return {**by_name(whitened | not_whitened), "drift": by_name(whitened)["drift"]}


@claim(
    "depth-rank",
    says="From a small start the hidden layers of deep networks are of low rank, as in two layers (Varre et al., "
    "section 3); and of two matrices that agree with what was seen, a deeper network ends nearer to low rank.",
    assumes="Gaussian starts; whitened inputs, or entries of a matrix of which about half are seen",
    tried="8 x 8 targets of rank 2; 12 x 12 of rank 2, half seen, 24 matrices (full: 64); width 40, depth 2, 3 and 4",
    holds=AllOf(
        AtMost(
            0.25,
            "small",
            what="largest share of a layer beyond the target's rank, small start",
            form=".2f",
            because="low rank: what is left is the start itself, which falls with its scale",
        ),
        AtLeast(
            0.4,
            "large",
            what="least such share from a start of unit coupling",
            form=".2f",
            because="the bias is that of small starts",
        ),
        Above(
            3.0,
            "gain",
            what="how much less depth 3 leaves beyond rank 2 than depth 2, in standard errors",
            form=".1f",
            because="matrices differ: the same ones are compared",
        ),
    ),
    reads="share of the layers beyond rank 2: {small:.3g} from a small start, {large:.3g} from a large one; of the "
    "completed matrices: {completed:.3g}; and their relative error: {errors:.3g}",
)
def low_rank(trial: Trial) -> Numbers:
    small = {2: 0.03, 3: 0.1, 4: 0.2}  # couplings by depth
    return {
        "small": {f"depth {depth}": _shares_beyond_rank(trial, depth, c).max() for depth, c in small.items()},
        "large": {f"depth {depth}": _shares_beyond_rank(trial, depth, 1.0).min() for depth in DEPTHS},
        **_completed_matrices(trial),
    }


def _shares_beyond_rank(trial: Trial, depth: int, coupling: float) -> np.ndarray:
    """Train a network on an 8 x 8 target of rank 2; return the share of each layer that is beyond rank 2, (layer,)."""
    target = _random_low_rank(8, np.random.default_rng([trial.seed, 2]), (2.0, 1.0))
    rate = 0.05 / max(1.0, depth * (2 * coupling) ** (2 * depth - 2) / 4)
    steps = round(min(60 * depth / 2 / rate, 8000))
    start = _start(8, 8, depth, coupling, [trial.seed, depth])
    values = descent_products(start, target, rate, steps, every=steps, keep=_layer_values)[-1]
    return (values[:, 2:] ** 2).sum(axis=1) / (values**2).sum(axis=1)


def _completed_matrices(trial: Trial) -> Numbers:
    """Complete 12 x 12 matrices of rank 2 of which half is seen, at every depth the same ones.

    Return, by depth, the mean share of the singular values that is beyond rank 2 (`completed`) and the mean relative
    error (`errors`); and `gain`, how many standard errors less that share is at depth 3 than at depth 2.
    """
    draws = range(24 if trial.quick else 64)
    randoms = [np.random.default_rng([trial.seed, 3, draw]) for draw in draws]
    matrix = np.stack([_random_low_rank(12, random, (2.0, 2.0)) for random in randoms])
    seen = np.stack([random.random((12, 12)) < 0.5 for random in randoms])
    norms = np.linalg.norm(matrix, axis=(1, 2))
    beyond = {}
    errors = {}
    for depth, coupling in {2: 0.03, 3: 0.15, 4: 0.25}.items():
        start = _starts(12, 12, depth, coupling, [[trial.seed, depth, draw] for draw in draws])
        products = descent_products(start, matrix, 0.1 / depth, 3000, every=3000, weighted=lambda error: seen * error)
        values = np.linalg.svd(products[-1], compute_uv=False)
        beyond[depth] = values[:, 2:].sum(axis=1) / values.sum(axis=1)
        errors[f"depth {depth}"] = (np.linalg.norm(products[-1] - matrix, axis=(1, 2)) / norms).mean()
    return {
        "gain": Estimate.of_mean(beyond[2] - beyond[3]).errors_above(0),
        "completed": {f"depth {depth}": shares.mean() for depth, shares in beyond.items()},
        "errors": errors,
    }


def _random_low_rank(dim: int, random: np.random.Generator, values: tuple[float, ...]) -> np.ndarray:
    """Return a square matrix with these singular values and random singular vectors."""
    sides = [np.linalg.qr(random.standard_normal((dim, len(values))))[0] for _ in range(2)]
    return sides[0] * values @ sides[1].T


def _layer_values(layers: list[np.ndarray]) -> np.ndarray:
    """Return the singular values of all layers, (layer, value)."""
    return np.stack([np.linalg.svd(layer, compute_uv=False)[:8] for layer in layers])


@claim(
    "depth-borders",
    says="Lazy training of a mode S ends at sigma^2 w = S^(2/L): the borders of the plane have the exponent 2/L in S, "
    "and -1 in the width.",
    assumes="wide Gaussian starts, whitened inputs",
    tried="one mode, S = 0.7, 2 and 6, widths 1e6 and 1e8, depth 2, 3 and 4, 8 starts each",
    holds=AllOf(
        Within(
            0.02,
            "exponent",
            of=0.0,
            what="exponent in S less 2/L, the farthest of three depths",
            form=".4f",
            because="descent's step moves a border by up to a percent; by chance it moves by less than 0.001",
        ),
        Within(
            0.02,
            "width",
            of=-1.0,
            what="exponent in the width",
            form=".4f",
            because="only the product of variance and width enters",
        ),
    ),
    reads="exponent in S and its standard error over starts: {exponents:.4f}",
)
def borders(trial: Trial) -> Numbers:
    strengths, widths = np.array([0.7, 2.0, 6.0]), (10**6, 10**8)

    def measure_exponents(depth: int) -> Numbers:
        """Return the exponents of the border in the strength of the mode and in the width."""
        couplings = np.stack([_border_couplings(trial, S, depth, widths) for S in strengths])
        slopes = np.polyfit(np.log(strengths), 2 * np.log(couplings).mean(axis=1), 1)[0]  # (start,)
        # at the border of depth L the threshold c^L is a multiple of S
        predicted = 2 * np.log(2.0) / np.log(ln.theories.deep.threshold(2.0, depth))
        variances = (couplings**2).mean(axis=(0, 2)) / widths
        return {
            "exponents": Estimate.of_mean(slopes),
            "exponent": slopes.mean() - predicted,
            "width": line(np.log(widths), np.log(variances))[0],
        }

    return by_name({f"depth {depth}": measure_exponents(depth) for depth in DEPTHS})


def _border_couplings(trial: Trial, strength: float, depth: int, widths: Sequence[int]) -> np.ndarray:
    """Return the couplings at which half of a mode is learned 20% sooner than by the starting kernel, for each width
    and each of 8 starts."""
    couplings = np.geomspace(0.48, 1.7, 11)  # the same for all strengths and depths
    keys = {width: [trial.seed, depth, round(10 * strength), width] for width in widths}
    drawn = [wide_layers(1, width, depth, 1.0, key=key, order=6, batch=8) for width, key in keys.items()]
    unit = [np.stack(layers) for layers in zip(*drawn, strict=True)]  # (width, start, out, in)
    sooner = []
    for coupling in couplings:
        lazily = np.log(2) / (depth * coupling ** (2 * depth - 2))
        rate = min(lazily / 100, 0.5 / (depth * strength ** (2 - 2 / depth)))  # stable where the mode is active, too
        steps = round(1.3 * lazily / rate)
        layers = [coupling * layer for layer in unit]
        learned = descent_products(layers, np.array([[strength]]), rate, steps).reshape(steps + 1, -1) / strength
        sooner.append([np.interp(0.5, one, np.arange(steps + 1) * rate / lazily) for one in learned.T])
    # the times rise towards that of the kernel with the coupling, (coupling, width and start)
    logs = [np.interp(0.8, one, np.log(couplings)) for one in np.array(sooner).T]
    return np.exp(logs).reshape(len(widths), -1)
