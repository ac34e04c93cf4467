"""Every row of the coverage table names a check that can fail for it: a mutation that turns a claim of the row.

A paper's `tests/papers/NAME/test_mutations.py` makes each error and sees its claim turn; its `TURNS` says, by the
mutation's name, which claim that is. Here every checked row must name one that turns a claim it is checked by.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from linnet.reproduction import Paper, papers

PAPERS = {name: paper for name, paper in papers().items() if paper.statements}


def turns(name: str) -> dict[str, str]:
    """The claim that each mutation of the paper turns."""
    path = Path(__file__).with_name(name) / "test_mutations.py"
    spec = importlib.util.spec_from_file_location(f"mutations_of_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.TURNS)


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_every_checked_row_has_a_mutation_that_turns_a_claim_of_it(paper: Paper) -> None:
    rows = [row for row in paper.statements if row.checked]
    if not any(row.mutation for row in rows):
        pytest.skip(f"no row of {paper.name} names its mutation yet")
    claims = turns(paper.name)
    for row in rows:
        assert row.mutation, f"{row.where}: {row.text} names no mutation"
        assert row.mutation in claims, f"{row.where} names {row.mutation!r}, which is no mutation"
        assert claims[row.mutation] in row.checked, f"{row.where}: {row.mutation!r} turns {claims[row.mutation]!r} only"
