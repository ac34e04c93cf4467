"""The registry of claims: complete, well-formed, and red exactly where a theory is wrong."""

from __future__ import annotations

from types import ModuleType

import pytest

from linnet_papers.reproduction import registry
from linnet_papers.reproduction.measurement import Result, Trial, verify
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.registry import select_claims as select


def test_names_select_one_or_many_or_all(toys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "papers_of", lambda names: [])
    monkeypatch.setattr(registry, "claims", lambda: toys.CLAIMS)
    assert select([]) == list(toys.CLAIMS.values())
    assert [c.name for c in select(["tu-other"])] == ["tu-other"]
    assert [c.name for c in select(["watanabe", "watanabe-square"])] == ["watanabe-square", "watanabe-squares-again"]
    with pytest.raises(ValueError, match="did you mean tu-other"):
        select(["tu-othr"])


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
