"""The deliberate errors that turn the claims on Tu et al.: in a theory, in a printed formula or in what was trained."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np
import scipy.linalg
import xarray as xr

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Trial
from linnet_papers.testing import Error, Mutation, always, argument, result, scaled, times, wrong
from linnet_papers.tu import misprints
from linnet_papers.tu.claims import alignment, appendix_b, descent, figures, lazy
from linnet_papers.tu.grids import border, plane, published, regions, timeline, widths

TRIAL = Trial(quick=True)


def trained(grid: ModuleType, **changes: Callable[[xr.Dataset], xr.DataArray]) -> Error:
    """Change variables of what was trained: each from the dataset of it."""
    return result(grid, "cells", lambda found: found.assign({name: change(found) for name, change in changes.items()}))


def threshold_in(theory: str, factor: float) -> Error:
    """Give a theory of (target, start, threshold, ...) another threshold."""
    return argument(lazy_active, theory, 2, times(factor))


def doubled(*names: str) -> Callable[[Any], Any]:
    """Call the function with twice these keyword arguments."""
    return lambda right: lambda *args, **named: right(*args, **named | {name: 2 * named[name] for name in names})


def doubled_first_layer(right: Callable[..., Any]) -> Callable[..., Any]:
    """Call the function with twice the standard deviation in the first layer."""
    return lambda *args, **named: right(*args, **named | {"stds": (2 * named["stds"], named["stds"])})


def doubled_first_layer_of_twice_the_width(right: Callable[..., Any]) -> Callable[..., Any]:
    """Call the function with twice the standard deviation in the first layer, at twice the width."""
    return lambda *args, **named: doubled_first_layer(right)(*args, **named | {"width": 2 * named["width"]})


def soon_after_growth(spectrum: Sequence[float], *gammas: float, dim: int) -> float:
    """A T* at which the signal has just been learned: half as long again as it takes to half its target."""
    goal, threshold = min(spectrum) * dim, dim ** sum(gammas)
    return 1.5 * float(lazy_active.crossing_times(goal, 0.0, threshold, level=0.5 * goal)[0])


def drifting(networks: xr.Dataset) -> xr.DataArray:
    """A second layer that grows by a thousandth from one saved state to the next."""
    return networks["second"] * xr.DataArray(1 + 1e-3 * np.arange(networks.sizes["state"]), dims="state")


def along_dims(variable: str, power: float) -> Callable[[xr.Dataset], xr.DataArray]:
    """What was trained, off by a power of d."""
    return lambda trained: trained[variable] * trained["dim"] ** power


def border_of(target: str) -> Callable[[xr.Dataset], xr.DataArray]:
    """Thresholds of one kind of target off by the square root of d."""
    return lambda cells: cells["threshold"] * xr.where(cells["target"] == target, cells["dim"] ** 0.5, 1.0)


def noise_still_from_the_threshold(networks: xr.Dataset) -> xr.DataArray:
    """Values beyond the signal's that rise to half the threshold, and stay there once a value has crossed it."""
    values, modes = networks["singular_values"], networks["spectrum"].str.count(",") + 1
    exponents = xr.DataArray([sum(timeline.PLACES[place]) for place in networks["place"].values], dims="place")
    threshold = networks["dim"] ** exponents
    noise = 0.5 * np.minimum(values.isel(mode=0), 0.9 * threshold)
    return xr.where(xr.DataArray(np.arange(3), dims="mode") < modes, values, noise)


def louder_noise(networks: xr.Dataset) -> xr.DataArray:
    """Singular values beyond those of the signal that are three times as large."""
    return networks["singular_values"] * xr.DataArray([1.0, 1.0, 3.0], dims="mode")


def larger_second(parts: Sequence[Any]) -> tuple[Any, Any]:
    """The second of two parts 1% too large."""
    return parts[0], 1.01 * parts[1]


def exchanged(parts: Sequence[Any]) -> tuple[Any, ...]:
    """The parts in the opposite order."""
    return tuple(reversed(parts))


