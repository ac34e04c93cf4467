"""What a table is: a grid of trained networks that runs as a sweep, and how its results read in rows.

Cells hold what was trained; what a theory says of them is computed when a table is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linnet._arguments import of_kind
from linnet_papers.reproduction.measurement import Trial

if TYPE_CHECKING:
    import xarray as xr

    from linnet.sweeps import Sweep

Columns = dict[str, list[str]]  # the entries of every column, by its heading


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """A grid of trained networks: the sweep that a trial makes of it, and the columns to read its results by.

    **Attributes:**

    - `name`: short (`phase-times`); the paper that lists the table puts its own name before it
    - `title`: in a line
    - `sweep`: from a `Trial` to the `Sweep` of it
    - `read`: from the results to what the columns go by, often one row for each kind of network
    - `columns`: from the results to named columns; or for each heading how an entry is made of a row of `read`, a
      function or a format (`"{.share:.1%}"` prints the attribute `share`; where `read` returns a mapping from names to
      the entries of all rows, `"{[share]:.1%}"` those of the name `share`)
    - `note`: below it
    - `paper`: that lists it

    **Example:**

        >>> import linnet_papers.reproduction
        >>> linnet_papers.reproduction.tables()["watanabe-phase-times"].paper
        'watanabe'
    """

    name: str
    title: str
    sweep: Callable[[Trial], Sweep]
    columns: Callable[[xr.Dataset], Columns] | Mapping[str, str | Callable[[Any], str]]
    read: Callable[[xr.Dataset], Any] | None = None
    note: str = ""  # what a reader of the columns must know
    paper: str = ""

    def results(self, trial: Trial) -> xr.Dataset:
        """The trained cells."""
        from linnet import sweeps

        return sweeps.run(self.sweep(of_kind("trial", trial, Trial, "`Trial(quick=..., seed=...)`")))

    def entries(self, results: xr.Dataset) -> Columns:
        """The entries of every column, by its heading."""
        if callable(self.columns):
            return self.columns(results)
        rows = self.read(results) if self.read is not None else []
        if isinstance(rows, Mapping):  # by name the entries of all rows, a list or by label
            named = {name: values.values() if isinstance(values, Mapping) else values for name, values in rows.items()}
            rows = [dict(zip(named, row, strict=True)) for row in zip(*named.values(), strict=True)]
        makers = {heading: make.format if isinstance(make, str) else make for heading, make in self.columns.items()}
        return {heading: [make(row) for row in rows] for heading, make in makers.items()}

    def text(self, results: xr.Dataset) -> str:
        """The table in Markdown, its columns aligned, with its title above and its note below."""
        columns = self.entries(results)
        widths = [max(len(entry) for entry in [heading, *entries]) for heading, entries in columns.items()]
        rows = [list(columns), ["-" * width for width in widths], *map(list, zip(*columns.values(), strict=True))]
        lines = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows]
        return "\n".join([self.title, "", *lines, *(["", self.note] if self.note else [])])
