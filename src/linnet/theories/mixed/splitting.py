"""The flow of a two-layer network from any start, by a splitting whose two parts are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import count
from linnet.problems.problem import Problem
from linnet.theories.mixed.spectral_flows import clock_of

_ROOT = np.sqrt(0.5)
MOST_GROWTH = 6.0  # exponent of the fastest mode over one step: e^12 is what the root of a matrix can bear
_LARGEST_WEIGHT = 1e60
_MOST_STEPS = 20_000


class Layers:
    r"""Networks in the singular basis of their target, unit by unit in the basis of their imbalance; a batch of them.

    The flow with $Q = [W_1^\top; W_2]$ and the conserved imbalance $M = W_1 W_1^\top - W_2^\top W_2$ is

    $$ \dot Q = \begin{pmatrix} 0 & Y^\top \\ Y & 0 \end{pmatrix} Q - \tfrac12 Q Q^\top Q
       + \tfrac12 \begin{pmatrix} I & 0 \\ 0 & -I \end{pmatrix} Q M. $$

    The last term alone tilts: $W_1^\top e^{Mt/2}$, $W_2 e^{-Mt/2}$. The others alone are the balanced flow,
    $Q \leftarrow e^{Ft} Q (I + Q^\top D Q)^{-1/2}$ with $D = (e^{2Ft} - 1)/2F$ and the symmetric root.
    Half a tilt, the balanced flow and half a tilt are one step of second order. $M$ is that of the start at every step:
    neither part keeps it.

    **Arguments:** `values` $S$ (row,); `first` and `second`, rows of $W_1^\top$ and $W_2$ along the singular vectors,
    (batch, row, unit); `spare`, rows of the larger side that the target does not see, (batch, idle, unit), of the
    inputs if `idle_inputs`; `rates`, the eigenvalues of $M$, (batch, unit).
    """

    def __init__(
        self,
        values: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
        spare: np.ndarray,
        rates: np.ndarray,
        *,
        idle_inputs: bool,
    ):
        self.values, self.rates, self.idle_inputs = values, rates, idle_inputs
        self.first, self.second, self.spare = first, second, spare

    def __getitem__(self, chosen: Any) -> Layers:
        """Some networks of the batch."""
        parts = (self.first[chosen], self.second[chosen], self.spare[chosen], self.rates[chosen])
        return Layers(self.values, *parts, idle_inputs=self.idle_inputs)

    def put(self, chosen: np.ndarray, other: Layers, of: np.ndarray) -> None:
        """Takes some networks of another batch in place of its own."""
        self.first[chosen], self.second[chosen], self.spare[chosen] = other.first[of], other.second[of], other.spare[of]

    def copy(self) -> Layers:
        """The same networks, which `put` may change."""
        parts = (self.first.copy(), self.second.copy(), self.spare.copy(), self.rates)
        return Layers(self.values, *parts, idle_inputs=self.idle_inputs)

    def stepped(self, durations: np.ndarray) -> Layers:
        """One step of each network, over its own duration, (batch,)."""
        half = np.exp(self.rates * durations[:, None] / 4)[:, None, :]
        first, second, spare = self._balanced(
            self.first * half,
            self.second / half,
            self.spare * half if self.idle_inputs else self.spare / half,
            durations,
        )
        spare = spare * half if self.idle_inputs else spare / half
        return Layers(self.values, first * half, second / half, spare, self.rates, idle_inputs=self.idle_inputs)

    def _balanced(
        self, first: np.ndarray, second: np.ndarray, spare: np.ndarray, durations: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The balanced flow: what grows is `plus`, what decays `minus`, and the spare rows are only divided."""
        S, t = self.values, durations[:, None]
        x = S * t
        with np.errstate(divide="ignore", invalid="ignore"):
            fallen = np.where(S > 0, -np.expm1(-2 * x) / (2 * S), t)  # (1 - e^{-2St})/2S
        decay = np.exp(-x)
        weight = np.sqrt(fallen)
        plus, minus = _ROOT * (first + second), _ROOT * (first - second)
        squares = [(weight / decay)[..., None] * plus, weight[..., None] * minus, np.sqrt(t)[..., None] * spare]
        X = np.concatenate(squares, axis=1)
        H = X.swapaxes(1, 2) @ X
        units = H.shape[-1]
        H[:, np.arange(units), np.arange(units)] += 1
        root = symmetric_inverse_root(H)
        plus, minus = plus / decay[..., None], minus * decay[..., None]
        rows = S.size
        moved = np.concatenate([_ROOT * (plus + minus), _ROOT * (plus - minus), spare], axis=1) @ root
        return moved[:, :rows], moved[:, rows : 2 * rows], moved[:, 2 * rows :]


