"""Claims on the phase diagram: Theorem 2, its borders, and what it costs to learn well."""

from __future__ import annotations

import numpy as np

from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Above,
    AllOf,
    AtLeast,
    Below,
    Estimate,
    Limit,
    Numbers,
    Trial,
    Verdict,
    Within,
    claim,
)
from linnet_papers.reproduction.datasets import by_label
from linnet_papers.reproduction.fits import exponent, highest, rank_correlation
from linnet_papers.tu.settings import ERRORS, GAMMAS
from linnet_papers.tu.tables import active_region, border, regions

SMALL = Limit(0.5, "of the noise's power: an error above half of it has not learned the signal from the noise")
CELLS = "cells of the phase diagram at d = 30 (full: 100), rank 3, 3 tasks (full: 8), descent with c = 50"
REGION = "gamma_w > 1, 2 gamma_sigma2 + gamma_w < 0"


@claim(
    "thm2-lazy",
    says="In the lazy region the test error never falls below a third of min(|A*|^2, |E|^2).",
    assumes=f"{REGION}, gamma_sigma2 + gamma_w > 1",
    tried=f"{CELLS}; (gamma_sigma2, gamma_w) = {', '.join(map(str, regions.LAZY))}, up to the border",
    holds=AtLeast(
        1 / 3, what="least test error over min(|A*|^2, |E|^2)/d^2", because="the constant of Proposition D.1"
    ),
    reads="least test error over any run and task of the lazy region: {value:.3f} of min(|A*|^2, |E|^2)/d^2, median "
    "{median:.3f}; d = {dim}, descent",
)
def lazy_bound(trial: Trial) -> Numbers:
    lazy = regions.TABLE.rows(trial)["lazy"]
    share = lazy.min_test_loss / np.minimum(lazy.signal, lazy.noise)
    return {
        "dim": lazy.dim.item(),
        "median": share.median(skipna=False).item(),
        "value": share.min(skipna=False).item(),
    }


@claim(
    "thm2-active",
    says="In the active region the test error at T* is O(sigma^4 w + (sigma^2 w log d/d)^2 + d^-1/2 + sigma^2 w/d), "
    "which vanishes as d grows.",
    assumes=f"{REGION}, gamma_sigma2 + gamma_w < 1, d large; T* corrected, leading order",
    tried="descent at d = 30, 100 (full: 50 .. 400), gamma = (-1.85, 2.25), spectra (1), (1, 1), (1, 1/2), 2 tasks "
    "each (full: 3)",
    holds=AllOf(
        Below(SMALL, what="largest test error at T* over the noise, at the largest d"),
        Below(
            0.0,
            "change",
            what="change of the test error at T* from the least to the largest d",
            because="a bound that vanishes falls",
        ),
    ),
    refuted=AtLeast(
        SMALL,
        "least",
        what="largest of the least test errors of any run over the noise, at the largest d",
        otherwise="these networks do learn before T*, so it is d that is too small for that time, by which the lazy "
        "modes have learned the noise",
    ),
    expected=Verdict.OUTSIDE,
    reads="test error over the noise at T*: {ends:.3f}; at the largest d at its least {leasts:.3f}, and at T* without "
    "the term for the alignment {shorts:.3f}; over the sum of the bound's terms the error at T* changes like "
    "d^{growth:.2f}",
)
def error_at_the_end(trial: Trial) -> Numbers:
    means = active_region.TABLE.rows(trial).mean("seed", skipna=False)
    dims = means["dim"].values.tolist()
    largest = means.isel(dim=-1)
    terms = [sum(lazy_active.error_terms(*GAMMAS, dim=dim).values()) for dim in dims]
    growth = [exponent(dims, errors / terms)[0] for errors in means.end.values.T]
    return {
        "ends": by_label(means.end, "a = {spectrum}, d = {dim}"),
        "leasts": by_label(largest.least, "a = {spectrum}"),
        "shorts": by_label(largest.short, "a = {spectrum}"),
        "change": by_label(largest.end - means.end.isel(dim=0), "a = {spectrum}"),
        "growth": highest(growth),
        "least": largest.least.max(skipna=False).item(),
        "value": largest.end.max(skipna=False).item(),
    }


