"""The full run of commands that are interrupted or killed, and of those whose output cannot be written (`make fuzz`).

python -m pytest tests/fuzz/every_end.py [-k kills]
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fuzz import found_before, interrupts, kills, streams

INTERRUPTS, KILLS, CHANGES = 200, 100, 40
MOST_SECONDS = 12.0  # after which an interrupt comes at the latest


@pytest.fixture(autouse=True, scope="module")
def signals() -> None:
    interrupts.heed_signals()


@cache
def longest(name: str) -> float:
    """Seconds that a command takes by itself, at most so many."""
    with TemporaryDirectory() as own:
        return interrupts.longest(interrupts.commands(Path(own))[name], MOST_SECONDS)


@pytest.mark.parametrize("number", range(INTERRUPTS))
def test_an_interrupt_at_any_moment_is_one_line(number: int, tmp_path: Path) -> None:
    """One in four comes in the first half second, where the most is being imported, another one while a file is being
    written."""
    chance, commands = random.Random(number), interrupts.commands(tmp_path)
    name = list(commands)[number % len(commands)]
    ended = interrupts.interrupt(
        commands[name],
        chance.uniform(0.0, 0.5 if number % 4 == 0 else longest(name)),
        group=chance.random() < 0.7,
        number=chance.choice(interrupts.SIGNALS),
        folder=tmp_path,
        writing=number % 4 == 1,
    )
    assert ended.how in interrupts.RIGHT, (name, ended)


@pytest.mark.parametrize("name", streams.EVERY)
def test_output_that_cannot_be_written_is_told_in_one_line(name: str) -> None:
    assert list(streams.faults(name)) == []


def test_a_module_that_changes_between_two_runs_is_told() -> None:
    assert found_before.changed_modules(CHANGES) == []


def test_kills_leave_the_store_of_an_undisturbed_sweep(tmp_path: Path) -> None:
    assert kills.faults(tmp_path, KILLS) == []
