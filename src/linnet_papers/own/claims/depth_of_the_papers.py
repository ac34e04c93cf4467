"""Claims on depth: whether what the four papers find of two layers is true of deeper networks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

import linnet as ln
from linnet.inits.weights import product_of
from linnet_papers.own.training.deep import descent_products
from linnet_papers.reproduction import Estimate, Rows, Trial, above, at_least, at_most, claim, fact, printed

DEPTHS = (2, 3, 4)
SMALL = {2: 0.02, 3: 0.1, 4: 0.2}  # couplings: small starts, whose plateaus end within the steps that are taken
WIDTH = 40


def _start(inputs: int, outputs: int, depth: int, coupling: float, key: Sequence[int]) -> Sequence[np.ndarray]:
    """Return the layers of a Gaussian initialization, (out, in) each; the coupling is sqrt(w) sigma."""
    sizes = {"in_dim": inputs, "out_dim": outputs, "width": WIDTH, "depth": depth}
    return ln.inits.gaussian(**sizes, stds=coupling * WIDTH**-0.5, key=list(key)).layers


def _starts(inputs: int, outputs: int, depth: int, coupling: float, keys: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return a start for each key, layer by layer, (draw, out, in)."""
    return [np.stack(layers) for layers in zip(*(_start(inputs, outputs, depth, coupling, key) for key in keys))]


