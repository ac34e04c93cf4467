"""Claims on several processes: in which order they start. `test_verify.py` kills one of them."""

from __future__ import annotations

import pytest

from linnet_papers.reproduction import Result, Trial, parallel, record
from linnet_papers.reproduction.record import Recorded
from linnet_papers.reproduction.registry import select_claims


def test_what_took_longest_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole papers go to workers, which share what they train."""
    seconds = {"watanabe": 2.0, "varre": 3.0, "huang": 4.0}
    chosen = [select_claims([paper])[0] for paper in seconds]
    known = {one.name: Recorded(Result(one.name, one.expected, seconds=seconds[one.paper])) for one in chosen}
    monkeypatch.setattr(record, "of", lambda papers: known)
    order = [batch.names[0].partition("-")[0] for batch in parallel.batches(chosen, Trial(quick=True))]
    assert order == ["huang", "varre", "watanabe"]
