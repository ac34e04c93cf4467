"""The full run: every wrong call of everything public, and every wrong command line (`make fuzz`).

    python -m pytest -n 2 tests/fuzz/every_call.py [-k inits] [--part 2/5]

A call that ends its process, or hangs where no signal reaches it, ends a worker of pytest, which names the example and
goes on with the next one.
"""

from __future__ import annotations

import faulthandler
from pathlib import Path

import pytest

from fuzz import found_before, wrong_lines
from fuzz.calling import broken, called
from fuzz.cases import cases, listed
from fuzz.examples import Example
from fuzz.scaling import scaled
from linnet import _memory

TWICE = 20  # pairs of changes for each argument
FREE_BYTES = 4 * 2**30  # that linnet is told are free, if as many are: what it refuses is the same on every machine
HANG_SECONDS = 180.0  # after which a call's process is ended: no signal ends compiling


def quick_last() -> list[Example]:
    return [example for slow in (True, False) for example in listed() if example.slow is slow]


@pytest.mark.parametrize("example", quick_last(), ids=Example.label)
def test_every_wrong_call_keeps_the_rules(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    available = _memory.available
    monkeypatch.setattr(_memory, "available", lambda: min(available(), FREE_BYTES))
    monkeypatch.chdir(tmp_path)
    outcomes = []
    try:
        for case in cases(example, twice=TWICE):
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
            outcomes.append(called(case))
        if not outcomes[0].left_out:
            outcomes += scaled(example)
    finally:
        faulthandler.cancel_dump_traceback_later()
    assert broken(outcomes) == []


def test_every_wrong_command_line_is_answered_in_one_line(tmp_path: Path) -> None:
    assert wrong_lines.faults(tmp_path)[1] == []


@pytest.mark.parametrize(("draws", "number"), [(found_before.starts, 4000), (found_before.ragged_files, 200)])
def test_faults_of_the_past_stay_mended(draws, number: int) -> None:
    assert draws(number) == []
