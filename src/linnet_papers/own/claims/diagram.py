"""Claims on the phase diagram by formula: against trained networks, published cells, and the equation it solves."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.own.predictions import published_and_predicted
from linnet_papers.own.settings import PUBLISHED_MEDIAN, PUBLISHED_WORST, STANDARD_ERRORS, WRONG
from linnet_papers.own.tables import cells, dimensions
from linnet_papers.reproduction import AllOf, AtLeast, AtMost, Below, Estimate, Numbers, Trial, claim
from linnet_papers.reproduction.fits import exponent


@claim(
    "trained",
    says="Least test error, stable rank and best time of trained networks follow from one SVD, and the error bars that "
    "are told hold.",
    assumes="whitened inputs, Gaussian starts of any width and variance; where the prediction says it is covered",
    tried="72 random cells of the plane: 6 tasks of 16 to 24 inputs and outputs, square and not, ranks 1 to 6, spectra "
    "that are nearly equal, 1/i and 0.6^i, noise 0.3 to 3; 60 starts of networks of up to six units, 24 to 16 of "
    "others "
    "(full: 540 cells, 9 tasks of 60 to 200 inputs and outputs, ranks to 10; 48 and 24 starts, 8 of wide networks)",
    holds=AllOf(
        AtLeast(
            0.95,
            "covered",
            what="share of the cells that are covered",
            form=".0%",
            because="the aim is 99% from d = 60 on; error bars are wider below, and one cell is 1.4%",
        ),
        AtLeast(
            0.9,
            "within",
            what="share of the covered cells whose least test error is within twice the error bars of both sides",
            form=".0%",
            because="twice a standard error holds 95%, and chance takes off two cells more in one trial of forty",
        ),
        AtLeast(
            0.65,
            "within_one",
            what="share of these within the error bars themselves",
            form=".0%",
            because="a standard error holds 68%: bars three times too small hold fewer",
        ),
        AtMost(
            1.1,
            "factor",
            what="factor of the bars that makes the deviations most likely",
            form=".2f",
            because="bars may be too long, as those of few starts are, but not too short: the factor is 0.4 to 0.9 "
            "from seed to seed, and three times that for bars three times too short",
        ),
        AtMost(
            0,
            "beyond",
            what="number of covered cells off by more than 5% and by more than three times the bars",
            form=".0f",
            because="none is allowed: one cell in 400 is beyond three standard errors by chance",
        ),
        AtMost(
            0.05,
            "ranks",
            what="error of the stable rank that 90% of the covered cells are within",
            form=".1%",
            because="the mean of a few networks differs by this much",
        ),
        AtMost(
            0.05,
            "times",
            what="median error of the best time",
            form=".1%",
            because="curves are flat there: a test error 0.1% above the least one is met 3 to 10% earlier",
        ),
        AtLeast(
            0.9,
            "timed_within",
            what="share of the best times within twice their error bars",
            form=".0%",
            because="the same rule as that of the test error",
        ),
    ),
    reads="{cells} cells, {tasks} tasks: least test error {value:.2%} off (median), worst {worst:.1%}, bars of "
    "{bar:.2%} (median), {beyond_two} cells beyond 5% and twice the bars; {timed} covered cells have a best time; "
    "{unfinished} cells have a run that did not end by itself",
)
def formula_against_training(trial: Trial) -> Numbers:
    comparison = cells.TABLE.rows(trial)
    covered = comparison.covered
    error = {name: np.abs(off) for name, off in comparison.off.items()}
    test = error["min_test_loss"]
    timed = covered & np.isfinite(error["best_time"])
    beyond = [((test > bars * comparison.bars["min_test_loss"]) & (test > WRONG) & covered).sum() for bars in (2, 3)]
    return {
        "value": np.median(test[covered]),
        "cells": covered.size,
        "tasks": len(covered),
        "covered": covered.mean(),
        "within": comparison.within("min_test_loss").mean(),
        "within_one": comparison.within("min_test_loss", bars=1).mean(),
        "factor": comparison.likeliest_bar_factor(),
        "beyond": beyond[1],
        "beyond_two": beyond[0],
        "worst": test[covered].max(),
        "bar": np.median(comparison.told[covered]),
        "ranks": np.quantile(error["stable_rank"][covered], 0.9),
        "times": np.median(error["best_time"][timed]) if timed.any() else np.nan,
        "timed_within": comparison.within("best_time").mean() if timed.any() else np.nan,
        "timed": timed.sum(),
        "unfinished": (~comparison.ended).sum(),
    }


@claim(
    "printed",
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
    published = published_and_predicted(8 if trial.quick else 24, trial.seed)
    mean = published["predicted"].mean("task")
    error = np.abs((mean / published["test_error"] - 1).values)
    spread = (published["predicted"].std("task", ddof=1) / mean).values
    deviation = spread / np.sqrt(published.sizes["task"])
    return {
        "value": np.median(error),
        "worst": error.max(),
        "beyond": (error - STANDARD_ERRORS * deviation).max(),
        "spread": np.median(spread),
        "cells": error.size,
        "tasks": published.sizes["task"],
    }


@claim(
    "one-equation",
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
    draw = generator(trial.seed)
    worst = 0.0
    times = np.array([0.05, 0.4, 2.0, 15.0])
    for shape in ((5, 5), (4, 7), (8, 3), (12, 12)):
        target = draw.normal(size=shape)
        left, values, right = np.linalg.svd(target, full_matrices=False)
        for g in (1e-2, 0.3, 4.0, 50.0):
            modes = ln.theories.spectral_bias.singular_values(values, g, times)
            theorem = (left * modes[:, None, :]) @ right
            equation = ln.theories.lazy_active.self_consistent(target, np.zeros(shape), g, times)
            worst = max(worst, np.abs(theorem - equation).max() / values[0])
    return {"value": worst}


@claim(
    "dimensions",
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
    reads="root mean square error {errors:.2%}: like d^({rate:.2f})",
)
def error_over_dimensions(trial: Trial) -> Numbers:
    typical = {dim: np.sqrt((errors**2).mean()) for dim, errors in dimensions.TABLE.rows(trial).items()}
    rate, uncertainty = exponent(list(typical), list(typical.values()))
    return {
        "rate": Estimate(rate, uncertainty),
        "lowest": rate - STANDARD_ERRORS * uncertainty,
        "highest": rate + STANDARD_ERRORS * uncertainty,
        "errors": {f"d = {dim}": error for dim, error in typical.items()},
    }
