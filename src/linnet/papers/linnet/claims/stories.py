"""Claims on depth: whether the stories that the papers tell of two layers are those of deeper networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import linnet as ln
from linnet.inits.layers import product_of
from linnet.papers.linnet.deep_networks import descent_products, wide_layers
from linnet.reproduction import Above, AllOf, AtLeast, AtMost, Estimate, Numbers, Trial, Within, claim

DEPTHS = (2, 3, 4)
SMALL = {2: 0.02, 3: 0.1, 4: 0.2}  # couplings: small starts, whose plateaus end within the steps that are taken
WIDTH = 40
SPIKES = ((5.0, 0.3), (5.0, 0.8), (20.0, 0.3), (20.0, 0.8))  # spike, alignment: the corners of a region


def _start(inputs: int, outputs: int, depth: int, coupling: float, key: Sequence[int]) -> Sequence[np.ndarray]:
    """Return the layers of a Gaussian start, (out, in) each; the coupling is sqrt(w) sigma."""
    stds = coupling * WIDTH**-0.5
    return ln.inits.deep_gaussian(
        in_dim=inputs, out_dim=outputs, width=WIDTH, depth=depth, stds=stds, key=list(key)
    ).layers


def _starts(inputs: int, outputs: int, depth: int, coupling: float, keys: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return a start for each key, layer by layer, (draw, out, in)."""
    return [np.stack(layers) for layers in zip(*(_start(inputs, outputs, depth, coupling, key) for key in keys))]


