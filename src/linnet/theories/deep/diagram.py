"""The phase diagram of wide deep networks without training: one SVD and a family of small flows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Bool, Float

from linnet._arguments import count, real_array, representable
from linnet.problems.problem import Problem
from linnet.theories.deep._family import family
from linnet.theories.mixed.task_spectra import Spectrum, task_spectrum

if TYPE_CHECKING:
    import xarray as xr

POINTS = 48  # groups of the bulk's singular values
DEEPEST = 4  # layers: beyond them the plateau of a small start is too long for the family's table
INSTANTS = 160  # times of each cell
MODEL_ERROR = 0.022  # of the least test error: the largest of 18 networks trained at depth 2 to 4, d = 24 and 30
WIDE = 16  # units for each input and output, from which on a cell is predicted
MOST_SHARE = 0.05  # of the start's own product in the least test error, up to which a cell is predicted


@dataclass(frozen=True)
class DeepDiagram:
    r"""Every cell of the diagram of a deep network, arrays (width, variance); losses and times are canonical.

    **Attributes:**

    - `best_test`: the least $|A - A^*|_F^2/2$ over all times
    - `best_time`: when it is reached
    - `stable_rank`: $|A|_F^2/|A|_{op}^2$ then
    - `train_at_best`: $|A - Y|_F^2/2$ then
    - `covered`: whether the prediction is claimed there: wide cells in which the start's own product is negligible
    - `share`: of the start's own product in the least test error, were it not to fade
    - `variances`, `widths`: the axes
    - `depth`: the number of layers

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.deep import deep_diagram
        >>> task = ln.problems.low_rank_plus_noise(30, rank=2, key=0)
        >>> deep_diagram(task, [1e-6], [10**6], depth=3)
        DeepDiagram(depth 3, 1 widths x 1 variances, 1 of 1 covered)
    """

    best_test: Float[np.ndarray, "width variance"]
    best_time: Float[np.ndarray, "width variance"]
    stable_rank: Float[np.ndarray, "width variance"]
    train_at_best: Float[np.ndarray, "width variance"]
    covered: Bool[np.ndarray, "width variance"]
    share: Float[np.ndarray, "width variance"]
    variances: Float[np.ndarray, " variance"]
    widths: Float[np.ndarray, " width"]
    depth: int

    def __repr__(self) -> str:
        size = f"{self.widths.size} widths x {self.variances.size} variances"
        return f"DeepDiagram(depth {self.depth}, {size}, {self.covered.sum()} of {self.covered.size} covered)"

    def to_dataset(self) -> xr.Dataset:
        """An xarray dataset (width, variance) with the same names."""
        import xarray as xr

        names = ("best_test", "best_time", "stable_rank", "train_at_best", "covered", "share")
        return xr.Dataset(
            {name: (("width", "variance"), getattr(self, name)) for name in names},
            coords={"width": self.widths, "variance": self.variances},
            attrs={"depth": self.depth, "units": "canonical"},
        )


@representable
def deep_diagram(
    problem: Problem | Spectrum, variances: object, widths: object, *, depth: int, points: int = POINTS
) -> DeepDiagram:
    r"""All wide cells of the phase diagram of variance and width at any depth, from one SVD of the target.

    A cell is described by $c = \sqrt{\sigma^2 w}$ alone: every singular value of the target follows `gaussian_modes`.

    **Arguments:**

    - `problem`: whitened, with a truth; or a `Spectrum` (`mixed.task_spectrum`, `mixed.asymptotic_spectrum`)
    - `variances`: $\sigma^2 > 0$ of the entries of all layers, (variance,)
    - `widths`: $w \ge 1$ of all hidden layers, whole numbers of any size, (width,)
    - `depth`: the number of layers $L$, 2 to 4; `gaussian_modes` goes deeper, one start at a time
    - `points`: the bulk of the spectrum in so many groups

    **Returns** a `DeepDiagram`.

    **Valid where** `.covered`: $w \ge 16 (d + k)$, and the start's own product, $c^{2L} d k/w$, at most 5% of the least
    test error. Other cells hold the same formula, which is not claimed there.

    **Reference:** ours.

    **Example:**

        >>> import linnet as ln
        >>> from linnet.theories.deep import deep_diagram
        >>> task = ln.problems.low_rank_plus_noise(30, rank=2, key=0)
        >>> told = deep_diagram(task, [1e-8, 1e-5], [10**6], depth=3)
        >>> bool(told.best_test[0, 0] < told.best_test[0, 1])  # a small start generalises better
        True
    """
    spectrum = problem if isinstance(problem, Spectrum) else task_spectrum(problem)
    if not spectrum.has_truth:
        raise ValueError("`problem` must have a `truth`: the test error measures the distance to it.")
    spectrum = spectrum.grouped(count("points", points))
    sizes, units = _axis("variances", variances), _axis("widths", widths)
    if (units != np.round(units)).any():
        raise ValueError(f"`widths` must be whole numbers: got {units[units != np.round(units)][0]:g}.")
    L = count("depth", depth, least=2, most=DEEPEST)
    coupling = np.sqrt(units[:, None] * sizes)
    distinct, back = np.unique(np.round(np.log(coupling), 9), return_inverse=True)
    cells = np.array([_best(spectrum, float(np.exp(log)), L) for log in distinct])
    time, test, train, rank = (cells[:, i][back].reshape(coupling.shape) for i in range(4))
    own = coupling ** (2 * L) / units[:, None] * spectrum.outputs * spectrum.inputs
    share = own / test
    wide = units[:, None] >= WIDE * (spectrum.outputs + spectrum.inputs)
    return DeepDiagram(
        best_test=test / 2,
        best_time=time,
        stable_rank=rank,
        train_at_best=train / 2,
        covered=wide & (share <= MOST_SHARE),
        share=share,
        variances=sizes,
        widths=units,
        depth=L,
    )


def learning_time(value: float, coupling: float, depth: int) -> float:
    """About when a mode is learned: a plateau that ends at c^(2-L)/S, or the kernel's own time."""
    lazy = 1 / (depth * max(coupling ** (2 * depth - 2), value ** (2 - 2 / depth)))
    growth = np.log(2 + value / coupling**2) if depth == 2 else coupling ** (2 - depth)
    return float(lazy + growth / max(value, coupling**depth))