def _times(cov: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return by what layers move where inputs have this covariance: the error, weighted."""
    return error @ cov


FIRST = at_most(0.2, "equal rates would give 0.9: less than a quarter of that is an order of two phases")
DELAYED = at_least(0.5, "a phase of its own lasts about as long as the one before")


@claim(
    "depth-phases",
    says="Under a spiked covariance deep networks learn the direction of the correlation, $v_1$, first and its "
    "correction, $v_2$, later, as two layers do (Watanabe et al., section 3).",
    assumes="one output, infinitely many samples, a small Gaussian initialization",
    tried="spike 5 and 20, alignment 0.3 and 0.8, 10 inputs, width 40, depth 2, 3 and 4; mean of 4 initializations "
    "(full: 32)",
)
def two_phases(trial: Trial) -> Rows:
    keys = range(4 if trial.quick else 32)
    learned, delays = {}, {}
    for spike, alignment, depth in itertools.product((5.0, 20.0), (0.3, 0.8), DEPTHS):  # the corners of a region
        cov = np.diag([1 + spike, *np.ones(9)])
        truth = np.array([alignment, np.sqrt(1 - alignment**2), *np.zeros(8)])
        correlation = cov @ truth
        v1 = correlation / np.linalg.norm(correlation)
        v2 = truth - (truth @ v1) * v1
        plateau = np.linalg.norm(correlation) / (v1 @ cov @ v1)
        rate = 0.1 / (depth * (1 + spike))
        start = _starts(10, 1, depth, SMALL[depth], [[trial.seed, depth, key] for key in keys])
        steps = round(4 * depth * np.sqrt(5 / spike) / rate)
        products = descent_products(start, truth, rate, steps, weighted=partial(_times, cov))[:, :, 0]
        first, second = products @ v1, products @ v2 / (v2 @ v2)  # (time, start)
        begin, end = (np.argmax(first > level * plateau, axis=0) for level in (0.1, 0.9))
        name = f"spike {spike:g}, alignment {alignment:g}, depth {depth}"
        learned[name] = second[end, keys].mean()
        delays[name] = ((np.argmax(second > 0.5, axis=0) - end) / (end - begin)).mean()
    yield printed("fraction of $v_2$ learned when $v_1$ has reached 90% of its plateau", learned, FIRST)
    yield printed("delay of half of $v_2$ over the time in which $v_1$ rises from 10% to 90%", delays, DELAYED)


BARELY = at_least(0.9, "nine tenths of the loss are left for the second stage")
KEPT = at_most(0.05, "from one depth to another the alignment is left incomplete by a few percent")


@claim(
    "depth-stages",
    says="From a small initialization the first layer of a deep network aligns with the correlation of inputs and "
    "output before the loss falls, and then keeps its ratio to the last layer, as in two layers (Huang et al., section "
    "4). Where inputs are not whitened it turns to the target.",
    assumes="one output, few inputs, a Gaussian initialization that is small for that many",
    tried="6 inputs, whitened and of eigenvalues 1 to 1/4, width 40, depth 2, 3 and 4, mean of 4 initializations",
)
def two_stages(trial: Trial) -> Rows:
    truth = np.random.default_rng([trial.seed, 1]).standard_normal(6)
    truth /= np.linalg.norm(truth)
    loss_left, half, end, cosines = {}, {}, {}, {}
    draws = range(4)
    sloped = np.diag(np.geomspace(1.0, 0.25, 6))
    for (words, cov), depth in itertools.product((("whitened", np.eye(6)), ("not whitened", sloped)), DEPTHS):
        towards = cov @ truth / np.linalg.norm(cov @ truth)

        def kept_numbers(layers: list[np.ndarray], cov: np.ndarray = cov, towards: np.ndarray = towards) -> np.ndarray:
            """Return the loss, the cosine of alignment, and the first layer's length along it over the last one's, of
            every draw."""
            left = truth - product_of(layers)[:, 0]
            top = np.linalg.eigh(layers[0].mT @ layers[0])[1][..., -1]
            ratio = np.linalg.norm(layers[0] @ towards, axis=-1) / np.linalg.norm(layers[-1], axis=(-2, -1))
            return np.array([((left @ cov) * left).sum(axis=-1), abs(top @ towards), ratio])

        rate = 0.1 / depth
        start = _starts(6, 1, depth, SMALL[depth], [[trial.seed, depth, draw] for draw in draws])
        loss, aligned, ratio = np.moveaxis(
            descent_products(
                start, truth, rate, round(20 * depth / rate), every=2, weighted=partial(_times, cov), keep=kept_numbers
            ),
            1,
            0,
        )
        name = f"depth {depth}, {words}"
        loss_left[name] = (loss[np.argmax(aligned > 0.95, axis=0), draws] / loss[0]).mean()
        half[name] = ratio[np.argmax(loss < 0.5 * loss[0], axis=0), draws].mean()
        end[name], cosines[name] = ratio[-1].mean(), truth @ towards
    drift = {name: abs(end[name] - half[name]) for name in end if "not" not in name}
    yield printed("fraction of the loss left when the cosine of alignment reaches 0.95", loss_left, BARELY)
    yield printed("change of the ratio from half of the loss to the end, whitened inputs", drift, KEPT)
    yield printed(
        "distance of the last ratio from the cosine of target and correlation",
        {name: abs(end[name] - cosines[name]) for name in end},
        KEPT,
    )
    yield fact("ratio at half of the loss", half)
    yield fact("last ratio", end)
    yield fact("cosine of target and correlation", cosines)


LOW = at_most(0.25, "what is left is the initialization itself, which falls with its scale")
HIGH = at_least(0.4, "a random layer has three quarters beyond rank 2 of 8: most of that stays")
AHEAD = above(3.0, "three standard errors: the same matrices are compared")


@claim(
    "depth-rank",
    says="From a small initialization the hidden layers of deep networks are of low rank, as in two layers (Varre et "
    "al., section 3); and of two networks that agree with the seen entries of a matrix, the deeper one ends nearer to "
    "low rank, which Arora et al. (2019) found first.",
    assumes="Gaussian initializations; whitened inputs, or entries of a matrix of which about half are seen",
    tried=r"$8 \times 8$ targets of rank 2; $12 \times 12$ of rank 2, half seen, 24 matrices (full: 64); width 40, "
    "depth 2, 3 and 4",
)
def low_rank(trial: Trial) -> Rows:
    small = {2: 0.03, 3: 0.1, 4: 0.2}  # couplings by depth
    low = {f"depth {depth}": _fractions_beyond_rank(trial, depth, c).max() for depth, c in small.items()}
    high = {f"depth {depth}": _fractions_beyond_rank(trial, depth, 1.0).min() for depth in DEPTHS}
    beyond, errors = _completed_matrices(trial)
    yield printed("largest fraction of a layer beyond the target's rank, small initialization", low, LOW)
    yield printed("smallest such fraction from unit coupling", high, HIGH)
    gain = Estimate.of_mean(beyond["depth 2"] - beyond["depth 3"]).errors_above(0)
    yield printed("standard errors by which depth 3 leaves less beyond rank 2 than depth 2", gain, AHEAD)
    yield fact("fraction of the completed matrices beyond rank 2", {d: each.mean() for d, each in beyond.items()})
    yield fact("their relative error", errors)


def _fractions_beyond_rank(trial: Trial, depth: int, coupling: float) -> np.ndarray:
    """Train a network on an 8 x 8 target of rank 2; return the part of each layer that is beyond rank 2, (layer,)."""
    target = _random_low_rank(8, np.random.default_rng([trial.seed, 2]), (2.0, 1.0))
    rate = 0.05 / max(1.0, depth * (2 * coupling) ** (2 * depth - 2) / 4)
    steps = round(min(60 * depth / 2 / rate, 8000))
    start = _start(8, 8, depth, coupling, [trial.seed, depth])
    values = descent_products(start, target, rate, steps, every=steps, keep=_layer_values)[-1]
    return (values[:, 2:] ** 2).sum(axis=1) / (values**2).sum(axis=1)


def _completed_matrices(trial: Trial) -> tuple[Mapping[str, np.ndarray], Mapping[str, float]]:
    """Complete 12 x 12 matrices of rank 2 of which half is seen, at every depth the same ones.

    Return, by depth, the fraction of the singular values of each that is beyond rank 2, and the mean relative error.
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
        beyond[f"depth {depth}"] = values[:, 2:].sum(axis=1) / values.sum(axis=1)
        errors[f"depth {depth}"] = (np.linalg.norm(products[-1] - matrix, axis=(1, 2)) / norms).mean()
    return beyond, errors


def _random_low_rank(dim: int, random: np.random.Generator, values: tuple[float, ...]) -> np.ndarray:
    """Return a square matrix with these singular values and random singular vectors."""
    sides = [np.linalg.qr(random.standard_normal((dim, len(values))))[0] for _ in range(2)]
    return sides[0] * values @ sides[1].T


def _layer_values(layers: list[np.ndarray]) -> np.ndarray:
    """Return the singular values of all layers, (layer, value)."""
    return np.stack([np.linalg.svd(layer, compute_uv=False)[:8] for layer in layers])
