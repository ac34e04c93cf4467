"""What a figure is: typed settings, and the three steps compute, plot and check.

`compute` trains and returns a dataset, `plot` reads only that dataset, `check` measures in that dataset how far theory
and training are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from pydantic import ConfigDict, NonNegativeInt, model_validator

from linnet._arguments import flag
from linnet._models import Model
from linnet_papers.reproduction.rows import Row

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture


MAX_SIZE = 10**7  # of any whole number among the settings: points, runs, dimensions, steps
UNBOUNDED = ("seed", "width")  # but for these


class Settings(Model):
    """Base of every figure's settings: defaults are the paper's, unknown fields are refused.

    **Attributes:**

    - `seed`: fixes every random number

    **Example:**

        >>> from linnet_papers.reproduction import Settings
        >>> Settings(seed=3).seed
        3
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    seed: NonNegativeInt = 0

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        """Refuse numbers of points, runs or dimensions that no computer takes; hidden units cost nothing."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            for size in value if isinstance(value, tuple) else (value,):
                if isinstance(size, int) and name not in UNBOUNDED and abs(size) > MAX_SIZE:
                    raise ValueError(f"`{name}` must be at most {MAX_SIZE:,}: got {size:,}")
        return self


@dataclass(frozen=True, kw_only=True)
class Figure:
    """One figure of a paper: its settings, and how it is computed, drawn and checked.

    **Attributes:**

    - `name`: short (`fig1`); the paper that lists the figure puts its own name before it
    - `title`: in a line
    - `caption`: what it shows
    - `settings`: its class of settings
    - `quick`: the settings that `--quick` replaces
    - `compute`: from settings and panels to a dataset
    - `plot`: from the dataset to a picture
    - `check`: from the dataset to rows: quantity, value and a limit with its reason, or a fact
    - `panels`: the letters after its name
    - `options`: in words what `--data` and `--data-dir` choose, for figures whose settings have these fields
    - `paper`: that lists it

    **Example:**

        >>> import linnet_papers.reproduction
        >>> figure = linnet_papers.reproduction.figures()["watanabe-fig1"]
        >>> figure.paper, sorted(figure.quick) == sorted(set(figure.quick) & set(figure.settings.model_fields))
        ('watanabe', True)
    """

    name: str
    title: str
    caption: str
    settings: type[Settings]
    quick: Mapping[str, Any]
    compute: Callable[[Any, tuple[str, ...]], xr.Dataset]
    plot: Callable[[xr.Dataset], Picture]
    check: Callable[[xr.Dataset], Iterable[Row]]
    panels: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    paper: str = ""

    def configure(self, *, quick: bool = False, **changes: object) -> Settings:
        """The settings of one run: the paper's, or the quick ones, with `changes` on top."""
        flag("quick", quick)
        return self.settings(**{**(self.quick if quick else {}), **changes})

    def rows(self, data: xr.Dataset) -> tuple[Row, ...]:
        """What `check` measures in the dataset of a run, as rows."""
        return tuple(self.check(data))
