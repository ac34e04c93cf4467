"""The flow of a two-layer network from any initialization, by alternating two parts that have closed forms."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from linnet._arguments import count, non_negative
from linnet.inits.weights import Weights, check_two_layers
from linnet.problems.problem import Problem, squared_loss
from linnet.theories.lazy_active.spectral_flows import clock_of

MOST_GROWTH = 6.0  # exponent of the fastest mode over one step: e^12 is what the root of a matrix can bear
_LARGEST_WEIGHT = 1e60
_MOST_STEPS = 20_000


class Layers:
    r"""Networks in the singular basis of their target, unit by unit in the basis of their imbalance; a batch of them.

    The flow with $Q = [W_1^\top; W_2]$ and the conserved imbalance $M = W_1 W_1^\top - W_2^\top W_2$ is

    $$ \dot Q = \begin{pmatrix} 0 & Y^\top \\ Y & 0 \end{pmatrix} Q - \tfrac12 Q Q^\top Q
       + \tfrac12 \begin{pmatrix} I & 0 \\ 0 & -I \end{pmatrix} Q M. $$

    The last term alone tilts: $W_1^\top e^{Mt/2}$, $W_2 e^{-Mt/2}$. The others alone are the balanced flow, $Q
    \leftarrow e^{Ft} Q (I + Q^\top D Q)^{-1/2}$ with $D = (e^{2Ft} - 1)/2F$ and the symmetric root. Half a tilt, the
    balanced flow and half a tilt are one step of second order. $M$ has its initial value at every step: neither part
    keeps it. A tilt leaves the product $W_2 W_1$ as it is, so the last half of a step is owed to the next.

    **Arguments:** `values` $S$ (row,); `rows`, those of $W_1^\top$ and of $W_2$ along the singular vectors, then those
    of the larger side that the target does not see, (batch, 2 row + idle, unit), of the inputs if `idle_inputs`;
    `rates`, the eigenvalues of $M$, (batch, unit); `tolerance` of the root, zero for one by eigenvectors; `owed`, the
    duration of the last step of each network, whose second tilt is still to come, (batch,). `rows` may be float32.
    """

    def __init__(
        self,
        values: np.ndarray,
        rows: np.ndarray,
        rates: np.ndarray,
        *,
        idle_inputs: bool,
        tolerance: float = 0.0,
        owed: np.ndarray | None = None,
    ):
        self.values, self.rows, self.rates = values, rows, rates
        self.idle_inputs, self.tolerance = idle_inputs, tolerance
        self.owed = np.zeros(len(rows)) if owed is None else owed

    @property
    def first(self) -> np.ndarray:
        return self.rows[:, : self.values.size]

    @property
    def second(self) -> np.ndarray:
        return self.rows[:, self.values.size : 2 * self.values.size]

    @property
    def spare(self) -> np.ndarray:
        return self.rows[:, 2 * self.values.size :]

    def _with(self, rows: np.ndarray, rates: np.ndarray, owed: np.ndarray) -> Layers:
        return Layers(self.values, rows, rates, idle_inputs=self.idle_inputs, tolerance=self.tolerance, owed=owed)

    def __getitem__(self, chosen: Any) -> Layers:
        """Some networks of the batch."""
        return self._with(self.rows[chosen], self.rates[chosen], self.owed[chosen])

    def put(self, chosen: np.ndarray, other: Layers, of: np.ndarray) -> None:
        """Replace some networks by those of another batch."""
        self.rows[chosen], self.owed[chosen] = other.rows[of], other.owed[of]

    def copy(self) -> Layers:
        """The same networks, which `put` may change."""
        return self._with(self.rows.copy(), self.rates, self.owed.copy())

    def stepped(self, durations: np.ndarray, tilts: np.ndarray | None = None) -> Layers:
        """One step of each network, over its own duration, (batch,); with tilts of other durations, where the
        imbalance is not what it was."""
        tilts = durations if tilts is None else tilts
        X, moved = self._grown(self.rows, self.owed + tilts, durations)
        moved = np.asarray(moved @ symmetric_inverse_root(X.swapaxes(1, 2) @ X, self.tolerance))
        rows, n = np.empty_like(moved), self.values.size
        np.add(moved[:, :n], moved[:, n : 2 * n], out=rows[:, :n])
        np.subtract(moved[:, :n], moved[:, n : 2 * n], out=rows[:, n : 2 * n])
        rows[:, 2 * n :] = moved[:, 2 * n :]
        return self._with(rows, self.rates, tilts)

    def products_after(self, durations: np.ndarray, tilts: np.ndarray) -> np.ndarray:
        """The products after one more step of each network, (batch, output, input), along the singular vectors.

        The second tilt and the root cancel, so each costs one linear system.
        """
        X, moved = self._grown(self.rows, self.owed + tilts, durations)
        n = self.values.size
        inputs, outputs = moved[:, :n] + moved[:, n : 2 * n], moved[:, :n] - moved[:, n : 2 * n]
        if self.idle_inputs:
            inputs = np.concatenate([inputs, moved[:, 2 * n :]], axis=1)
        else:
            outputs = np.concatenate([outputs, moved[:, 2 * n :]], axis=1)
        grams = X.swapaxes(1, 2) @ X
        grams[:, np.arange(grams.shape[1]), np.arange(grams.shape[1])] += 1.0
        return np.asarray(outputs @ np.linalg.solve(grams, inputs.swapaxes(1, 2)))

    def scaled(self, factors: np.ndarray) -> Layers:
        """The networks with both layers multiplied by a factor of each network, (batch,)."""
        return self if (factors == 1).all() else self._with(factors[:, None, None] * self.rows, self.rates, self.owed)

    def _grown(self, rows: np.ndarray, tilts: np.ndarray, durations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The factor of the Gram matrix of the balanced flow, and the sums and differences of the tilted layers, which
        grow and decay, halved, with the spare rows."""
        exponents = self.rates * tilts[:, None] / 4
        tilt, back = (np.exp(one).astype(self.rows.dtype)[:, None, :] for one in (exponents, -exponents))
        S, t = self.values, durations[:, None]
        n = S.size
        first, second = rows[:, :n] * tilt, rows[:, n : 2 * n] * back
        moved = np.empty_like(rows)
        np.add(first, second, out=moved[:, :n])
        np.subtract(first, second, out=moved[:, n : 2 * n])
        np.multiply(rows[:, 2 * n :], tilt if self.idle_inputs else back, out=moved[:, 2 * n :])
        x = S * t
        with np.errstate(divide="ignore", invalid="ignore"):
            fallen = np.where(S > 0, -np.expm1(-2 * x) / (2 * S), t)  # (1 - e^{-2St})/2S
        growth, weight = np.exp(x), np.sqrt(fallen / 2)
        idle = np.broadcast_to(np.sqrt(t), (len(x), rows.shape[1] - 2 * n))
        X = moved * np.concatenate([weight * growth, weight, idle], axis=1).astype(rows.dtype)[..., None]
        moved *= np.concatenate([0.5 * growth, 0.5 / growth, np.ones_like(idle)], axis=1).astype(rows.dtype)[..., None]
        return X, moved


