"""Fixtures: the command line called in this process, on toy figures and claims."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import NamedTuple

import pytest

from linnet.cli.main import main
from linnet_papers.reproduction import registry, verdicts


class Said(NamedTuple):
    """What a command left: its exit status and the two streams."""

    status: int
    out: str
    err: str


def called(capsys: pytest.CaptureFixture[str], *arguments: object) -> Said:
    """Call `linnet` with these arguments, in this process."""
    with pytest.raises(SystemExit, match=r"^\d+$") as ended:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    status = ended.value.code
    assert isinstance(status, int)
    return Said(status, captured.out, captured.err)


@pytest.fixture
def linnet(
    toys: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """`linnet("run", "watanabe-fig1", ...)` with the toy registries in place of the real ones."""
    monkeypatch.setattr(registry, "papers_of", lambda names: [])  # none of these is loaded alone
    monkeypatch.setattr(registry, "figures", lambda: dict(toys.FIGURES))
    monkeypatch.setattr(registry, "claims", lambda: dict(toys.CLAIMS))

    monkeypatch.setattr(verdicts, "Verdicts", toys.Verdicts)

    return partial(called, capsys)


@pytest.fixture
def refused(linnet: Callable[..., Said]) -> Callable[..., str]:
    """A call that must fail with one line on standard error, which is returned, and no traceback."""

    def call(*arguments: object, status: int) -> str:
        said = linnet(*arguments)
        assert said.status == status, said
        lines = said.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("linnet: "), said.err
        return lines[0]

    return call
