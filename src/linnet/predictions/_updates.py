"""The formula of spectral descent, and of Muon, for two layers."""

from __future__ import annotations

import numpy as np

from linnet.predictions._task import ROUNDING, Task
from linnet.predictions.prediction import Answer, Assumption, Formula, required
from linnet.theories import spectral_descent

SPECTRAL = ("SpectralDescent", "Muon")  # by name: naming their classes would import what trains
OPPOSED = 0.1  # least singular value of the sum of both layers' directions: 2 where they agree, at 0 a mode never grows
NEWTON_SCHULZ = (0.7, 1.2)  # singular values that its five iterations leave of 1


def _shape_factors(task: Task) -> tuple[float, float]:
    """Return what multiplies the steps of the two layers, by the shapes of the full network."""
    units = float(task.weights.full_width)
    shapes = (units, float(task.weights.in_dim)), (float(task.weights.out_dim), units)
    scaling = getattr(task.update, "scaling", None)
    if scaling is None:
        return 1.0, 1.0
    if scaling == "original":
        one, two = (np.sqrt(max(1.0, rows / columns)) for rows, columns in shapes)
    else:
        one, two = (0.2 * np.sqrt(max(shape)) for shape in shapes)
    return float(one), float(two)


def _spectral(task: Task) -> Answer:
    name = type(task.update).__name__
    update = Assumption("update", " or ".join(SPECTRAL), name, name in SPECTRAL)
    decay = task.weight_decay + getattr(task.update, "weight_decay", 0.0)
    no_decay = Assumption("weight decay", "0", f"{decay:g}", decay == 0)
    assumptions = required(update, task.layers(2, 2), task.whitened, no_decay)
    left, values, right = np.linalg.svd(task.target, full_matrices=False)
    into, out = task.weights.first @ right.T, task.weights.second.T @ left
    own, rates, modes = (into * out).sum(axis=0), _shape_factors(task), len(values)
    sizes = np.linalg.norm(into, axis=0), np.linalg.norm(out, axis=0)
    spread = max(_spread(into / np.maximum(sizes[0], 1e-300)), _spread(out / np.maximum(sizes[1], 1e-300)))
    found = f"{len(task.weights.first)} units for {modes} modes, overlaps {spread:.2g}"
    wide = Assumption("modes", "of units of their own", found, task.weights.width >= modes and spread < 1)
    assumptions = required(*assumptions, wide)
    sign = np.where(own > values, -1.0, 1.0)  # modes beyond their targets fall, as others rise
    common = float(np.linalg.svd(_directions(into) + _directions(out), compute_uv=False)[-1])
    found = f"sum of their directions at least {common:.2g}"
    apart = Assumption("layers", "not opposed along the target", found, common > OPPOSED)
    assumptions = required(*assumptions, apart)

    def levels(own: np.ndarray, grown: float = 1.0, speed: float = 1.0) -> np.ndarray:
        one, two = (np.sqrt(grown) * size for size in sizes)
        paced = speed * rates[0], speed * rates[1]
        return np.asarray(sign * spectral_descent.unequal_levels(one, two, paced, task.times, initial=sign * own))

    def strengths(level: np.ndarray) -> np.ndarray:
        return np.where(sign < 0, np.maximum(level, values), np.minimum(level, values))

    reached = levels(own)
    rest = task.product - (left * own) @ right
    most = float(np.linalg.norm(rest, 2))
    fading = np.clip(1 - np.abs(reached - own).max(axis=1) / max(most, 1e-300), 0.0, 1.0)
    products = (left * strengths(reached)[:, None, :]) @ right + fading[:, None, None] * rest
    limit = sizes[0] * sizes[1]
    others = [levels(np.clip(own + most, -limit, limit)), levels(np.clip(own - most, -limit, limit))]
    others += [levels(own, 1 + spread), levels(own, 1 - spread)]
    if getattr(task.update, "newton_schulz_steps", None):
        others += [levels(own, speed=speed) for speed in NEWTON_SCHULZ]
    changes = max(float(np.abs(strengths(one) - strengths(reached)).max()) for one in others)
    changes = max(changes, 2 * most * float(1 - fading.min()))  # the rest may grow at the speed at which it should fade
    speed = float(np.abs(np.diff(reached, axis=0) / np.diff(task.times)[:, None]).max()) if len(task.times) > 1 else 0.0
    step = task.learning_rate * speed / (1 - getattr(task.update, "momentum", 0.0))
    largest = max(float(np.abs(products).max()), 1e-300)
    source = "overlaps of the modes, the initial product, and the length of a step with its momentum"
    share = (changes + step) / largest
    share /= max(1 - share, 0.1)  # it is one of what is trained, which is less than this product if that is too large
    return Answer(assumptions, products, max(share, ROUNDING), source)


def _directions(layer: np.ndarray) -> np.ndarray:
    """Return the polar factor of the modes in a layer: where the other layer's first step goes."""
    left, sizes, right = np.linalg.svd(layer, full_matrices=False)
    return np.asarray((left * (sizes > 1e-8 * sizes[0])) @ right)


def _spread(directions: np.ndarray) -> float:
    """Return how far unit vectors are from orthogonal ones."""
    return float(np.linalg.norm(directions.T @ directions - np.eye(directions.shape[1]), 2))


FORMULAS: tuple[Formula, ...] = (Formula("spectral descent", spectral_descent.unequal_levels, _spectral),)
