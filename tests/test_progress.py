"""The progress bar: silent off a terminal, one bar below a host and no more, and output kept apart from it."""

from __future__ import annotations

import io
import sys

import pytest

from linnet import _progress as progress


class Screen(io.StringIO):
    """Standard error as a terminal would be."""

    def isatty(self) -> bool:
        return True


def on_screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """From here on the test looks at a terminal (in a fixture, pytest would put its own stream back)."""
    terminal = Screen()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return terminal


def test_off_a_terminal_nothing_is_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.bar("work", 3) as advance:
        advance(1)
        advance(2, title="other")
    assert capsys.readouterr().err == ""


def test_on_a_terminal_count_title_and_rate_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    with progress.bar("work", 3, done=1, unit="cells") as advance:
        advance(1, title="more work")
    seen = screen.getvalue()
    assert "more work" in seen and "2/3" in seen and "cells/s" in seen


@pytest.mark.parametrize(("hosts", "drawn"), [(True, True), (False, False)])
def test_only_a_host_lets_one_more_bar_be_drawn(monkeypatch: pytest.MonkeyPatch, hosts: bool, drawn: bool) -> None:
    screen = on_screen(monkeypatch)
    with (
        progress.bar("outer", 2, hosts=hosts),
        progress.bar("inner", 2, hosts=True) as advance,
        progress.bar("innermost", 2) as deepest,
    ):
        advance(1)
        deepest(1)
    seen = screen.getvalue()
    assert "outer" in seen and ("inner" in seen) is drawn and "innermost" not in seen


def test_after_a_failure_the_next_bar_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = on_screen(monkeypatch)
    with pytest.raises(RuntimeError, match="broke"), progress.bar("first", 2, hosts=True):
        raise RuntimeError("broke")
    with progress.bar("second", 2):
        pass
    assert "second" in screen.getvalue()


def test_piped_output_stays_out_of_the_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    screen = on_screen(monkeypatch)
    with progress.bar("work", 2):
        sys.stdout.write("a result\n")
    assert capsys.readouterr().out == "a result\n" and "a result" not in screen.getvalue()
