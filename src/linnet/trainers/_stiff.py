r"""The rest of a flow in which some modes have long converged while others fade without end, by an implicit solver.

A mode whose target is zero fades like $1/t$ from a balanced start: there is no end that a closed form could hold
(`_flow_remainder`), and an explicit solver goes on with steps of the size that the fastest mode allows, $10^6$ of them
for $t = 10^5$ at a rate of 60. The flow is one of gradients, so its Jacobian is symmetric,

$$ J = H(R) - G^T G, \qquad G\,\delta = (W_2\,\delta W_1 + \delta W_2\,W_1)\Sigma^{1/2}, \qquad
   H\,\delta = (\delta W_2^T R,\; R\,\delta W_1^T), $$

and what is small grows by at most $\exp \int |R|_2\,dt$, the spectral norm of the residual. A mode that has still to
grow out of nearly nothing, below the tolerance, would be lost in the long steps of an implicit solver, or be made of
its rounding. So that integral is watched, and the solver gives up where it becomes large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

MAX_WEIGHTS = 1024  # numbers in both layers; one step factorizes a matrix of that size
RTOL_FACTOR = 1e-3  # times the given tolerances: its order is five at most, and errors of its steps add up
MIN_RTOL = 1e-13  # rounding would reject every step below it
ATOL_FACTOR = 1e-5  # times the given absolute tolerance: what fades is to keep its digits
MAX_LOG_GROWTH = np.log(1e4)  # what an error may have grown by: 1e-13 stays below the ten digits promised
MAX_STEPS = 20_000  # 2000 lead from a time of 1e2 to one of 1e6


@dataclass(frozen=True)
class SquareFlow:
    """The flow on |G - A s|^2/2 as a function of both layers in one vector, and its Jacobian."""

    target: Float[np.ndarray, "output input"]
    scales: Float[np.ndarray, " input"]
    width: int
    decay: float = 0.0

    def layers(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Split a state into first and second layer."""
        k, r = self.target.shape
        cut = self.width * r
        return state[:cut].reshape(self.width, r), state[cut:].reshape(k, self.width)

    def residual(self, state: np.ndarray) -> np.ndarray:
        """Return the residual R = (G - A s) s."""
        first, second = self.layers(state)
        return (self.target - second @ first * self.scales) * self.scales

    def slope(self, t: float, state: np.ndarray) -> np.ndarray:
        """Return the time derivative of a state: the negative gradient of the loss."""
        first, second = self.layers(state)
        residual = self.residual(state)
        return np.concatenate([(second.T @ residual).ravel(), (residual @ first.T).ravel()]) - self.decay * state

    def jacobian(self, t: float, state: np.ndarray) -> np.ndarray:
        """Return the Jacobian J of the flow, by the equation above."""
        first, second = self.layers(state)
        k, r = self.target.shape
        of_first = np.kron(second, np.diag(self.scales))
        of_second = np.kron(np.eye(k), (first * self.scales).T)
        G = np.concatenate([of_first, of_second], axis=1)
        J = -G.T @ G
        mixed = np.einsum("oi,hg->hiog", self.residual(state), np.eye(self.width)).reshape(self.width * r, -1)
        J[: self.width * r, self.width * r :] += mixed
        J[self.width * r :, : self.width * r] += mixed.T
        J[np.diag_indices_from(J)] -= self.decay
        return J


def solve_implicitly(
    first: np.ndarray,
    second: np.ndarray,
    target: np.ndarray,
    scales: np.ndarray,
    decay: float = 0.0,
    *,
    times: Float[np.ndarray, " time"],
    rtol: float,
    atol: float,
    max_steps: int = MAX_STEPS,
) -> tuple[np.ndarray, np.ndarray, int] | None:
    r"""Return both layers at `times` after the state, and the steps; None where the flow is too large, or unsafe.

    Unsafe is a flow along which errors may grow by more than `MAX_LOG_GROWTH` allows, or that takes too many steps.

    - `first` (h, r), `second` (k, h): the state, in the eigenbasis of the inputs
    - `target` $G$ (k, r), `scales` $s$ (r,): the problem in that basis
    - `decay`: coefficient of weight decay
    - `times`: increasing, positive
    - `rtol`, `atol`: tolerances of the explicit solver
    - `max_steps`: maximum number of solver steps, never above `MAX_STEPS`
    """
    used = first.any(axis=1) | second.any(axis=0)  # units at zero stay there (`_start`)
    if not 0 < first[used].size + second[:, used].size <= MAX_WEIGHTS:
        return None
    flow = SquareFlow(target, scales, int(used.sum()), decay)
    begin = np.concatenate([first[used].ravel(), second[:, used].ravel()])
    solved = _bdf_states(
        flow, begin, times, max(RTOL_FACTOR * rtol, MIN_RTOL), ATOL_FACTOR * atol, min(max_steps, MAX_STEPS)
    )
    if solved is None:
        return None
    states, steps = solved
    firsts, seconds = np.zeros((len(times), *first.shape)), np.zeros((len(times), *second.shape))
    for index, state in enumerate(states):
        firsts[index, used], seconds[index][:, used] = flow.layers(state)
    return firsts, seconds, steps


def _bdf_states(
    flow: SquareFlow, begin: np.ndarray, times: np.ndarray, rtol: float, atol: float, max_steps: int
) -> tuple[list[np.ndarray], int] | None:
    """Return the states at `times`, from `begin` at time 0, and the steps of SciPy's BDF; None where it fails, needs
    more than `max_steps`, or errors may have grown by more than `MAX_LOG_GROWTH` allows."""
    from scipy.integrate import BDF

    floor = np.finfo(float).eps * np.abs(begin).max()
    solver = BDF(flow.slope, 0.0, begin, times[-1], rtol=rtol, atol=max(atol, floor), jac=flow.jacobian)
    solver.D[2:] = 0.0  # SciPy leaves there what lay in memory, subtracts it once and may warn of it
    states: list[np.ndarray] = []
    growth, size = 0.0, np.linalg.norm(flow.residual(begin), 2)
    for steps in range(1, max_steps + 1):
        solver.step()
        if solver.status == "failed" or not np.isfinite(solver.y).all():
            return None
        before, size = size, np.linalg.norm(flow.residual(solver.y), 2)
        growth += 0.5 * (before + size) * (solver.t - solver.t_old)
        if growth > MAX_LOG_GROWTH:
            return None
        reached = times[len(states) :][times[len(states) :] <= solver.t]
        if len(reached):
            states.extend(solver.dense_output()(reached).T)
        if solver.status == "finished":
            return states, steps
    return None