@claim(
    "border",
    says="Training is lazy above sigma^2 w ~ |B|_op: gamma_sigma2 + gamma_w = 1 for low rank, 1/2 for full rank.",
    assumes="w >> d",
    tried="descent at w = d^3, d = 16, 48 (full: 20 .. 160), 5 targets, 13 thresholds",
    holds=AllOf(
        Within(
            0.25,
            "slopes",
            of="claimed",
            what="exponent in d of the border",
            because="of a power of d, between dimensions a factor of three apart",
        ),
        Below(
            2.0,
            what="largest over least share of |B| at which training turns lazy",
            because="|B| alone decides: targets of both kinds turn lazy at the same share of it, to a factor",
        ),
    ),
    reads=f"sigma^2 w over |B| where the leading mode is {border.PREFERRED} times as far as the median one when half "
    "is learned, d = {dims:.0f}: {shares:.3f}; sigma^2 w grows like d to the power {slopes:.2f}",
)
def lazy_boundary(trial: Trial) -> Numbers:
    borders = border.TABLE.rows(trial)
    shares = borders.share.mean("seed", skipna=False)
    return {
        "dims": borders["dim"].values,
        "shares": dict(zip(border.TARGETS, shares.values, strict=True)),
        "slopes": by_label(borders.growth, "{target}"),
        "claimed": border.TARGETS,
        "value": shares.values.max() / shares.values.min(),
    }


@claim(
    "tradeoff",
    says="Deeper in the active region the test error is smaller and training takes longer.",
    assumes="active region",
    tried=CELLS,
    holds=AllOf(
        Above(
            0.9,
            what="rank correlation of iterations with depth",
            because="rank correlation over five depths, mean of the tasks",
        ),
        Below(
            -0.5,
            "falls",
            what="rank correlation of test error with depth",
            because="the gain ends deep inside the region, where the order of equal errors is chance",
        ),
    ),
    reads="at w = d^2, gamma_sigma2 from {ends.first} to {ends.last}: least test error {tests:.3f}, iterations "
    "{steps:.0f}",
)
def error_against_time(trial: Trial) -> Numbers:
    deep = regions.TABLE.rows(trial)["depths"].isel(case=slice(None, None, -1))
    medians = deep.median("replicate", skipna=False)
    depths = -deep.gamma_variance.values
    falls, rises = (
        np.mean([rank_correlation(depths, column) for column in values.T])
        for values in (deep.min_test_loss.values, deep.best_step.values)
    )
    return {
        "ends": -depths,
        "tests": medians.min_test_loss.values,
        "steps": medians.best_step.values,
        "falls": falls,
        "value": rises,
    }


@claim(
    "narrow",
    says="Good generalization is seen for widths below d, down to w near the rank of A*.",
    assumes="none proved",
    tried=CELLS + "; every error over that of the same task at w = d^2",
    holds=AllOf(
        Below(
            1.5,
            "allowed",
            what="largest mean error from w = K on over that at w = d^2, less two standard errors",
            because="'good generalization': no more than half as much again as a wide network's error",
        ),
        Above(
            1.0,
            "below_rank",
            what="error at w = 2, below the rank, over that at w = 6",
            because="fewer units than the rank cannot do it",
        ),
    ),
    reads="least test error over that of the same task at w = d^2 (d = {dim}, rank {rank}), mean over the tasks by "
    "width: {ratios:.2f}; at w = d {square:.2f}. At w = K the worst task has {worst:.2f}",
)
def narrow_networks(trial: Trial) -> Numbers:
    rows = regions.TABLE.rows(trial)
    shares, square = (
        rows[group].min_test_loss.values / rows["wide"].min_test_loss.values[1] for group in ("narrow", "wide")
    )
    estimates = [Estimate.of_mean(own) for own in shares]
    return {
        "dim": rows["narrow"].dim.item(),
        "rank": regions.RANK,
        "ratios": dict(zip(map(str, regions.NARROW), estimates, strict=True)),
        "below_rank": (shares[0] / shares[3]).mean(),
        "square": square[0].mean(),
        "worst": shares[1].max(),
        "allowed": highest(value - ERRORS * error for value, error in estimates[1:]),
    }
