"""The tables behind the claims: found, readable, and the same bits however often they are interrupted."""

from __future__ import annotations

from dataclasses import replace

import pytest
import xarray as xr

from linnet.sweeps import Sweep
from linnet_papers.reproduction.measurement import Trial
from linnet_papers.reproduction.registry import papers, tables
from linnet_papers.reproduction.table import Table

TABLES = tables()
QUICK = Trial(quick=True)


def test_every_paper_has_one() -> None:
    assert {table.paper for table in TABLES.values()} == {paper.name for paper in papers().values() if paper.tables}


@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_each_is_well_formed(table: Table) -> None:
    assert table.name.startswith(f"{table.paper}-") and table.title and "\n" not in table.title
    whole, quick = table.sweep(Trial()), table.sweep(QUICK)
    assert whole.name == quick.name == table.name
    assert whole.function == quick.function and set(whole.axes) == set(quick.axes)
    assert table.sweep(Trial(seed=3)) != whole


# The first table of each paper in `make test`, the others in `make test-claims`: each trains whole grids.
FIRST = [*{table.paper: table.name for table in reversed(TABLES.values())}.values()]
TRAINED = [
    pytest.param(table, marks=[] if table.name in FIRST else pytest.mark.slow, id=table.name)
    for table in TABLES.values()
]


@pytest.mark.parametrize("table", TRAINED)
def test_it_reads_as_rows(table: Table) -> None:
    title, _, *lines, _, note = table.text(table.results(QUICK)).splitlines()
    assert (
        title == table.title and note == table.note and len(lines) > 2 and len({line.count("|") for line in lines}) == 1
    )
    assert len({len(line) for line in lines}) == 1
    assert "nan" not in "".join(lines) and "$" not in lines[0]  # it is read in terminals


def test_a_table_has_its_columns() -> None:
    def described(trial: Trial) -> Sweep:
        return Sweep(name="tu-toy", function="toys:cells", axes={"x": [1, 2]}, seed=trial.seed)

    data = xr.Dataset({"x": ("row", [1.0, 2.0])})
    table = Table(
        name="toy", title="A toy", sweep=described, columns=lambda ds: {"x": [f"{x:g}" for x in ds["x"].values]}
    )
    assert table.text(data) == "A toy\n\n| x |\n| - |\n| 1 |\n| 2 |"
    assert replace(table, read=lambda ds: 2 * ds["x"].values, columns={"2x": "{:g}"}).entries(data) == {
        "2x": ["2", "4"]
    }
