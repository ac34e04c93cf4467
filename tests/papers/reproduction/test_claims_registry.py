"""The registry of claims: complete, well-formed, and red exactly where a theory is wrong."""

from __future__ import annotations

from types import ModuleType

import pytest

from linnet_papers.reproduction import registry
from linnet_papers.reproduction.measurement import Result, Trial, verify
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.registry import claims, papers
from linnet_papers.reproduction.registry import select_claims as select
from linnet_papers.reproduction.rows import Verdict


def test_there_are_claims_of_every_paper() -> None:
    known = claims()
    assert len(known) >= 35
    for paper in papers():
        assert sum(claim.paper == paper for claim in known.values()) >= 5
    order = [list(papers()).index(claim.paper) for claim in known.values()]
    assert order == sorted(order)


def test_refuted_and_corrected_claims_are_visible_as_such() -> None:
    verdicts = {claim.expected for claim in claims().values()}
    assert {Verdict.HOLDS, Verdict.CORRECTED, Verdict.REFUTED} <= verdicts


def test_each_is_well_formed() -> None:
    for claim in claims().values():
        assert claim.paper in papers() and claim.name.startswith(f"{claim.paper}-"), claim.name


def test_names_select_one_or_many_or_all(toys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "papers_of", lambda names: [])
    monkeypatch.setattr(registry, "claims", lambda: toys.CLAIMS)
    assert select([]) == list(toys.CLAIMS.values())
    assert [c.name for c in select(["tu-other"])] == ["tu-other"]
    assert [c.name for c in select(["watanabe", "watanabe-square"])] == ["watanabe-square", "watanabe-squares-again"]
    with pytest.raises(ValueError, match="did you mean tu-other"):
        select(["tu-othr"])


def test_the_verdict_is_measured_not_expected(toys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toys, "formula", lambda x: -x)
    outcomes = verify([*toys.CLAIMS.values(), toys.BROKEN], Trial(quick=True))
    assert [outcome.as_expected for outcome in outcomes] == [False, False, True, False]
    broken = outcomes[-1]
    assert broken.error == "ZeroDivisionError: nothing to divide by"
    assert broken.rows == () and broken.verdict == "no verdict"


def test_outcomes_are_reported_as_they_come(toys: ModuleType) -> None:
    told: list[Result] = []
    outcomes = verify(toys.CLAIMS.values(), Trial(seed=2), told.append)
    assert told == outcomes and all(outcome.seconds >= 0 for outcome in outcomes)


def test_two_claims_of_one_name_are_refused(toys: ModuleType) -> None:
    with pytest.raises(ValueError, match="two claims of the paper 'toy' are named tu-other"):
        Paper(name="toy", title="Toys", authors="Nobody", claims=[toys.CLAIMS["tu-other"]] * 2)


def test_trouble_with_the_machine_is_no_verdict(toys: ModuleType) -> None:
    from dataclasses import replace

    from linnet.sweeps import StoreError

    def locked(trial: Trial) -> None:
        raise StoreError("the disk is full")

    claims = [toys.CLAIMS["watanabe-square"], replace(toys.CLAIMS["tu-other"], measure=locked)]
    told: list[Result] = []
    with pytest.raises(StoreError, match="the disk is full"):
        verify(claims, Trial(), told.append)
    assert [result.name for result in told] == ["watanabe-square"]
