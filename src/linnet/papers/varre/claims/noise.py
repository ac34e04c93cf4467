"""Proposition 4.1(a) and (c): mean squares and commutators of the process driven by noise alone, sampled to t = 6."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.papers.varre import misprints
from linnet.papers.varre.networks import volumes
from linnet.papers.varre.settings import AT, CLEAR, DIMS, ERRORS, EULER, NOISE, NOISE_ALONE, TIMES
from linnet.papers.varre.tables import growth, noise
from linnet.reproduction import Above, AllOf, AtMost, Below, Estimate, Limit, Numbers, Trial, Verdict, Within, claim
from linnet.reproduction.fits import highest, lowest

SEVERAL = [dim for dim in DIMS if dim > 1]  # one input has no commutator
TRIED = f"{NOISE_ALONE}, d = 2, 3, 5"
TILTED = TRIED.replace("a = 0", "a of unit length")
# neither zero nor the limit derived for d = 2 would say that the sample or the derivation is wrong, not the claim
LIMIT_2D = Limit(0.02, "the mean area at t = 3 is that close to its limit, and Euler's scheme adds 1%")
GROWS = Limit(0, "a positive rate makes every mean power diverge")


@claim(
    "proposition-4.1a",
    where="Proposition 4.1(a)",
    says="Under noise alone the mean squares of both layers grow without bound, like e^(sqrt(d) t).",
    assumes="no drift, unit noise",
    tried=TRIED,
    holds=AllOf(
        Below(ERRORS, what="distance of the sampled mean squares from the scheme's own, in errors", form=".1f"),
        Below(EULER, "bias", times="step", what="distance of those from the exact ones", form=".1%"),
    ),
    reads="mean squares at t = 1; at t = 6 sampled over exact is, by d, {late:.2g}; one path in 1000 carries "
    "{heavy:.0%} or more of it",
)
def moments(trial: Trial) -> Numbers:
    """Sampled mean squares against Euler's own recursion and the exact ones, where sampling can see them."""
    from linnet.theories import noise as theory
    from linnet.trainers.sde import step_sizes

    away, bias, late, heavy = [], [], {}, []
    _, step = NOISE[trial.quick]
    sizes, ends = step_sizes(TIMES, step)
    end, rows = ends[AT[0]], noise.TABLE.rows(trial)
    for dim in SEVERAL:
        paths = rows[dim, "zero"]
        euler = theory.euler_second_moments(dim, 0.0, sizes, in_dim=dim)
        exact = theory.second_moments(dim, 0.0, [1.0, 6.0], in_dim=dim)
        for layer, moment in (("first_square", euler[0]), ("second_square", euler[1])):
            mean, error = noise.sampled(paths, layer, 1.0)
            away.append(abs(mean - moment[end]) / error)
        bias.append(abs(euler[0][end] / exact[0][0] - 1))
        late[dim] = noise.sampled(paths, "first_square", 6.0).value / exact[0][1]
        heavy.append(float(paths["largest_share"].sel(moment=6.0)))
    return {"value": highest(away), "bias": highest(bias), "step": step, "late": late, "heavy": lowest(heavy)}


@claim(
    "proposition-4.1c",
    where="Proposition 4.1(c)",
    says="The mean size of the commutator of a row of the first layer with the second layer tends to zero; from a = 0 "
    "it is 0.",
    assumes="no drift",
    tried=TRIED,
    holds=AtMost(CLEAR, "above", what="standard errors of the mean size above the printed one", form=".0f"),
    refuted=AllOf(
        Above(CLEAR, "above", what="least standard errors above it", form=".0f"),
        Within(LIMIT_2D, of="limit", errors=ERRORS, what="mean at d = 2", form=".3f", then="the limit derived for it"),
    ),
    expected=Verdict.REFUTED,
    reads="mean size at t = 3 by d: {areas:.3f}; medians at t = 1 and 6: {medians:.2f}; rates of typical areas in the "
    "limit: {area_rates:+.3f}",
)
def commutator(trial: Trial) -> Numbers:
    from linnet.theories import noise as theory

    rows, rates = noise.TABLE.rows(trial), growth.TABLE.rows(trial)
    areas = {dim: noise.sampled(rows[dim, "zero"], "area", 3.0) for dim in SEVERAL}
    printed = misprints.commutator_mean(0.0, 3.0)
    return {
        **rates,
        "value": areas[2].value,
        "uncertainty": areas[2].error,
        "areas": areas,
        "medians": {dim: rows[dim, "zero"]["area_median"].sel(moment=[1.0, 6.0]).values.tolist() for dim in SEVERAL},
        "limit": theory.commutator_mean_limit(),
        "printed": printed,
        "above": {f"d = {dim}": (area.value - printed) / area.error for dim, area in areas.items()},
        "area_rates": {dim: rates["length"][dim].value + rates["second"][dim].value for dim in rates["length"]},
    }