MUTATIONS = {
    "tools": Mutation("tools", scaled(alignment, "sin_theta_share", 3.0), quick=True),
    "tools-traces": Mutation(
        "tools",
        result(alignment, "trace_identity_sides", lambda sides: (1.01 * sides[0], *sides[1:])),
        quick=True,
    ),
    "tools-norms": Mutation("tools", result(alignment, "product_norm_bounds", exchanged), quick=True),
    "lemma-a4": Mutation("lemma-a4", scaled(lazy_active, "alignment_bound", 0.01), quick=True),
    "lemma-a5": Mutation("lemma-a4", scaled(alignment, "diagonal_distance_bound", 0.01), quick=True),
    "lemma-c5": Mutation("lemma-c5", scaled(alignment, "printed_rotation_rates", -1.0), quick=True),
    "lemma-c6": Mutation("lemma-c6", scaled(alignment, "slowest_pair_rates", 3.0), quick=True),
    "lemma-b2": Mutation("lemma-b2", trained(widths, second=drifting)),
    "lemma-b3": Mutation("lemma-b3", result(appendix_b, "projections", exchanged), quick=True),
    "prop-b1": Mutation("prop-b1", threshold_in("gram_gap", 2.5)),
    "thm1": Mutation("thm1", threshold_in("gram_gap", 1.5)),
    "thm1-scales": Mutation("thm1-scales", threshold_in("gram_gap", 3.0)),
    "thm1-lazy": Mutation("thm1-scales", threshold_in("gram_gap", 1.5)),
    "thm1-sharp": Mutation("thm1-sharp", threshold_in("gram_gap", 1.2)),
    "cubic": Mutation("cubic", argument(lazy_active, "gram_cubic", 3, times(2))),
    "jacobian": Mutation("jacobian", result(appendix_b, "projections", exchanged)),
    "isotropic": Mutation("isotropic", threshold_in("self_consistent", 2.0)),
    "lazy": Mutation("lazy", threshold_in("lazy_descent", 2.0), quick=True),
    "lazy-floor": Mutation("lazy", scaled(lazy_active, "lazy_error_floor", 1.5), quick=True),
    "lazy-grams": Mutation(
        "lazy-grams", argument(ln, "gradient_descent", "learning_rate", times(0.02)), quick=True, retrains=True
    ),
    "moving-grams": Mutation(  # layers that shrink as A moves
        "lazy-grams", always(ln, "gradient_descent", weight_decay=0.3), quick=True, retrains=True
    ),
    "eq2": Mutation("eq2", scaled(ln.observables, "ntk_operator", 2.0), quick=True),
    "convex-cost": Mutation(
        "convex-cost", wrong(lazy, "fourth_powers", lambda right: lambda gap: (gap**2).sum() / 200), retrains=True
    ),
    "balanced-step": Mutation("balanced-step", scaled(misprints, "balanced_step", 2.0), quick=True),
    "coupled-modes": Mutation(
        "balanced-step", argument(ln.inits, "balanced", 0, lambda product: product + 1e-6), quick=True, retrains=True
    ),
    "balanced-flow": Mutation("balanced-flow", result(scipy.linalg, "polar", larger_second)),
    "monotone-modes": Mutation(
        "monotone-modes",
        argument(ln.inits, "balanced", 0, lambda product: np.abs(product) + 0.01 * np.eye(len(product))),
        retrains=True,
    ),
    "one-by-one": Mutation("one-by-one", always(ln.inits, "balanced", imbalance=1e-2), retrains=True),
    "stuck-modes": Mutation("stuck-modes", argument(lazy_active, "balanced_modes", 1, np.abs)),
    "never-stuck": Mutation(
        "stuck-modes",
        wrong(
            lazy_active,
            "aligned_modes",
            lambda right: lambda goals, starts, g, t: lazy_active.balanced_modes(goals, starts, t),
        ),
    ),
    "mode-speed": Mutation(
        "mode-speed", wrong(lazy_active, "mode_speed", lambda right: lambda s, g: 2 * (np.asarray(s) + g))
    ),
    "mode-alignment": Mutation("mode-alignment", argument(lazy_active, "predicted_alignment", 1, times(2))),
    "prop-d1-distance": Mutation("prop-d1-distance", threshold_in("lazy_flow", 2.0)),
    "thm2-lazy": Mutation("thm2-lazy", trained(regions, min_test_loss=lambda cells: 0.4 * cells["min_test_loss"])),
    "thm2-active": Mutation("thm2-active", wrong(lazy_active, "stopping_time", lambda right: soon_after_growth)),
    "border": Mutation("border", trained(border, threshold=along_dims("threshold", 0.5))),
    "border-low-rank": Mutation("border", trained(border, threshold=border_of("low rank"))),
    "border-full-rank": Mutation("border", trained(border, threshold=border_of("full rank"))),
    "tradeoff": Mutation("tradeoff", trained(regions, best_step=lambda cells: -cells["best_step"])),
    "tradeoff-error": Mutation("tradeoff", trained(regions, min_test_loss=lambda cells: -cells["min_test_loss"])),
    "narrow": Mutation(
        "narrow",
        trained(regions, min_test_loss=lambda cells: cells["min_test_loss"] * cells["gamma_width"] ** -2.0),
    ),
    "fig2-errors": Mutation("fig2-errors", trained(plane, min_test_loss=lambda cells: 0 * cells["min_test_loss"] + 1)),
    "ranks": Mutation("ranks", trained(plane, stable_rank=lambda cells: 2 * cells["stable_rank"])),
    "below-d": Mutation("below-d", trained(plane, log_distance=lambda cells: cells["log_distance"] + 2)),
    "outside": Mutation("outside", trained(plane, log_distance=lambda cells: cells["log_distance"] - 6)),
    "fig1": Mutation("fig1", argument(figures, "self_consistent_steps", 2, times(2))),
    "fig1-public": Mutation(  # both loops the same
        "fig1", argument(ln, "gradient_descent", "update", lambda order: "simultaneous"), retrains=True
    ),
    "fig1-values": Mutation("fig1-values", scaled(figures, "speed_ups", 0.3)),
    "fig1-least": Mutation(  # runs that end before their minimum test error
        "fig1-values",
        argument(ln, "gradient_descent", "steps", lambda steps: 7 if steps == 30 else steps),
        retrains=True,
    ),
    "published-cells": Mutation(
        "published-cells", trained(published, test_error=lambda cells: 1.06 * cells["test_error"])
    ),
    "stage-lazy": Mutation("stage-lazy", wrong(timeline, "threshold_of", lambda right: lambda dim, gammas: 0.1 * dim)),
    "alignment-early": Mutation("alignment-early", trained(timeline, defect=along_dims("defect", 0.5))),
    "alignment-rate": Mutation("alignment-rate", scaled(lazy_active, "alignment_defect", 4.0)),
    "alignment-kept": Mutation("alignment-kept", trained(timeline, defect=along_dims("defect", 0.5))),
    "noise-behind": Mutation("alignment-kept", trained(timeline, singular_values=louder_noise)),
    "lazy-values": Mutation("lazy-values", trained(timeline, singular_values=noise_still_from_the_threshold)),
    "early-distance": Mutation("early-distance", threshold_in("self_consistent", 1.5)),
    "second-stage": Mutation("second-stage", wrong(timeline, "SECOND_POWER", lambda right: -right)),
    "projection": Mutation("projection", trained(timeline, rest=lambda networks: 2 * networks["rest"])),
    "alignment-stage": Mutation(  # an equation that stands still
        "alignment-stage",
        wrong(lazy_active, "self_consistent", lambda right: lambda y, a, g, t: np.broadcast_to(a, (len(t), *a.shape))),
    ),
    "final-alignment": Mutation("final-alignment", result(lazy_active, "alignment_defect", np.square)),
    "settling": Mutation(
        "settling",
        wrong(
            ln.problems,
            "low_rank_plus_noise",
            lambda right: lambda dim, **named: right(dim, **named | {"noise_std": 40 / dim}),
        ),
        retrains=True,
    ),
    "settling-time": Mutation("settling-time", scaled(lazy_active, "stage_lengths", 0.5)),
    "thm2-time": Mutation("thm2-time", scaled(lazy_active, "crossing_times", 2.0)),
    "transition": Mutation(
        "transition", trained(timeline, times=lambda networks: networks["times"] ** (30 / networks["dim"]))
    ),
    "lemma-c4": Mutation("lemma-c4", argument(lazy_active, "self_consistent", 3, times(1000))),
    "lemma-c9-sigma": Mutation(
        "lemma-c9-sigma", wrong(alignment, "threshold_of", lambda right: lambda *a: 0.1 * right(*a))
    ),
    "prop-d1-half": Mutation("prop-d1-half", scaled(lazy, "linear_errors", 0.9)),
    "lazy-faster": Mutation("lazy-faster", argument(lazy, "steps_to_learn", 0, lambda share: 0.09 / share)),
    "descent-distance": Mutation(  # a flow that is late
        "descent-distance", argument(ln, "gradient_flow", "times", times(0.9)), retrains=True
    ),
    "independent-groups": Mutation("independent-groups", scaled(lazy_active, "crossing_times", 1.3)),
    "start-aligned": Mutation("start-values", scaled(lazy_active, "alignment_defect", 0.1), quick=True),
    "lemma-f1": Mutation("lemma-f1", scaled(misprints, "descent_bound", 0.1), quick=True),
    "descent-order": Mutation("lemma-f1", threshold_in("self_consistent", 1.01), quick=True),
    "lemma-f2": Mutation("lemma-f2", wrong(descent, "EDGE", lambda right: 0.5), quick=True),
    "eq1": Mutation("eq1", trained(regions, log_distance=lambda cells: cells["log_distance"] + 4)),
    "start": Mutation("start", wrong(ln.inits, "reduced_gaussian", doubled_first_layer), quick=True, retrains=True),
    "start-values": Mutation(
        "start-values",
        wrong(ln.inits, "reduced_gaussian", doubled_first_layer_of_twice_the_width),
        quick=True,
        retrains=True,
    ),
    "all-lazy": Mutation("all-lazy", wrong(ln.inits, "reduced_gaussian", doubled("stds")), quick=True, retrains=True),
    "all-lazy-narrow": Mutation(
        "all-lazy",
        argument(ln.inits, "reduced_gaussian", "stds", lambda std: (0.1 * std, std)),
        quick=True,
        retrains=True,
    ),
    "imbalance-descent": Mutation(
        "imbalance-descent",
        argument(ln, "gradient_descent", "learning_rate", lambda rate: 0.001),
        quick=True,
        retrains=True,
    ),
    "lazy-below": Mutation(
        "lazy-below",
        argument(ln.problems, "low_rank_plus_noise", "spectrum", lambda spectrum: [3 * value for value in spectrum]),
        retrains=True,
    ),
}