def _best(spectrum: Spectrum, coupling: float, depth: int) -> tuple[float, float, float, float]:
    """Time of the least test error, twice the losses then, and the stable rank."""
    early = 0.02 * learning_time(float(spectrum.values[0]), coupling, depth)
    late = 6 * learning_time(float(spectrum.values[max(spectrum.apart - 1, 0)]), coupling, depth)
    times = np.geomspace(early, late, INSTANTS)
    s = family(depth).values(spectrum.values, coupling, times)
    test, train, power = _errors(spectrum, s)
    at = int(np.clip(np.argmin(test), 1, INSTANTS - 2))
    before, middle, after = test[at - 1 : at + 2]
    bend = before - 2 * middle + after
    shift = float(np.clip((before - after) / (2 * bend), -1, 1)) if bend > 0 else 0.0
    least = middle - 0.25 * (before - after) * shift
    time = times[at] * (times[1] / times[0]) ** shift
    return float(time), float(least), float(train[at]), float(power[at] / max(s[at].max() ** 2, np.finfo(float).tiny))


def _errors(spectrum: Spectrum, s: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    many = spectrum.multiplicities
    power = (many * s**2).sum(axis=1)
    test = power - 2 * (many * spectrum.overlaps * s).sum(axis=1) + spectrum.truth_power
    train = (many * (s - spectrum.values) ** 2).sum(axis=1)
    return test, train, power


def _axis(name: str, values: object) -> np.ndarray:
    array = np.atleast_1d(real_array(name, values, ndim=(0, 1)))
    if (array <= 0).any():
        raise ValueError(f"`{name}` must be positive: the least is {array.min():.6g}.")
    return array
