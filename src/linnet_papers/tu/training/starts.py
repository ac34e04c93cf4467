"""How the paper's networks start: square, with Gaussian entries of one variance in both layers."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import Key


def gaussian_start(dim: int, width: float, *, std: float, key: Key, batch: int | None = None) -> ln.Weights:
    """Return a network of d inputs and outputs in reduced coordinates (at most 2d units)."""
    sizes = {"in_dim": dim, "out_dim": dim, "width": int(width)}
    return ln.inits.reduced_gaussian(key=key, **sizes, stds=std, batch=batch)


def threshold_start(dim: int, width: float, threshold: float, *, key: Key, batch: int | None = None) -> ln.Weights:
    r"""Return the network whose $\sigma^2 w$ is the threshold."""
    return gaussian_start(dim, width, std=float(np.sqrt(threshold / width)), key=key, batch=batch)


def active_start(dim: int, gammas: tuple[float, float], *, key: Key) -> ln.Weights:
    """Return the network at two exponents, of the variance and of the width."""
    return gaussian_start(dim, round(dim ** gammas[1]), std=float(dim ** (gammas[0] / 2)), key=key)


def threshold_of(dim: int, gammas: tuple[float, float]) -> float:
    r"""$\sigma^2 w$ of the network at two exponents."""
    return dim ** gammas[0] * round(dim ** gammas[1])