def _spiked_moments(spike: float, alignment: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the covariance and the target of Watanabe et al., with ten inputs."""
    cov = np.eye(10)
    cov[0, 0] += spike
    return cov, np.array([alignment, np.sqrt(1 - alignment**2), *np.zeros(8)])


def _residual_of_moments(cov: np.ndarray, truth: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function of a product A that returns its residual under the covariance, (truth - A) cov."""
    return lambda product: (truth - product) @ cov


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
    reads="share of v2 learned by then, depth 2, 3, 4: {shares:.3g}; delays: {delays:.3g}",
)
def two_phases(trial: Trial) -> Numbers:
    shares: dict[str, list[float]] = {}
    delays: dict[str, list[float]] = {}
    for spike, alignment in SPIKES:
        cov, truth = _spiked_moments(spike, alignment)
        correlation = cov @ truth
        v1 = correlation / np.linalg.norm(correlation)
        v2 = truth - (truth @ v1) * v1
        plateau = np.linalg.norm(correlation) / (v1 @ cov @ v1)
        for depth in DEPTHS:
            rate, seen = 0.1 / (depth * (1 + spike)), []
            keys = [[trial.seed, depth, draw] for draw in range(4 if trial.quick else 32)]
            steps = round(4 * depth * np.sqrt(5 / spike) / rate)
            start = _starts(10, 1, depth, SMALL[depth], keys)
            for along in np.moveaxis(
                descent_products(start, truth, rate, steps, residual=_residual_of_moments(cov, truth))[:, :, 0], 1, 0
            ):
                first, second = along @ v1, along @ v2 / (v2 @ v2)
                begin, end = (int(np.argmax(first > level * plateau)) for level in (0.1, 0.9))
                seen.append((second[end], (int(np.argmax(second > 0.5)) - end) / (end - begin)))
            share, delay = np.mean(seen, axis=0)
            shares.setdefault(f"spike {spike:g}, alignment {alignment:g}", []).append(share)
            delays.setdefault(f"spike {spike:g}, alignment {alignment:g}", []).append(delay)
    worst = max(max(row) for row in shares.values())
    least = min(min(row) for row in delays.values())
    return {"value": worst, "share": worst, "delay": least, "shares": shares, "delays": delays}


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
    reads="loss left at alignment: {losses:.3g}; ratio at half of the loss and at the end, and the cosine: "
    "{ratios:.3g}",
)
def two_stages(trial: Trial) -> Numbers:
    losses, ratios, drifts, ends = {}, {}, [], []
    truth = np.random.default_rng([trial.seed, 1]).standard_normal(6)
    truth /= np.linalg.norm(truth)
    for name, cov in (("whitened", np.eye(6)), ("not whitened", np.diag(np.geomspace(1.0, 0.25, 6)))):
        towards = cov @ truth / np.linalg.norm(cov @ truth)

        def kept_numbers(layers: list[np.ndarray], cov: np.ndarray = cov, towards: np.ndarray = towards) -> np.ndarray:
            """Return the loss, the cosine of alignment, and the lengths of the first layer along it and of the last."""
            left = truth - product_of(layers)[0]
            aligned = abs(np.linalg.svd(layers[0], full_matrices=False)[2][0] @ towards)
            return np.array(
                [left @ cov @ left, aligned, np.linalg.norm(layers[0] @ towards), np.linalg.norm(layers[-1])]
            )

        for depth in DEPTHS:
            rate = 0.1 / depth
            start = _start(6, 1, depth, SMALL[depth], [trial.seed, depth])
            run = descent_products(
                start,
                truth,
                rate,
                round(20 * depth / rate),
                residual=_residual_of_moments(cov, truth),
                keep=kept_numbers,
            )
            left, ratio = run[:, 0] / run[0, 0], run[:, 2] / run[:, 3]
            half = int(np.argmax(left < 0.5))
            cosine = float(truth @ towards)
            losses[f"depth {depth}, {name}"] = left[np.argmax(run[:, 1] > 0.95)]
            ratios[f"depth {depth}, {name}"] = [ratio[half], ratio[-1], cosine]
            ends.append(abs(ratio[-1] - cosine))
            if name == "whitened":
                drifts.append(abs(ratio[-1] - ratio[half]))
    worst = min(losses.values())
    return {"value": worst, "loss": worst, "drift": max(drifts), "end": max(ends), "losses": losses, "ratios": ratios}


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
    reads="share of the layers beyond rank 2, small and large start: {shares:.3g}; of the completed matrices, and "
    "their relative error: {completed:.3g}",
)
def low_rank(trial: Trial) -> Numbers:
    target = _random_low_rank(8, np.random.default_rng([trial.seed, 2]), (2.0, 1.0))
    shares: dict[str, list[float]] = {}
    for depth in DEPTHS:
        for coupling in ({2: 0.03, 3: 0.1, 4: 0.2}[depth], 1.0):
            rate = 0.05 / max(1.0, depth * (2 * coupling) ** (2 * depth - 2) / 4)
            steps = round(min(60 * depth / 2 / rate, 8000))
            start = _start(8, 8, depth, coupling, [trial.seed, depth])
            values = descent_products(start, target, rate, steps, every=steps, keep=_layer_values)[-1]
            beyond = (values[:, 2:] ** 2).sum(axis=1) / (values**2).sum(axis=1)
            shares.setdefault(f"depth {depth}", []).append(beyond.max() if coupling < 1 else beyond.min())
    draws = range(24 if trial.quick else 64)
    randoms = [np.random.default_rng([trial.seed, 3, draw]) for draw in draws]
    matrix = np.stack([_random_low_rank(12, random, (2.0, 2.0)) for random in randoms])
    seen = np.stack([random.random((12, 12)) < 0.5 for random in randoms])
    beyond_two, errors = [], []
    for depth, coupling in {2: 0.03, 3: 0.15, 4: 0.25}.items():
        start = _starts(12, 12, depth, coupling, [[trial.seed, depth, draw] for draw in draws])
        product = descent_products(
            start, matrix, 0.1 / depth, 3000, every=3000, residual=lambda A: seen * (matrix - A)
        )[-1]
        values = np.linalg.svd(product, compute_uv=False)
        beyond_two.append(values[:, 2:].sum(axis=1) / values.sum(axis=1))
        errors.append(np.mean(np.linalg.norm(product - matrix, axis=(1, 2)) / np.linalg.norm(matrix, axis=(1, 2))))
    less = Estimate.of_mean(beyond_two[0] - beyond_two[1])
    gain = less.value / less.error
    rows = zip(DEPTHS, np.mean(beyond_two, axis=1), errors, strict=True)
    return {
        "value": gain,
        "small": max(row[0] for row in shares.values()),
        "large": min(row[1] for row in shares.values()),
        "gain": gain,
        "shares": shares,
        "completed": {f"depth {depth}": [beyond, error] for depth, beyond, error in rows},
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
    exponents, away, across = {}, [], []
    for depth in DEPTHS:
        variances = np.array([[_border_variances(trial, S, depth, width) for S in strengths] for width in widths])
        logs = np.log(variances * np.array(widths)[:, None, None]).mean(axis=0)  # (strength, start)
        slopes = np.polyfit(np.log(strengths), logs, 1)[0]
        exponents[f"depth {depth}"] = Estimate.of_mean(slopes)
        # at the border of depth L the threshold c^L is a multiple of S
        predicted = 2 * np.log(2.0) / np.log(ln.theories.deep.threshold(2.0, depth))
        away.append(slopes.mean() - predicted)
        fall = np.diff(np.log(variances.mean(axis=(1, 2))))[0] / np.log(widths[1] / widths[0])
        across.append(fall)
    farthest = max(away, key=abs)
    return {
        "value": farthest,
        "exponent": farthest,
        "width": max(across, key=lambda one: abs(one + 1)),
        "exponents": exponents,
    }


def _border_variances(trial: Trial, strength: float, depth: int, width: int) -> np.ndarray:
    """Return the variance at which half of a mode is learned 20% sooner than by the starting kernel, for each of 8
    starts."""
    couplings = np.geomspace(0.48, 1.7, 11)  # the same for all strengths and depths
    sooner = []
    for coupling in couplings:
        key = [trial.seed, depth, round(10 * strength), width]
        layers = wide_layers(1, width, depth, coupling, key=key, order=6, batch=8)
        lazily = np.log(2) / (depth * coupling ** (2 * depth - 2))
        rate = min(lazily / 100, 0.5 / (depth * strength ** (2 - 2 / depth)))  # stable where the mode is active, too
        steps = round(1.3 * lazily / rate)
        learned = descent_products(layers, np.array([[strength]]), rate, steps)[..., 0, 0] / strength
        sooner.append([np.interp(0.5, one, np.arange(steps + 1) * rate / lazily) for one in learned.T])
    # the times rise towards that of the kernel with the coupling, (coupling, start)
    logs = [np.interp(0.8, one, np.log(couplings)) for one in np.array(sooner).T]
    return np.exp(2 * np.array(logs)) / width
