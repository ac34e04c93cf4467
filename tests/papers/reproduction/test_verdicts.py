"""Verdicts measured in a process of their own: kept until the code changes, believed only if they can be read."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from linnet_papers.reproduction import verdicts
from linnet_papers.reproduction.verdicts import Verdicts, measuring

OUTCOME = {"name": "tu-thm1", "expected": "holds", "verdict": "holds", "rows": [], "seconds": 1.0}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would have measured; a small program writes one outcome in their place."""
    commands: list[list[str]] = []
    real = verdicts.subprocess.Popen

    def popen(words: list[str], **options: Any) -> Any:
        commands.append(words)
        code = f"import pathlib, sys; pathlib.Path(sys.argv[1]).write_text({json.dumps([OUTCOME])!r})"
        return real([sys.executable, "-c", code, words[-1]], **options)

    monkeypatch.setattr(verdicts.subprocess, "Popen", popen)
    monkeypatch.setattr(verdicts, "claims", lambda: {"tu-thm1": None})
    return commands


def test_they_are_measured_once_and_kept(
    started: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with measuring(tmp_path, quick=True) as first:
        assert [one.name for one in first.results()] == ["tu-thm1"] and not first.reused
    assert started[0][1:6] == ["-P", "-m", "linnet", "verify", "--quick"]
    with measuring(tmp_path, quick=True) as second:
        assert second.reused and second.results() == first.results()
    with measuring(tmp_path, quick=False) as other:
        other.results()
    with measuring(tmp_path, quick=True, fresh=True) as again:
        again.results()
    monkeypatch.setattr(verdicts, "fingerprint", lambda quick: "other code")
    with measuring(tmp_path, quick=True) as changed:
        changed.results()
    assert len(started) == 4


def test_what_a_killed_run_measured_is_not_measured_again(
    started: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "claims", lambda: {"tu-thm1": None, "tu-thm2": None})
    first = Verdicts(tmp_path, quick=True)
    process: Any = first._process
    process.communicate()  # and then the whole run is killed: nobody takes note of what was measured
    del first
    with measuring(tmp_path, quick=True) as second:
        second.results()
    assert [word for word in started[0] if word.startswith("tu-")] == []  # all
    assert [word for word in started[1] if word.startswith("tu-")] == ["tu-thm2"]
    assert [path.name for path in tmp_path.iterdir()] == ["quick-claims.json"]


@pytest.mark.parametrize("content", ["", "[", "{}", '{"key": "x", "outcomes": [1]}'])
def test_a_damaged_file_is_measured_again(started: list[list[str]], tmp_path: Path, content: str) -> None:
    (tmp_path / "quick-claims.json").write_text(content)
    with measuring(tmp_path, quick=True) as found:
        assert len(found.results()) == 1
    assert len(started) == 1


def test_a_process_under_way_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = verdicts.subprocess.Popen
    code = "import time; time.sleep(600)"
    monkeypatch.setattr(verdicts.subprocess, "Popen", lambda words, **o: real([sys.executable, "-c", code], **o))
    running = Verdicts(tmp_path, quick=True)
    process: Any = running._process
    running.stop()
    assert process.poll() is not None


@pytest.mark.parametrize("name", ["theory.py", "settings.py", "published.csv", "deeper/table.json"])
def test_a_change_anywhere_in_a_package_is_a_change_of_its_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Only the file of each claim's own function counted: a page could show new figures with old verdicts."""
    package = tmp_path / f"foreign_paper_of_{name.translate(str.maketrans('./', '__'))}"
    (package / "deeper").mkdir(parents=True)
    for file in ("__init__.py", "claims.py", "theory.py", "settings.py", "published.csv", "deeper/table.json"):
        (package / file).write_text("# one\n")
    (package / "claims.py").write_text("def measure(trial): return {}\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module(f"{package.name}.claims")
    paper = SimpleNamespace(claims=[SimpleNamespace(measure=module.measure)])
    monkeypatch.setattr(verdicts, "papers", lambda: {"foreign": paper})
    before = verdicts.fingerprint(True)
    assert verdicts.fingerprint(True) == before
    (package / name).write_text("# two\n")
    assert verdicts.fingerprint(True) != before
