"""Every row of the coverage table names a check that can fail for it: a mutation that turns a claim of the row.

`test_mutations.py` makes each error of a paper's table and sees its claim turn. Here every checked row must name one
that turns a claim it is checked by.
"""

from __future__ import annotations

import re

import pytest

from linnet_papers.reproduction import Paper, papers
from mutations import table_of

PAPERS = {name: paper for name, paper in papers().items() if paper.statements}


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_every_checked_row_has_a_mutation_that_turns_a_claim_of_it(paper: Paper) -> None:
    rows = [row for row in paper.statements if row.checked]
    if not any(row.mutation for row in rows):
        pytest.skip(f"no row of {paper.name} names its mutation yet")
    claims = {name: mutation.claim for name, mutation in table_of(paper.name).MUTATIONS.items()}
    for row in rows:
        assert row.mutation, f"{row.where}: {row.text} names no mutation"
        assert row.mutation in claims, f"{row.where} names {row.mutation!r}, which is no mutation"
        assert claims[row.mutation] in row.checked, f"{row.where}: {row.mutation!r} turns {claims[row.mutation]!r} only"


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_nearly_all_that_can_be_checked_is(paper: Paper) -> None:
    """What a paper defines, assumes or looks forward to is no part of the share; all else that is left has a reason."""
    checkable = [row for row in paper.statements if row.checkable]
    assert sum(bool(row.checked) for row in checkable) >= 0.95 * len(checkable)
    assert all(len(row.reason.split()) > 1 for row in checkable if not row.checked)
    assert len(checkable) >= 0.9 * len(paper.statements), "too much is said to be out of reach of any measurement"


def numbered(text: str) -> set[str]:
    """The numbers of the theorems, propositions, lemmas and corollaries that a text names."""
    named = re.findall(r"(?:Theorem|Proposition|Lemma|Corollary)s? ((?:[A-G]\.)?\d[\d.]*|[A-G]\.?\d[\d.]*)", text)
    several = re.findall(r"Lemmas ((?:[A-G]\.\d+(?:, | and )?)+)", text)
    return {
        number.rstrip(".") for number in [*named, *(one for row in several for one in re.findall(r"[A-G]\.\d+", row))]
    }


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
def test_every_numbered_theorem_has_an_answer(paper: Paper) -> None:
    stated = set().union(*(numbered(row.where) for row in paper.statements))
    answered = set().union(*(numbered(answer.theorem) for answer in paper.answers), set())
    assert stated <= answered, f"no line says whether these are true: {sorted(stated - answered)}"
    short = {claim.name.removeprefix(f"{paper.name}-") for claim in paper.claims}
    assert {name for answer in paper.answers for name in answer.claims} <= short


def test_numbers_of_theorems_are_read() -> None:
    assert numbered("Theorem 3.1(iii), eq. (3.1)") == {"3.1"}
    assert numbered("Lemmas C.8, C.9; Proposition D.1") == {"C.8", "C.9", "D.1"}
