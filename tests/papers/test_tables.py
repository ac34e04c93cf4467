"""The tables behind the claims: found, readable, and the same bits however often they are interrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import xarray as xr

import linnet as ln
from linnet.sweeps import Sweep
from linnet.sweeps._blocks import Block
from linnet.sweeps._store import Job, Store
from linnet.sweeps.grid import Grid
from linnet_papers.reproduction.measurement import Trial
from linnet_papers.reproduction.registry import papers, tables
from linnet_papers.reproduction.table import Table

TABLES = tables()
QUICK = Trial(quick=True)


def thinned(sweep: Sweep) -> Sweep:
    """The same sweep on the ends of every axis, at two seeds or at its only one."""
    axes = {name: list(dict.fromkeys([values[0], values[-1]])) for name, values in sweep.axes.items()}
    few = sweep.model_copy(update={"axes": axes, "seeds": min(sweep.seeds, 2)})
    cells = Grid.of(few).cells
    return few if Grid.of(few).blocks > 1 else few.model_copy(update={"block": cells // 2})  # so that one can be first


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


def test_an_interrupted_table_is_the_same_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, assert_same: Callable[..., None]
) -> None:
    sweep = thinned(TABLES[FIRST[0]].sweep(QUICK))
    whole = ln.sweeps.run(sweep)
    write = Store.write
    written: list[object] = []

    def interrupted(self: Store, job: Job, block: Block) -> None:
        if len(written) == 1:
            raise KeyboardInterrupt
        written.append(job)
        write(self, job, block)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ln.sweeps.run(sweep, tmp_path / "store")
    assert 0 < ln.sweeps.status(tmp_path / "store").done < Grid.of(sweep).cells
    assert_same(ln.sweeps.run(sweep, tmp_path / "store"), whole)


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
