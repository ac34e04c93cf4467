"""Muon and spectral descent: the singular values of the target are clipped, and no initialization is active."""

from __future__ import annotations

from functools import cache

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.own.training import optimizers as training
from linnet_papers.reproduction import Range, Rows, Trial, above, below, claim, fact, printed, within
from linnet_papers.reproduction.fits import highest

SIZES = {True: (24, 2), False: (100, 5)}  # inputs and rank of the truth, quick or not
STEPS = {True: 200, False: 400}  # of spectral descent; Muon takes three times as many
TRAINED = (
    r"truth of rank $K = 2$, singular values 1.5 to 1 times $d/\sqrt{K}$, in unit noise, 24 inputs and outputs (full: "
    "rank 5, 100), networks in NumPy with every weight"
)


@cache
def _task(quick: bool, seed: int) -> ln.Problem:
    """Draw the task that these claims share: a truth of low rank in noise."""
    dim, rank = SIZES[quick]
    return ln.problems.low_rank_plus_noise(dim, rank=rank, spectrum=training.spectrum(rank), key=[seed, 60])


def _start(trial: Trial, threshold: float, units_per_input: float) -> training.Layers:
    """Draw a Gaussian initialization for that task."""
    dim, _ = SIZES[trial.quick]
    return training.wide_start([trial.seed, 61], dim, dim, units_per_input * dim, threshold)


BEYOND_PRODUCT = below(
    0.03,
    "a hundredth by the size of a step, and the unequal singular values of a Gaussian layer of twenty times the inputs",
)
WRONG = above(
    0.1, "if the selection of gradient flow, whose strong modes come first, were as near, nothing would be told"
)


