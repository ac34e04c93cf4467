"""Input of the phase diagram: singular values of the target, and the part of the signal in each mode."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from linnet._arguments import count
from linnet.problems.problem import Problem, squared_loss
from linnet.theories.noise_bulk import bulk_edges, bulk_quantile, ratio_of

# Modes that are kept one by one at most; all others may be gathered in groups.
MOST_APART = 24
# A mode stands apart if it exceeds the edge of the bulk by this factor (the edge itself fluctuates by d^(-2/3)).
_ABOVE_EDGE = 1.05
# A mode holds the truth if its overlap is this fraction of its value; in the bulk it is about 1/d.
_HOLDS = 0.2
# ... and its value this fraction of the edge: small values deep in the bulk hold nothing by more than chance.
_NEAR_EDGE = 0.8


@dataclass(frozen=True)
class TaskSpectrum:
    r"""Result of `task_spectrum`: singular values of a target $Y = U S V^\top$ and overlaps with a signal $A^*$.

    Modes are ordered from the strongest to the weakest.

    **Attributes:**

    - `values`: singular values $S_i$, (mode,)
    - `overlaps`: overlaps $u_i^\top A^* v_i$, (mode,)
    - `multiplicities`: number of modes of the target that each entry represents, (mode,); need not be whole
    - `outputs`, `inputs`: numbers of rows and columns of the target
    - `truth_power`: squared norm $|A^*|_F^2$ of the signal; NaN without a signal
    - `num_outliers`: number of leading entries outside of the bulk
    - `mixed_overlaps`: overlaps $u_i^\top A^* v_m$ and $u_m^\top A^* v_i$ of the outliers, (2, outlier, mode), or (2,
      outlier, outlier) if the bulk is in groups; None if they vanish, as in the limit of large dimensions

    **Example:**

        >>> import numpy as np
        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import task_spectrum
        >>> target = np.diag([3.0, 3.0, 1.0])
        >>> task_spectrum(ln.Problem.from_target(target, truth=np.diag([3.0, 0.0, 0.0]))).values
        array([3., 3., 1.])
    """

    values: Float[np.ndarray, " mode"]
    overlaps: Float[np.ndarray, " mode"]
    multiplicities: Float[np.ndarray, " mode"]
    outputs: int
    inputs: int
    truth_power: float
    num_outliers: int
    mixed_overlaps: Float[np.ndarray, "side outlier mode"] | None = None

    def __repr__(self) -> str:
        return f"TaskSpectrum({self.outputs} x {self.inputs}, {self.values.size} entries, {self.num_outliers} outliers)"

    @property
    def has_truth(self) -> bool:
        return bool(np.isfinite(self.truth_power))

    @property
    def draw_words(self) -> list[int]:
        """Numbers that differ from task to task, for random draws; the same in other units and with a grouped bulk."""
        apart = slice(0, self.num_outliers)
        unit = float(self.values[0]) if self.values.size and self.values[0] > 0 else 1.0
        power = self.truth_power / unit**2 if self.has_truth else 0.0
        shares = np.concatenate([self.values[apart] / unit, np.abs(self.overlaps[apart]) / unit, [power]])
        # rounding in the SVD must not change the draws: thousandths of these shares are told apart, no more
        told = [self.outputs, self.inputs, self.num_outliers, *np.round(1e3 * shares).astype(int).tolist()]
        return np.frombuffer(hashlib.sha256(json.dumps(told).encode()).digest()[:8], "<u4").tolist()

    @property
    def unit(self) -> float:
        """The power of two next to the largest value: of drawn starts fourth powers are taken, which overflow in other
        units."""
        largest = float(self.values[0]) if self.values.size else 0.0
        return float(np.exp2(np.round(np.log2(largest)))) if largest > 0 else 1.0

    def grouped(self, points: int) -> TaskSpectrum:
        """The same spectrum with its bulk in `points` groups of equal size: root mean squares and mean overlaps."""
        points = count("points", points)
        if self.values.size - self.num_outliers <= points:
            return self
        bulk = slice(self.num_outliers, None)
        weight = self.multiplicities[bulk]
        place = np.minimum((points * (np.cumsum(weight) - weight / 2) / weight.sum()).astype(int), points - 1)
        sums = [np.bincount(place, weight * part[bulk], points) for part in (self.values**2, self.overlaps)]
        size = np.bincount(place, weight, points)
        kept, size = size > 0, size[size > 0]
        return TaskSpectrum(
            np.concatenate([self.values[: self.num_outliers], np.sqrt(sums[0][kept] / size)]),
            np.concatenate([self.overlaps[: self.num_outliers], sums[1][kept] / size]),
            np.concatenate([self.multiplicities[: self.num_outliers], size]),
            self.outputs,
            self.inputs,
            self.truth_power,
            self.num_outliers,
            None if self.mixed_overlaps is None else self.mixed_overlaps[..., : self.num_outliers],
        )


def in_units(spectrum: TaskSpectrum, unit: float) -> TaskSpectrum:
    """Return the same spectrum with all matrices divided by a number."""
    return replace(
        spectrum,
        values=spectrum.values / unit,
        overlaps=spectrum.overlaps / unit,
        truth_power=spectrum.truth_power / unit / unit,
        mixed_overlaps=None if spectrum.mixed_overlaps is None else spectrum.mixed_overlaps / unit,
    )


def task_spectrum(problem: Problem) -> TaskSpectrum:
    r"""Compute the spectrum of a problem with whitened inputs, by one SVD of its target.

    Compute it once and pass it to `predicted_diagram` if you compute several diagrams of one task.

    **Arguments:**

    - `problem`: learning problem with $\Sigma = I$ (`Problem.from_target`, `problems.low_rank_plus_noise`), without a
      batch axis; test errors also need its `truth`

    **Returns** a `TaskSpectrum`.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.lazy_active import task_spectrum
        >>> task_spectrum(ln.problems.low_rank_plus_noise(50, rank=3, key=0))
        TaskSpectrum(50 x 50, 50 entries, 3 outliers)
    """
    problem = squared_loss(problem)
    if not (problem.whitened or np.allclose(problem.cov, np.eye(problem.in_dim), atol=1e-9)):
        raise ValueError(
            "`problem` must have whitened inputs (cov = identity): the modes of other problems do not evolve apart. "
            "Make it by `Problem.from_target`, or whiten the inputs first."
        )
    target = np.asarray(problem.cross)
    left, values, right = np.linalg.svd(target, full_matrices=False)
    outputs, inputs = target.shape
    often = np.ones(values.size)
    if problem.truth is None:
        nothing = np.full(values.size, np.nan)
        return TaskSpectrum(
            values, nothing, often, outputs, inputs, np.nan, _apart(values, nothing, ratio_of(*target.shape))
        )
    truth = np.asarray(problem.truth)
    seen = truth @ right.T
    overlaps = np.einsum("im,im->m", left, seen)
    apart = _apart(values, overlaps, ratio_of(*target.shape))
    mixed = np.stack([left[:, :apart].T @ seen, (left.T @ seen[:, :apart]).T])
    return TaskSpectrum(values, overlaps, often, outputs, inputs, float((truth**2).sum()), apart, mixed)


def _apart(values: np.ndarray, overlaps: np.ndarray, ratio: float) -> int:
    """Return the number of leading modes above the bulk (its scale is its median's), or hold the truth although inside
    it."""
    edge = np.median(values) * bulk_edges(ratio)[1] / bulk_quantile(0.5, ratio)
    above = int((values > max(_ABOVE_EDGE * edge, 1e-12 * values[0])).sum())
    holding = np.flatnonzero((overlaps > _HOLDS * values) & (values > _NEAR_EDGE * edge))
    return min(max(above, int(holding[-1]) + 1 if holding.size else 0), MOST_APART)
