r"""The rest of a gradient flow from a state on: in closed form once the weights hardly move any more, before that by an
implicit solver (`_stiff`).

An explicit solver follows a flow that has converged with steps of the size that its fastest mode allows, for ever. Then
$S(t) = \int_0^t R$ is small for all later times; with the weights frozen in it,

$$ \dot R = -(W_2 W_2^T R + R W_1^T W_1) \Sigma, \qquad W_1(t) = W_1 + W_2^T S(t), \quad W_2(t) = W_2 + S(t) W_1^T, $$

is solved by one symmetric eigendecomposition of size $k d$, and wrong by $|S|^2$ relative to the weights: $S$ is what
multiplies them. A mode that has still to grow from small weights has a residual of its own size, which makes $S$ large:
a saddle is never taken for the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from linnet.problems.problem import Problem
from linnet.reductions.reduction import Reduction
from linnet.trainers import _stiff as stiff

MAX_MAGNITUDE = 1e35  # of entries of layers and problems: the eighth power of a larger one might overflow
MAX_ENTRIES = 1500  # k d, from which on the eigendecomposition would take more than seconds
MAX_RESIDUAL = 1e-8  # |S| below which the closed form is exact to float64
TOLERANCE_SLACK = 30  # times the solver's relative tolerance, below which its own errors do not let |S| come
LaterLayers = tuple[np.ndarray, np.ndarray, int]  # both layers at the times after a state, and the steps taken
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class FlowRemainder:
    """Solves for the rest of a flow of two layers on the square loss, from any of its states.

    `target` and `scales` are the loss |G - A s|^2/2 in the eigenbasis of the inputs; `basis` leads there from the
    coordinates of the run, None where it is carried out in them. All may have a batch axis in front:
    `_objective.batch_member` takes one member by `NDIM`, and both methods are for one.

    `first` and `second` of both methods are a state in float64, `times` are counted from it, `rtol` and `atol` are the
    tolerances of the explicit solver.
    """

    target: Float[np.ndarray, "*batch output input"]
    scales: Float[np.ndarray, "*batch input"]
    basis: Float[np.ndarray, "*batch coordinate input"] | None
    decay: float = 0.0  # of the weights: then only the implicit solver is of use
    NDIM: ClassVar = {"target": 2, "scales": 1, "basis": 2}

    @classmethod
    def from_problem(cls, problem: Problem, reduction: Reduction, decay: float = 0.0) -> FlowRemainder | None:
        """Return the solver for the rest of a flow on this problem; None for a cost that is not square."""
        if problem.cost is not None:
            return None
        if problem.whitened:
            return cls(problem.cross, np.ones(problem.in_dim), None, decay)
        factor = problem.factor
        return cls(factor.target, factor.scales, None if reduction.basis is not None else factor.basis, decay)

    def closed_form(
        self, first: np.ndarray, second: np.ndarray, *, times: np.ndarray, rtol: float, atol: float
    ) -> LaterLayers | None:
        """Return the layers at `times` in closed form; None while the state is too far from the end, and where the
        product has too many entries, the layers are too large or NaN, or they decay."""
        if self.decay or self._is_too_large(first, second):
            return None
        inside = first if self.basis is None else first @ self.basis
        S = residual_integral(inside, second, self.target, self.scales, times=times, rtol=rtol, atol=atol)
        if S is None:
            return None
        moved = second.T @ S if self.basis is None else second.T @ S @ self.basis.T
        return first + moved, second + S @ inside.T, 0

    def implicit(
        self, first: np.ndarray, second: np.ndarray, *, times: np.ndarray, rtol: float, atol: float, max_steps: int
    ) -> LaterLayers | None:
        """Return the layers at `times` by an implicit solver, in at most `max_steps` steps; None where it gives up, and
        where the layers have too many entries, or are too large or NaN."""
        if self._is_too_large(first, second):
            return None
        inside = first if self.basis is None else first @ self.basis
        states = stiff.solve_implicitly(
            inside, second, self.target, self.scales, self.decay, times=times, rtol=rtol, atol=atol, max_steps=max_steps
        )
        if states is None or self.basis is None:
            return states
        outside = np.exp(-self.decay * times)[:, None, None] * (first - inside @ self.basis.T)
        return outside + states[0] @ self.basis.T, *states[1:]

    def _is_too_large(self, *layers: np.ndarray) -> bool:
        """Return whether an entry of the layers or of the problem is NaN, or beyond `MAX_MAGNITUDE`."""
        parts = [*layers, self.target, self.scales]
        return not all(np.abs(part).max(initial=0.0) < MAX_MAGNITUDE for part in parts)  # nor NaN


def residual_integral(
    first: np.ndarray,
    second: np.ndarray,
    target: np.ndarray,
    scales: np.ndarray,
    *,
    times: Float[np.ndarray, " time"],
    rtol: float,
    atol: float,
) -> Float[np.ndarray, "time output input"] | None:
    r"""Return $S(t)$ of a flow on $L = |G - A s|^2/2$ at `times` after a state; None where that is not near the end.

    - `first` (h, r), `second` (k, h): the state, in the eigenbasis of the inputs
    - `target` $G$ (k, r), `scales` $s$ (r,): the problem in that basis
    - `times`: increasing; the last one decides whether $S$ stays small
    - `rtol`, `atol`: tolerances of the explicit solver
    """
    if target.size > MAX_ENTRIES:
        return None
    s, outputs, inputs = scales, second @ second.T, first.T @ first
    size = np.trace(outputs) + np.trace(inputs)
    if not np.isfinite(size) or size == 0:
        return None
    near = max(min(MAX_RESIDUAL, np.sqrt(atol / np.sqrt(size))), TOLERANCE_SLACK * rtol)
    error = target - second @ first * s
    if np.linalg.norm(error * s) * min(times[-1], 1 / (size * (s**2).max())) > near:
        return None  # too far even if every mode were as fast as the fastest can be
    k, r = target.shape
    matrix = np.einsum("ab,ij,i->aibj", outputs, np.eye(r), s**2) + np.einsum(
        "ab,ij,i,j->aibj", np.eye(k), inputs, s, s
    )
    rates, modes = np.linalg.eigh(matrix.reshape(k * r, k * r))
    errors = modes.T @ error.ravel()
    errors[np.abs(errors) <= 2 * _EPS * np.linalg.norm(target)] = 0.0  # rounding: no time makes more of it
    rates = np.maximum(rates, np.finfo(float).tiny)
    integrals = -np.expm1(-np.outer(times, rates)) / rates * errors
    S = (integrals @ modes.T).reshape(-1, k, r) * s
    return S if np.linalg.norm(S[-1]) <= near else None