_FEWEST_UNITS = 10  # from which on a polynomial is faster than eigenvectors
_MOST_BLOCKS = 12  # of four terms each: at more, eigenvectors are as fast
_AT_ONCE = 16  # matrices


def symmetric_inverse_root(G: np.ndarray, tolerance: float = 0.0) -> np.ndarray:
    """(1 + G)^(-1/2), symmetric, of matrices G that are not negative; any other root turns the units.

    By eigenvectors; or to a tolerance by the polynomial of Chebyshev's nodes on [0, |G|], in blocks of four terms,
    where their number is small.
    """
    if not tolerance or G.shape[-1] < _FEWEST_UNITS:
        return _by_eigenvectors(G)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # what overflows has eigenvectors
        square = G @ G
        top = np.einsum("bij,bij->b", square, square, dtype=float) ** 0.25  # at least the largest eigenvalue
        top = np.maximum(top, 1e-12)
        kappa = np.sqrt(1 + top)
        blocks = np.ceil(np.log(tolerance) / np.log((kappa - 1) / (kappa + 1)) / 4)
    blocks = np.where(np.isfinite(blocks), np.clip(blocks, 1, _MOST_BLOCKS + 1), _MOST_BLOCKS + 1).astype(int)
    least, most = blocks.min(), blocks.max()
    if most <= _MOST_BLOCKS and most <= least + 1:
        return _polynomial(G, square, top, int(most))
    root = np.empty_like(G)
    for number in np.unique(blocks):
        at = blocks == number
        fits = number <= _MOST_BLOCKS
        root[at] = _polynomial(G[at], square[at], top[at], int(number)) if fits else _by_eigenvectors(G[at])
    return root


def _by_eigenvectors(G: np.ndarray) -> np.ndarray:
    sizes, basis = np.linalg.eigh(G.astype(float))
    root: np.ndarray = (basis / np.sqrt(1 + np.maximum(sizes, 0.0))[:, None, :]) @ basis.swapaxes(1, 2)
    return root.astype(G.dtype)


