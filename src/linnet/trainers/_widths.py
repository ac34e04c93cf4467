"""Narrow networks filled up with hidden units at zero: a sweep over widths compiles a handful of loops, not one each.

A hidden unit whose weights in both layers are zero stays zero, exactly: its gradients are $W_2^T R$ and $R W_1^T$,
whose parts are zero products of either layer, whatever the residual (of mini-batches or noisy labels too); weight
decay and momentum leave it there. It adds nothing to the product. So the run is that of the narrow network, but for
the order in which sums are rounded.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linnet.inits.weights import Weights
from linnet.reductions.deep import DeepReduction
from linnet.reductions.reduction import Reduction

RUN_WIDTHS = (4, 8, 16, 32, 48, 64, 96, 128)  # up to 32 a step costs nearly the same; then at most half as much again
# Beyond the last, and from inputs + outputs on, nothing is filled up: one long run would pay for what a sweep saves.


def run_width(width: int, most: int) -> int:
    """The width to which a network that can have `most` hidden units after its reduction is filled up."""
    return width if width >= most else min(next((step for step in RUN_WIDTHS if step >= width), width), most)


def pad_width(reduction: Reduction) -> Reduction:
    """The same network with hidden units at zero, at one of a few widths; as it is where its width was reduced."""
    if isinstance(reduction, DeepReduction):
        return reduction
    width = reduction.weights.width
    missing = run_width(width, reduction.weights.in_dim + reduction.weights.out_dim) - width
    if reduction.frame is not None or not missing:
        return reduction
    first, second = reduction.weights.first, reduction.weights.second
    lead = [(0, 0)] * (first.ndim - 2)
    wider = Weights(
        np.pad(first, [*lead, (0, missing), (0, 0)]),
        np.pad(second, [*lead, (0, 0), (0, missing)]),
        full_width=reduction.weights.full_width,
    )
    return replace(reduction, weights=wider, frame=np.eye(width, width + missing))


def without_filling(kept: dict[str, np.ndarray], reduction: Reduction) -> dict[str, np.ndarray]:
    """What was kept of the states of a run, with the hidden units of `reduction` alone."""
    if isinstance(reduction, DeepReduction):
        return kept
    own = {"first": np.s_[..., : reduction.weights.width, :], "second": np.s_[..., : reduction.weights.width]}
    return {name: value[own[name]] if name in own else value for name, value in kept.items()}
