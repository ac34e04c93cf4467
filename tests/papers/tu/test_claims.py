"""The claims of Tu et al.: their verdicts at the quick settings, and rules that judge numbers nobody measured."""

from __future__ import annotations

import re

import numpy as np
import pytest
import xarray as xr

from linnet.theories import lazy_active
from linnet_papers.reproduction import Estimate, Table, Trial, Verdict
from linnet_papers.reproduction.numbers import entries
from linnet_papers.tu import misprints
from linnet_papers.tu.paper import PAPER

QUICK = Trial(quick=True)
ALL = {claim.name.removeprefix("tu-"): claim for claim in PAPER.claims}
FAST = (
    "tools",
    "lemma-a4",
    "lemma-c5",
    "lemma-c6",
    "lemma-b3",
    "eq2",
    "balanced-step",
    "lemma-f1",
    "start",
    "start-values",
    "lazy",
)


def check(name: str) -> None:
    measurement = ALL[name].measurement(QUICK)
    assert measurement.verdict == ALL[name].expected, measurement.measured
    judged = [entry for _, leaf in ALL[name].limits() for _, entry in entries(measurement.numbers[leaf.number])]
    assert np.isfinite([entry.value if isinstance(entry, Estimate) else entry for entry in judged]).all()
    assert not re.search(r"\bnan\b", measurement.measured)  # a determinant may be spoken of


@pytest.mark.parametrize("name", FAST)
def test_the_verdict_is_the_expected_one(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ALL if name not in FAST])
def test_the_verdict_of_trained_networks_is_the_expected_one(name: str) -> None:
    check(name)


def test_claims_are_complete() -> None:
    assert len(ALL) == 58
    for claim in ALL.values():
        assert all((claim.says, claim.assumes, claim.tried, claim.where, claim.requirement))


def test_every_claim_covers_a_statement_and_nearly_all_are_covered() -> None:
    named = {name for statement in PAPER.statements for name in statement.checked}
    assert set(ALL) <= named
    assert len(PAPER.statements) >= 105
    assert sum(bool(statement.checked) for statement in PAPER.statements) >= 0.94 * len(PAPER.statements)


def judged(name: str, **numbers: object) -> Verdict:
    return ALL[name].verdict(numbers)


@pytest.mark.parametrize(("spoilt", "verdict"), [(False, Verdict.HOLDS), (True, Verdict.REFUTED)])
def test_one_network_without_an_error_turns_the_verdict(
    spoilt: bool, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = np.full((2, 3), 0.6)
    if spoilt:
        error[1, 2] = np.nan  # xarray would leave it out of the minimum
    lazy = xr.Dataset({"min_test_loss": (("case", "replicate"), error), "signal": 1.0, "noise": 1.1, "dim": 30})
    monkeypatch.setattr(Table, "rows", lambda table, trial: {"lazy": lazy})
    assert ALL["thm2-lazy"].measurement(QUICK).verdict == verdict


def test_rules_judge_numbers_by_themselves() -> None:
    assert judged("prop-b1", value=1.0) == Verdict.HOLDS and judged("prop-b1", value=1.2) == Verdict.REFUTED
    assert judged("prop-b1", value=np.nan) == Verdict.REFUTED
    assert judged("lemma-f2", shares={"active": 0.2, "lazy": np.nan}) == Verdict.REFUTED
    assert judged("published-cells", value=0.029) == Verdict.HOLDS
    assert judged("published-cells", value=0.031) == Verdict.REFUTED
    falls = {"a = (1)": -0.6, "a = (1, 1/2)": -0.6}
    assert judged("thm2-active", change=falls, value=0.4, least=0.1) == Verdict.HOLDS
    assert judged("thm2-active", change=falls, value=0.9, least=0.1) == Verdict.OUTSIDE
    assert judged("thm2-active", change=falls, value=0.9, least=0.6) == Verdict.REFUTED
    assert judged("thm2-time", ratios=1.0, own=2.0) == Verdict.HOLDS
    assert judged("thm2-time", ratios=0.45, own=1.01) == Verdict.CORRECTED
    assert judged("thm2-time", ratios=0.45, own=1.5) == Verdict.REFUTED


def test_printed_forms_are_other_numbers() -> None:
    spectrum, gammas = [2.0, 1.0], (-1.75, 2.5)  # Delta = 1/4: printed max(1, 1/2) = 1
    unit = np.log(100) / 100
    printed = misprints.stage_lengths(spectrum, *gammas, dim=100)
    np.testing.assert_allclose(sum(printed.values()), (0.25 + 2 * 3 + 0.5) * unit)  # c(a) = 1/3
    assert sum(printed.values()) != pytest.approx(lazy_active.stopping_time(spectrum, *gammas, dim=100))
    with pytest.raises(ValueError, match="two different values"):
        misprints.spectrum_constant([1.0, 1.0])
    assert misprints.descent_bound(0.1, 1) == 0 and misprints.final_alignment(2.0) == 4