def _polynomial(G: np.ndarray, square: np.ndarray, top: np.ndarray, blocks: int) -> np.ndarray:
    """(1 + G)^(-1/2) by Chebyshev's polynomials of Z = 2 G/top - 1, `blocks` of four of them.

    The sum over blocks is one of Chebyshev's polynomials of T_4(Z), and follows by Clenshaw's recursion: one product of
    matrices for each block, and three more. A few matrices at a time stay in the cache.
    """
    nodes, into = _interpolation(blocks)
    terms = ((1 + top[:, None] * (1 + nodes) / 2) ** -0.5 @ into.T).astype(G.dtype)
    n, root = G.shape[-1], np.empty_like(G)
    i = np.arange(n)
    for first in range(0, len(G), _AT_ONCE):
        some = slice(first, first + _AT_ONCE)
        scale, number = (2 / top[some]).astype(G.dtype)[:, None, None], len(G[some])
        four = np.zeros((number, 4, n, n), dtype=G.dtype)  # T_0 to T_3 of Z
        four[:, 0, i, i] = 1.0
        np.multiply(G[some], scale, out=four[:, 1])
        np.multiply(square[some], 2 * scale**2, out=four[:, 2])
        four[:, 2] -= 4 * four[:, 1]
        four[:, 2, i, i] += 1.0
        four[:, 1, i, i] -= 1.0
        np.matmul(2 * four[:, 1], four[:, 2], out=four[:, 3])
        four[:, 3] -= four[:, 1]
        sums = (terms[some].reshape(number, blocks, 4) @ four.reshape(number, 4, n * n)).reshape(number, blocks, n, n)
        if blocks == 1:
            root[some] = sums[:, 0]
            continue
        twice = 4 * four[:, 2] @ four[:, 2]  # 2 T_4
        twice[:, i, i] -= 2.0
        made, before = sums[:, -1], None
        for block in range(blocks - 2, 0, -1):
            later, made = made, twice @ made + sums[:, block]
            if before is not None:
                made -= before
            before = later
        made = twice @ made / 2 + sums[:, 0]
        root[some] = made if before is None else made - before
    return root


