"""The feature-learning claims reach their verdicts; their rows are finite."""

from __future__ import annotations

import numpy as np
import pytest

from linnet_papers.huang.paper import PAPER
from linnet_papers.reproduction import Claim, Trial, verify

QUICK = Trial(quick=True, seed=4)  # not the seed that settings were chosen with
CHEAP = {
    "eq3",
    "eq7",
    "eq13",
    "eq13-weights",
    "minimum-norm",
    "ntk-turning",
    "lemmaA2",
    "lemmaA3",
    "lemmaA4",
    "final-loss",
}


def short(claim: Claim) -> str:
    return claim.name.removeprefix("huang-")


@pytest.mark.parametrize(
    "claim",
    [pytest.param(c, marks=() if short(c) in CHEAP else pytest.mark.slow, id=short(c)) for c in PAPER.claims],
)
def test_verdicts_are_the_expected_ones(claim):
    (found,) = verify([claim], QUICK)
    assert found.verdict == claim.expected, found
    assert np.isfinite([value for row in found.rows if row.limit for value in row.values]).all()


def test_every_statement_is_checked_or_has_a_reason():
    assert len(PAPER.statements) >= 48
    assert sum(bool(statement.checked) for statement in PAPER.statements) >= 0.6 * len(PAPER.statements)
