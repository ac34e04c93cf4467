"""The rules of the claims, on numbers that nobody measured; what every claim must have is tested for all papers."""

import dataclasses

import numpy as np
import pytest

from linnet.theories.noise_process import lyapunov_exponents
from linnet_papers.reproduction import Estimate, Trial, Verdict, verify
from linnet_papers.varre.claims import growth, limit


@pytest.mark.slow
def test_a_flow_that_breaks_down_is_not_passed_over(monkeypatch):
    found = limit.flows.regression(Trial(quick=True))
    broken = dataclasses.replace(found[1], values=np.full_like(found[1].values, np.nan))
    monkeypatch.setattr(limit.flows, "regression", lambda trial: [found[0], broken, *found[2:]])
    assert verify([limit.singular_values], Trial(quick=True))[0].verdict == Verdict.REFUTED


def as_in_theory(**changes):
    """Rates as the theory has them, with an error of 0.001."""
    exponents = {f"$d = {dim}$": lyapunov_exponents(dim) for dim in (2, 3, 4, 5, 6)}
    rates = {}
    for name, place in (("length", 0), ("outgoing", 0), ("second", 1)):
        rates[f"{name}_theory"] = {dim: values[place] for dim, values in exponents.items()}
        rates[name] = {dim: Estimate(values[place], 0.001) for dim, values in exponents.items()} | changes.get(name, {})
    return rates


@pytest.mark.parametrize(
    ("claim", "changes", "verdict"),
    [
        (growth.lower_values, {}, Verdict.CORRECTED),
        (growth.lower_values, {"second": {"$d = 6$": Estimate(-0.02, 0.001)}}, Verdict.REFUTED),
        (growth.lower_values, {"second": {"$d = 5$": Estimate(+0.02, 0.001)}}, Verdict.REFUTED),
        (growth.lower_values, {"second": {"$d = 5$": Estimate(-0.0077, 0.003)}}, Verdict.REFUTED),  # not seen to decay
        (growth.two_inputs, {}, Verdict.CORRECTED),
        (growth.two_inputs, {"length": {"$d = 2$": Estimate(0.1, 0.001)}}, Verdict.HOLDS),
        (growth.two_inputs, {"length": {"$d = 3$": Estimate(0.0, 0.001)}}, Verdict.REFUTED),
        (growth.scale, {}, Verdict.HOLDS),
        (growth.scale, {"outgoing": {"$d = 5$": Estimate(0.0, 0.001)}}, Verdict.REFUTED),
    ],
)
def test_rates_decide(claim, changes, verdict, monkeypatch):
    monkeypatch.setattr(growth.growth, "rates", lambda trial: as_in_theory(**changes))
    assert verify([claim], Trial(quick=True))[0].verdict == verdict
