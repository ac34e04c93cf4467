"""Weight decay lowers the threshold over time by an exact law, so that it turns lazy initializations active."""

from __future__ import annotations

from functools import cache

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.own.training import optimizers as training
from linnet_papers.reproduction import Range, Rows, Trial, above, below, claim, fact, printed
from linnet_papers.reproduction.fits import highest

WIDTH = 1e8
SIZES = {True: (24, 2), False: (100, 5)}  # inputs and rank of the truth, quick or not
STRENGTHS = np.array([4.0, 3.0, 2.0, 1.0, 0.5, 0.25])
FLOW = "every weight integrated by SciPy, Gaussian layers of a hundred million units"
EXACT = below(1e-5, "the flow is integrated to a relative tolerance of $10^{-7}$")
WIDE = below(
    2e-3, r"the initial product is $g d/\sqrt{w}$, up to a hundredth of the smallest mode, and its modes grow with it"
)


def _six_modes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the singular vectors of a target of six modes."""
    random = generator([seed, 65])
    left, right = (np.linalg.qr(random.standard_normal((6, 6)))[0] for _ in range(2))
    return left, right.T


def _flow(seed: int, threshold: float, decay: float, times: np.ndarray) -> list[training.Layers]:
    """Return the states of a flow with decay to the six modes, the initial one before the others."""
    left, right = _six_modes(seed)
    start = training.wide_start([seed, 66], 6, 6, WIDTH, threshold)
    return [start, *training.decayed_flow(start, (left * STRENGTHS) @ right, decay, times)]


@claim(
    "decay-threshold",
    where="ours, for the flow with weight decay",
    says=r"Weight decay multiplies the imbalance of the layers by $e^{-2 \lambda t}$, and each mode follows "
    r"$\dot s = 2 \sqrt{s^2 + g(t)^2} (S - s) - 2 \lambda s$ with $g(t) = g e^{-2 \lambda t}$.",
    assumes="whitened inputs; wide Gaussian layers for the modes, none for the imbalance",
    tried=f"{FLOW}; six modes of strengths 0.25 to 4, to $t = 20$",
    region={"threshold": Range(0.05, 5.0, log=True), "decay": Range(0.03, 0.3, log=True)},
)
def threshold(trial: Trial) -> Rows:
    times = np.geomspace(0.01, 20.0, 60)
    left, right = _six_modes(trial.seed)

    def errors(threshold: float, decay: float) -> tuple[float, float]:
        """Return the largest distances of the imbalance and of the product from their laws, over their sizes."""
        start, *states = _flow(trial.seed, threshold, decay, times)
        modes = ln.theories.lazy_active.mode_values(STRENGTHS, threshold, times, weight_decay=decay)
        at_first = _imbalance(start)
        away = highest(
            np.linalg.norm(_imbalance(state) - np.exp(-2 * decay * t) * at_first)
            for state, t in zip(states, times, strict=True)
        )
        off = highest(
            np.linalg.norm(state[1] @ state[0] - (left * s) @ right) for state, s in zip(states, modes, strict=True)
        )
        return float(away / np.linalg.norm(at_first)), float(off / np.linalg.norm(STRENGTHS))

    found = {label: errors(**setting) for label, setting in trial.region(3).items()}
    yield printed(
        r"largest distance of the imbalance from $e^{-2 \lambda t}$ times the initial one, over it",
        {label: one[0] for label, one in found.items()},
        EXACT,
    )
    yield printed(
        "largest distance of the product from the modes of the equation, over the target",
        {label: one[1] for label, one in found.items()},
        WIDE,
    )


def _imbalance(layers: training.Layers) -> np.ndarray:
    """Return W1 W1^T - W2^T W2."""
    return layers[0] @ layers[0].T - layers[1].T @ layers[1]


SOFT = below(
    0.01, r"a mode of the strength of the decay ends like $1/(2 t)$, at 0.005 for $t = 100$, and the others at once"
)


@claim(
    "decay-soft-threshold",
    where="ours, for the flow with weight decay",
    says=r"With weight decay training ends at the soft threshold $\max(S - \lambda, 0)$ from every initialization.",
    assumes="whitened inputs, an initial product that is not zero in any mode",
    tried=f"{FLOW}; six modes of strengths 0.25 to 4, to $t = 100$",
    region={"threshold": Range(0.05, 5.0, log=True), "decay": Range(0.3, 3.0, log=True)},
)
def soft_threshold(trial: Trial) -> Rows:
    def largest_error(threshold: float, decay: float) -> float:
        """Return the largest distance of a final singular value from the soft threshold."""
        end = _flow(trial.seed, threshold, decay, np.array([100.0]))[-1]
        values = np.linalg.svd(end[1] @ end[0], compute_uv=False)
        return float(np.abs(values - np.maximum(STRENGTHS - decay, 0)).max())

    found = {label: largest_error(**setting) for label, setting in trial.region(4).items()}
    yield printed(r"largest distance of a final singular value from $\max(S - \lambda, 0)$", found, SOFT)


AS_PREDICTED = below(0.02, "the initial product, and states kept at 200 times")
ACTIVE = below(0.6, "what becomes active loses nearly half of its error at least")
LIKE = below(1.2, "twelve decades of squared initialization within a fifth of each other")
UNLIKE = above(2, "without decay the same initializations differ by this much at least")
BETTER = below(1, "a small initialization with a little decay is better than the best decay of a lazy one")


@claim(
    "decay-turns-active",
    where="ours, for the plane of threshold and decay",
    says="Weight decay turns lazy initializations active: with decay of three quarters of the noise's edge the "
    "minimum test error hardly depends on the initialization.",
    assumes="whitened inputs, a truth of low rank well above the noise, wide layers",
    tried=f"{FLOW}; rank 2, 24 inputs and outputs (full: rank 5, 100), singular values of 1.5 to 1 times "
    r"$d/\sqrt{K}$; decay in units of $2 \sqrt{d}$, the edge of the noise",
    region={"threshold": Range(0.01, 100.0, log=True), "decay": Range(0.1, 1.0, log=True)},
)
def turns_active(trial: Trial) -> Rows:
    dim, rank = SIZES[trial.quick]
    problem = ln.problems.low_rank_plus_noise(dim, rank=rank, spectrum=training.spectrum(rank), key=[trial.seed, 67])
    edge = 2 * np.sqrt(dim)

    @cache
    def trained(threshold: float, decay: float) -> float:
        """Return the minimum test error over time of a trained network; decay in units of the edge."""
        start = training.wide_start([trial.seed, 68], dim, dim, WIDTH, threshold)
        target = np.asarray(problem.cross)
        times = np.geomspace(1e-4, 1.0, 200) * 120 / np.linalg.norm(target, 2)
        states = training.decayed_flow(start, target, decay * edge, times)
        return training.minimum_error(problem, [start, *states])

    def off(threshold: float, decay: float) -> float:
        """Return the relative distance of that error from the formula."""
        diagram = ln.theories.lazy_active.predicted_diagram(
            problem, [threshold / WIDTH], [round(WIDTH)], weight_decay=decay * edge
        )
        return abs(trained(threshold, decay) / (2 * float(diagram.min_test_loss[0, 0]) / dim**2) - 1)

    small, lazy, strong = 0.01, 100.0, 0.75
    thresholds = (small, 1.0, lazy)
    with_decay, without = ([trained(g, decay) for g in thresholds] for decay in (strong, 0.0))
    yield printed(
        "minimum test error over time, relative distance from the formula",
        {label: off(**setting) for label, setting in trial.region(2).items()},
        AS_PREDICTED,
    )
    yield printed(
        "least error from threshold 100 with that decay, over that without", with_decay[-1] / without[-1], ACTIVE
    )
    yield printed(
        "largest over smallest least error of thresholds 0.01 to 100, with that decay", _spread(with_decay), LIKE
    )
    yield printed("the same without decay", _spread(without), UNLIKE)
    best = min(trained(lazy, decay) for decay in (0.3, 0.5, 0.6, 0.8))
    yield printed(
        "least error from threshold 0.01 with decay 0.2, over the best from 100", trained(small, 0.2) / best, BETTER
    )
    yield fact("least error by threshold with that decay", dict(zip(map(str, thresholds), with_decay, strict=True)))
    yield fact("least error by threshold without decay", dict(zip(map(str, thresholds), without, strict=True)))


def _spread(errors: list[float]) -> float:
    """Return the largest over the smallest."""
    return max(errors) / min(errors)
