"""Whole phase diagrams by one door: by formula, or by training every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import count, non_negative, of_kind, real_array
from linnet._randomness import Key, words
from linnet.problems.problem import Problem
from linnet.theories.lazy_active import predicted_diagram
from linnet.trajectories.datasets import provenance

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

STEPS_PER_TIME = 50  # of descent, in the time in which the fastest mode, or the kernel, grows by e
MAX_STEPS = 100_000
RISING = 100  # steps for which the test loss must rise before a run has passed its minimum
UPDATE_STEPS = 1500  # of an update whose steps have a length of their own, until the largest mode has arrived
SAVED = 10  # every so many of them is looked at
METHODS = ("predict", "train")
Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # min_test_loss, best_time, stable_rank, uncertainty


@dataclass(frozen=True)
class PhaseDiagram:
    r"""Result of `ln.phase_diagram`: arrays with one entry for each width and variance, (width, variance).

    **Attributes:**

    - `variances`: variances $\sigma^2$ of the entries of all layers, (variance,)
    - `widths`: widths $w$ of the hidden layers, (width,)
    - `min_test_loss`: minimum of the test loss over all times
    - `best_time`: canonical time of that minimum; NaN if the curve is so flat that no single time is best
    - `stable_rank`: stable rank $|A|_F^2/|A|_{op}^2$ of the product at that time
    - `uncertainty`: uncertainty of `min_test_loss` as a fraction of it; for trained cells the standard error of the
      mean over networks, NaN for one network
    - `method`: `"predict"` or `"train"`
    - `largest_value`: largest singular value of the target, which divides lazy from active cells
    - `depth`: number of layers

    **Example:**

        >>> import linnet as ln
        >>> task = ln.problems.low_rank_plus_noise(30, rank=2, key=0)
        >>> diagram = ln.phase_diagram(task, [1e-5, 1.0], [1000])
        >>> bool(diagram.min_test_loss[0, 0] < diagram.min_test_loss[0, 1])  # a small initialization generalizes better
        True
    """

    variances: Float[np.ndarray, " variance"]
    widths: Float[np.ndarray, " width"]
    min_test_loss: Float[np.ndarray, "width variance"]
    best_time: Float[np.ndarray, "width variance"]
    stable_rank: Float[np.ndarray, "width variance"]
    uncertainty: Float[np.ndarray, "width variance"]
    method: str
    largest_value: float
    depth: int = 2

    def __repr__(self) -> str:
        size = f"{self.widths.size} widths x {self.variances.size} variances"
        return f"PhaseDiagram({size}, depth {self.depth}, by {self.method})"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the minimum test loss of every cell: `ln.draw.phase_diagram`."""
        from linnet.draw import phase_diagram

        return phase_diagram(self, ax=ax)

    def to_dataset(self) -> xr.Dataset:
        """The diagram as an xarray dataset (width, variance)."""
        import xarray as xr

        names = ("min_test_loss", "best_time", "stable_rank", "uncertainty")
        return xr.Dataset(
            {name: (("width", "variance"), getattr(self, name)) for name in names},
            coords={"width": self.widths, "variance": self.variances},
            attrs={**provenance(), "method": self.method, "depth": self.depth, "units": "canonical"},
        )


def phase_diagram(
    problem: Problem,
    variances: ArrayLike,
    widths: ArrayLike,
    *,
    method: str = "predict",
    depth: int = 2,
    update: Any = None,
    weight_decay: float = 0.0,
    networks: int | None = None,
    key: Key = 0,
) -> PhaseDiagram:
    r"""Return the minimum test loss of every cell of the plane of variance and width, by formula or by training.

    The formula is the right choice unless you want to check it: training takes minutes to hours. For `covered` cells,
    `scatter` and training losses, call `theories.lazy_active.predicted_diagram`.

    **Arguments:**

    - `problem`: learning problem with whitened inputs (`Problem.from_target`) and a `truth`
    - `variances`: variances $\sigma^2 > 0$ of the entries of all layers, (variance,)
    - `widths`: widths $w \ge 1$, whole numbers of any size, (width,)
    - `method`: `"predict"` takes seconds; `"train"` trains the networks of every cell and may take hours
    - `depth`: number of layers, 2 to 6 for predictions and 2 for training
    - `update`: `trainers.updates.SpectralDescent()` or `Muon(...)` in place of gradient descent; training takes any
      update that commutes with rotations
    - `weight_decay`: coefficient of weight decay in gradient descent; other updates have their own
    - `networks`: number of networks that a cell averages over; by default at least 16 for narrow cells of a prediction
      (wide ones need none), and one in training
    - `key`: seed of the initial weights

    **Returns** a `PhaseDiagram`, with the same fields for both methods.

    **Reference:** Tu et al. 2024, Figure 2, have the diagram; `theories.lazy_active.predicted_diagram` and
    `theories.deep.deep_diagram` have the formulas.

    **Example:**

        >>> import linnet as ln
        >>> task = ln.problems.low_rank_plus_noise(20, rank=1, key=0)
        >>> predicted = ln.phase_diagram(task, [1e-4, 1e-3], [400])
        >>> trained = ln.phase_diagram(task, [1e-4, 1e-3], [400], method="train")
        >>> bool((abs(predicted.min_test_loss / trained.min_test_loss - 1) < 0.05).all())
        True
    """
    of_kind("problem", problem, Problem, "`Problem.from_target`")
    if method not in METHODS:
        raise ValueError(f"`method` must be 'predict' or 'train': got {method!r}.")
    if problem.cost is not None or problem.batch is not None or not problem.whitened or problem.truth is None:
        raise ValueError("`problem` must be a single one with whitened inputs and a `truth`, by `Problem.from_target`.")
    depth = count("depth", depth, least=2, most=6)
    largest = float(np.linalg.norm(problem.cross, 2))
    if method == "predict":
        draws = 16 if networks is None else count("networks", networks, least=2)
        told = predicted_diagram(
            problem, variances, widths, draws=draws, key=key, depth=depth, update=update, weight_decay=weight_decay
        )
        parts = told.variances, told.widths, told.min_test_loss, told.best_time, told.stable_rank, told.uncertainty
        return PhaseDiagram(*parts, method, largest, depth)
    if depth > 2:
        raise ValueError(
            f"`depth` must be 2 for method='train': got {depth}. Train deeper cells by `gradient_descent`."
        )
    sizes, units = (
        np.atleast_1d(real_array(*axis, ndim=(0, 1))) for axis in (("variances", variances), ("widths", widths))
    )
    number, decay = count("networks", 1 if networks is None else networks), non_negative("weight_decay", weight_decay)
    if update is not None or decay:
        return _trained_one_by_one(problem, sizes, units, number, words(key), largest, update, decay)
    return _trained(problem, sizes, units, number, words(key), largest)


