"""The formulas for three layers and more, from the simplest on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linnet.predictions._task import ROUNDING, SENSITIVITY, Task, nudged
from linnet.predictions.prediction import Answer, Assumption, Formula, required
from linnet.theories import deep

EXACT = 1e-9  # of what is equal to rounding, relative to the largest
WORD_TOLERANCES = (1e-5, 1e-3, 1e-1)  # of the words that are kept; the next one where too many are needed
MAX_SPREAD = 1.0  # of the Gram matrices of wide layers, about their mean: a width of about 4 (inputs + outputs)


def _balance(task: Task) -> Assumption:
    scale = max(float(np.linalg.norm(layer, 2)) ** 2 for layer in task.weights.layers)
    off = max(float(np.abs(one).max()) for one in task.weights.imbalances) / max(scale, 1e-300)
    return Assumption("layers", "balanced", f"imbalance {off:.1g} of the largest", off <= EXACT)


def _balanced_modes(task: Task) -> Answer:
    assumptions = required(task.layers(3, np.inf), task.flow, task.no_decay, task.whitened, _balance(task))
    left, values, right = np.linalg.svd(task.target, full_matrices=False)
    turned = left.T @ task.product @ right.T
    strengths = np.diagonal(turned).copy()
    rest = float(np.abs(task.product - (left * strengths) @ right).max())
    size = max(float(np.abs(task.product).max()), 1e-300)
    met = rest <= EXACT * size and bool((strengths >= -EXACT * size).all())
    basis = Assumption("initial product", "in the basis of the target", f"{rest / size:.1g} off", met)
    assumptions = required(*assumptions, basis)
    modes = deep.balanced_modes(values, np.maximum(strengths, 0.0), task.weights.depth, task.clock)
    return Answer(assumptions, (left * modes[:, None, :]) @ right, ROUNDING, "rounding: exact here")


def _balanced_products(task: Task) -> Answer:
    assumptions = required(task.layers(3, np.inf), task.flow, _balance(task))
    depth, decay = task.weights.depth, task.weight_decay
    products, other = (
        deep.balanced_products(task.problem, product, depth, task.times, weight_decay=decay)
        for product in (task.product, nudged(task.product))
    )
    change = float(np.abs(products - other).max()) / max(float(np.abs(products).max()), 1e-300)
    uncertainty = ROUNDING + (SENSITIVITY * change if change > ROUNDING else 0.0)
    return Answer(assumptions, products, uncertainty, "what rounding changes, because the formula is exact here")


def _words(task: Task) -> tuple[np.ndarray, float, float]:
    """How much each layer stretches, how far this varies between modes, and the second moment of inner squares.

    Stretches are root mean squares over the images of the inputs and of the outputs. They vary by the largest
    difference of the square of a mode's stretch from theirs, relative to it.
    """
    layers = task.weights.layers
    left, _, right = np.linalg.svd(task.target, full_matrices=False)
    sizes, moments, spread = [], [], 0.0
    for chain, modes in ((layers, right.T), ([layer.T for layer in reversed(layers)], left)):
        every, own, stretches = np.eye(chain[0].shape[1]), modes, []
        for layer in chain[:-1]:
            image, along = layer @ every, layer @ own
            stretches.append(_mean_square(image) / _mean_square(every))
            relative = (along**2).sum(axis=0) / np.maximum((own**2).sum(axis=0), 1e-300) / max(stretches[-1], 1e-300)
            spread = max(spread, float(np.abs(relative - 1).max()))
            if layer is not chain[0]:
                moments.append(_mean_square(layer.T @ image) / max(_mean_square(every) * stretches[-1] ** 2, 1e-300))
            every, own = image, along
        sizes.append(stretches)
    ahead, back = sizes[0], sizes[1][::-1]
    inner = [(one + two) / 2 for one, two in zip(ahead[1:], back[:-1], strict=True)]
    return np.sqrt([ahead[0], *inner, back[-1]]), spread, float(np.mean(moments))


def _mean_square(image: np.ndarray) -> float:
    """Return the mean squared length of the columns."""
    return max(float((image**2).sum()) / image.shape[1], 1e-300)


def _from_modes(
    task: Task, modes: Callable[[np.ndarray, np.ndarray, float], np.ndarray], size: float, spread: float
) -> tuple[np.ndarray, float]:
    """Products of modes that each begin at their part of the initial product, with their uncertainty.

    The rest of the initial product is assumed to decay like a mode without a target, which is exact for lazy
    networks. What it does to the modes is estimated by adding its largest singular value to their own parts, either
    way, beyond what fades; what the variation of the layers does, by stretching all of them more and less.
    """
    left, values, right = np.linalg.svd(task.target, full_matrices=False)
    own = np.clip(np.diagonal(left.T @ task.product @ right.T), -size, size)
    rest = task.product - (left * own) @ right
    most, faster = min(float(np.linalg.norm(rest, 2)), size), np.zeros(1)
    strengths = modes(values, own, 1.0)
    products, changes = (left * strengths[:, None, :]) @ right, [np.zeros_like(strengths)]
    if most > EXACT * size:
        fading = modes(np.zeros(1), np.array([most]), 1.0) / most
        products = products + fading[:, None] * rest
        left_over = (values - strengths) / np.where(values == own, 1.0, values - own)  # of modes with a target
        faster = np.abs(fading - left_over).max(axis=1)[:, None, None] * np.abs(rest)
        for added in (np.clip(own + most, -size, size) - own, np.clip(own - most, -size, size) - own):
            changes.append(modes(values, own + added, 1.0) - strengths - added * fading)
    stretched = [changes[0]]
    if spread > EXACT:  # a layer that stretches more learns earlier, and one that stretches less later
        stretched = [
            modes(values, own, stretch) - strengths for stretch in (np.sqrt(1 + spread), 1 / np.sqrt(1 + spread))
        ]
    uncertainty = float(np.abs(faster).max()) + sum(
        max(_largest(left, one, right) for one in some) for some in (changes, stretched)
    )
    largest = max(float(np.abs(products).max()), 1e-300)
    return products, max(uncertainty / largest, ROUNDING)


def _largest(left: np.ndarray, strengths: np.ndarray, right: np.ndarray) -> float:
    """Return the largest entry of products of modes."""
    return float(np.abs((left * strengths[:, None, :]) @ right).max())


def _orthogonal(task: Task) -> Answer:
    assumptions = required(task.layers(3, np.inf), task.flow, task.no_decay, task.whitened)
    widths = task.weights.widths
    off, scales = 0.0, []
    for layer in task.weights.layers:
        gram = layer.T @ layer if layer.shape[0] >= layer.shape[1] else layer @ layer.T
        scales.append(float(np.sqrt(np.trace(gram) / len(gram))))
        off = max(off, float(np.abs(gram / max(scales[-1] ** 2, 1e-300) - np.eye(len(gram))).max()))
    wide = widths[0] >= max(task.weights.in_dim, task.weights.out_dim)
    assumptions = required(
        *assumptions,
        Assumption("layers", "orthogonal", f"{off:.1g} off", off <= EXACT),
        Assumption("widths", "equal", "-".join(map(str, widths)), len(set(widths)) == 1),
        Assumption("width", "at least inputs and outputs", str(widths[0]), wide),
    )
    depth = task.weights.depth

    def modes(values: np.ndarray, initial: np.ndarray, stretch: float) -> np.ndarray:
        return deep.orthogonal_modes(values, stretch * np.array(scales), depth, task.clock, initial_values=initial)

    products, uncertainty = _from_modes(task, modes, float(np.prod(scales)), 0.0)
    return Answer(assumptions, products, uncertainty, "what the rest of the initial product could do to a mode")


def _gaussian(task: Task) -> Answer:
    assumptions = required(task.layers(3, np.inf), task.flow, task.no_decay, task.whitened)
    widths, zero = task.weights.widths, [i + 1 for i, layer in enumerate(task.weights.layers) if not layer.any()]
    width = task.weights.full_width if task.weights.full_width > max(widths) else min(widths)  # of one drawn reduced
    many = width >= max(task.weights.in_dim, task.weights.out_dim)
    dims = Assumption("widths", "at least inputs and outputs", "-".join(map(str, widths)), many)
    assumptions = required(
        *assumptions, dims, Assumption("layers", "none of zeros", f"zeros in {zero}" if zero else "none", not zero)
    )
    couplings, spread, moment = _words(task)
    found = f"squares of second moment {moment:.3g}"
    inner = Assumption("inner layers", "Gaussian, second moment 2", found, abs(moment - 2) <= MAX_SPREAD / 2)
    spread = max(spread, abs(moment - 2) / 2, (2 / width) ** 0.5)  # few modes show less than the variation of a square
    found = f"modes differ by {spread:.2g}"
    wide = Assumption("layers", f"wide: variation below {MAX_SPREAD}", found, spread <= MAX_SPREAD)
    assumptions = required(*assumptions, inner, wide)
    for tolerance in WORD_TOLERANCES:

        def modes(values: np.ndarray, initial: np.ndarray, stretch: float, rtol: float = tolerance) -> np.ndarray:
            sizes, depth = stretch * couplings, task.weights.depth
            return deep.gaussian_modes(values, sizes, depth, task.clock, initial_values=initial, rtol=rtol)

        try:
            products, uncertainty = _from_modes(task, modes, float(np.prod(couplings)), spread)
        except (ArithmeticError, ValueError) as error:
            failure = str(error)
            continue
        words = 0.0 if tolerance == WORD_TOLERANCES[0] else tolerance
        source = "what the rest of the initial product, and the variation of the layers, could do to a mode"
        return Answer(assumptions, products, uncertainty + words, source)
    return Answer((*assumptions, Assumption("words", "few enough", failure, False)))


FORMULAS: tuple[Formula, ...] = (
    Formula("deep balanced modes", deep.balanced_modes, _balanced_modes),
    Formula("deep balanced", deep.balanced_products, _balanced_products),
    Formula("deep orthogonal", deep.orthogonal_modes, _orthogonal),
    Formula("deep wide Gaussian", deep.gaussian_modes, _gaussian),
)
