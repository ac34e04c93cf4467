"""Which steps of a run are kept. Step 0 and the last step always are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linnet.arguments import count, no_mask, shown
from linnet.memory import check_fits


@dataclass(frozen=True)
class Saving:
    """A saving policy: `choose(steps)` gives the steps to keep of a run of that length."""

    name: str
    choose: Callable[[int], np.ndarray]

    def steps(self, total: int) -> np.ndarray:
        """The kept steps, increasing, with 0 and `total` among them."""
        total = count("total", total, least=0, most=2**62)
        chosen = np.asarray(self.choose(total), dtype=np.int64)
        return np.unique(np.concatenate([[0], chosen[(chosen > 0) & (chosen <= total)], [total]]).astype(np.int64))


def every(interval: int) -> Saving:
    """Every `interval` steps."""
    return _every("interval", interval)


def _every(name: str, interval: int) -> Saving:
    interval = count(name, interval)

    def choose(total: int) -> np.ndarray:
        number = total // interval
        check_fits(16 * number, f"keeping {number} states", "Save less often (`save_every`).")
        return np.arange(0, total + 1, interval)

    return Saving(f"every {interval}", choose)


def at(steps: Iterable[int]) -> Saving:
    """The given steps."""
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
    """About `number` steps, evenly spaced in their logarithm."""
    number = count("number", number, least=2)
    return Saving(f"{number} log-spaced", lambda total: np.round(np.geomspace(1, max(total, 1), number)))


def last() -> Saving:
    """The start and the end only."""
    return Saving("last", lambda total: np.array([], dtype=np.int64))


def policy(save_every: Any) -> Saving:
    """A `Saving` from what users pass as `save_every`: an interval or a policy."""
    return save_every if isinstance(save_every, Saving) else _every("save_every", save_every)
