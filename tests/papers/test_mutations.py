"""Every claim has the published verdict where linnet is sound, and a deliberate error turns it.

Theory and measurement take nothing from each other, so an error in the theory needs no new training. An error of the
training is made in what was trained, where a trainer with that error would leave exactly this.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from linnet_papers import ORDER
from linnet_papers.reproduction import Claim, Measurement, papers, table
from linnet_papers.reproduction.numbers import entries
from mutations import Mutation, table_of

ROWS = [
    pytest.param(paper, mutation, id=f"{paper}-{name}", marks=[] if mutation.quick else [pytest.mark.slow])
    for paper in ORDER
    for name, mutation in table_of(paper).MUTATIONS.items()
]


def claims_of(paper: str) -> dict[str, Claim]:
    """The claims of a paper by the names that it gives them."""
    return {claim.name.removeprefix(f"{paper}-"): claim for claim in papers()[paper].claims}


@cache
def sound(paper: str, claim: str) -> Measurement:
    """What is measured without an error."""
    return claims_of(paper)[claim].measurement(table_of(paper).TRIAL)


def forget(paper: str) -> None:
    """Clear what claims of the paper keep for each other: tables, and networks that several of them read."""
    table._results.cache_clear()
    modules = [module for name, module in sys.modules.items() if name.startswith(f"linnet_papers.{paper}.")]
    for kept in {value for module in modules for value in vars(module).values() if hasattr(value, "cache_clear")}:
        kept.cache_clear()


@pytest.fixture
def smaller(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the paper train smaller networks, where its table says how; they are kept from other tests."""
    paper = request.getfixturevalue("paper")
    make_smaller = getattr(table_of(paper), "make_smaller", None)
    if make_smaller is None:
        yield
        return
    forget(paper)
    make_smaller(monkeypatch)
    yield
    forget(paper)


@pytest.mark.usefixtures("smaller")
@pytest.mark.parametrize(("paper", "mutation"), ROWS)
def test_an_error_turns_the_verdict(paper: str, mutation: Mutation) -> None:
    claim, right = claims_of(paper)[mutation.claim], sound(paper, mutation.claim)
    assert right.verdict == claim.expected, right.measured
    judged = [entry for _, leaf in claim.limits() for _, entry in entries(right.numbers[leaf.number])]
    assert not np.isnan([float(getattr(entry, "value", entry)) for entry in judged]).any()
    if mutation.retrains:
        forget(paper)
    with pytest.MonkeyPatch.context() as patch:
        mutation.error(patch)
        turned = claim.measurement(table_of(paper).TRIAL)
    if mutation.retrains:
        forget(paper)
    assert turned.verdict != claim.expected, turned.measured


@pytest.mark.parametrize("paper", ORDER)
def test_every_claim_has_an_error_that_turns_it(paper: str) -> None:
    assert {mutation.claim for mutation in table_of(paper).MUTATIONS.values()} == set(claims_of(paper))
