"""Claims on the phase diagram by formula: against trained networks, published cells, and the equation it solves."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.papers.linnet.networks import beside
from linnet.papers.linnet.printed import compared
from linnet.papers.linnet.settings import PUBLISHED_MEDIAN, PUBLISHED_WORST, STANDARD_ERRORS
from linnet.papers.linnet.tables import cells, dimensions
from linnet.reproduction import AllOf, AtLeast, AtMost, Numbers, Trial, claim
from linnet.reproduction.fits import exponent

WHERE = "docs/phase_diagram_formula.md"


@claim(
    "trained",
    where=WHERE,
    says="Least test error and stable rank of trained networks follow from one SVD, at any variance and width.",
    assumes="whitened inputs, Gaussian starts; where the prediction says it is covered",
    tried="25 cells at d = 40 (full: 81 at d = 100), one network each, rank 5, unit noise",
    holds=AllOf(
        AtLeast(
            0.85,
            "covered",
            what="share of the plane that is covered",
            form=".0%",
            because="the aim is 90% of the plane; a coarse grid of 25 cells can miss that by one cell",
        ),
        AtMost(
            0.7,
            times="one_over_d",
            what="median error of the least test error",
            form=".2%",
            because="networks of one cell differ by about 0.3/d between starts, so half of them are within it",
        ),
        AtMost(
            4.0,
            "ninth",
            times="one_over_d",
            what="error that 90% of the cells are within",
            form=".1%",
            because="4% at d = 100; narrow networks differ by that much between starts",
        ),
    ),
    reads="{cells} cells at d = {dim}: least test error {value:.2%} off (median), worst {worst:.1%}; stable rank "
    "{ranks:.2%} off (median)",
)
def formula_against_training(trial: Trial) -> Numbers:
    networks = cells.TABLE.results(trial)
    predicted = beside(networks, trial.seed)
    trained = {name: networks[name].transpose(*cells.AXES).values for name in ("best_test", "stable_rank")}
    covered, dim = predicted["covered"], int(networks["dim"].item())
    error = np.abs(predicted["best_test"] / trained["best_test"] - 1)[covered]
    ranks = np.abs(predicted["stable_rank"] / trained["stable_rank"] - 1)[covered]
    return {
        "value": float(np.median(error)),
        "dim": dim,
        "one_over_d": 1 / dim,
        "covered": float(covered.mean()),
        "cells": int(covered.size),
        "ninth": float(np.quantile(error, 0.9)),
        "worst": float(error.max()),
        "ranks": float(np.median(ranks)),
    }


@claim(
    "printed",
    where=WHERE,
    says="The published cells of the phase diagram are where the formula says.",
    assumes="tasks of the published kind: rank 5, unit noise, d = 200",
    tried="300 published cells, each at its published stopping step; 8 (full: 24) tasks of our own",
    holds=AllOf(
        AtMost(PUBLISHED_MEDIAN, what="median error of the test error", form=".2%"),
        AtMost(
            PUBLISHED_WORST,
            "beyond",
            what=f"largest error, less {STANDARD_ERRORS} standard errors of our mean over tasks,",
            form=".1%",
        ),
    ),
    reads="{cells} published cells at their published stopping step, mean of {tasks} tasks: test error {value:.2%} off "
    "(median), worst {worst:.1%}; one task differs from another by {spread:.2%}",
)
def formula_against_published_cells(trial: Trial) -> Numbers:
    found = compared(8 if trial.quick else 24, trial.seed)
    error = np.abs((found["predicted"].mean("task") / found["test_error"] - 1).values)
    spread = (found["predicted"].std("task", ddof=1) / found["predicted"].mean("task")).values
    deviation = spread / np.sqrt(found.sizes["task"])
    return {
        "value": float(np.median(error)),
        "deviation": float(np.median(deviation)),
        "worst": float(error.max()),
        "beyond": float((error - STANDARD_ERRORS * deviation).max()),
        "spread": float(np.median(spread)),
        "cells": int(error.size),
        "tasks": int(found.sizes["task"]),
    }


@claim(
    "one-equation",
    where=WHERE,
    says="Theorem C.12 of Varre et al. solves eq. (1) of Tu et al. from zero, with gamma = sigma^2 w.",
    assumes="whitened inputs, zero start",
    tried="random targets of four shapes, four thresholds, four times",
    holds=AtMost(
        1e-10,
        what="largest difference",
        form=".1e",
        because="rounding of two closed forms of condition 1e3, 100 times the largest seen",
    ),
    reads="products by the theorem and by the equation, four shapes, four thresholds, in units of the largest singular "
    "value",
)
def theorem_against_equation(trial: Trial) -> Numbers:
    draw, worst = generator(trial.seed), 0.0
    times = np.array([0.05, 0.4, 2.0, 15.0])
    for shape in ((5, 5), (4, 7), (8, 3), (12, 12)):
        target = draw.normal(size=shape)
        left, values, right = np.linalg.svd(target, full_matrices=False)
        for g in (1e-2, 0.3, 4.0, 50.0):
            modes = ln.theories.spectral_bias.singular_values(values, g, times)
            theorem = (left * modes[:, None, :]) @ right
            equation = ln.theories.mixed.self_consistent(target, np.zeros(shape), g, times)
            worst = max(worst, float(np.abs(theorem - equation).max() / values[0]))
    return {"value": worst}


@claim(
    "dimensions",
    where=WHERE,
    says="The error of the formula vanishes as the dimension grows.",
    assumes="cells wider than their inputs",
    tried="6 cells, d = 16, 32, 64 with 2 tasks each (full: d = 25 .. 400, 2 tasks)",
    holds=AtMost(
        -0.5,
        what="exponent of the error in d",
        form=".2f",
        because="fluctuations of a start fall like 1/d; the descent's step does not fall, and flattens the end",
    ),
    reads="root mean square error {errors:.2%}: like d^({value:.2f} ± {uncertainty:.2f})",
)
def error_over_dimensions(trial: Trial) -> Numbers:
    error, dims = dimensions.TABLE.rows(trial), dimensions.TABLE.results(trial)["dim"].values.astype(float)
    typical = np.sqrt((error**2).mean(axis=1))
    rate, uncertainty = exponent(dims, typical)
    shown = {f"d = {dim:.0f}": size for dim, size in zip(dims, typical, strict=True)}
    return {"value": rate, "uncertainty": uncertainty, "dims": dims, "typical": typical, "errors": shown}
