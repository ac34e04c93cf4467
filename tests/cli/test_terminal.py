"""What the commands say on narrow windows, and on terminals that know few letters."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from linnet.cli import terminal


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_no_line_runs_past_the_window(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal, "interactive", lambda: True)
    monkeypatch.setattr(terminal, "width", lambda: columns)
    monkeypatch.setenv("NO_COLOR", "1")
    words = "a sentence that is much longer than one narrow window has columns to show it in " * 2
    terminal.echo_row(["watanabe-fig1 [a b]"], [26], words, cut=True)
    terminal.echo_row(["ok", "claim", "holds"], [5, 26, 25], words)
    terminal.echo(words)
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= columns
    assert said.count("much longer") >= 4 and "watanabe-fig1" in said


def test_a_terminal_without_an_ellipsis_gets_another_sign() -> None:
    code = "from linnet.cli import entry; entry.open_closed_streams(); print('cut\\u2026')"
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.returncode == 0 and done.stdout == b"cut?\n"
