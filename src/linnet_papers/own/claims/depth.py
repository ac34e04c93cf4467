"""Claims on depth: the reduction's error, modes that decouple, the diagram as a formula, and what depth changes."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.own.training.deep import descent_products, least_test_loss, wide_layers
from linnet_papers.reproduction import Range, Rows, Trial, above, at_most, below, claim, fact, printed, within
from linnet_papers.reproduction.fits import exponent

TARGET = np.array([[1.2, -0.4, 0.3, 0.0], [0.2, 0.9, -0.5, 0.1], [-0.3, 0.1, 0.6, 0.7]])
GEOMETRIC = below(0.2, "about a tenth was seen, more from small outer layers; twice that is left for them")
BOUNDED = at_most(1.0, "an estimate that does not bound the error warns of nothing")


@claim(
    "depth-reduction",
    says="Words in the inner layers reduce a deep Gaussian network, with an error that falls geometrically in the "
    "longest word kept and that is estimated without training the full network.",
    assumes="Gaussian layers, whitened inputs",
    tried="depth 3 and 4, width 200 (full: 600), 4 inputs, 3 outputs; words of 2, 4 and 6 letters; 300 steps",
)
def reduction_by_words(trial: Trial) -> Rows:
    width = 200 if trial.quick else 600
    factors, errors, estimates = {}, {}, {}
    for depth in (3, 4):
        start = ln.inits.gaussian(
            in_dim=4, out_dim=3, width=width, depth=depth, stds=0.7 * width**-0.5, key=[trial.seed, depth]
        )
        full = descent_products(start.layers, TARGET, 0.05, 300, every=10)
        names = [f"depth {depth}, {order} letters" for order in (2, 4, 6)]
        for name, order in zip(names, (2, 4, 6), strict=True):
            small = ln.reduce(ln.Problem.from_target(TARGET), start, order=order)
            apart = descent_products(small.weights.layers, TARGET, 0.05, 300, every=10) - full
            errors[name] = np.abs(apart).max() / np.abs(full).max()
            estimates[name] = errors[name] / small.error
        factors[f"depth {depth}"] = (errors[names[-1]] / errors[names[0]]) ** 0.25
    yield printed("mean factor of the error for each further letter", factors, GEOMETRIC)
    yield printed("true over estimated error", estimates, BOUNDED)
    yield fact("largest relative error of the products", errors)


HALF = within(0.1, "8 initializations scatter a slope over two decades by a few percent", of=-0.5)
WIDEST = below(0.005, r"ten times the distance $2 \cdot 10^{-4}$ that the exponent gives: the limit itself is right")


@claim(
    "depth-decoupling",
    says="The singular values of a wide deep network learn independently, and a network of width $w$ is away from its "
    "limit by about $w^{-1/2}$.",
    assumes="Gaussian initialization with a negligible product, whitened inputs, fixed numbers of inputs and outputs",
    tried="depth 3, 5 inputs and outputs, widths $10^4$, $10^6$ and $10^8$, 8 initializations each",
)
def decoupling(trial: Trial) -> Rows:
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
    yield printed("exponent of the width in the distance, $10^4$ to $10^6$", slope, HALF)
    yield printed("distance at width $10^8$", distances[10**8], WIDEST)
    yield fact("mean largest distance of the singular values", {f"width {w:.0e}": d for w, d in distances.items()})


FORMULA = below(0.02, "one initialization at one width, words of four letters, and descent's step")
BARS = at_most(2.0, "twice a standard error; 24 networks")


@claim(
    "depth-diagram",
    says="The minimum test error of wide deep networks over training follows from one SVD of the target and a family "
    "of small flows, and narrower networks are away from it as far as its error says.",
    assumes="whitened inputs, a Gaussian initialization; wide hidden layers and a negligible product at first",
    tried=r"$30 \times 30$ matrices of rank 2 plus noise, depth 2, 3 and 4, two scales of the initialization each, "
    "width $10^6$; and 480, 960 and 3840 for its error",
)
def formula_at_depth(trial: Trial) -> Rows:
    task = ln.problems.low_rank_plus_noise(30, rank=2, key=trial.seed)
    differences, bars, formulas, trained = {}, {}, {}, {}
    for width in (480, 960, 3840, 10**6):
        for depth in (2, 3, 4):
            for coupling in (0.5, 1.5):
                name = f"width {width}, depth {depth}, $c = {coupling}$"
                diagram = ln.theories.deep.deep_diagram(task, [coupling**2 / width], [width], depth=depth)
                layers = wide_layers(30, width, depth, coupling, key=trial.seed, order=4)
                formulas[name] = diagram.min_test_loss[0, 0]
                trained[name] = least_test_loss(task, layers, 2.5 * diagram.best_time[0, 0], 400)
                differences[name] = abs(formulas[name] / trained[name] - 1)
                bars[name] = differences[name] / diagram.uncertainty[0, 0]
    widest = {name: off for name, off in differences.items() if name.startswith("width 1000000")}
    yield printed("relative difference of the minimum test error at width $10^6$", widest, FORMULA)
    yield printed("difference over the predicted error", bars, BARS)
    yield fact("minimum test loss by the formula", formulas)
    yield fact("minimum test loss of trained networks", trained)


HARDLY = within(0.1, "a tenth either way; the wrong scale costs at least a factor of 1.5", of=1)
SCALE_ACTS = above(1.5, "five times what depth may change at its best scale")
AHEAD = below(0.95, "five times the error of the formula")
THRESHOLDS = np.geomspace(1e-4, 10.0, 26)  # over the largest singular value of the target


@claim(
    "depth-scale",
    says="Depth changes how the scale of the initialization acts, not how well the best network does: with each depth "
    "at its own best scale, the minimum test error of depth 3 and 4 is that of depth 2 to a tenth, and not always the "
    "smaller one. At a threshold that is too large for the best error, a deeper network is ahead.",
    assumes="whitened inputs, low rank plus noise, signals that stand above the noise, wide Gaussian initializations; "
    "by the formula that `depth-diagram` checks",
    tried=r"$40 \times 40$ matrices, signal: the weakest singular value of the truth over $2 \sqrt{d}$, the largest of "
    "the noise, the strongest twice as large; thresholds from $10^{-4}$ to 10 times the largest singular value, depth "
    "2, 3 and 4; networks of width $10^6$ trained at the best of 16 scales for rank 3 and signal 2",
    region={"rank": Range(1, 6, whole=True), "signal": Range(1.5, 15, log=True)},
)
def what_depth_changes(trial: Trial) -> Rows:
    settings = trial.region(1 if trial.quick else 12)
    errors = {name: _errors_by_threshold(_task(trial, **setting)) for name, setting in settings.items()}
    ratios = {
        name: [by_depth[depth].min() / by_depth[2].min() for depth in (3, 4)] for name, by_depth in errors.items()
    }
    farther = {name: max(each, key=lambda ratio: abs(ratio - 1)) for name, each in ratios.items()}
    yield printed("minimum over scales of the test error, depth 3 or 4 over depth 2, the farther one", farther, HARDLY)
    spread = {name: by_depth[2].max() / by_depth[2].min() for name, by_depth in errors.items()}
    yield printed("largest over smallest error of depth 2 from one scale to another", spread, SCALE_ACTS)
    ahead = {name: (by_depth[3] / by_depth[2]).min() for name, by_depth in errors.items()}
    yield printed("smallest ratio of depth 3 to depth 2 at equal threshold", ahead, AHEAD)
    yield printed("trained networks at their best scales, depth 3 over depth 2", _trained_ratio(trial), HARDLY)
    buried = _errors_by_threshold(_task(trial, rank=1, signal=0.7))
    outside = (
        "depth 3 over depth 2 at their best scales for a single signal that is lost in the noise, where depth may help"
    )
    yield fact(outside, buried[3].min() / buried[2].min())


def _task(trial: Trial, rank: float, signal: float) -> ln.Problem:
    """Return a matrix in unit noise, whose weakest signal is so many times the largest singular value of the noise."""
    spectrum = signal * 2 * 40**-0.5 * np.linspace(2.0, 1.0, int(rank))
    return ln.problems.low_rank_plus_noise(40, rank=int(rank), spectrum=spectrum, key=trial.seed)


def _errors_by_threshold(task: ln.Problem) -> dict[int, np.ndarray]:
    """Return the minimum test loss over training by depth, for each of the `THRESHOLDS`."""
    thresholds = THRESHOLDS * np.linalg.norm(np.asarray(task.cross), 2)
    return {
        depth: ln.theories.deep.deep_diagram(task, thresholds ** (2 / depth) / 10**9, [10**9], depth=depth)
        .min_test_loss[0]
        for depth in (2, 3, 4)
    }  # fmt: skip


def _trained_ratio(trial: Trial) -> float:
    """Return the minimum test loss of a network of depth 3 over that of depth 2, each trained from its best scale."""
    task = _task(trial, rank=3, signal=2.0)
    couplings = np.geomspace(0.1, 2.0, 16)
    least = []
    for depth in (2, 3):
        diagram = ln.theories.deep.deep_diagram(task, couplings**2 / 10**6, [10**6], depth=depth)
        best = int(np.argmin(diagram.min_test_loss[0]))
        layers = wide_layers(40, 10**6, depth, float(couplings[best]), key=trial.seed, order=4)
        least.append(least_test_loss(task, layers, 1.5 * diagram.best_time[0, best], 600))
    return least[1] / least[0]
