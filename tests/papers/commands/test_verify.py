"""`linnet verify`: verdicts, alarms, JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from linnet_papers.reproduction import Rows, Trial, claims, parallel, printed, verify, within


def test_all_as_expected(linnet: Any) -> None:
    said = linnet("verify", "--quick", "--seed", 4)
    assert said.status == 0 and said.err == ""
    lines = said.out.splitlines()
    assert "watanabe-square: holds" in lines and "tu-other: refuted" in lines
    assert "Paper     Eq. (1): The square of x is x^2." in lines and "Measured  x = 3" in lines
    (head,) = {line for line in lines if "quantity" in line}
    (row,) = {line for line in lines if line.endswith("yes")}
    assert head.split() == ["quantity", "measured", "limit", "met"]
    assert row.split("   ")[0] == "  square of x" and "9" in row and "within 1e-12 of 9" in row
    assert "Limit     rounding of one product" in lines and "also measured, not judged: seed, 4" in said.out
    assert "In short  measured 4, quick True" in lines
    assert lines[-1].startswith("3 claims in") and lines[-1].endswith(
        "2 holds, 1 refuted. Every verdict is the published one."
    )
    assert "\x1b" not in said.out  # color is for terminals
    assert max(map(len, lines)) <= 100


def test_of_many_claims_each_has_a_line(linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnet_papers.commands.verify._SHOWN_WHOLE", 2)
    lines = linnet("verify", "--quick").out.splitlines()
    assert len(lines) == 5 and lines[-2].split() == ["refuted:", "tu-other"]
    assert (
        lines[0].split()[:3] == ["ok", "watanabe-square", "holds"] and "square of x: 9, within 1e-12 of 9" in lines[0]
    )
    assert "square of x: inf, not within 1e-12 of 9" in lines[2]
    monkeypatch.setattr(toys, "formula", lambda x: 2 * x)
    assert "Verdict   Refuted. Expected: holds." in linnet("verify").out  # alarms are shown whole


def test_a_broken_theory_turns_exactly_its_claims_red(linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toys, "formula", lambda x: 2 * x)
    said = linnet("verify")
    assert said.status == 1
    assert said.err == "linnet: 2 of 3 claims not as expected: watanabe-square, watanabe-squares-again\n"
    assert said.out.count("refuted (expected: holds)") == 2


def test_a_measurement_that_breaks_is_an_alarm_and_the_rest_go_on(
    linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(toys.CLAIMS, "tu-broken", toys.BROKEN)
    said = linnet("verify", "tu", "--json", tmp_path / "deep" / "claims.json")
    assert said.status == 1 and "tu-broken" in said.err and "tu-other" not in said.err
    outcomes = json.loads((tmp_path / "deep" / "claims.json").read_text())
    assert [(o["name"], o["verdict"]) for o in outcomes] == [("tu-other", "refuted"), ("tu-broken", "no verdict")]
    assert outcomes[1]["error"] == "ZeroDivisionError: nothing to divide by" and outcomes[1]["rows"] == []


def test_json_has_the_rows(linnet: Any) -> None:
    said = linnet("verify", "watanabe-square", "tu", "--quick", "--json", "-")
    outcomes = json.loads(said.out)
    assert said.status == 0 and [o["name"] for o in outcomes] == ["watanabe-square", "tu-other"]
    first = outcomes[0]
    assert set(first) == {"name", "verdict", "expected", "rows", "seconds"} and first["expected"] == "holds"
    limit = {"relation": "within", "number": 1e-12, "of": [9.0], "because": "rounding of one product"}
    row = {"decides": "printed", "quantity": "square of $x$", "values": [9.0], "limit": limit, "met": True}
    assert first["rows"] == [row, {"decides": "fact", "quantity": "seed", "values": [0.0]}]
    assert outcomes[1]["rows"][0]["values"] == ["inf"]  # infinity, which JSON does not have


@pytest.fixture
def recorded(toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of the record of a paper with two of the toys' claims."""
    from linnet_papers.reproduction import Paper, registry

    claims = [replace(one, name=one.short) for one in toys.CLAIMS.values() if one.paper == "watanabe"]
    paper = Paper(name="watanabe", title="T", authors="A", claims=claims, record=tmp_path / "record.json")
    monkeypatch.setattr(registry, "papers", lambda: {"watanabe": paper})
    return tmp_path / "record.json"


