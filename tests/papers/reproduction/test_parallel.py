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
from linnet_papers.reproduction import Trial, parallel
from linnet_papers.reproduction.verification import verify


class KilledPool:
    """A pool whose only process adds one outcome, is killed, and has added another by the time the pool has ended."""

    _processes: dict[int, Any] = {}  # noqa: RUF012

    def __init__(self, *_: Any, **options: Any) -> None:
        self.lines = [json.dumps(outcome.to_json()) for outcome in verify(CLAIMS, Trial(quick=True))]

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
    outcomes = parallel.outcomes(CLAIMS, work, 2)
    assert [next(outcomes)[1].claim.name for _ in CLAIMS] == ["watanabe-square", "tu-other"]
    with pytest.raises(ExecutorError, match="a process that measured claims was killed"):
        next(outcomes)
