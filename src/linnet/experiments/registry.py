"""Where figures register: a name, typed settings, and the three steps compute, plot and check.

A module of this folder named after its figure (`watanabe_fig1.py`) ends with

    FIGURE = Figure(name="watanabe-fig1", ..., compute=compute, plot=plot, check=check)

and is found by its presence. `compute` trains and returns a dataset, `plot` reads only that dataset, `check` measures in
that dataset how far theory and training are apart.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture


class Settings(BaseModel):
    """Base of every figure's settings: defaults are the paper's, unknown fields are refused, `seed` is always there."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0


@dataclass(frozen=True)
class Check:
    """One measured distance, as a sentence with its numbers: `passed` is None where nothing was claimed."""

    text: str
    value: float | None = None
    limit: float | None = None
    passed: bool | None = None


@dataclass(frozen=True)
class Figure:
    """One figure of a paper. `quick` holds the settings that `--quick` replaces; `panels` the letters after its name."""

    name: str
    paper: str
    title: str
    caption: str
    settings: type[Settings]
    quick: Mapping[str, Any]
    compute: Callable[[Any, tuple[str, ...]], xr.Dataset]
    plot: Callable[[xr.Dataset], Picture]
    check: Callable[[xr.Dataset], list[Check]]
    panels: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    def configure(self, *, quick: bool = False, **changes: Any) -> Settings:
        """The settings of one run: the paper's, or the quick ones, with `changes` on top."""
        return self.settings(**{**(self.quick if quick else {}), **changes})


def figures() -> dict[str, Figure]:
    """Every registered figure by name, in the order of the papers."""
    import linnet.experiments as folder

    found = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(folder.__path__)):
        figure = getattr(importlib.import_module(f"{folder.__name__}.{module}"), "FIGURE", None)
        if isinstance(figure, Figure):
            found[figure.name] = figure
    order = {"watanabe": 0, "varre": 1, "huang": 2, "tu": 3}
    return dict(sorted(found.items(), key=lambda item: (order.get(item[1].paper, 9), item[0])))