def test_the_record_keeps_what_was_not_measured_anew(
    linnet: Any, toys: Any, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read() -> Any:
        return json.loads(recorded.read_text())

    assert linnet("verify", "watanabe", "--quick", "--record").status == 0
    assert len(read()["claims"]) == 2 and read()["all"] != ""
    whole = read()["all"]
    (recorded.parent / "record.json").write_text(recorded.read_text().replace(whole, "2001-01-01"))
    from linnet_papers.reproduction import record

    record.read.cache_clear()
    monkeypatch.setattr(toys, "formula", lambda x: 9.0 + 1e-13)
    assert linnet("verify", "watanabe-squares-again", "--quick", "--seeds", 3, "--record").status == 0
    now = read()
    assert now["all"] == "2001-01-01" and now["claims"]["watanabe-square"]["date"] == "2001-01-01"
    again = now["claims"]["watanabe-squares-again"]
    assert again["date"] == whole and again["verdicts"] == {"holds": 3}
    assert linnet("verify", "watanabe-squares-again", "--record").status == 0  # at full settings, which stand beside
    full = read()["claims"]["watanabe-squares-again"]["full"]
    assert full["verdict"] == "holds" and full["date"] == whole
    assert linnet("verify", "watanabe-squares-again", "--quick", "--record").status == 0
    assert {name: read()["claims"]["watanabe-squares-again"][name] for name in ("full", "verdicts")} == {
        "full": full,
        "verdicts": {"holds": 3},
    }


def test_what_broke_down_is_not_recorded_and_other_seeds_are_refused(
    linnet: Any, refused: Any, toys: Any, recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(toys.CLAIMS, "watanabe-square", replace(toys.BROKEN, name="watanabe-square", paper="watanabe"))
    assert linnet("verify", "watanabe", "--quick", "--record").status == 1
    stored = json.loads(recorded.read_text())
    assert list(stored["claims"]) == ["watanabe-squares-again"] and stored["all"] == ""
    assert "no --seed" in refused("verify", "watanabe", "--seed", 1, "--record", status=2)


def flipping(every: int) -> Any:
    """A measurement that is wrong at one seed of so many."""

    def measure(trial: Trial) -> Rows:
        yield printed("square", 9.0 if trial.seed % every != every - 1 else 0.0, within(1e-12, "rounding alone", of=9))

    return measure


@pytest.mark.parametrize(("every", "stable"), [(20, True), (10, False)])
def test_a_verdict_may_be_missed_at_one_seed_in_twenty(
    linnet: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, every: int, stable: bool
) -> None:
    claim = replace(toys.CLAIMS["watanabe-square"], measure=flipping(every))
    monkeypatch.setitem(toys.CLAIMS, "watanabe-square", claim)
    said = linnet("verify", "--seed", 40, "--seeds", 20, "--json", tmp_path / "seeds.json")
    first = json.loads((tmp_path / "seeds.json").read_text())[0]
    assert first["verdicts"] == {"holds": 20 - 20 // every, "refuted": 20 // every}
    assert said.status == (0 if stable else 1)
    assert ("3 claims keep their verdicts over 20 seeds (40 to 59)" in said.out) == stable
    if not stable:
        assert said.err == "linnet: 1 of 3 claims keep their verdict in less than 95% of 20 seeds: watanabe-square\n"
        assert "seed 49: square: 0, not within 1e-12 of 9" in said.out


def test_options_that_exclude_each_other(refused: Any, tmp_path: Path) -> None:
    assert "no --workers" in refused("verify", "--workers", 2, "--store", tmp_path / "kept", status=2)
    assert "no --store" in refused("verify", "--seeds", 2, "--store", tmp_path / "kept", status=2)
    assert "is a folder" in refused("verify", "--json", tmp_path, status=2)


def test_processes_measure_the_same_as_one() -> None:
    chosen = [claims()["watanabe-eq23"], claims()["huang-dichotomy"]]
    trial = Trial(quick=True, seed=1)
    alone = {result.name: result.rows for result in verify(chosen, trial)}
    other = {result.name: result.rows for result in verify(chosen, replace(trial, seed=2))}
    assert all(alone[name] != other[name] for name in alone)  # the control: the seed is in the numbers
    spread = {result.name: result.rows for _, result in parallel.results(parallel.batches(chosen, trial), 2)}
    assert alone == spread


def test_an_interruption_keeps_what_was_measured(
    refused: Any, toys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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
        assert "0.571" in linnet("verify", "tu", "--store", store).out
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


# the worker that was started first, which the pool watches, or last
@pytest.mark.parametrize("which", [min, pytest.param(max, marks=pytest.mark.slow)])
def test_a_killed_worker_takes_no_outcome_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, which: Any
) -> None:
    import multiprocessing
    import os
    import signal

    from linnet.cli.main import main
    from linnet_papers.commands import verify as command
    from linnet_papers.reproduction.registry import select_claims

    told: list[str] = []
    before = multiprocessing.active_children()
    started: list[Any] = []

    def kill(claim: Any, result: Any, *, whole: bool) -> None:
        told.append(result.name)
        if len(told) == 1:
            started.extend(process for process in multiprocessing.active_children() if process not in before)
            os.kill(which(process.pid for process in started), signal.SIGKILL)

    monkeypatch.setattr(command, "_print_result", kill)
    with pytest.raises(SystemExit, match="1"):
        main(["verify", "watanabe", "own", "--quick", "--workers", "2", "--json", str(tmp_path / "claims.json")])
    assert "a process that measured claims was killed" in capsys.readouterr().err
    kept = [outcome["name"] for outcome in json.loads((tmp_path / "claims.json").read_text())]
    assert kept and sorted(kept) == sorted(told)
    assert len(kept) < len(select_claims(["watanabe"]))  # the other one was ended, not waited for
    assert not any(process.is_alive() for process in started)
