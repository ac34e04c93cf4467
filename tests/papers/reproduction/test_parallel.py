"""Claims on several processes: what a process had measured when it was killed is given before the error."""

from __future__ import annotations

import json
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

import toys
from linnet.sweeps import ExecutorError
from linnet_papers.reproduction import Result, Trial, parallel, record, verify
from linnet_papers.reproduction.record import Recorded
from linnet_papers.reproduction.registry import select_claims


class KilledPool:
    """A pool whose only process adds one outcome, is killed, and has added another by the time the pool has ended."""

    _processes: dict[int, Any] = {}  # noqa: RUF012

    def __init__(self, *_: Any, **options: Any) -> None:
        self.lines = [json.dumps(result.to_json()) for result in verify(CLAIMS, Trial(quick=True))]

    def submit(self, measure: Any, batch: Any, path: Path) -> Future[None]:
        self.path, future = path, Future[None]()
        path.write_text(self.lines[0] + "\n" + self.lines[1][:9])
        future.set_exception(BrokenProcessPool())
        return future

    def shutdown(self, **_: Any) -> None:
        self.path.write_text("\n".join([*self.lines, self.lines[0][:9]]))


CLAIMS = [toys.CLAIMS["watanabe-square"], toys.CLAIMS["tu-other"]]


def test_what_a_killed_process_had_measured_is_given_before_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "process_pool", KilledPool)
    work = [parallel.Batch(tuple(claim.name for claim in CLAIMS), Trial(quick=True))]
    results = parallel.results(work, 2)
    assert [next(results)[1].name for _ in CLAIMS] == ["watanabe-square", "tu-other"]
    with pytest.raises(ExecutorError, match="a process that measured claims was killed"):
        next(results)


def test_what_took_longest_is_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole papers go to workers, which share what they train."""
    seconds = {"watanabe": 2.0, "varre": 3.0, "huang": 4.0}
    chosen = [select_claims([paper])[0] for paper in seconds]
    known = {one.name: Recorded(Result(one.name, one.expected, seconds=seconds[one.paper])) for one in chosen}
    monkeypatch.setattr(record, "of", lambda papers: known)
    order = [batch.names[0].partition("-")[0] for batch in parallel.batches(chosen, Trial(quick=True))]
    assert order == ["huang", "varre", "watanabe"]
