"""Initial state of a run: the coordinates it is carried out in, at one of a few widths, and its layers by name.

Narrow networks are filled up with hidden units at zero: a sweep over widths compiles a handful of loops, not one each.
A hidden unit whose weights in both layers are zero stays zero, exactly: its gradients are $W_2^T R$ and $R W_1^T$,
whose parts are zero products of either layer, whatever the residual (of mini-batches or noisy labels too); weight decay
and momentum leave it there. It adds nothing to the product. So the run equals the run of the narrow network, except for
the order in which sums are rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import jax.numpy as jnp
import numpy as np

from linnet._arguments import flag
from linnet.inits.weights import Weights, check_weights
from linnet.problems.problem import Problem
from linnet.reductions.deep import DeepReduction, reduced_layers
from linnet.reductions.reduction import Reduction, check_match, reduced_two_layers, refuse_diverged
from linnet.reductions.trial_descent import StepSizes
from linnet.trainers._states import Params, layer_names_at_depth

RUN_WIDTHS = (4, 8, 16, 32, 48, 64, 96, 128)  # up to 32 a step costs nearly the same; then at most half as much again
# Beyond the last, and from inputs + outputs on, nothing is filled up: one long run would pay for what a sweep saves.


def coordinates_of_run(
    problem: Problem,
    weights: Weights,
    reduced: bool,
    *,
    step_sizes: Sequence[StepSizes] | None = (),
    reads_weights: bool = False,
) -> Reduction:
    """Return the coordinates a run is carried out in; the problem's own with `reduced=False`. Check all three.

    `step_sizes` are those of the descents by which a deep network is reduced, one for each member of a batch: none for
    a flow, and None where they are not known (`reductions.deep.reduced_layers`). An update that `reads_weights` must
    see the whole first layer; deeper networks are not reduced for it, because it must see all layers whole.
    """
    reduced = flag("reduce", reduced)
    check_match(problem, weights, any_depth=True)
    refuse_diverged("weights", weights)
    deep = weights.depth > 2
    if not reduced or (deep and reads_weights):
        return (DeepReduction if deep else Reduction)(problem, weights, weights, None, None)
    if deep:
        return reduced_layers(problem, check_weights(weights), paths=step_sizes)
    return reduced_two_layers(problem, check_weights(weights), whole_first=reads_weights)


def initial_params(reduction: Reduction, dtype: np.dtype, *, velocity: bool = False) -> Params:
    """Return the parameters a loop starts from (`_states.Params`), with the batch of the problem or of the weights in
    front: the layers and "rest", and with `velocity` one at zero for each of them."""
    layers = reduction.weights.layers
    batch = reduction.full_problem.batch
    if batch and layers[0].ndim == 2:
        layers = tuple(np.broadcast_to(layer, (batch, *layer.shape)) for layer in layers)
    names = layer_names_at_depth(len(layers))
    for layer in layers:
        if np.finfo(dtype).tiny > np.abs(layer).max(initial=0.0) > 0:
            raise ValueError(
                f"`weights` of size {np.abs(layer).max():.3g} vanish in {np.dtype(dtype).name}: take "
                "`dtype='float64'`, or a larger initialization."
            )
    params = {name: jnp.asarray(layer, dtype) for name, layer in zip(names, layers, strict=True)}
    params["rest"] = jnp.asarray(np.ones(layers[0].shape[:-2], dtype))
    if velocity:
        params |= {f"velocity_{name}": jnp.zeros_like(value) for name, value in params.items()}
    return params


def run_width(width: int, max_width: int) -> int:
    """Return the width to which a network is padded: one of `RUN_WIDTHS`, but no more than `max_width`."""
    return width if width >= max_width else min(next((step for step in RUN_WIDTHS if step >= width), width), max_width)


def pad_width(reduction: Reduction) -> Reduction:
    """Return the same network padded with hidden units at zero to one of a few widths; as it is where its width was
    reduced, or if it is deep.

    Its `frame` (own unit, padded unit) embeds the network's own units among the padded ones. By it `untouched` of the
    reduction has the padded width, and so have the test losses that read it.

    The padded reduction goes to `initial_params` and `_objective.test_losses`, the unpadded one to everything else:
    `_loop.run`, the trajectory, and `without_padding`, which leads back. An objective depends on inputs and outputs
    alone, for which both are the same; `own_share` of a flow is the ratio of the two widths.
    """
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


def without_padding(kept: dict[str, np.ndarray], reduction: Reduction) -> dict[str, np.ndarray]:
    """Return what was kept of the states of a run, without the hidden units that `pad_width` has added to `reduction`;
    the network's own come first."""
    if isinstance(reduction, DeepReduction):
        return kept
    own = {"first": np.s_[..., : reduction.weights.width, :], "second": np.s_[..., : reduction.weights.width]}
    return {name: value[own[name]] if name in own else value for name, value in kept.items()}
