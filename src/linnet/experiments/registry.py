"""Where figures register: a name, typed settings, and the three steps compute, plot and check.

A module of this folder named after its figure (`watanabe_fig1.py`) ends with

    FIGURE = Figure(name="watanabe-fig1", ..., compute=compute, plot=plot, check=check)

and is found by its presence. `compute` trains and returns a dataset, `plot` reads only that dataset, `check` measures
in that dataset how far theory and training are apart.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from linnet.papers import nearest, place

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
    """One figure of a paper. `quick` holds the settings that `--quick` replaces; `panels` the letters after its name.

    `options` says in words what --data and --path choose, for figures whose settings have these fields.
    """

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
    return dict(sorted(found.items(), key=lambda item: (place(item[1].paper), item[0])))


def find(name: str, known: Mapping[str, Figure] | None = None) -> tuple[Figure, tuple[str, ...]]:
    """The figure and the panels that `name` asks for: `watanabe-fig3` all of them, `watanabe-fig3a` the first alone."""
    known = figures() if known is None else known
    if name in known:
        return known[name], known[name].panels
    split = re.fullmatch(r"(.*\d)([a-z]+)", name)
    if split and split[1] in known:
        figure = known[split[1]]
        if set(split[2]) <= set(figure.panels):
            return figure, tuple(panel for panel in figure.panels if panel in split[2])
        panels = f"panels {', '.join(figure.panels)}" if figure.panels else "no panels"
        raise ValueError(f"`{figure.name}` has {panels}: got {split[2]!r}.")
    near = nearest(name, [*known, *(f.name + panel for f in known.values() for panel in f.panels)])
    raise ValueError(f"no figure is named {name!r}{near} `linnet list` shows all.")
