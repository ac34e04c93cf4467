"""Every verdict can turn: for each claim a deliberate error, in a theory, in a printed formula or in what was trained.

A row names the claim, where the error goes, and the error. Errors in what was trained are made in the results of a
table, since a trainer with that error would leave exactly these.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr

from linnet.papers.tu import PAPER
from linnet.reproduction import Table, Trial
from linnet.theories import mixed

QUICK = Trial(quick=True)
CLAIMS = {claim.name.removeprefix("tu-"): claim for claim in PAPER.claims}
Error = Callable[[Any], Any]


def scaled(factor: float) -> Error:
    """A function whose result, or whose every entry, is multiplied."""

    def error(right: Any) -> Any:
        def wrong(*args: Any, **kwargs: Any) -> Any:
            found = right(*args, **kwargs)
            if isinstance(found, dict):
                return {name: factor * value for name, value in found.items()}
            if isinstance(found, tuple):
                return (
                    type(found)(*(factor * x for x in found))
                    if hasattr(found, "_fields")
                    else tuple(factor * x for x in found)
                )
            return factor * found

        return wrong

    return error


def replaced(value: Any) -> Error:
    return lambda right: value


def another_threshold(factor: float) -> Error:
    """A function of (first, second, threshold, width) that is given another threshold."""
    return lambda right: lambda first, second, g, *rest: right(first, second, factor * g, *rest)


def drifting(networks: xr.Dataset) -> xr.DataArray:
    """A layer that grows by a thousandth from one saved state to the next."""
    return xr.DataArray(1 + 1e-3 * np.arange(networks.sizes["state"]), dims="state")


def soon_after_growth(spectrum: Sequence[float], *gammas: float, dim: int) -> float:
    """A T* at which the signal has just been learned: half as long again as it takes to half its target."""
    goal, threshold = min(spectrum) * dim, dim ** sum(gammas)
    return 1.5 * float(mixed.crossing_times(goal, 0.0, threshold, level=0.5 * goal)[0])


MIXED = "linnet.theories.mixed"
CLAIM = "linnet.papers.tu.claims"
PRINT = "linnet.papers.tu.misprints"
PUBLIC = "linnet"

# The claim, the module, its function (or "TABLE variable" for what was trained), the error, and whether it is slow
MUTATIONS: list[tuple[str, str, str, Error, bool]] = [
    ("tools", f"{CLAIM}.alignment", "turned", scaled(3.0), False),
    ("lemma-a4", MIXED, "alignment_bound", scaled(0.01), False),
    ("lemma-c5", f"{CLAIM}.alignment", "rotation", scaled(-1.0), False),
    ("lemma-c6", f"{CLAIM}.alignment", "slowest", scaled(3.0), False),
    ("lemma-b2", "tu-widths", "second", lambda right: lambda ds: right(ds) * drifting(ds), True),
    ("lemma-b3", f"{CLAIM}.gram", "projections", lambda right: lambda a, b: tuple(reversed(right(a, b))), False),
    ("prop-b1", MIXED, "gram_gap", another_threshold(5.0), True),
    ("thm1", MIXED, "gram_gap", another_threshold(5.0), True),
    ("thm1-scales", MIXED, "gram_gap", another_threshold(20.0), True),
    ("cubic", MIXED, "cubic", lambda right: lambda own, other, a, g: right(own, other, a, 2 * g), True),
    ("jacobian", f"{CLAIM}.gram", "projections", lambda right: lambda a, b: tuple(reversed(right(a, b))), True),
    ("isotropic", MIXED, "self_consistent", lambda right: lambda y, a, g, t: right(y, a, 2 * g, t), True),
    ("lazy", MIXED, "lazy_descent", lambda right: lambda y, a, g, r, n: right(y, a, 2 * g, r, n), False),
    (
        "lazy-grams",
        f"{PUBLIC}",
        "gradient_descent",
        lambda right: lambda p, w, **k: right(p, w, **{**k, "learning_rate": 0.02 * k["learning_rate"]}),
        False,
    ),
    ("eq2", f"{CLAIM}.lazy_modes", "tangent", scaled(2.0), False),
    ("balanced-step", PRINT, "balanced_step", scaled(2.0), False),
    (
        "stuck-modes",
        MIXED,
        "balanced_modes",
        lambda right: lambda goals, starts, t: right(goals, np.abs(starts), t),
        True,
    ),
    ("mode-speed", MIXED, "mode_speed", lambda right: lambda s, g: 2 * (np.asarray(s) + g), True),
    ("mode-alignment", MIXED, "predicted_alignment", lambda right: lambda s, g: right(s, 2 * g), True),
    ("prop-d1-distance", MIXED, "lazy_flow", lambda right: lambda y, a, g, t: right(y, a, 2 * g, t), True),
    ("thm2-lazy", "tu-regions", "best_test", scaled(0.4), True),
    ("thm2-active", MIXED, "stopping_time", lambda right: soon_after_growth, True),
    ("border", "tu-border", "threshold", lambda right: lambda ds: right(ds) * ds["dim"] ** 0.5, True),
    ("tradeoff", "tu-regions", "best_step", scaled(-1.0), True),
    ("narrow", "tu-regions", "best_test", lambda right: lambda ds: right(ds) * ds["gamma_width"] ** -2.0, True),
    ("ranks", "tu-plane", "stable_rank", scaled(2.0), True),
    ("outside", "tu-plane", "log_distance", lambda right: lambda ds: right(ds) - 6, True),
    (
        "fig1",
        "linnet.trainers._self_consistent",
        "stepping",
        lambda right: lambda p, a, g, *rest: right(p, a, 2 * g, *rest),
        True,
    ),
    ("published-cells", "tu-published", "test_error", scaled(1.06), True),
    ("stage-lazy", "linnet.papers.tu.tables.timeline", "threshold_of", lambda right: lambda d: 0.1 * d, True),
    ("alignment-early", "tu-timeline", "defect", lambda right: lambda ds: right(ds) * ds["dim"], True),
    ("alignment-kept", "tu-timeline", "defect", lambda right: lambda ds: right(ds) * ds["dim"] ** 0.7, True),
    ("alignment-stage", PRINT, "stage_lengths", scaled(1e-3), True),
    ("final-alignment", MIXED, "alignment_defect", lambda right: lambda a, b, k: right(a, b, k) ** 2, True),
    (
        "settling",
        PUBLIC + ".problems",
        "low_rank_plus_noise",
        lambda right: lambda dim, **k: right(dim, **{**k, "noise_std": 40 / dim}),
        True,
    ),
    ("thm2-time", MIXED, "crossing_times", scaled(2.0), True),
    ("transition", "tu-timeline", "times", lambda right: lambda ds: right(ds) ** (30 / ds["dim"]), True),
    ("lemma-f1", PRINT, "descent_bound", scaled(0.1), False),
    ("lemma-f2", f"{CLAIM}.descent", "EDGE", replaced(0.5), False),
    ("eq1", "tu-regions", "log_distance", lambda right: lambda ds: right(ds) + 4, True),
    (
        "start",
        PUBLIC + ".inits",
        "reduced_gaussian",
        lambda right: lambda **k: right(**{**k, "first_std": 2 * k["first_std"]}),
        False,
    ),
    (
        "start-values",
        PUBLIC + ".inits",
        "reduced_gaussian",
        lambda right: lambda **k: right(**{**k, "width": 2 * k["width"], "first_std": 2 * k["first_std"]}),
        False,
    ),
]


def spoil(monkeypatch: pytest.MonkeyPatch, table: str, variable: str, error: Error) -> None:
    """Every reading of the table finds its variable with the error."""
    right = Table.results

    def results(self: Table, trial: Trial) -> Any:
        found = right(self, trial)
        if f"tu-{self.name.removeprefix('tu-')}" != table:
            return found
        wrong = error(lambda ds: ds[variable])
        return found.assign({variable: wrong(found)})

    monkeypatch.setattr(Table, "results", results)


def make(monkeypatch: pytest.MonkeyPatch, where: str, name: str, error: Error) -> None:
    if where.startswith("tu-"):
        return spoil(monkeypatch, where, name, error)
    module = importlib.import_module(where)
    monkeypatch.setattr(module, name, error(getattr(module, name)))


def assert_turned(monkeypatch: pytest.MonkeyPatch, claim: str, where: str, name: str, error: Error) -> None:
    make(monkeypatch, where, name, error)
    measurement = CLAIMS[claim].measurement(QUICK)
    assert measurement.verdict != CLAIMS[claim].expected, measurement.measured


FAST = [row[:4] for row in MUTATIONS if not row[4]]
SLOW = [row[:4] for row in MUTATIONS if row[4]]


@pytest.mark.parametrize(("claim", "where", "name", "error"), FAST, ids=[row[0] for row in FAST])
def test_an_error_turns_the_verdict(
    claim: str, where: str, name: str, error: Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_turned(monkeypatch, claim, where, name, error)


@pytest.mark.slow
@pytest.mark.parametrize(("claim", "where", "name", "error"), SLOW, ids=[row[0] for row in SLOW])
def test_an_error_turns_the_verdict_of_trained_networks(
    claim: str, where: str, name: str, error: Error, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_turned(monkeypatch, claim, where, name, error)


def test_no_claim_is_without_an_error() -> None:
    assert {row[0] for row in MUTATIONS} == set(CLAIMS)