@claim(
    "proposition-4.1c-rate",
    where="Proposition 4.1(c), its proof",
    says="The mean size of the commutator decays as e^-t from any start.",
    assumes="no drift",
    tried=TILTED,
    holds=AtMost(CLEAR, what="least standard errors above e^-3", form=".0f"),
    expected=Verdict.REFUTED,
    reads="mean size of [w_1, a] at t = 3 over its start, by d: {shares:.2f}; e^-3 = {printed:.3f}",
)
def size_rate(trial: Trial) -> Numbers:
    """The printed decay e^-t of the mean size, from starts at which it is not zero."""
    rows, shares = noise.TABLE.rows(trial), {}
    for dim in SEVERAL:
        paths = rows[dim, "tilted"]
        start = float(paths["area_start"])
        shares[dim] = Estimate(*(number / start for number in noise.sampled(paths, "area", 3.0)))
    printed = misprints.commutator_mean(1.0, 3.0)
    above = [(share.value - printed) / share.error for share in shares.values()]
    return {"value": lowest(above), "shares": shares, "printed": printed}


@claim(
    "signed-commutator",
    where="Proposition 4.1(c), its proof",
    says="The mean of the commutator itself, with its signs, is that of the start times e^-t.",
    assumes="no drift",
    tried=f"{TILTED}, at t = 1",
    holds=Below(ERRORS, what="largest distance from e^-1 in standard errors", form=".1f"),
    reads="mean of [w_1, a] along its start at t = 1, over its start, by d: {shares:.3f}; e^-1 = 0.368",
)
def signed_commutator(trial: Trial) -> Numbers:
    """The mean of [w_1, a] itself, along its start, over its start; at t = 1, where sampling still sees it."""
    rows = noise.TABLE.rows(trial)
    shares = {dim: noise.sampled(rows[dim, "tilted"], "signed", 1.0) for dim in SEVERAL}
    return {"value": highest(abs(mean - np.exp(-1.0)) / error for mean, error in shares.values()), "shares": shares}


@claim(
    "any-diagonal",
    where="Appendix D",
    says="The results extend to noise of unequal scales, any diagonal matrix D for the identity.",
    assumes="no drift; (a), (b), and the signed form of (c)",
    tried="D = diag(1.5, 1.2, 1, 0.6, 0.4) and diag(1, 0.3, 0.3, 0.3, 0.3); Euler-Maruyama to t = 1/2, growth of "
    "lengths from t = 4 to 24",
    holds=AllOf(
        Below(ERRORS, what="distance of mean squares and signed commutators from their equations, in errors"),
        Above(0, "exponent", what="rate of the mean squares, sqrt(tr D^4)", because="(a) says that they explode"),
        Above(GROWS, "growth", errors=ERRORS, what="least rate of ln|w|", form="+.3f"),
    ),
    reads="signed commutators and mean squares of D = diag(1.5, 1.2, 1, 0.6, 0.4) at t = 1/2; growth of ln|w|: "
    "{growth:+.3f}",
)
def any_diagonal(trial: Trial) -> Numbers:
    """Noise of unequal scales D: mean squares and signed commutators at t = 1/2, and the growth of lengths."""
    scales = np.array([1.5, 1.2, 1.0, 0.6, 0.4])
    time, steps = 0.5, 100 if trial.quick else 400
    seen = volumes.sampled_moments(scales, trial.seed, paths=20_000 if trial.quick else 80_000, steps=steps, time=time)
    step, squares = time / steps, np.concatenate([np.full(5, 1.0), [1.0]])  # of the rows of W, and of a
    matrix = np.zeros((6, 6))
    matrix[:5, 5] = 5 * scales**2 / 5  # d E|z_i|^2 = D_i^2 E|a|^2, d E|a|^2 = sum of D_i^2 E|z_i|^2
    matrix[5, :5] = scales**2
    power = np.linalg.matrix_power(np.eye(6) + step * matrix, steps)
    mean_square = float((power @ squares)[:5].sum())
    decay = (1 - step * scales**2) ** steps  # of Euler's scheme, for e^(-D_i^2 t)
    sample, root = seen["first_square"], np.sqrt(seen["first_square"].size)
    away = [(sample.mean() - mean_square) / (sample.std() / root)]
    away += [(row.mean() - share) / (row.std() / root) for row, share in zip(seen["signed"], decay, strict=True)]
    # the proof's drift is tr(D^2) - 2 max(D^2): positive for the first of these, negative for the second
    options: dict[str, Any] = {"paths": 1000 if trial.quick else 8000, "step": 0.04, "time": 24.0}
    rates = {"D from 1.5 to 0.4": scales, "D = diag(1, 0.3, ...)": np.array([1.0, 0.3, 0.3, 0.3, 0.3])}
    grown = {name: volumes.growth(each, trial.seed, **options) for name, each in rates.items()}
    return {
        "value": highest(np.abs(away)),
        "exponent": float(np.linalg.eigvalsh(matrix).max()),
        "growth": {name: Estimate(one["length"], one["length_error"]) for name, one in grown.items()},
    }
