"""Verdicts over several seeds: counted, judged by their share, the same on workers."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from linnet_papers.reproduction import Numbers, Trial, parallel, record, verify
from linnet_papers.reproduction.registry import claims, select_claims
from linnet_papers.reproduction.stability import survey


def flipping(every: int):
    def measure(trial: Trial) -> Numbers:
        return {"value": 9.0 if trial.seed % every != every - 1 else 0.0, "told": f"measured at {trial.seed}"}

    return measure


def test_shares_are_counted_and_judged(toys: ModuleType) -> None:
    claim = toys.CLAIMS["watanabe-square"]
    rare, often = (replace(claim, name=f"toy-{every}", measure=flipping(every)) for every in (20, 10))
    done: list[str] = []
    found = survey(
        [claim, rare, often, toys.BROKEN], seeds=range(20), quick=True, report=lambda row: done.append(row.claim.name)
    )
    assert [row.share for row in found] == [1.0, 0.95, 0.9, 0.0]
    assert [row.stable for row in found] == [True, True, False, False]
    assert (
        found[2].example.startswith("seed 9: measured at 9. It does not hold: square 0")
        and found[3].verdicts["no verdict"] == 20
    )
    assert len(done) == 80 and done.count(rare.name) == 20
    assert found[2].to_json()["verdicts"] == {"holds": 18, "refuted": 2}


def test_seeds_begin_where_seed_says(linnet, refused, toys: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []
    right = toys.measure_square

    def measure(trial: Trial) -> Numbers:
        measured.append(trial.seed)
        return right(trial)

    claim = replace(toys.CLAIMS["watanabe-square"], measure=measure)
    monkeypatch.setitem(toys.CLAIMS, "watanabe-square", claim)
    said = linnet("verify", "watanabe-square", "--seed", 7, "--seeds", 3)
    assert measured == [7, 8, 9] and "1 claims keep their verdicts over 3 seeds (7 to 9)" in said.out
    monkeypatch.setitem(toys.CLAIMS, "watanabe-square", replace(claim, measure=flipping(9)))  # wrong at 8 alone
    assert "watanabe-square" in refused("verify", "watanabe-square", "--seed", 8, "--seeds", 2, status=1)
    assert linnet("verify", "watanabe-square", "--seeds", 8).status == 0


@pytest.mark.slow
def test_workers_find_the_same() -> None:
    chosen = [claims()["watanabe-eq23"], claims()["huang-dichotomy"]]
    alone, spread = (survey(chosen, seeds=range(2), quick=True, workers=workers) for workers in (0, 2))
    assert [row.to_json() for row in alone] == [row.to_json() for row in spread]


def test_on_the_command_line(linnet, refused, toys: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    said = linnet("verify", "--seeds", 3, "--json", tmp_path / "shares.json")
    assert said.status == 0 and "3 claims keep their verdicts over 3 seeds" in said.out
    assert (tmp_path / "shares.json").read_text().count('"share": 1.0') == 3
    monkeypatch.setitem(toys.CLAIMS, "tu-other", replace(toys.CLAIMS["tu-other"], measure=flipping(2)))
    assert "1 of 3 claims keep their verdict in less than 95% of 4 seeds: tu-other" in refused(
        "verify", "--seeds", 4, status=1
    )
    assert "no --workers" in refused("verify", "--workers", 2, "--store", tmp_path / "kept", status=2)
    assert "no --store" in refused("verify", "--seeds", 2, "--store", tmp_path / "kept", status=2)
    assert "is a folder" in refused("verify", "--json", tmp_path, status=2)


def test_processes_measure_the_same_as_one() -> None:
    chosen = [claims()["watanabe-eq23"], claims()["huang-dichotomy"]]
    trial = Trial(quick=True, seed=1)
    alone = {outcome.claim.name: outcome.measurement for outcome in verify(chosen, trial)}
    other = {outcome.claim.name: outcome.measurement for outcome in verify(chosen, replace(trial, seed=2))}
    assert all(alone[name].measured != other[name].measured for name in alone)  # the control: the seed is told
    spread = {o.claim.name: o.measurement for _, o in parallel.outcomes(chosen, parallel.batches(chosen, trial), 2)}
    assert {name: m.measured for name, m in alone.items()} == {name: m.measured for name, m in spread.items()}


def test_the_paper_that_took_longest_begins_first(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = select_claims(["watanabe-eq6", "varre-lemma-3.3", "varre-any-diagonal"])
    for seconds, first in ((0.1, "varre-any-diagonal"), (9.0, "watanabe-eq6")):
        known = {"watanabe-eq6": record.Recorded("holds", "", seconds)}  # two others were never measured: a second each
        monkeypatch.setattr(record, "last_measured", lambda known=known: known)
        assert first in parallel.batches(chosen, Trial(quick=True))[0].names


def test_the_last_worker_ends_as_soon_as_it_can(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = select_claims(["watanabe-eq6", "varre-lemma-3.3", "huang-eq3", "tu-eq2", "own-printed"])
    seconds = {"own": 3.0, "varre": 3.0, "tu": 2.0, "huang": 2.0, "watanabe": 2.0}
    known = {claim.name: record.Recorded("holds", "", seconds[claim.paper]) for claim in chosen}
    monkeypatch.setattr(record, "last_measured", lambda: known)
    for workers, ends in ((1, [12.0]), (2, [6.0, 6.0]), (5, [2.0, 2.0, 2.0, 3.0, 3.0])):  # longest first: 7 of two
        order, busy = parallel.batches(chosen, Trial(quick=True), workers), [0.0] * workers
        for batch in order:
            busy[busy.index(min(busy))] += known[batch.names[0]].seconds
        assert sorted(busy) == ends
