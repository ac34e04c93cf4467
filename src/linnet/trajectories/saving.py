"""Which steps of a run are kept. Step 0 and the last step always are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet._arguments import count, no_mask, shown
from linnet._memory import check_fits

if TYPE_CHECKING:
    import xarray as xr

# Names of variables, dimensions and attributes in files of linnet 0.3, and what they are called since: for reading.
OLD_NAMES = {
    "best_test": "min_test_loss",
    "side_best_test": "side_min_test_loss",
    "predicted_best_test": "predicted_min_test_loss",
    "best_time_error": "best_time_uncertainty",
}
# The same for names that mean something else in other files: they are read anew only next to the name that tells.
OLD_NAMES_BESIDE = {"best_test": {"error": "uncertainty"}, "cv_error": {"scale": "preprocess"}}
OLD_VALUES = {"preprocess": {"std": "standardize", "none": "center"}, "missing": {"refuse": "error"}}

MAX_KEPT_STEPS = 10**8  # of steps: the list of them alone takes a second


@dataclass(frozen=True)
class Saving:
    """Saving policy: the steps of a run that are kept.

    **Attributes:**

    - `name`: name of the policy
    - `choose`: `choose(steps)` gives the steps to keep of a run of that length

    **Example:**

        >>> import numpy as np
        >>> from linnet.trajectories import Saving
        >>> Saving("squares", lambda steps: np.arange(int(steps**0.5) + 1) ** 2).choose(20).tolist()
        [0, 1, 4, 9, 16]
    """

    name: str
    choose: Callable[[int], np.ndarray]

    def steps(self, total: int) -> np.ndarray:
        """The kept steps, increasing, with 0 and `total` among them."""
        total = count("total", total, least=0, most=2**62)
        chosen = np.asarray(self.choose(total), dtype=np.int64)
        return np.unique(np.concatenate([[0], chosen[(chosen > 0) & (chosen <= total)], [total]]).astype(np.int64))


def every(interval: int) -> Saving:
    """Keep every `interval`-th step.

    `save_every=10` is short for `save_every=every(10)`. For long runs, use `log_spaced`.

    **Arguments:**

    - `interval`: number of steps from one saved step to the next

    **Returns** a `Saving`.

    **Example:**

        >>> from linnet.trajectories import every
        >>> every(4).choose(10).tolist()
        [0, 4, 8]
    """
    return _every("interval", interval)


def _every(name: str, interval: int) -> Saving:
    """Return the policy that keeps every `interval`-th step; `name` is the argument that a message names."""
    interval = count(name, interval)

    def choose(total: int) -> np.ndarray:
        number = total // interval
        check_fits(16 * number, f"keeping {number} states", "Save less often (`save_every`).")
        if number > MAX_KEPT_STEPS:
            raise ValueError(
                f"a `{name}` of {interval} keeps {number} of {total} steps (`total`): at most {MAX_KEPT_STEPS:.0e} can "
                "be kept. Save less often (`save_every`)."
            )
        return np.arange(0, total + 1, interval)

    return Saving(f"every {interval}", choose)


def at(steps: Iterable[int]) -> Saving:
    """Keep the given steps.

    For regular intervals, `every` is shorter.

    **Arguments:**

    - `steps`: numbers of the steps to keep, whole numbers

    **Returns** a `Saving`.

    **Example:**

        >>> from linnet.trajectories import at
        >>> at([0, 3, 10]).choose(10).tolist()
        [0, 3, 10]
    """
    no_mask("steps", steps)
    if isinstance(steps, (str, bytes, dict)):
        raise ValueError(f"`steps` must be one list of steps: got {shown(steps)}.")
    try:
        chosen = np.atleast_1d(
            np.asarray(steps if isinstance(steps, np.ndarray) or not isinstance(steps, Iterable) else list(steps))
        )
    except ValueError:
        raise ValueError(f"`steps` must be one list of steps: got {shown(steps)}.") from None
    if chosen.dtype.kind == "f":
        chosen = chosen.astype(np.float64)
    if chosen.dtype.kind == "f" and np.isfinite(chosen).all() and (chosen == np.rint(chosen)).all():
        chosen = np.where(np.abs(chosen) < 2**62, chosen, -1).astype(
            np.int64
        )  # whole numbers, however they are written
    if chosen.ndim > 1:
        raise ValueError(f"`steps` must be one list of steps: got shape {chosen.shape}.")
    if chosen.size and (chosen.dtype.kind not in "iu" or (chosen < 0).any()):
        raise ValueError(f"`steps` must be non-negative whole numbers below 2^62: got {shown(chosen[:5].tolist())}.")
    return Saving(f"{chosen.size} given steps", lambda total: chosen)


def log_spaced(number: int) -> Saving:
    """Keep about `number` steps, evenly spaced in their logarithm.

    We recommend it for runs over several orders of magnitude of time.

    **Arguments:**

    - `number`: number of saved steps

    **Returns** a `Saving`.

    **Example:**

        >>> from linnet.trajectories import log_spaced
        >>> log_spaced(5).choose(1000).tolist()
        [1.0, 6.0, 32.0, 178.0, 1000.0]
    """
    number = count("number", number, least=2)
    return Saving(f"{number} log-spaced", lambda total: np.round(np.geomspace(1, max(total, 1), number)))


def last() -> Saving:
    """Keep only the initialization and the end of a run.

    Use it to save memory if only the end of a long run matters.

    **Returns** a `Saving`.

    **Example:**

        >>> from linnet.trajectories import last
        >>> last().choose(10).tolist()  # nothing in between
        []
    """
    return Saving("last", lambda total: np.array([], dtype=np.int64))


def policy(save_every: Any) -> Saving:
    """A `Saving` from what users pass as `save_every`: an interval or a policy."""
    return save_every if isinstance(save_every, Saving) else _every("save_every", save_every)


def with_new_names(data: xr.Dataset) -> xr.Dataset:
    """Return a dataset that linnet 0.3 wrote, with the names of this version.

    **Arguments:**

    - `data`: dataset from a file; a dataset of this version is returned unchanged

    **Returns** the dataset. A variable keeps its old name if its new name is taken by another variable.

    **Example:**

        >>> import xarray as xr
        >>> from linnet.trajectories.saving import with_new_names
        >>> list(with_new_names(xr.Dataset({"best_test": ("width", [0.5])})))
        ['min_test_loss']
    """
    names = dict(OLD_NAMES)
    for beside, more in OLD_NAMES_BESIDE.items():
        if beside in data.variables:
            names |= more
    held = {*data.variables, *data.dims}
    data = data.rename({old: new for old, new in names.items() if old in held and new not in held})
    attributes: dict[Any, Any] = {}
    for name, value in data.attrs.items():
        new = names.get(name, name)
        attributes[new] = OLD_VALUES.get(new, {}).get(value, value) if isinstance(value, str) else value
    data.attrs = attributes
    return data
