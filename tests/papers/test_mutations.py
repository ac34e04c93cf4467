"""Every claim has the published verdict where linnet is sound, and a deliberate error turns it.

Theory and measurement take nothing from each other, so an error in the theory needs no new training. An error of the
training is made in what was trained, where a trainer with that error would leave exactly this.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from linnet_papers import ORDER
from linnet_papers.reproduction import papers
from linnet_papers.testing import Mutation, check_mutation, forgotten
from mutations import table_of

ROWS = [
    pytest.param(paper, mutation, id=f"{paper}-{name}", marks=[] if mutation.quick else [pytest.mark.slow])
    for paper in ORDER
    for name, mutation in table_of(paper).MUTATIONS.items()
]


@pytest.fixture
def smaller(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the paper train smaller networks, where its table says how; they are kept from other tests."""
    paper = request.getfixturevalue("paper")
    make_smaller = getattr(table_of(paper), "make_smaller", None)
    if make_smaller is None:
        yield
        return
    with forgotten(papers()[paper].claims[0]):
        make_smaller(monkeypatch)
        yield


@pytest.mark.usefixtures("smaller")
@pytest.mark.parametrize(("paper", "mutation"), ROWS)
def test_an_error_turns_the_verdict(paper: str, mutation: Mutation) -> None:
    check_mutation(papers()[paper], mutation, table_of(paper).TRIAL)


@pytest.mark.parametrize("paper", ORDER)
def test_every_claim_has_an_error_that_turns_it(paper: str) -> None:
    turned = {mutation.claim for mutation in table_of(paper).MUTATIONS.values()}
    known = {claim.short for claim in papers()[paper].claims}
    assert turned == known, (
        f"tests/papers/{paper}/mutations.py has none for {known - turned}, unknown: {turned - known}"
    )