@claim(
    "muon-clips",
    where="ours, for Muon in small steps without momentum",
    says=r"From wide Gaussian layers spectral descent clips: $A(t) = U \min(S, s(t)) V^\top$ with one level $s(t)$.",
    assumes="whitened inputs, small steps, at least twenty times as many units as inputs",
    tried=f"{TRAINED}; 200 steps",
    region={"threshold": Range(0.01, 1.0, log=True), "units_per_input": Range(20, 2e5, log=True)},
)
def clips(trial: Trial) -> Rows:
    """The distance of the product from the clipped target along the run, less the size of the initial product."""
    problem = _task(trial.quick, trial.seed)
    left, values, right = np.linalg.svd(problem.cross)
    size = np.linalg.norm(values)

    def distances(threshold: float, units_per_input: float) -> tuple[float, float]:
        """Return the largest distance from clipping beyond the initial product, and that from gradient flow's modes."""
        times, states = training.spectral_run(_start(trial, threshold, units_per_input), problem, STEPS[trial.quick])
        initial = np.linalg.norm(states[0][1] @ states[0][0])
        products = [second @ first for first, second in states]
        levels = ln.theories.spectral_descent.level(threshold, times)
        clipped = [(left * np.minimum(values, level)) @ right for level in levels]
        beyond = highest(np.linalg.norm(a - b) for a, b in zip(products, clipped, strict=True)) - initial
        # the state of gradient flow that is nearest to this one half way
        half = products[len(products) // 2]
        flow = ln.theories.lazy_active.mode_values(values, threshold, np.geomspace(1e-3, 10, 200))
        selected = min(float(np.linalg.norm((left * modes) @ right - half)) for modes in flow)
        return float(beyond / size), float(selected / size)

    found = {label: distances(**setting) for label, setting in trial.region(2).items()}
    clipping = {label: one[0] for label, one in found.items()}
    yield printed(
        "largest distance from clipping beyond the initial product, over the target", clipping, BEYOND_PRODUCT
    )
    selecting = {label: one[1] for label, one in found.items()}
    yield printed("distance half way from the nearest state of gradient flow, over the target", selecting, WRONG)


AS_CLIPPED = within(
    0.03, "the initial product of the narrowest networks, and half a percent of the formula's own", of=1
)
AS_USED = within(
    0.2, "five iterations of Newton and Schulz leave singular values of 0.7 to 1.2, which selects a little", of=1
)
NOT_ACTIVE = above(2, "an active region halves the error at least")


@claim(
    "muon-no-active-region",
    where="ours, for the plane of Tu et al. under Muon",
    says="At width $d$ and above no initialization is active under spectral descent or Muon: the minimum test error is "
    "that of clipping, whatever the variance.",
    assumes="whitened inputs, an initial product small against the noise",
    tried=f"{TRAINED}; Muon with momentum 0.95, Nesterov, five iterations and its shape factors",
    region={"threshold": Range(0.001, 0.1, log=True), "units_per_input": Range(1, 1e4, log=True)},
)
def no_active_region(trial: Trial) -> Rows:
    problem = _task(trial.quick, trial.seed)
    dim = problem.in_dim
    clipped = 2 * ln.theories.spectral_descent.minimum(problem, 0.0).test_loss / dim**2

    def errors(threshold: float, units_per_input: float) -> dict[str, float]:
        """Return the minimum test errors per entry of the trained networks, over that of clipping."""
        start, steps = _start(trial, threshold, units_per_input), STEPS[trial.quick]
        runs = {
            "spectral": training.spectral_run(start, problem, steps)[1],
            "muon": training.muon_run(start, problem, units_per_input * dim, 3 * steps),
            "descent": training.descent_run(start, problem, threshold),
        }
        return {name: training.minimum_error(problem, run) / clipped for name, run in runs.items()}

    found = {label: errors(**setting) for label, setting in trial.region(2).items()}

    def of(name: str) -> dict[str, float]:
        """Return one of the errors by the setting."""
        return {label: one[name] for label, one in found.items()}

    least = "minimum test error over time"
    yield printed(f"{least} of spectral descent, over that of clipping at its best level", of("spectral"), AS_CLIPPED)
    yield printed(f"{least} of Muon as it is used, over that of clipping", of("muon"), AS_USED)
    against = {label: one["spectral"] / one["descent"] for label, one in found.items()}
    yield printed(
        f"{least} of spectral descent, over that of gradient descent from the same initialization", against, NOT_ACTIVE
    )
    yield fact("minimum test error per entry of clipping", clipped)


REGULARIZES = below(0.6, "as many units as the truth has modes leave no room for noise but along them")
WIDER = above(0, "one width at which a wider network is better would refute it")


@claim(
    "muon-narrow",
    where="ours, for the plane of Tu et al. under Muon",
    says="Below width $d$ the width regularizes spectral descent, at any variance: the fewer units, down to the rank "
    "of the truth, the smaller the minimum test error.",
    assumes="whitened inputs",
    tried=f"{TRAINED}; widths of 1, 2, 4 and 8 times the rank, the mean of three draws",
    region={"threshold": Range(0.001, 0.1, log=True)},
)
def narrow(trial: Trial) -> Rows:
    problem = _task(trial.quick, trial.seed)
    dim, rank = SIZES[trial.quick]
    clipped = 2 * ln.theories.spectral_descent.minimum(problem, 0.0).test_loss / dim**2
    target, steps = np.asarray(problem.cross), STEPS[trial.quick]
    rates = np.full(steps, 1.5 * np.sqrt(np.linalg.norm(target, 2)) / steps)

    def errors(threshold: float) -> list[float]:
        """Return the minimum test error of each width, over that of clipping at its best level."""
        found = []
        for width in (rank, 2 * rank, 4 * rank, 8 * rank):
            starts = [training.wide_start([trial.seed, 62, draw], dim, dim, width, threshold) for draw in range(3)]
            runs = [training.descend(start, target, training.spectral, rates) for start in starts]
            found.append(float(np.mean([training.minimum_error(problem, run) for run in runs])) / clipped)
        return found

    found = {label: errors(**setting) for label, setting in trial.region(1).items()}
    narrowest = {label: one[0] for label, one in found.items()}
    yield printed("minimum test error at the width of the rank, over that of clipping", narrowest, REGULARIZES)
    steps_up = {label: float(np.diff(one).min()) for label, one in found.items()}
    yield printed("smallest increase of it from one width to twice that", steps_up, WIDER)


KEPT = below(
    0.01, "a singular value of a gradient below the cutoff costs a layer a step of 0.02; it grows by 2 or more"
)
NOT_KEPT = above(0.02, "what Muon does not conserve changes by far more than what it does")
NEARLY = below(0.05, "the weights align in the first steps, while they are a thousandth of the end")


@claim(
    "muon-conserved",
    where="arXiv 2606.30509, for aligned weights",
    says=r"Once the layers are aligned, spectral descent conserves $(W_2^\top W_2)^{1/2} - (W_1 W_1^\top)^{1/2}$, and "
    r"not $W_2^\top W_2 - W_1 W_1^\top$.",
    assumes="whitened inputs, layers that share their frames with each other and with the target",
    tried="200 steps until every mode has arrived; also from independent Gaussian layers of size 0.001",
    region={"imbalance": Range(0.1, 10.0, log=True), "inputs": Range(4, 16, whole=True)},
)
def conserved(trial: Trial) -> Rows:
    def drifts(imbalance: float, inputs: float) -> tuple[float, float, float]:
        """Return the changes of both quantities from aligned layers, and of the first from Gaussian ones."""
        dim = int(inputs)
        random = generator([trial.seed, 63, dim])
        left, right, frame = (np.linalg.qr(random.standard_normal((rows, dim)))[0] for rows in (dim, dim, 2 * dim))
        target = (left * random.uniform(1, 3, dim)) @ right.T
        p, q = (0.1 * factor * random.uniform(0.5, 1.5, dim) for factor in (imbalance**0.5, imbalance**-0.5))
        gaussian = 1e-3 * random.standard_normal((2, 2 * dim, dim))
        starts = ((frame * p) @ right.T, (left * q) @ frame.T), (gaussian[0], gaussian[1].T)
        aligned, others = (training.descend(s, target, training.spectral, np.full(200, 0.02)) for s in starts)
        of_roots, of_grams = (_drift(aligned, power) for power in (0.5, 1.0))
        return of_roots, of_grams, _drift(others, 0.5)

    settings = trial.region(2)
    found = {label: drifts(**setting) for label, setting in settings.items()}
    roots = "change of the difference of roots, over the growth of the second layer's root"
    yield printed(f"{roots}: aligned layers", {label: one[0] for label, one in found.items()}, KEPT)
    grams = "change of the difference of Gram matrices, over the growth of the second layer's: aligned layers"
    unequal = {label: one[1] for label, one in found.items() if abs(np.log(settings[label]["imbalance"])) > np.log(3)}
    yield printed(f"{grams}, imbalance of 3 or more, or a third or less", unequal, NOT_KEPT)
    yield printed(f"{roots}: small Gaussian layers", {label: one[2] for label, one in found.items()}, NEARLY)


def _drift(states: list[training.Layers], power: float) -> float:
    """Return the change of the difference of both layers' Gram matrices to this power over the growth of the second."""

    def powers(layers: training.Layers) -> list[np.ndarray]:
        """Return a power of each Gram matrix over the hidden units."""
        found = []
        for gram in (layers[1].T @ layers[1], layers[0] @ layers[0].T):
            values, vectors = np.linalg.eigh(gram)
            found.append((vectors * np.maximum(values, 0) ** power) @ vectors.T)
        return found

    (second, first), (second_end, first_end) = powers(states[0]), powers(states[-1])
    return float(np.linalg.norm(second_end - first_end - second + first) / np.linalg.norm(second_end - second))


LEARNED = below(
    0.01, r"the last step is $2^{-14}$; modes that the first step left unaligned may lag by a few earlier ones"
)
NOT_LEARNED = above(0.02, "a mode that never aligns is off by its own strength")


@claim(
    "muon-sixteen-steps",
    where="arXiv 2606.30509, figure 4 and its published code",
    says="With the steps 0.0001, 1, 1/2, 1/4, ... spectral descent learns a target of 25 modes in 16 iterations, from "
    "orthogonal layers of scale 0.0001.",
    assumes="a first step that equals the scale of the initialization to 2%",
    tried=r"targets of strengths $5/(4 + i)$ as published; other sizes and scales, with a first step of the same "
    "scale, and with one ten times as large",
    region={
        "scale": Range(1e-5, 1e-3, log=True, paper=(1e-4,)),
        "inputs": Range(10, 100, log=True, whole=True, paper=(25,)),
    },
)
def sixteen_steps(trial: Trial) -> Rows:
    def largest_error(scale: float, inputs: float, first: float) -> float:
        """Return the largest distance of a singular value from its target after 16 steps."""
        dim = int(inputs)
        random = generator([trial.seed, 64, dim])
        values = 5.0 / (4 + np.arange(1, dim + 1))
        start = tuple(scale * np.linalg.qr(random.standard_normal((dim, dim)))[0] for _ in range(2))
        rates = [first * scale, *(0.5 ** np.arange(15))]
        end = training.descend((start[0], start[1]), np.diag(values), training.spectral, rates)[-1]
        return float(np.abs(np.linalg.svd(end[1] @ end[0], compute_uv=False) - values).max())

    error = "largest distance of a singular value from its target"
    published = {"scale": 1e-4, "inputs": 25}
    yield printed(f"{error}, as published", largest_error(**published, first=1.0), LEARNED)
    found = {label: largest_error(**setting, first=1.0) for label, setting in trial.region(1).items()}
    yield printed(error, found, LEARNED)
    yield printed(f"{error}, a first step of ten times the scale", largest_error(**published, first=10.0), NOT_LEARNED)
