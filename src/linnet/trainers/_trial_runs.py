"""Trial descents of a deep network by the update that will run: they measure how well its reduction serves that
update."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from linnet.inits.weights import product_of
from linnet.precision import computing
from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction
from linnet.trainers._objective import ProductObjective, training_objective
from linnet.trainers._start import RUN_WIDTHS
from linnet.trainers._states import Array, Hyper, Params, StepFunction, layer_names_at_depth, layers_of


@dataclass(frozen=True)
class TrialRun:
    """Runs an update from layers that are given; `hyper` are its numbers but for the learning rate, and `start` adds
    to the parameters what the update carries."""

    step: StepFunction
    start: Callable[[Params], Params]
    hyper: Hyper

    def __call__(self, problem: Problem, layers: Sequence[np.ndarray], rates: Sequence[float]) -> np.ndarray:
        """Return the products at initialization and after every step, (1 + step, output, input)."""
        names = layer_names_at_depth(len(layers))
        with computing():
            params = {name: jnp.asarray(layer) for name, layer in zip(names, _padded(layers), strict=True)}
            params["rest"] = jnp.asarray(1.0)
            if self.hyper.get("momentum"):
                params |= {f"velocity_{name}": jnp.zeros_like(value) for name, value in params.items()}
            objective = training_objective(problem, Reduction(problem, None, None, None, None), np.dtype(np.float64))
            hyper = {name: jnp.asarray(value, float) for name, value in self.hyper.items()}
            products = _run(objective, self.start(params), hyper, jnp.asarray(rates, float), step=self.step)
            return np.asarray(products)


def _padded(layers: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the layers with hidden units at zero, up to one of a few widths: so that few programs are compiled."""
    sides = [layers[0].shape[1], *(layer.shape[0] for layer in layers[:-1]), layers[-1].shape[0]]
    wide = [next((width for width in RUN_WIDTHS if width >= side), side) for side in sides[1:-1]]
    wide = [sides[0], *wide, sides[-1]]
    return [
        np.pad(layer, [(0, wide[index + 1] - layer.shape[0]), (0, wide[index] - layer.shape[1])])
        for index, layer in enumerate(layers)
    ]


@partial(jax.jit, static_argnames=("step",))
def _run(objective: ProductObjective, params: Params, hyper: Hyper, rates: Array, *, step: StepFunction) -> Array:
    """Return the products along the run."""

    def advance(params: Params, at: tuple[Array, Array]) -> tuple[Params, Array]:
        index, rate = at
        _, seen = objective.at(params)
        return step(objective, {**hyper, "learning_rate": rate}, params, index, seen), seen[0]

    last, products = jax.lax.scan(advance, params, (jnp.arange(len(rates)), rates))
    return jnp.concatenate([products, product_of(layers_of(last))[None]])
