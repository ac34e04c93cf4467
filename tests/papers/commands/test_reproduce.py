"""`linnet reproduce`: all figures and the page, past failures and through interruptions."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from linnet_papers.reproduction import Trial, verify
from linnet_papers.reproduction.verdicts import Verdicts as PROCESS

DRIVER = """
import sys
sys.path.insert(0, {tests!r})
import toys
from linnet_papers.reproduction import registry, verdicts
from linnet.cli.entry import main
slow = toys.toy_figure("tu-fig9", "tu", wait=600.0)
registry.figures = lambda: {{**toys.FIGURES, slow.name: slow}}
registry.claims = lambda: toys.CLAIMS
verdicts.Verdicts = toys.Verdicts
main()
"""


def test_every_figure_and_one_page(linnet: Any, tmp_path: Path) -> None:
    said = linnet("reproduce", "--quick", "--out", tmp_path)
    assert said.status == 0 and said.err == ""
    assert said.out.splitlines()[-1] == f"The report is at {tmp_path / 'index.html'}"
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert all(f'id="{name}"' in page for name in ("watanabe-fig1", "watanabe-fig2", "tu-fig1"))
    assert "3 claims: holds 2, refuted 1" in said.out and 'id="watanabe-square"' in page
    assert linnet("reproduce", "--quick", "--out", tmp_path).out.count("finished before") == 3
    assert "claims" not in linnet("reproduce", "--quick", "--no-claims", "--out", tmp_path).out
    assert linnet("reproduce", "--quick", "--fresh", "--out", tmp_path).out.count("finished before") == 0


def test_it_goes_on_past_a_failure_and_names_it(
    linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(toys.FIGURES, "watanabe-fig1", toys.toy_figure("watanabe-fig1", breaks=True))
    said = linnet("reproduce", "--quick", "--out", tmp_path)
    assert said.status == 1
    assert said.err == "linnet: watanabe-fig1 was not made (the toy was asked to break)\n"
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "the toy was asked to break" in page and page.count("data:image/png") == 4


@pytest.mark.parametrize("quick", [True, False])
def test_quick_figures_take_one_thread(
    linnet: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, quick: bool
) -> None:
    """Threads of small figures wait for each other, on cores that the claims need."""
    from linnet_papers.commands import batch

    seen: list[str | None] = []
    run = batch.run

    def watched(*arguments: Any, **options: Any) -> Any:
        seen.append(os.environ.get("NPROC"))
        return run(*arguments, **options)

    monkeypatch.setattr(batch, "run", watched)
    monkeypatch.setenv("NPROC", "7")
    assert linnet("reproduce", *["--quick"] * quick, "--out", tmp_path).status == 0
    assert seen == ["1" if quick else "7"]
    assert os.environ["NPROC"] == "7"


@pytest.mark.parametrize("measured", [0, 1])
def test_claims_that_end_early_leave_the_page_with_the_figures(
    linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, measured: int
) -> None:
    from linnet_papers.reproduction import verdicts

    row = json.dumps([verify(toys.CLAIMS.values(), Trial(quick=True))[0].to_json()])
    code = (
        f"import pathlib, sys; {measured} and pathlib.Path(sys.argv[1]).write_text({row!r}); sys.exit('no room left')"
    )
    real = verdicts.subprocess.Popen
    monkeypatch.setattr(
        verdicts.subprocess, "Popen", lambda words, **o: real([sys.executable, "-c", code, words[-1]], **o)
    )
    monkeypatch.setattr(verdicts, "Verdicts", PROCESS)
    monkeypatch.setattr(verdicts, "claims", lambda: dict(toys.CLAIMS), raising=False)
    said = linnet("reproduce", "--quick", "--out", tmp_path)
    words = "2 claims were not measured" if measured else "the claims could not be measured"
    assert said.status == 1 and f"{words}: no room left" in said.err
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert f"{words}: no room left" in page and page.count("data:image/png") == 6
    assert page.count('id="watanabe-square"') == measured
    kept = tmp_path / "quick-claims.json"  # what was measured; the next run measures the others
    assert kept.exists() == bool(measured)
    if measured:
        assert [outcome["name"] for outcome in json.loads(kept.read_text())["outcomes"]] == ["watanabe-square"]


def test_ctrl_c_ends_in_one_line_and_keeps_what_is_finished(tmp_path: Path) -> None:
    code = DRIVER.format(tests=str(Path(__file__).parents[2]))
    command = [sys.executable, "-c", code, "reproduce", "--quick", "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    until = time.monotonic() + 120
    while not (tmp_path / "tu-fig9-quick").exists() and time.monotonic() < until and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines() == [
        "linnet: interrupted; what was finished is kept, and the same command goes on from there"
    ]
    assert len(list(tmp_path.glob("*/result.json"))) == 3 and out.count("[") >= 3