def symmetric_inverse_root(H: np.ndarray) -> np.ndarray:
    """H^(-1/2) of matrices of one and above; any other root turns the units, and the splitting does not converge."""
    sizes, basis = np.linalg.eigh(H)
    root: np.ndarray = (basis / np.sqrt(np.maximum(sizes, 1.0))[:, None, :]) @ basis.swapaxes(1, 2)
    return root


def stacked(values: np.ndarray, inputs: np.ndarray, outputs: np.ndarray) -> Layers:
    """Networks from rows along the singular vectors, $W_1^T$ (batch, input, unit), $W_2$ (batch, output, unit)."""
    n = values.size
    imbalance = inputs.swapaxes(1, 2) @ inputs - outputs.swapaxes(1, 2) @ outputs
    rates, turn = np.linalg.eigh(imbalance)
    inputs, outputs = inputs @ turn, outputs @ turn
    idle_inputs = inputs.shape[1] > n
    spare = inputs[:, n:] if idle_inputs else outputs[:, n:]
    return Layers(values, inputs[:, :n], outputs[:, :n], spare, rates, idle_inputs=idle_inputs)


def split_flow(
    problem: Problem, weights: Any, times: object, *, steps: int = 8
) -> Float[np.ndarray, "time output input"]:
    r"""Products of a network under gradient flow from any start, by `steps` steps of a splitting with exact parts.

    With $M = W_1 W_1^\top - W_2^\top W_2$, which the flow conserves, a step over $\tau$ is

    $$ (W_1, W_2) \to (e^{M\tau/4} W_1, W_2 e^{-M\tau/4}) \to \text{balanced flow over } \tau
       \to (e^{M\tau/4} W_1, W_2 e^{-M\tau/4}) $$

    where the balanced flow has a closed form. It is exact for $M = 0$ and of second order in $\tau$ for any $M$.

    **Arguments:**

    - `problem`: whitened (`Problem.from_target`), no batch axis
    - `weights`: the start, of any width and imbalance
    - `times`: canonical, finite, strictly increasing, (time,)
    - `steps`: up to the last time; more where a mode would grow by more than $e^6$ in one of them

    **Returns** the products $W_2 W_1$ at `times`.

    **Reference:** ours; the balanced flow is that of Fukumizu 1998.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.mixed import split_flow
        >>> problem = ln.Problem.from_target(np.diag([3.0, 1.0]))
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=3, first_std=0.1, second_std=0.1)
        >>> bool(np.abs(split_flow(problem, start, [10.0], steps=20)[0] - problem.cross).max() < 1e-3)
        True
    """
    clock, steps = clock_of(times), count("steps", steps)
    if (
        not isinstance(problem, Problem)
        or problem.batch is not None
        or not problem.whitened
        or problem.cost is not None
    ):
        raise ValueError("`problem` must be a single one with whitened inputs: make it by `Problem.from_target`.")
    if not np.isfinite(clock[-1]):
        raise ValueError("`times` must be finite: a splitting takes steps.")
    first, second = np.asarray(weights.first, dtype=float), np.asarray(weights.second, dtype=float)
    target = np.asarray(problem.cross)
    if first.ndim != 2 or (len(second), first.shape[1]) != target.shape:
        raise ValueError(f"`weights` must map {target.shape[1]} inputs to {len(target)} outputs, one network.")
    if max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0)) > _LARGEST_WEIGHT:
        raise ValueError(f"`weights` must be at most {_LARGEST_WEIGHT:g}: the splitting squares them twice. Rescale.")
    left, values, right = np.linalg.svd(target)
    layers = stacked(values, (right @ first.T)[None], (left.T @ second)[None])
    most = min(clock[-1] / steps if clock[-1] > 0 else np.inf, MOST_GROWTH / max(float(values[0]), 1e-300))
    products, now = [], 0.0
    for time in clock:
        parts = int(np.ceil((time - now) / most * (1 - 1e-12))) if time > now else 0
        if parts > _MOST_STEPS:
            raise ValueError(f"`times` must be at most {_MOST_STEPS * most:.3g}, after which nothing is left to learn.")
        for _ in range(parts):
            layers = layers.stepped(np.array([(time - now) / parts]))
        now = time
        products.append(_product(layers, left, right))
    return np.stack(products)


def _product(layers: Layers, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    inputs, outputs = layers.first[0], layers.second[0]
    if layers.idle_inputs:
        inputs = np.concatenate([inputs, layers.spare[0]])
    else:
        outputs = np.concatenate([outputs, layers.spare[0]])
    product: np.ndarray = left @ (outputs @ inputs.T) @ right
    return product
