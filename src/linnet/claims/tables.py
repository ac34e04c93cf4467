"""The tables behind the claims: grids of trained networks that run as sweeps, and how their results read in rows.

A module of this folder that ends with

    TABLES = [Table(name="watanabe-phase-times", ..., sweep=phase_times, columns=columns), ...]

is found by its presence. Cells hold what was trained; what a theory says of them is computed when a table is read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from linnet.claims.registry import Trial, registered

if TYPE_CHECKING:
    import xarray as xr

    from linnet.sweeps import Sweep

Columns = dict[str, list[str]]  # the entries of every column, by its heading


@dataclass(frozen=True)
class Table:
    """A grid of trained networks: the sweep that a trial makes of it, and the columns to read its results by."""

    name: str
    paper: str
    title: str
    sweep: Callable[[Trial], Sweep]
    columns: Callable[[xr.Dataset], Columns]
    note: str = ""  # what a reader of the columns must know

    def results(self, trial: Trial) -> xr.Dataset:
        """The trained cells; computed once in a process, however many claims look at them."""
        return _results(self.sweep, trial)

    def text(self, results: xr.Dataset) -> str:
        """The table in Markdown, its columns aligned, with its title above and its note below."""
        columns = self.columns(results)
        widths = [max(len(entry) for entry in [heading, *entries]) for heading, entries in columns.items()]
        rows = [list(columns), ["-" * width for width in widths], *map(list, zip(*columns.values(), strict=True))]
        lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
        return "\n".join([self.title, "", *lines, *(["", self.note] if self.note else [])])


@lru_cache(maxsize=32)
def _results(sweep: Callable[[Trial], Sweep], trial: Trial) -> xr.Dataset:
    from linnet import sweeps

    return sweeps.run(sweep(trial))


def tables() -> dict[str, Table]:
    """Every table by name, in the order of the papers."""
    return registered("TABLES")
