"""A part of the fuzz of the command line; `make fuzz` runs all of it."""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest

from fuzz import interrupts, streams, wrong_lines
from linnet.cli.main import build_app


def test_wrong_command_lines_are_answered_in_one_line(tmp_path: Path) -> None:
    tried, found = wrong_lines.faults(tmp_path, every=16)
    assert tried > 80 and not found, "\n".join(found)


def test_every_command_is_among_them(tmp_path: Path) -> None:
    every = list(wrong_lines.lines(tmp_path))
    names = {command.name or command.callback.__name__.replace("_", "-") for command in build_app().registered_commands}
    assert len(every) >= 700
    assert names <= {line.words[0] for line in every}
    assert names <= {words[0] for words in interrupts.commands(tmp_path).values()}


def test_an_answer_that_is_not_as_it_should_be_is_noticed() -> None:
    line = wrong_lines.Line(("run", "x"))
    good = wrong_lines.Answer(2, "", "linnet: no figure is named 'x'.\n")
    assert not good.fault(line)
    for wrong, fault in (
        (wrong_lines.Answer(1, "", good.err), "status 1"),
        (wrong_lines.Answer(2, "", "Traceback (most recent call last):\n ...\n"), "2 lines"),
        (wrong_lines.Answer(2, "", "linnet: 'NoneType' object is not callable\n"), "nonetype"),
        (wrong_lines.Answer(2, "", ""), "0 lines"),
    ):
        assert fault in wrong.fault(line)


@pytest.mark.parametrize("way", ["closed", "full", "gone", "errors closed"])
def test_output_that_cannot_be_written_is_told_in_one_line(way: str) -> None:
    assert not list(streams.faults("--version", (way,)))


def test_commands_heed_signals_that_the_shell_had_ignored() -> None:
    """What is started in the background ignores Ctrl-C; its commands would too, and a server never end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP)}
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        interrupts.heed_signals()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.mark.parametrize(("name", "shares"), [("list", (0.1, 0.5)), ("run", (0.3, 0.9)), ("sweep", (0.5, 0.9))])
def test_an_interrupt_is_one_line_and_status_130(name: str, shares: tuple[float, ...], tmp_path: Path) -> None:
    chance = random.Random(name)
    for number, share in enumerate(shares):
        folder = tmp_path / str(number)
        folder.mkdir()
        after = share * {"list": 0.3, "run": 3.0, "sweep": 3.0}[name]
        ended = interrupts.interrupt(interrupts.commands(folder)[name], after, group=chance.random() < 0.5)
        assert ended.how in interrupts.RIGHT, ended
