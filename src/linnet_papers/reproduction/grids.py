"""Grids of trained networks that several claims share: each is trained once in a process, as a sweep.

What is kept is what was trained. What a theory says of it is computed by each claim anew: otherwise a mistake in the
theory would not reach the claim.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, update_wrapper
from typing import TYPE_CHECKING, Any

from linnet_papers.reproduction.measurement import Trial

if TYPE_CHECKING:
    import xarray as xr

    from linnet.sweeps import Sweep


def trained(sweep: Callable[[Trial], Sweep]) -> Callable[[Trial], xr.Dataset]:
    """Turn a function from a trial to a sweep into the function from a trial to its results.

    They are computed once for each trial in a process; `linnet verify --store DIR` keeps their cells. The sweep itself
    is `function.__wrapped__(trial)`.

    **Example:**

        >>> from linnet_papers.reproduction import Trial
        >>> from linnet_papers.reproduction.grids import trained, trial_sweep
        >>> @trained
        ... def networks(trial):
        ...     return trial_sweep(trial, "toy", "linnet.sweeps.cells:train", {"dim": (10, 20)})
        >>> networks.__wrapped__(Trial(seed=3)).seed
        3
    """

    def results(trial: Trial) -> xr.Dataset:
        from linnet import sweeps

        return sweeps.run(sweep(trial))

    return update_wrapper(lru_cache(maxsize=8)(results), sweep)


def trial_sweep(
    trial: Trial, name: str, function: Callable[..., Any] | str, axes: Mapping[str, Any], **options: Any
) -> Sweep:
    """Return the sweep of one trial: its axes, its seed, and which cells are trained in one block.

    **Arguments:**

    - `trial`: whose seed is that of the sweep
    - `name`, `function`, `axes`: of the sweep
    - `options`: the others of `Sweep`; and `together`, the axis (or `"seed"`) whose cells share a block, which they
      share with no others

    **Returns** the sweep, which is not run yet.

    **Example:**

        >>> from linnet_papers.reproduction import Trial
        >>> from linnet_papers.reproduction.grids import trial_sweep
        >>> axes = {"dim": (10, 20), "replicate": range(4)}
        >>> sweep = trial_sweep(Trial(), "toy", "linnet.sweeps.cells:train", axes, together="replicate")
        >>> sweep.block, sweep.unbatched_axes
        (4, ['dim'])
    """
    from linnet.sweeps import Sweep

    values = {axis: list(entries) for axis, entries in axes.items()}
    if together := options.pop("together", ""):
        options["block"] = options["seeds"] if together == "seed" else len(values[together])
        options["unbatched_axes"] = [axis for axis in values if axis != together]
    return Sweep(name=name, function=function, axes=values, seed=trial.seed, **options)