@lru_cache(maxsize=16)
def _interpolation(blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Chebyshev's nodes on [-1, 1], and the matrix from values there to the terms $d_{bj}$ of $T_{4b} T_j$, j < 4."""
    number = 4 * blocks
    angles = np.pi * (np.arange(number) + 0.5) / number
    into = 2 / number * np.cos(np.arange(number)[:, None] * angles)
    into[0] /= 2
    # T_j T_{4b} is the mean of T_{4b + j} and T_{4b - j}
    for block in range(blocks - 1, 0, -1):
        for j in (1, 2, 3):
            into[4 * block + j] *= 2
            into[4 * block - j] -= into[4 * block + j] / 2
    return np.cos(angles), into


def stacked(values: np.ndarray, inputs: np.ndarray, outputs: np.ndarray) -> Layers:
    """Networks from rows along the singular vectors, $W_1^T$ (batch, input, unit), $W_2$ (batch, output, unit)."""
    n = values.size
    imbalance = inputs.swapaxes(1, 2) @ inputs - outputs.swapaxes(1, 2) @ outputs
    rates, turn = np.linalg.eigh(imbalance)
    idle_inputs = inputs.shape[1] > n
    spare = inputs[:, n:] if idle_inputs else outputs[:, n:]
    rows = np.concatenate([inputs[:, :n], outputs[:, :n], spare], axis=1) @ turn
    return Layers(values, rows, rates, idle_inputs=idle_inputs)


def split_flow(
    problem: Problem, weights: Weights, times: object, *, steps: int = 8, parts: int = 1, weight_decay: float = 0.0
) -> Float[np.ndarray, "time output input"]:
    r"""Return the products of a two-layer network under gradient flow, computed by a fast splitting method.

    It is fast for narrow networks and whitened inputs. For full accuracy or any covariance, use `ln.gradient_flow`.

    The flow conserves $M = W_1 W_1^\top - W_2^\top W_2$. A step over the time $\tau$ is

    $$ (W_1, W_2) \to (e^{M\tau/4} W_1, W_2 e^{-M\tau/4}) \to \text{balanced flow over } \tau
       \to (e^{M\tau/4} W_1, W_2 e^{-M\tau/4}) $$

    where all parts have closed forms. The result is exact for $M = 0$, and its error is of second order in $\tau$ for
    any other $M$.

    **Arguments:**

    - `problem`: learning problem with whitened inputs (`Problem.from_target`) and no batch axis
    - `weights`: initial weights, of any width and imbalance
    - `times`: times (learning rate times number of steps), finite, strictly increasing, (time,)
    - `steps`: number of steps up to the last time; more if a mode, or a layer by its imbalance, would grow by more than
      $e^6$ in one step
    - `parts`: number of smaller steps into which each step is divided. The error is of second order in their length at
      every time, so runs with 1, 2 and 4 parts can be extrapolated
    - `weight_decay`: coefficient $\lambda$ of weight decay in both layers, zero by default

    **Returns** the products $W_2 W_1$ at `times`.

    **Reference:** own result; the balanced flow is due to Fukumizu 1998.

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import split_flow
        >>> problem = ln.Problem.from_target(np.diag([3.0, 1.0]))
        >>> start = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=3, stds=0.1)
        >>> bool(np.abs(split_flow(problem, start, [10.0], steps=20)[0] - problem.cross).max() < 1e-3)
        True
    """
    clock, steps, decay = (
        clock_of(times),
        count("steps", steps, most=_MOST_STEPS),
        non_negative("weight_decay", weight_decay),
    )
    if not squared_loss(problem).whitened:
        raise ValueError("`problem` must be a single one with whitened inputs: make it by `Problem.from_target`.")
    if not np.isfinite(clock[-1]):
        raise ValueError("`times` must be finite: a splitting takes steps.")
    weights = check_two_layers(weights)
    first, second, target = weights.first, weights.second, np.asarray(problem.cross)
    if first.ndim != 2 or (len(second), first.shape[1]) != target.shape:
        raise ValueError(f"`weights` must map {target.shape[1]} inputs to {len(target)} outputs, one network.")
    largest = max(float(np.abs(first).max()), float(np.abs(second).max()))
    if not largest <= _LARGEST_WEIGHT:
        raise ValueError(
            f"`weights` must be finite and at most {_LARGEST_WEIGHT:g}, as the splitting squares them twice: the "
            f"largest is {largest:.3g}. Give them in other units, nearer to 1."
        )
    left, values, right = np.linalg.svd(target)
    layers = stacked(values, (right @ first.T)[None], (left.T @ second)[None])
    fastest = max(float(values[0]), float(np.abs(layers.rates).max()) / 2, decay)  # of the three parts
    number = max(float(steps), np.ceil(clock[-1] * fastest / MOST_GROWTH * (1 - 1e-12)))
    if number > _MOST_STEPS:
        raise ValueError(
            f"`times` must end before {_MOST_STEPS * MOST_GROWTH / fastest:.3g}, {_MOST_STEPS} steps in which the "
            f"fastest mode of `problem` or of the imbalance of `weights` grows by e^{MOST_GROWTH:g}: got "
            f"{clock[-1]:.3g}. Use `trainers.gradient_flow`."
        )
    nodes = np.linspace(0.0, clock[-1], int(number) + 1)
    before = np.clip(np.searchsorted(nodes, clock * (1 + 1e-12), side="right") - 1, 0, int(number) - 1)
    products: list[np.ndarray] = []

    def tilts(start: np.ndarray, length: np.ndarray) -> np.ndarray:
        return length * np.exp(-2 * decay * (start + length / 2))  # by the imbalance in the middle of the step

    def advanced(networks: Layers, start: np.ndarray, length: np.ndarray) -> Layers:
        half = np.exp(-decay * length / 2)
        return networks.scaled(half).stepped(length, tilts(start, length)).scaled(half)

    for node, begin in enumerate(nodes[:-1]):
        lengths, on = np.maximum(clock[before == node] - begin, 0.0), node < before[-1]
        if on:  # to the next node, beside the times on the way there
            lengths = np.append(lengths, nodes[node + 1] - begin)
        for first_length in range(0, lengths.size, _AT_ONCE):
            part = lengths[first_length : first_length + _AT_ONCE] / parts
            networks = layers[np.zeros(part.size, dtype=int)]
            for index in range(parts - 1):
                networks = advanced(networks, begin + index * part, part)
            last, half = begin + (parts - 1) * part, np.exp(-decay * part / 2)
            asked = slice(0, part.size - (on and first_length + part.size == lengths.size))
            if asked.stop:
                after = networks[asked].scaled(half[asked]).products_after(part[asked], tilts(last, part)[asked])
                products.append(left @ (half[asked, None, None] ** 2 * after) @ right)
        if on:
            layers = advanced(networks[-1:], last[-1:], part[-1:])
    return np.concatenate(products)
