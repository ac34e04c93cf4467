"""Claims on depth: the reduction's error, modes that decouple, the diagram as a formula, and what depth buys."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.own.training.deep import descent_products, least_test_loss, wide_layers
from linnet_papers.reproduction import Above, AllOf, AtMost, Below, Numbers, Trial, Within, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import exponent

TARGET = np.array([[1.2, -0.4, 0.3, 0.0], [0.2, 0.9, -0.5, 0.1], [-0.3, 0.1, 0.6, 0.7]])


@claim(
    "depth-reduction",
    says="Words in the inner layers reduce a deep Gaussian network, with an error that falls geometrically in the "
    "longest word kept and that is estimated without training the full network.",
    assumes="Gaussian layers, whitened inputs",
    tried="depth 3 and 4, width 200 (full: 600), 4 inputs, 3 outputs; words of 2 to 6 letters; 300 steps",
    holds=AllOf(
        Below(
            0.2,
            "factor",
            what="largest factor of the error for each letter, on average",
            form=".2f",
            because="a geometric fall; about tenfold was seen, less from small outer layers",
        ),
        AtMost(
            1.0,
            "ratio",
            what="largest ratio of true to estimated error",
            form=".2g",
            because="an estimate that does not bound the error warns of nothing",
        ),
    ),
    reads="largest error of the products by letters: {errors:.2g}",
)
def reduction_by_words(trial: Trial) -> Numbers:
    width = 200 if trial.quick else 600
    sizes = {"in_dim": 4, "out_dim": 3, "width": width}

    def reduction_errors(depth: int) -> Numbers:
        """Return the errors of the reduced networks, their factor for each letter, and their ratio to the estimates."""
        start = ln.inits.gaussian(**sizes, depth=depth, stds=0.7 * width**-0.5, key=[trial.seed, depth])
        full = descent_products(start.layers, TARGET, 0.05, 300, every=10)
        errors, ratios = [], []
        for order in (2, 4, 6):
            small = ln.reduce(ln.Problem.from_target(TARGET), start, order=order)
            apart = descent_products(small.weights.layers, TARGET, 0.05, 300, every=10) - full
            errors.append(np.abs(apart).max() / np.abs(full).max())
            ratios.append(errors[-1] / small.error)
        return {"errors": errors, "factor": (errors[-1] / errors[0]) ** 0.25, "ratio": max(ratios)}

    return by_name({f"depth {depth}": reduction_errors(depth) for depth in (3, 4)})


@claim(
    "depth-decoupling",
    says="The singular values of a wide deep network learn independently, and a network of width w is away from its "
    "limit by about w^(-1/2).",
    assumes="Gaussian start with a negligible product, whitened inputs, fixed numbers of inputs and outputs",
    tried="depth 3, 5 inputs and outputs, widths 1e4, 1e6 and 1e8, 8 starts each",
    holds=AllOf(
        Within(0.1, what="exponent", of=-0.5, because="8 starts scatter a slope over two decades by a few percent"),
        Below(0.005, "widest", what="distance at width 1e8", form=".1e", because="the limit itself must be right"),
    ),
    reads="largest distance of the singular values by width: {distances:.2g}",
)
def decoupling(trial: Trial) -> Numbers:
    values = np.array([3.0, 2.0, 1.0, 0.5, 0.0])
    times = np.arange(0, 6) * 0.4
    modes = ln.theories.deep.gaussian_modes(values, 0.7, 3, times)
    distances = {}
    for width in (10**4, 10**6, 10**8):
        layers = wide_layers(5, width, 3, 0.7, key=trial.seed, order=6, batch=8)
        # Two and four times as many steps, extrapolated twice: descent of order one becomes the flow to 1e-4.
        runs = [descent_products(layers, np.diag(values), 0.4 / n, 5 * n, every=n) for n in (40, 80, 160)]
        flow = (runs[0] - 6 * runs[1] + 8 * runs[2]) / 3
        apart = np.abs(np.diagonal(flow, axis1=-2, axis2=-1) - modes[:, None]).max(axis=(0, 2))
        distances[width] = apart.mean()
    slope, _ = exponent(list(distances)[:2], list(distances.values())[:2])
    return {"value": slope, "widest": distances[10**8], "distances": {f"{w:.0e}": d for w, d in distances.items()}}


@claim(
    "depth-diagram",
    says="The least test error of wide deep networks over training follows from one SVD of the target and a family of "
    "small flows, and narrower networks are away from it as far as its error says.",
    assumes="whitened inputs, a Gaussian start; wide hidden layers and a start with a negligible product for the first",
    tried="30 x 30 matrices of rank 2 plus noise, depth 2, 3 and 4, two scales of the start each, width 1e6; and 480, "
    "960 and 3840 for its error",
    holds=AllOf(
        Below(
            0.02,
            "worst",
            what="largest relative difference of the least test error at width 1e6",
            form=".2%",
            because="one start at one width, words of four letters, and descent's step",
        ),
        AtMost(
            2.0,
            "bars",
            what="largest difference, in units of the predicted error",
            form=".2f",
            because="twice a standard error; 24 networks",
        ),
    ),
    reads="least test error at width 1e6, formula and trained: {pairs:.1f}",
)
def formula_at_depth(trial: Trial) -> Numbers:
    task = ln.problems.low_rank_plus_noise(30, rank=2, key=trial.seed)

    def compare(width: int, depth: int, coupling: float) -> Numbers:
        """Return the least test error by formula and trained, their relative difference, and that over its error."""
        diagram = ln.theories.deep.deep_diagram(task, [coupling**2 / width], [width], depth=depth)
        layers = wide_layers(30, width, depth, coupling, key=trial.seed, order=4)
        formula = diagram.min_test_loss[0, 0]
        least = least_test_loss(task, layers, 2.5 * diagram.best_time[0, 0], 400)
        difference = abs(formula / least - 1)
        return {"pairs": [formula, least], "worst": difference, "bars": difference / diagram.uncertainty[0, 0]}

    cases = {f"depth {depth}, c = {c}": (depth, c) for depth in (2, 3, 4) for c in (0.5, 1.5)}
    widest = by_name({name: compare(10**6, *case) for name, case in cases.items()})
    narrow = {
        f"width {width}, {name}": compare(width, *case)["bars"]
        for width in (480, 960, 3840)
        for name, case in cases.items()
    }
    return {**widest, "bars": narrow | widest["bars"]}


@claim(
    "depth-buys",
    says="At the same initial kernel a deeper network has the smaller error at its best stopping time: depth widens "
    "the active region.",
    assumes="whitened inputs, low rank plus noise, wide Gaussian starts; by the formula that `depth-diagram` checks",
    tried="60 x 60 matrices of rank 3, kernels 0.5 to 50, depth 2 and 3",
    holds=AllOf(
        AtMost(
            1.01,
            "ratio",
            what="largest ratio of the errors, depth 3 over depth 2",
            form=".2f",
            because="equal errors where both are active, to the error of the formula",
        ),
        Above(
            0.0,
            "gain",
            what="least gain at the largest kernels",
            form=".2f",
            because="where depth 2 is lazy, depth 3 must be ahead to widen the active region",
        ),
    ),
    reads="least test error by kernel, depth 2 and 3: {errors:.3f}",
)
def what_depth_buys(trial: Trial) -> Numbers:
    task = ln.problems.low_rank_plus_noise(60, rank=3, key=trial.seed)
    width = 10**9

    def least_errors(kernel: float) -> Numbers:
        """Return the least test errors of both depths, and their ratio."""
        errors = []
        for depth in (2, 3):
            coupling = (kernel / depth) ** (1 / (2 * depth - 2))
            predicted = ln.theories.deep.deep_diagram(task, [coupling**2 / width], [width], depth=depth)
            errors.append(2 * predicted.min_test_loss[0, 0] / 3600)
        return {"errors": errors, "ratio": errors[1] / errors[0]}

    numbers = by_name({f"kernel {kernel:g}": least_errors(kernel) for kernel in (0.5, 2.0, 10.0, 50.0)})
    return {**numbers, "gain": {name: 1 - numbers["ratio"][name] for name in ("kernel 10", "kernel 50")}}
