"""Two layers whose imbalance is a multiple of the identity, of either sign: the matrix Riccati equation, solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import real_array, representable, times_array
from linnet._memory import check_fits
from linnet.problems.problem import Problem
from linnet.theories.lazy_active.closed_form import one_step, whitened_target

MAX_IMBALANCE_ERROR = 1e-8  # of the layers' squared norm, by which the imbalance may differ from lambda I
MAX_EXPONENT = 3.0  # of the fastest mode in one step: each row of the state keeps its own digits, however small
MAX_STEPS = 200_000
SETTLED = 1e-15  # of the norm of the state: what moves less in a step, and does not grow, has arrived


@dataclass(frozen=True)
class BalancedSolution:
    r"""Result of `balanced_solution`: products, Gram matrices and tangent kernel over time.

    **Attributes:**

    - `times`: times (learning rate times number of steps), (time,)
    - `imbalance`: imbalance $\lambda$, with $W_1 W_1^\top - W_2^\top W_2 = \lambda I$
    - `products`: products $W_2 W_1$, (time, output, input)
    - `first_gram`: Gram matrix $W_1^\top W_1$, (time, input, input)
    - `second_gram`: Gram matrix $W_2 W_2^\top$, (time, output, output)

    `.ntk(X)` is the tangent kernel on samples.

    **Example:**

        >>> from linnet.theories.lazy_active import balanced_solution
        >>> found = balanced_solution([[2.0]], [[1.0]], [[0.0]], [0.0, 1.0, 20.0])
        >>> found.imbalance, found.products.ravel().round(3).tolist(), found.first_gram.ravel().round(3).tolist()
        (1.0, [0.0, 1.805, 2.0], [1.0, 2.373, 2.562])
        >>> found.ntk([[1.0]]).ravel().round(3).tolist()
        [1.0, 3.745, 4.123]
    """

    times: np.ndarray
    imbalance: float
    products: np.ndarray
    first_gram: np.ndarray
    second_gram: np.ndarray

    @representable
    def ntk(self, X: ArrayLike) -> Float[np.ndarray, "time row column"]:
        r"""Return the tangent kernel on samples X (sample, input) over time: rows and columns go over samples, then
        outputs.

        $$ \Theta(x, x')_{ab} = \delta_{ab}\, x^T W_1^T W_1 x' + (W_2 W_2^T)_{ab}\, x \cdot x' $$
        """
        samples = real_array("X", X, ndim=2)
        inputs, outputs = self.products.shape[2], self.products.shape[1]
        if samples.shape[1] != inputs:
            raise ValueError(f"`X` must have {inputs} columns, one for each input: got shape {samples.shape}.")
        size = len(samples) * outputs
        check_fits(16 * len(self.times) * size**2, f"{len(self.times)} kernels of side {size}", "Take fewer samples.")
        first = samples @ self.first_gram @ samples.T
        kernel = np.einsum("tij,ab->tiajb", first, np.eye(outputs))
        kernel += np.einsum("ij,tab->tiajb", samples @ samples.T, self.second_gram)
        return kernel.reshape(len(self.times), size, size)


@representable
def balanced_solution(
    target: ArrayLike | Problem, first: ArrayLike, second: ArrayLike, times: ArrayLike
) -> BalancedSolution:
    r"""Return products, Gram matrices and tangent kernel of a two-layer network over time, in closed form.

    The network must be lambda-balanced: $W_1 W_1^\top - W_2^\top W_2 = \lambda I$ at initialization, and therefore at
    all times. If you need only products and know the threshold, `self_consistent` is shorter.

    The matrix $P = Q Q^\top$ with $Q = [W_1^\top; W_2]$ has the products and both Gram matrices as blocks. It solves
    the Riccati equation

    $$ \dot P = F P + P F - P^2, \quad F = \begin{pmatrix} \tfrac{\lambda}{2} I & Y^\top \\
       Y & -\tfrac{\lambda}{2} I \end{pmatrix}, \qquad
       P(t) = e^{Ft} Q_0 \Bigl[I + Q_0^\top \int_0^t e^{2Fs} ds\; Q_0\Bigr]^{-1} Q_0^\top e^{Ft}. $$

    Both signs of $\lambda$ are supported, also for different numbers of inputs and outputs. `self_consistent` supports
    one of them.

    **Arguments:**

    - `target`: target $Y$, (output, input), or a `Problem` with whitened inputs
    - `first`, `second`: initial weights $W_1$ (hidden, input) and $W_2$ (output, hidden)
    - `times`: times (learning rate times number of steps), increasing, (time,)

    **Returns** a `BalancedSolution`: `.products`, `.first_gram`, `.second_gram`, `.imbalance` and `.ntk(X)`.

    **Valid for** whitened inputs. For a positive $\lambda$, the number of hidden units cannot exceed the number of
    inputs; for a negative $\lambda$, it cannot exceed the number of outputs. At $\lambda = 0$ the flow may end in a
    saddle that rounding errors leave; `self_consistent` detects such a case.

    **Reference:** Domine et al. 2024, Theorem 4.3, whose $\lambda$ has the opposite sign; Fukumizu 1998 and Braun et
    al. 2022 for $\lambda = 0$.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> target, first = np.array([[2.0, 0.0, 1.0]]), np.eye(2, 3)  # two units, three inputs, one output
        >>> found = ln.theories.lazy_active.balanced_solution(target, first, np.zeros((1, 2)), [0.5, 100.0])
        >>> run = ln.gradient_flow(ln.Problem.from_target(target), ln.Weights(first, np.zeros((1, 2))), times=[0.5])
        >>> bool(np.allclose(found.products[0], run.products[0], atol=1e-9)), found.products[1].round(6).tolist()
        (True, [[2.0, 0.0, 1.0]])
    """
    goal = whitened_target(target)
    W1, W2 = real_array("first", first, ndim=2), real_array("second", second, ndim=2)
    (outputs, inputs), units = goal.shape, W1.shape[0]
    if W1.shape[1] != inputs or W2.shape != (outputs, units):
        raise ValueError(
            f"`first` and `second` must be (hidden, {inputs}) and ({outputs}, hidden), as `target` is {goal.shape}: "
            f"got shapes {W1.shape} and {W2.shape}."
        )
    imbalance, apart = common_imbalance(W1, W2)
    if apart > MAX_IMBALANCE_ERROR:
        raise ValueError(
            "`first` and `second` must be lambda-balanced, W1 W1^T - W2^T W2 a multiple of the identity: it differs "
            f"from {imbalance:g} I by {apart:.3g} of the squared weights. Use `inits.balanced`, or `gradient_flow` for "
            "other layers."
        )
    clock = times_array("times", times)
    sides = inputs + outputs
    check_fits(24 * clock.size * sides**2, f"{clock.size} states of side {sides}", "Ask for fewer `times`.")
    F = np.block([[0.5 * imbalance * np.eye(inputs), goal.T], [goal, -0.5 * imbalance * np.eye(outputs)]])
    rates, vectors = np.linalg.eigh(F)
    states = _follow(vectors.T @ np.concatenate([W1.T, W2]), rates, clock)
    stacked = vectors @ states
    P = stacked @ np.swapaxes(stacked, -1, -2)
    return BalancedSolution(clock, imbalance, P[:, inputs:, :inputs], P[:, :inputs, :inputs], P[:, inputs:, inputs:])


def common_imbalance(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the multiple of the identity that is nearest to the imbalance, and how far that is, relative to the sum of
    the squared weights."""
    imbalance = first @ first.T - second.T @ second
    value = float(np.trace(imbalance)) / len(imbalance)
    size = float((first**2).sum() + (second**2).sum())
    apart = float(np.linalg.norm(imbalance - value * np.eye(len(imbalance))))
    return value, apart / size if size > 0 else 0.0


def _follow(state: np.ndarray, rates: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Return the stacked layers Q at all times, in the eigenbasis of F."""
    longest = MAX_EXPONENT / max(float(np.abs(rates).max()), np.finfo(float).tiny)
    found, now, steps, settled = np.empty((times.size, *state.shape)), 0.0, 0, False
    for index, time in enumerate(times):
        while now < time and not settled:
            length = min(longest, time - now)
            after = one_step(state, rates, length)
            if length == longest:
                settled = _has_settled(state, after)
            state, now, steps = after, now + length if length == longest else time, steps + 1
            if steps > MAX_STEPS:
                raise ArithmeticError(
                    f"the flow has not settled at t = {now:g} after {MAX_STEPS} steps. Ask for earlier `times`."
                )
        found[index] = state
    return found


def _has_settled(before: np.ndarray, after: np.ndarray) -> bool:
    """Return whether no mode moves any more. Modes that are tiny yet grow have not settled."""
    size = np.linalg.norm(after)
    grows = np.linalg.norm(after, axis=1) > (1 + 1e-9) * np.linalg.norm(before, axis=1)
    return bool(np.abs(after - before).max() <= SETTLED * size and not grows.any())
