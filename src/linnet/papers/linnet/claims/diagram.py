"""Claims on the phase diagram by formula: against trained networks, published cells, and the equation it solves."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.papers.linnet.networks import beside
from linnet.papers.linnet.printed import compared
from linnet.papers.linnet.settings import PUBLISHED_MEDIAN, PUBLISHED_WORST, STANDARD_ERRORS
from linnet.papers.linnet.tables import cells, dimensions
from linnet.reproduction import AllOf, AtLeast, AtMost, Below, Numbers, Trial, claim
from linnet.reproduction.fits import exponent

WHERE = "docs/phase_diagram_formula.md"


@claim(
    "trained",
    where=WHERE,
    says="Least test error, stable rank and best time of trained networks follow from one SVD.",
    assumes="whitened inputs, Gaussian starts; where the prediction says it is covered",
    tried="25 cells at d = 40, 4 starts each (full: 81 at d = 100, 12 starts), rank 5, unit noise",
    holds=AllOf(
        AtLeast(
            0.9,
            "covered",
            what="share of the plane that is covered",
            form=".0%",
            because="the aim is 99% from d = 60 on; error bars are wider at d = 40, and a coarse grid has 25 cells",
        ),
        AtLeast(
            0.9,
            "within",
            what="share of the cells within twice the error bars of both sides",
            form=".0%",
            because="twice a standard error holds 95%; that of a few starts is widened by Student's factor",
        ),
        AtMost(
            0.7,
            times="one_over_d",
            what="median error of the least test error",
            form=".2%",
            because="networks of one cell differ by about 0.3/d between starts, so half of them are within it",
        ),
        AtMost(
            0.05,
            "ranks",
            what="error of the stable rank that 90% of the cells are within",
            form=".1%",
            because="a few networks differ by this much",
        ),
        AtMost(
            0.1,
            "times",
            what="median error of the best time",
            form=".1%",
            because="the descent's step is 2% of it, and curves are flat there; plateaus have no best time",
        ),
    ),
    reads="{cells} cells at d = {dim}: least test error {value:.2%} off (median), worst {worst:.1%}; {timed} cells "
    "have a best time",
)
def formula_against_training(trial: Trial) -> Numbers:
    from scipy.special import ndtr, stdtrit

    networks = cells.TABLE.results(trial)
    predicted = beside(networks, trial.seed)
    means, errors = {}, {}
    for name in ("best_test", "stable_rank", "best_time"):
        runs = networks[name].transpose(*cells.AXES, "start").values
        means[name] = runs.mean(axis=-1)
        errors[name] = runs.std(axis=-1, ddof=1) / means[name] / np.sqrt(runs.shape[-1])
    covered, dim = predicted["covered"], int(networks["dim"].item())
    error = np.abs(predicted["best_test"] / means["best_test"] - 1)
    # a standard error of few starts is itself uncertain: what holds 95% of a normal law is 3.3 of them for 4 starts
    wider = float(stdtrit(networks.sizes["start"] - 1, ndtr(STANDARD_ERRORS))) / STANDARD_ERRORS
    joint = np.hypot(predicted["error"], wider * errors["best_test"])
    ranks = np.abs(predicted["stable_rank"] / means["stable_rank"] - 1)[covered]
    moments = np.abs(predicted["best_time"] / means["best_time"] - 1)
    moments = moments[covered & np.isfinite(moments)]
    return {
        "value": float(np.median(error[covered])),
        "dim": dim,
        "one_over_d": 1 / dim,
        "covered": float(covered.mean()),
        "cells": int(covered.size),
        "within": float((error <= STANDARD_ERRORS * joint)[covered].mean()),
        "worst": float(error[covered].max()),
        "ranks": float(np.quantile(ranks, 0.9)),
        "times": float(np.median(moments)) if moments.size else np.nan,
        "timed": int(moments.size),
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
    tried="6 cells, d = 16, 32, 64 with 5 tasks each (full: d = 25 .. 400, 2 tasks)",
    holds=AllOf(
        AtMost(
            -0.5,
            "lowest",
            what="exponent of the error in d, two standard errors below it,",
            form=".2f",
            because="fluctuations of a start fall like 1/d; the descent's step does not fall, and flattens the end",
        ),
        Below(
            0, "highest", what="exponent, two standard errors above it,", form=".2f", because="the error falls with d"
        ),
    ),
    reads="root mean square error {errors:.2%}: like d^({value:.2f} ± {uncertainty:.2f})",
)
def error_over_dimensions(trial: Trial) -> Numbers:
    error, dims = dimensions.TABLE.rows(trial), dimensions.TABLE.results(trial)["dim"].values.astype(float)
    typical = np.sqrt((error**2).mean(axis=1))
    rate, uncertainty = exponent(dims, typical)
    shown = {f"d = {dim:.0f}": size for dim, size in zip(dims, typical, strict=True)}
    off = STANDARD_ERRORS * uncertainty
    ends = {"lowest": rate - off, "highest": rate + off}
    return {"value": rate, "uncertainty": uncertainty, **ends, "dims": dims, "typical": typical, "errors": shown}
