"""Every verdict can turn: for each claim a deliberate error, in a theory, in a printed formula or in what was trained.

A row names the claim, where the error goes, and the error. Errors in what was trained are made in the results of a
table, since a trainer with that error would leave exactly these.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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


def along_dims(power: float) -> Error:
    """What was trained, off by a power of d."""
    return lambda right: lambda ds: right(ds) * ds["dim"] ** power


def border_of(target: str) -> Error:
    """Thresholds of one kind of target off by the square root of d."""
    return lambda right: lambda ds: right(ds) * xr.where(ds["target"] == target, ds["dim"] ** 0.5, 1.0)


def still_noise(right: Any) -> Error:
    """Singular values beyond those of the signal that stay where they start."""

    def wrong(ds: xr.Dataset) -> xr.DataArray:
        values, modes = right(ds), ds["spectrum"].str.count(",") + 1
        return xr.where(xr.DataArray(np.arange(3), dims="mode") < modes, values, values.isel(state=0))

    return wrong


def louder_noise(right: Any) -> Error:
    """Singular values beyond those of the signal that are three times as large."""
    return lambda ds: right(ds) * xr.DataArray([1.0, 1.0, 3.0], dims="mode")


def given(**changed: Callable[[Any], Any]) -> Error:
    """A function whose keyword arguments are changed before it is called."""
    return lambda right: lambda *args, **k: right(*args, **k | {name: to(k[name]) for name, to in changed.items()})


def third(factor: float) -> Error:
    """A theory of (target, start, threshold, times) that is given another threshold."""
    return lambda right: lambda y, a, g, *rest: right(y, a, factor * g, *rest)


def swapped(right: Any) -> Error:
    return lambda *args: tuple(reversed(right(*args)))


def doubled(*names: str) -> dict[str, Callable[[Any], Any]]:
    return dict.fromkeys(names, lambda value: 2 * value)


MIXED = "linnet.theories.mixed"
CLAIM = "linnet.papers.tu.claims"
PRINT = "linnet.papers.tu.misprints"
PUBLIC = "linnet"
SLOW = True


class Mutation(NamedTuple):
    """A claim, the module and its function (or a table and its variable, for what was trained), the error."""

    claim: str
    where: str
    name: str
    error: Error
    slow: bool = False


MUTATIONS: dict[str, Mutation] = {
    "tools": Mutation("tools", f"{CLAIM}.alignment", "sin_theta_share", scaled(3.0)),
    "tools-traces": Mutation(
        "tools", f"{CLAIM}.alignment", "trace_identity_sides", lambda r: lambda *a: (1.01 * r(*a)[0], *r(*a)[1:])
    ),
    "tools-norms": Mutation(
        "tools", f"{CLAIM}.alignment", "product_norm_bounds", lambda r: lambda a, b: tuple(reversed(r(a, b)))
    ),
    "lemma-a4": Mutation("lemma-a4", MIXED, "alignment_bound", scaled(0.01)),
    "lemma-a5": Mutation("lemma-a4", f"{CLAIM}.alignment", "diagonal_distance_bound", scaled(0.01)),
    "lemma-c5": Mutation("lemma-c5", f"{CLAIM}.alignment", "printed_rotation_rates", scaled(-1.0)),
    "lemma-c6": Mutation("lemma-c6", f"{CLAIM}.alignment", "slowest_pair_rates", scaled(3.0)),
    "lemma-b2": Mutation("lemma-b2", "tu-widths", "second", lambda r: lambda ds: r(ds) * drifting(ds), SLOW),
    "lemma-b3": Mutation("lemma-b3", f"{CLAIM}.appendix_b", "projections", swapped),
    "prop-b1": Mutation("prop-b1", MIXED, "gram_gap", another_threshold(2.5), SLOW),
    "thm1": Mutation("thm1", MIXED, "gram_gap", another_threshold(1.5), SLOW),
    "thm1-scales": Mutation("thm1-scales", MIXED, "gram_gap", another_threshold(3.0), SLOW),
    "thm1-lazy": Mutation("thm1-scales", MIXED, "gram_gap", another_threshold(1.5), SLOW),
    "thm1-sharp": Mutation("thm1-sharp", MIXED, "gram_gap", another_threshold(1.2), SLOW),
    "cubic": Mutation("cubic", MIXED, "cubic", lambda r: lambda own, other, a, g: r(own, other, a, 2 * g), SLOW),
    "jacobian": Mutation("jacobian", f"{CLAIM}.appendix_b", "projections", swapped, SLOW),
    "isotropic": Mutation("isotropic", MIXED, "self_consistent", third(2.0), SLOW),
    "lazy": Mutation("lazy", MIXED, "lazy_descent", third(2.0)),
    "lazy-floor": Mutation("lazy", MIXED, "lazy_error_floor", scaled(1.5)),
    "lazy-grams": Mutation("lazy-grams", PUBLIC, "gradient_descent", given(learning_rate=lambda rate: 0.02 * rate)),
    "moving-grams": Mutation(  # layers that shrink as A moves
        "lazy-grams", PUBLIC, "gradient_descent", lambda r: lambda *a, **k: r(*a, **k, weight_decay=0.3)
    ),
    "eq2": Mutation("eq2", PUBLIC + ".observables", "ntk_operator", scaled(2.0)),
    "convex-cost": Mutation(
        "convex-cost", f"{CLAIM}.lazy", "fourth_powers", lambda r: lambda gap: (gap**2).sum() / 200, SLOW
    ),
    "balanced-step": Mutation("balanced-step", PRINT, "balanced_step", scaled(2.0)),
    "coupled-modes": Mutation(
        "balanced-step", PUBLIC + ".inits", "balanced", lambda r: lambda a, *rest: r(a + 1e-6, *rest)
    ),
    "balanced-flow": Mutation(  # both square roots 1% too large
        "balanced-flow",
        "scipy.linalg",
        "polar",
        lambda r: lambda a, **side: (r(a, **side)[0], 1.01 * r(a, **side)[1]),
        SLOW,
    ),
    "monotone-modes": Mutation(
        "monotone-modes", PUBLIC + ".inits", "balanced", lambda r: lambda a: r(np.abs(a) + 0.01 * np.eye(len(a))), SLOW
    ),
    "one-by-one": Mutation("one-by-one", PUBLIC + ".inits", "balanced", lambda r: lambda a: r(a, 1e-2), SLOW),
    "stuck-modes": Mutation(
        "stuck-modes", MIXED, "balanced_modes", lambda r: lambda goals, starts, t: r(goals, np.abs(starts), t), SLOW
    ),
    "never-stuck": Mutation(
        "stuck-modes",
        MIXED,
        "aligned_modes",
        lambda r: lambda goals, starts, g, t: mixed.balanced_modes(goals, starts, t),
        SLOW,
    ),
    "mode-speed": Mutation("mode-speed", MIXED, "mode_speed", lambda r: lambda s, g: 2 * (np.asarray(s) + g), SLOW),
    "mode-alignment": Mutation(
        "mode-alignment", MIXED, "predicted_alignment", lambda r: lambda s, g: r(s, 2 * g), SLOW
    ),
    "prop-d1-distance": Mutation("prop-d1-distance", MIXED, "lazy_flow", third(2.0), SLOW),
    "thm2-lazy": Mutation("thm2-lazy", "tu-regions", "best_test", scaled(0.4), SLOW),
    "thm2-active": Mutation("thm2-active", MIXED, "stopping_time", lambda r: soon_after_growth, SLOW),
    "border": Mutation("border", "tu-border", "threshold", along_dims(0.5), SLOW),
    "border-low-rank": Mutation("border", "tu-border", "threshold", border_of("low rank"), SLOW),
    "border-full-rank": Mutation("border", "tu-border", "threshold", border_of("full rank"), SLOW),
    "tradeoff": Mutation("tradeoff", "tu-regions", "best_step", scaled(-1.0), SLOW),
    "tradeoff-error": Mutation("tradeoff", "tu-regions", "best_test", scaled(-1.0), SLOW),
    "narrow": Mutation(
        "narrow", "tu-regions", "best_test", lambda r: lambda ds: r(ds) * ds["gamma_width"] ** -2.0, SLOW
    ),
    "fig2-errors": Mutation("fig2-errors", "tu-plane", "best_test", lambda r: lambda ds: 0 * r(ds) + 1, SLOW),
    "ranks": Mutation("ranks", "tu-plane", "stable_rank", scaled(2.0), SLOW),
    "below-d": Mutation("below-d", "tu-plane", "log_distance", lambda r: lambda ds: r(ds) + 2, SLOW),
    "outside": Mutation("outside", "tu-plane", "log_distance", lambda r: lambda ds: r(ds) - 6, SLOW),
    "fig1": Mutation("fig1", "linnet.papers.tu.figures.fig1", "self_consistent_steps", third(2.0), SLOW),
    "fig1-values": Mutation("fig1-values", f"{CLAIM}.figures", "speed_ups", scaled(0.3), SLOW),
    "fig1-least": Mutation(  # runs that end before their least test error
        "fig1-values", PUBLIC, "gradient_descent", given(steps=lambda steps: 7 if steps == 30 else steps), SLOW
    ),
    "published-cells": Mutation("published-cells", "tu-published", "test_error", scaled(1.06), SLOW),
    "stage-lazy": Mutation(
        "stage-lazy", "linnet.papers.tu.tables.timeline", "threshold_of", lambda r: lambda d, gammas: 0.1 * d, SLOW
    ),
    "alignment-early": Mutation("alignment-early", "tu-timeline", "defect", along_dims(0.5), SLOW),
    "alignment-kept": Mutation("alignment-kept", "tu-timeline", "defect", along_dims(0.3), SLOW),
    "noise-behind": Mutation("alignment-kept", "tu-timeline", "singular_values", louder_noise, SLOW),
    "lazy-values": Mutation("lazy-values", "tu-timeline", "singular_values", still_noise, SLOW),
    "early-distance": Mutation("early-distance", MIXED, "self_consistent", third(1.5), SLOW),
    "second-stage": Mutation("second-stage", "linnet.papers.tu.tables.timeline", "SECOND_POWER", replaced(-0.25), SLOW),
    "projection": Mutation("projection", "tu-timeline", "rest", scaled(2.0), SLOW),
    "alignment-stage": Mutation(
        "alignment-stage",
        MIXED,
        "self_consistent",
        lambda r: lambda y, a, g, t: np.broadcast_to(a, (len(t), *a.shape)),
        SLOW,
    ),
    "final-alignment": Mutation(
        "final-alignment", MIXED, "alignment_defect", lambda r: lambda a, b, k: r(a, b, k) ** 2, SLOW
    ),
    "settling": Mutation(
        "settling",
        PUBLIC + ".problems",
        "low_rank_plus_noise",
        lambda r: lambda d, **k: r(d, **k | {"noise_std": 40 / d}),
        SLOW,
    ),
    "settling-time": Mutation("settling-time", MIXED, "stage_lengths", scaled(0.5), SLOW),
    "thm2-time": Mutation("thm2-time", MIXED, "crossing_times", scaled(2.0), SLOW),
    "transition": Mutation("transition", "tu-timeline", "times", lambda r: lambda ds: r(ds) ** (30 / ds["dim"]), SLOW),
    "lemma-f1": Mutation("lemma-f1", PRINT, "descent_bound", scaled(0.1)),
    "descent-order": Mutation("lemma-f1", MIXED, "self_consistent", third(1.01)),
    "lemma-f2": Mutation("lemma-f2", f"{CLAIM}.descent", "EDGE", replaced(0.5)),
    "eq1": Mutation("eq1", "tu-regions", "log_distance", lambda r: lambda ds: r(ds) + 4, SLOW),
    "start": Mutation("start", PUBLIC + ".inits", "reduced_gaussian", given(**doubled("first_std"))),
    "start-values": Mutation(
        "start-values", PUBLIC + ".inits", "reduced_gaussian", given(**doubled("width", "first_std"))
    ),
    "all-lazy": Mutation(
        "all-lazy", PUBLIC + ".inits", "reduced_gaussian", given(**doubled("first_std", "second_std"))
    ),
    "all-lazy-narrow": Mutation(
        "all-lazy", PUBLIC + ".inits", "reduced_gaussian", given(first_std=lambda std: 0.1 * std)
    ),
    "imbalance-descent": Mutation(
        "imbalance-descent", PUBLIC, "gradient_descent", given(learning_rate=lambda rate: 0.001)
    ),
    "lazy-below": Mutation(
        "lazy-below", PUBLIC + ".problems", "low_rank_plus_noise", given(spectrum=lambda a: [3 * x for x in a]), SLOW
    ),
}
TURNS = {name: row.claim for name, row in MUTATIONS.items()}


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


@pytest.mark.parametrize("name", [name for name, row in MUTATIONS.items() if not row.slow])
def test_an_error_turns_the_verdict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_turned(monkeypatch, *MUTATIONS[name][:4])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, row in MUTATIONS.items() if row.slow])
def test_an_error_turns_the_verdict_of_trained_networks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_turned(monkeypatch, *MUTATIONS[name][:4])


def test_no_claim_is_without_an_error() -> None:
    assert set(TURNS.values()) == set(CLAIMS)
