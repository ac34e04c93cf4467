"""`linnet verify`: verdicts, alarms, JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def test_all_as_expected(linnet: Any) -> None:
    said = linnet("verify", "--quick", "--seed", 4)
    assert said.status == 0 and said.err == ""
    assert "watanabe-square" in said.out and "the square of 3 is 9" in said.out
    assert "measured 4, quick True" in said.out
    assert said.out.splitlines()[-1].startswith("3 claims in") and "holds 2, refuted 1" in said.out
    assert (
        "required: square within 1e-12 of 9; measured: the square of 3 is 9. It holds: square 9, within 1e-12 of 9."
        in said.out
    )
    assert said.out.splitlines()[-2].split() == ["refuted:", "tu-other"]
    assert "\x1b" not in said.out  # color is for terminals


def test_a_broken_theory_turns_exactly_its_claims_red(linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toys, "formula", lambda x: 2 * x)
    said = linnet("verify")
    assert said.status == 1
    assert said.err == "linnet: 2 of 3 claims not as expected: watanabe-square, watanabe-squares-again\n"
    assert said.out.count("ALARM") == 2 and "refuted" in said.out and "(expected: holds)" in said.out


def test_a_measurement_that_breaks_is_an_alarm_and_the_rest_go_on(
    linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(toys.CLAIMS, "tu-broken", toys.BROKEN)
    said = linnet("verify", "tu", "--json", tmp_path / "deep" / "claims.json")
    assert said.status == 1 and "tu-broken" in said.err and "tu-other" not in said.err
    outcomes = json.loads((tmp_path / "deep" / "claims.json").read_text())
    assert [(o["name"], o["verdict"], o["as_expected"]) for o in outcomes] == [
        ("tu-other", "refuted", True),
        ("tu-broken", None, False),
    ]
    assert outcomes[1]["error"] == "ZeroDivisionError: nothing to divide by"


def test_json_has_what_was_claimed_measured_and_concluded(linnet: Any) -> None:
    said = linnet("verify", "watanabe-square", "tu", "--quick", "--json", "-")
    outcomes = json.loads(said.out)
    assert said.status == 0 and [o["name"] for o in outcomes] == ["watanabe-square", "tu-other"]
    first = outcomes[0]
    assert first["requirement"] == "square within 1e-12 of 9" and first["verdict"] == "holds"
    assert first["measured"] == "the square of 3 is 9. It holds: square 9, within 1e-12 of 9."
    assert first["value"] == 9.0 and first["uncertainty"] == 1e-12 and first["seconds"] >= 0
    assert {"paper", "where", "says", "assumes", "tried", "expected", "as_expected", "error"} <= set(first)
    assert outcomes[1]["value"] is None  # infinity, which JSON does not have


def test_an_interruption_keeps_what_was_measured(
    refused: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from dataclasses import replace

    def interrupt(trial: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setitem(toys.CLAIMS, "tu-other", replace(toys.CLAIMS["tu-other"], measure=interrupt))
    line = refused("verify", "--json", tmp_path / "claims.json", status=130)
    assert line == f"linnet: interrupted after 2 of 3 claims; they are in {tmp_path / 'claims.json'}"
    assert len(json.loads((tmp_path / "claims.json").read_text())) == 2
    monkeypatch.setattr("linnet_papers.reproduction.registry.figures", lambda: interrupt(None))
    line = refused("list", status=130)  # in the same process, and with nothing of its own to keep
    assert line == "linnet: interrupted; what was finished is kept, and the same command goes on from there"


def test_cells_behind_the_claims_are_kept_and_taken_up_again(
    linnet: Any, refused: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(toys.CLAIMS, "tu-grid", toys.GRID)
    toys.CALLS.clear()
    store = tmp_path / "deep" / "cells"
    line = refused("verify", "tu", "--store", store, status=130)
    assert line == (
        f"linnet: interrupted after 1 of 2 claims; trained cells are in {store}, and the same command goes on from "
        "there"
    )
    assert toys.CALLS == [1.0, 2.0, -1.0]
    for _ in range(2):  # the second time nothing is left to compute
        assert "the cells sum to 0.571" in linnet("verify", "tu", "--store", store).out
        assert toys.CALLS == [1.0, 2.0, -1.0, 3.0, 4.0]
    assert len(list(store.iterdir())) == 1
    linnet("verify", "tu")
    assert toys.CALLS[5:] == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(("name", "words"), [("watanabe-sqare", "did you mean watanabe-square"), ("zz", "no claim")])
def test_wrong_names_are_refused(refused: Any, name: str, words: str) -> None:
    assert words in refused("verify", name, status=2)


def test_unwritable_json_is_known_before_measuring(refused: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot write" in refused("verify", "--json", tmp_path / "file" / "x.json", status=1)


@pytest.mark.parametrize("which", [min, max])  # the worker that was started first, which the pool watches, or last
def test_a_killed_worker_takes_no_outcome_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, which: Any
) -> None:
    import multiprocessing
    import os
    import signal

    from linnet.cli.main import main
    from linnet_papers.commands import verify
    from linnet_papers.reproduction.registry import select_claims

    told: list[str] = []
    before = multiprocessing.active_children()
    started: list[Any] = []

    def kill(outcome: Any, table: bool) -> None:
        told.append(outcome.claim.name)
        if len(told) == 1:
            started.extend(process for process in multiprocessing.active_children() if process not in before)
            os.kill(which(process.pid for process in started), signal.SIGKILL)

    monkeypatch.setattr(verify, "_print_outcome", kill)
    with pytest.raises(SystemExit, match="1"):
        main(["verify", "watanabe", "own", "--quick", "--workers", "2", "--json", str(tmp_path / "claims.json")])
    assert "a process that measured claims was killed" in capsys.readouterr().err
    kept = [outcome["name"] for outcome in json.loads((tmp_path / "claims.json").read_text())]
    assert kept and sorted(kept) == sorted(told)
    assert len(kept) < len(select_claims(["watanabe"]))  # the other one was ended, not waited for
    assert not any(process.is_alive() for process in started)