def _trained(
    problem: Problem, variances: np.ndarray, widths: np.ndarray, networks: int, key: list[int], largest: float
) -> PhaseDiagram:
    """Descend in every cell until the test loss rises, in steps that are small for its fastest mode or kernel."""
    from linnet.trainers import gaussian_diagram, stopping

    shape = (widths.size, variances.size, networks)
    wide, size, number = (part.ravel() for part in np.broadcast_arrays(*np.ix_(widths, variances, np.arange(networks))))
    rates = 1 / (STEPS_PER_TIME * np.maximum(largest, wide * size))
    power = float((np.asarray(problem.cross) ** 2).sum())
    runs = gaussian_diagram(
        [problem],
        keys=[[*key, int(w), int(n), at] for at, (w, n) in enumerate(zip(wide, number, strict=True))],
        widths=[int(w) for w in wide],
        variances=size,
        learning_rates=rates,
        steps=MAX_STEPS,
        stop=stopping.first_of(stopping.TestLossRising(RISING, after=RISING), stopping.LossBelow(1e-8 * power)),
    )
    found = (part.reshape(shape) for part in (runs.min_test_loss, runs.best_step * rates, runs.stable_rank))
    return PhaseDiagram(variances, widths, *_over_networks(*found), "train", largest)


def _over_networks(test: np.ndarray, times: np.ndarray, ranks: np.ndarray) -> Parts:
    """Return means over networks, the last axis, and the relative standard error of the test loss."""
    mean, networks = test.mean(axis=-1), test.shape[-1]
    spread = test.std(axis=-1, ddof=1) / np.sqrt(networks) if networks > 1 else np.full(mean.shape, np.nan)
    return mean, times.mean(axis=-1), ranks.mean(axis=-1), spread / mean


def _trained_one_by_one(
    problem: Problem,
    variances: np.ndarray,
    widths: np.ndarray,
    networks: int,
    key: list[int],
    largest: float,
    update: Any,
    decay: float,
) -> PhaseDiagram:
    """Train every cell by descent with weight decay until its test loss rises, or by an update for a number of steps:
    modes that arrive one after the other make its test loss rise and fall."""
    from linnet.inits import reduced_gaussian
    from linnet.observables import stable_rank
    from linnet.theories.spectral_descent import time_of_level
    from linnet.trainers import gradient_descent, stopping

    found = np.empty((3, widths.size, variances.size, networks))
    rising = stopping.TestLossRising(RISING, after=RISING)
    for row, column, number in np.ndindex(found.shape[1:]):
        width, variance = int(widths[row]), float(variances[column])
        threshold = variance * width
        start = reduced_gaussian(
            key=[*key, width, number],
            in_dim=problem.in_dim,
            out_dim=problem.out_dim,
            width=width,
            stds=float(np.sqrt(variance)),
        )
        if update is None:
            settings: dict[str, Any] = {"weight_decay": decay, "steps": MAX_STEPS, "stop": rising}
            rate = 1 / (STEPS_PER_TIME * (max(largest, threshold) + decay))
        else:
            settings = {"update": update, "steps": round(1.3 * UPDATE_STEPS)}
            rate = float(time_of_level(np.asarray(largest), threshold)) / UPDATE_STEPS
        run = gradient_descent(problem, start, learning_rate=rate, save_every=SAVED, keep="products", **settings)
        best = int(np.argmin(run.test_loss))
        found[:, row, column, number] = run.test_loss[best], run.times[best], float(stable_rank(run.products[best]))
    return PhaseDiagram(variances, widths, *_over_networks(*found), "train", largest)
