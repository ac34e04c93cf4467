"""What a figure is: typed settings, and the three steps compute, plot and check.

`compute` trains and returns a dataset, `plot` reads only that dataset, `check` measures in that dataset how far theory
and training are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from pydantic import BaseModel, ConfigDict, NonNegativeInt, model_validator

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture


LARGEST = 10**7  # of any whole number among the settings, but for those below
UNBOUNDED = ("seed", "width")


class Settings(BaseModel):
    """Base of every figure's settings: defaults are the paper's, unknown fields are refused, `seed` is always there."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    seed: NonNegativeInt = 0

    @model_validator(mode="after")
    def _sizes(self) -> Self:
        """Refuses numbers of points, runs or dimensions that no computer takes; hidden units cost nothing."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            for size in value if isinstance(value, tuple) else (value,):
                if isinstance(size, int) and name not in UNBOUNDED and abs(size) > LARGEST:
                    raise ValueError(f"`{name}` must be at most {LARGEST:,}: got {size:,}")
        return self


@dataclass(frozen=True)
class Check:
    """One measured distance, as a sentence with its numbers: `passed` is None where nothing was claimed."""

    text: str
    value: float | None = None
    limit: float | None = None
    passed: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure of a paper. `quick` holds the settings that `--quick` replaces; `panels` the letters after its name.

    `name` is short (`fig1`); the paper that lists the figure puts its own name before it. `options` says in words what
    --data and --path choose, for figures whose settings have these fields.
    """

    name: str
    title: str
    caption: str
    settings: type[Settings]
    quick: Mapping[str, Any]
    compute: Callable[[Any, tuple[str, ...]], xr.Dataset]
    plot: Callable[[xr.Dataset], Picture]
    check: Callable[[xr.Dataset], list[Check]]
    panels: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    paper: str = ""

    def configure(self, *, quick: bool = False, **changes: Any) -> Settings:
        """The settings of one run: the paper's, or the quick ones, with `changes` on top."""
        return self.settings(**{**(self.quick if quick else {}), **changes})
