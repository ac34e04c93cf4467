"""Proposition 4.1(a) and (c): mean squares and commutators of the process driven by noise alone, sampled to t = 6."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.reproduction.rows import Estimate, Verdict, above, below, fact, printed, refutes, within
from linnet_papers.varre import misprints
from linnet_papers.varre.grids import growth, noise
from linnet_papers.varre.settings import (
    CLEARLY,
    DIMS,
    ERRORS,
    EULER,
    EULER_STEPS,
    FEW_ERRORS,
    MOMENTS,
    NOISE,
    NOISE_ALONE,
    NOT_CLEARLY,
    SCHEME,
)
from linnet_papers.varre.training import noise_process, volumes

without_drift = partial(claim, assumes="no drift")
SEVERAL = {f"$d = {dim}$": dim for dim in DIMS}
TRIED = f"{NOISE_ALONE}, $d = {', '.join(map(str, SEVERAL.values()))}$"
TILTED = TRIED.replace("$a = 0$", "$a$ of unit length")
GROWS = above(0, "a positive rate makes every mean power diverge", errors=ERRORS)
DECAYS = below(0, "with a negative exponent the last direction of the weights decays", errors=ERRORS)


@claim(
    "proposition-4.1a",
    says=r"Under noise alone the mean squares of both layers grow without bound, like $e^{\sqrt{d} t}$.",
    assumes="no drift, unit noise",
    tried=TRIED,
)
def moments(trial: Trial) -> Rows:
    """Sampled mean squares against Euler's own recursion and the exact ones, where sampling can see them."""
    from linnet.theories import noise_process as theory
    from linnet.trainers.sde import step_sizes

    _, step = NOISE[trial.quick]
    sizes, (end, *_) = step_sizes(MOMENTS, step)
    rows = noise.paths(trial)

    def compare_moments(dim: int) -> dict[str, float]:
        """Return how far the sampled mean squares of one dimension are from both recursions."""
        paths = rows[dim, "zero"]
        euler = theory.euler_second_moments(dim, 0.0, sizes, in_dim=dim)
        exact = theory.second_moments(dim, 0.0, [1.0, 6.0], in_dim=dim)
        layers = zip(("first_square", "second_square"), euler, strict=True)
        away = [abs(noise.sampled_mean(paths, layer, 1.0).errors_above(moment[end])) for layer, moment in layers]
        return {
            "away": highest(away),
            "bias": abs(euler[0][end] / exact[0][0] - 1),
            "late": noise.sampled_mean(paths, "first_square", 6.0).value / exact[0][1],
            "heavy": float(paths["largest_share"].sel(moment=6.0)),
        }

    found = by_name({name: compare_moments(dim) for name, dim in SEVERAL.items()})
    by_step = below(EULER_STEPS * step, EULER)
    yield printed(
        "distance of the sampled mean squares from Euler's own, in standard errors", found["away"], FEW_ERRORS
    )
    yield printed("relative distance of Euler's own from the exact ones", found["bias"], by_step)
    yield fact("sampled mean square over the exact one at $t = 6$", found["late"])
    yield fact("fraction of the mean square that one path in 1000 carries at $t = 6$", found["heavy"])


def _means_by_dim(trial: Trial, name: str, moment: float, start: str = "zero") -> dict[str, Estimate]:
    """Return the mean of that name over the paths at one time, by the number of inputs."""
    rows = noise.paths(trial)
    return {several: noise.sampled_mean(rows[dim, start], name, moment) for several, dim in SEVERAL.items()}


def _median_areas(trial: Trial) -> dict[str, np.ndarray]:
    """Return the median size of [w_1, a] at t = 1 and 6, by the number of inputs."""
    rows = noise.paths(trial)
    return {name: rows[dim, "zero"]["area_median"].sel(moment=[1.0, 6.0]).values for name, dim in SEVERAL.items()}


# neither zero nor the limit derived for d = 2 would say that the sample or the derivation is wrong, not the claim
NEAR_LIMIT = partial(
    within, 0.02, "the mean area at $t = 3$ is that close to its limit, and Euler's scheme adds 1%", errors=ERRORS
)
SEEN = above(5, "an entry is never negative; at $d = 5$ a few paths carry much of its mean, and of its error")


@without_drift(
    "proposition-4.1c",
    says="The mean size of the commutator of a row of the first layer with the second layer tends to "
    "zero; from $a = 0$ it is 0.",
    tried=TRIED,
    expected=Verdict.REFUTED,
)
def commutator(trial: Trial) -> Rows:
    from linnet.theories import noise_process as theory

    rates = growth.rates(trial)
    moments = (3.0, 12.0)
    areas, entries = (_means_by_dim(trial, name, 3.0) for name in ("area", "entry"))
    late = noise_process.weighted_areas(
        trial.seed, times=moments, step=0.02 if trial.quick else 0.01, paths=8000 if trial.quick else 40_000
    )
    claimed = misprints.commutator_mean(0.0, 3.0)
    limit = theory.commutator_mean_limit()
    # two inputs have the heaviest tail: there one path may carry the error of the plain mean, not of the weighted one
    beyond = {dim: area.errors_above(claimed) for dim, area in (areas | {"$d = 2$, weighted": late[0]}).items()}
    del beyond["$d = 2$"]
    yield printed("standard errors of the mean size at $t = 3$ above the printed one", beyond, NOT_CLEARLY)
    yield refutes("the same, to refute it", beyond, CLEARLY)
    of_entry = {dim: entry.errors_above(claimed) for dim, entry in entries.items()}
    yield refutes("standard errors of the mean size of one entry above it, as in the proof", of_entry, SEEN)
    weighted = {f"$t = {at:g}$": mean for at, mean in zip(moments, late, strict=True)}
    words = r"mean size at $d = 2$, weighted by $\det W$, compared with the limit derived for it"
    yield refutes(words, weighted, NEAR_LIMIT(of=limit))
    yield fact("mean size at $t = 3$", areas)
    yield fact("mean size of one entry at $t = 3$", entries)
    yield fact("median size at $t = 6$", {name: one[1] for name, one in _median_areas(trial).items()})
    typical = {dim: rates["length"][dim].value + rates["second"][dim].value for dim in rates["length"]}
    yield fact("rate of typical sizes in the limit", typical)


@without_drift(
    "commutator-falls",
    says="In runs with two inputs the commutator of a row of the first layer with the second layer falls.",
    tried=f"{NOISE_ALONE}, $d = 2$",
)
def typical_commutator(trial: Trial) -> Rows:
    medians = _median_areas(trial)["$d = 2$"]
    fallen = below(0.5, "a fall that is seen in most runs: the exponent of the area, -0.237, makes it 0.31")
    yield printed("median size of $[w_1, a]$ at $t = 6$ over that at $t = 1$", medians[1] / medians[0], fallen)
    yield fact("median size of $[w_1, a]$ at $t = 1$ and 6", medians)


@without_drift(
    "proposition-4.1c-rate",
    says="The mean size of the commutator decays as $e^{-t}$ from any initialization.",
    tried=TILTED,
    expected=Verdict.REFUTED,
)
def size_rate(trial: Trial) -> Rows:
    """The printed decay e^-t of the mean size, from starts at which it is not zero."""
    rows = noise.paths(trial)
    claimed = misprints.commutator_mean(1.0, 3.0)
    starts = {name: float(rows[dim, "tilted"]["area_start"]) for name, dim in SEVERAL.items()}
    areas = _means_by_dim(trial, "area", 3.0, "tilted")
    shares = {name: Estimate(*(number / starts[name] for number in area)) for name, area in areas.items()}
    beyond = lowest(share.errors_above(claimed) for share in shares.values())
    yield printed("smallest number of standard errors above $e^{-3}$", beyond, NOT_CLEARLY)
    yield fact("mean size of $[w_1, a]$ at $t = 3$ over that at $t = 0$, where $e^{-3} = 0.05$ is printed", shares)


@without_drift(
    "signed-commutator",
    says="The mean of the commutator itself, with its signs, is that of the initialization times $e^{-t}$.",
    tried=f"{TILTED}, at $t = 1$",
)
def signed_commutator(trial: Trial) -> Rows:
    """The mean of [w_1, a] itself, along its start, over its start; at t = 1, where sampling still sees it."""
    shares = _means_by_dim(trial, "signed", 1.0, "tilted")
    away = {name: abs(share.errors_above(np.exp(-1.0))) for name, share in shares.items()}
    yield printed("distance of the mean from $e^{-1}$ in standard errors", away, FEW_ERRORS)
    yield fact("mean of $[w_1, a]$ along its start at $t = 1$, over its start", shares)


ONE_STEP = below(0.06, "second orders of the step, up to 1.2%, and variances of 40 000 paths, to 0.7% each")


@without_drift(
    "equations-D.2",
    says=r"$\lvert w_i \rvert^2$ and $a_i^2$ have the drifts $d a_i^2$ and $\lvert w_i \rvert^2$, and "
    r"one noise of size $2 \lvert w_i \rvert \lvert a_i \rvert$ for both.",
    tried=r"a step of 0.002 of the noise process from $\lvert w \rvert = 1$ with $a = 0.5$, 1 and 2, "
    "$d = 3$, 40 000 paths each",
)
def increments(trial: Trial) -> Rows:
    step = 0.002
    away = []
    noisy = []
    for number, a in enumerate((0.5, 1.0, 2.0)):
        start = ln.Weights(np.array([[1.0, 0.0, 0.0]]), np.array([[a]]))
        run = ln.noise_sde(None, start, times=[step], step=step, key=[trial.seed, 46, number], paths=40_000)
        u = (run.reduced.first[-1] ** 2).sum(axis=(-1, -2)) - 1.0
        v = (run.reduced.second[-1] ** 2).sum(axis=(-1, -2)) - a**2
        away += [abs(Estimate.of_mean(moved).errors_above(step * drift)) for moved, drift in ((u, 3 * a**2), (v, 1.0))]
        noisy.append(np.abs(np.cov(u, v) / (4 * a**2 * step) - 1).max())
    yield printed("distance of the means of the increments from their drifts, in standard errors", away, FEW_ERRORS)
    variance = r"largest relative distance of a variance or covariance from $4 \lvert w \rvert^2 a^2$, by $a$"
    yield printed(variance, noisy, ONE_STEP)


SHRUNK = below(1e-5, r"$\lvert w \rvert$ is $e^{-t/2} \cosh B$, with a median of about $e^{-20 + 4}$ at $t = 40$")
HALF_RATE = within(0.02, "Euler's own rate is $-1/2$, less 3/4 of a step of 0.01", of=-0.5, errors=ERRORS)


@without_drift(
    "one-input-collapses",
    says="For $d = 1$ the process is a geometric Brownian motion without drift, and collapses to zero.",
    tried="Euler-Maruyama from $w = 1$ with $a = 0$ and $a = 0.7$: rates from steps of 0.01 to $t = 5$, 12 000 paths "
    "each; sizes from steps of 0.02 to $t = 40$, 1 000 paths",
)
def one_input(trial: Trial) -> Rows:
    def ends(a: float, time: float, step: float, paths: int) -> tuple[np.ndarray, np.ndarray]:
        """Return w and a of every path at that time."""
        start = ln.Weights(np.array([[1.0]]), np.array([[a]]))
        run = ln.noise_sde(None, start, times=[time], step=step, key=[trial.seed, 47], paths=paths)
        return run.weights.first[0, :, 0, 0], run.weights.second[0, :, 0, 0]

    rates, last = {}, []
    for a in (0.0, 0.7):
        w, out = ends(a, 5.0, 0.01, 12_000)
        for sign in (1, -1):
            grown = np.log(np.abs((w + sign * out) / (1 + sign * a)))
            rates[f"$w {'+' if sign > 0 else '-'} a$ from $a = {a:g}$"] = Estimate.of_mean(grown / 5.0)
        last.append(np.median(np.abs(ends(a, 40.0, 0.02, 1000)[0])))
    yield printed(r"median of $\lvert w \rvert$ at $t = 40$, from $a = 0$ and 0.7", last, SHRUNK)
    yield printed(r"rate of $\ln \lvert w + a \rvert$ and $\ln \lvert w - a \rvert$", rates, HALF_RATE)


SHAPES = {  # of the noise, D: equal, one large, one small, far apart; tr D^2 > 2 max D^2 fails for half of them
    f"({', '.join(f'{scale:g}' for scale in shape)})": np.array(shape)
    for shape in (
        (1, 1),
        (3, 0.3),
        (1, 1, 1),
        (2, 0.5, 0.5),
        (3, 1, 0.2),
        (1, 0.1, 0.1),
        (2, 1, 1, 0.2),
        (1.5, 1.2, 1, 0.6, 0.4),
        (1, 0.3, 0.3, 0.3, 0.3),
    )
}
OF_SHAPES = (
    f"diagonal $D$ of {', '.join(SHAPES)}; a scheme of weak order 2 from $t = 4$ to 24, "
    "1 000 paths (8 000 in full mode)"
)


@lru_cache(maxsize=1)  # two claims read it
def _volume_growth_by_shape(trial: Trial) -> dict[str, dict[str, np.ndarray]]:
    """Return the growth of volumes and the clock q under noise of every shape D, in units of the largest D^2."""
    paths = 1000 if trial.quick else 8000
    return {  # a factor of D is one of time
        name: volumes.volume_growth(shape / shape.max(), [trial.seed, number], paths=paths, step=0.04, time=24.0)
        for number, (name, shape) in enumerate(SHAPES.items())
    }


EXPLODES = above(0, "a positive rate is what makes mean squares explode, as (a) says")


@claim(
    "any-diagonal",
    says="The results extend to noise of unequal scales, any invertible diagonal matrix $D$ for the identity.",
    assumes=r"no drift; (a), (b) for $d \ge 3$, and the signed form of (c)",
    tried=f"{OF_SHAPES}; signed commutators by Euler-Maruyama to $t = 1/2$ for "
    r"$D = \mathrm{diag}(1.5, 1.2, 1, 0.6, 0.4)$",
)
def any_diagonal(trial: Trial) -> Rows:
    """Noise of unequal scales D: mean squares and signed commutators at t = 1/2, and the growth of lengths."""
    scales = np.array([1.5, 1.2, 1.0, 0.6, 0.4])
    time = 0.5
    steps = 100 if trial.quick else 400
    seen = volumes.sampled_moments(scales, trial.seed, paths=20_000 if trial.quick else 80_000, steps=steps, time=time)
    step = time / steps
    squares = np.ones(6)  # of the rows of W, and of a
    matrix = np.zeros((6, 6))
    matrix[:5, 5] = matrix[5, :5] = scales**2  # d E|z_i|^2 = D_i^2 E|a|^2, d E|a|^2 = sum of D_i^2 E|z_i|^2
    power = np.linalg.matrix_power(np.eye(6) + step * matrix, steps)
    mean_square = float((power @ squares)[:5].sum())
    decay = (1 - step * scales**2) ** steps  # of Euler's scheme, for e^(-D_i^2 t)
    away = [Estimate.of_mean(seen["first_square"]).errors_above(mean_square)]
    away += [Estimate.of_mean(row).errors_above(share) for row, share in zip(seen["signed"], decay, strict=True)]
    lengths = {
        name: Estimate.of_mean(one["growth"][0])
        for name, one in _volume_growth_by_shape(trial).items()
        if len(SHAPES[name]) > 2
    }
    equations = "distance of mean squares and signed commutators from their equations, in standard errors"
    yield printed(equations, np.abs(away), FEW_ERRORS)
    yield printed(r"rate of the mean squares, $\sqrt{\mathrm{tr} D^4}$", np.linalg.eigvalsh(matrix).max(), EXPLODES)
    growth_of = r"growth of $\ln \lvert D^{-1} w \rvert$ from $t = 4$ to 24, over time and the largest $D^2$"
    yield printed(rf"{growth_of}, for $d \ge 3$", lengths, GROWS)


@claim(
    "exponents-any-diagonal",
    where="ours, for Appendix D",
    says=r"For every invertible $D$ the $k$ largest exponents add up to $(d - 1 - k)/2 \cdot \mathrm{E}[q_k]$, all but "
    "the last to zero.",
    assumes="no drift, one output",
    tried=f"{OF_SHAPES}; $k = 1$ to $d$",
)
def exponents(trial: Trial) -> Rows:
    from linnet.theories.noise_process import exponent_sum

    shapes, sums = {}, {}
    for name, one in _volume_growth_by_shape(trial).items():
        growth, clock = one["growth"], one["clock"].mean(axis=1)
        before_last, last = Estimate.of_mean(growth[-2]), Estimate.of_mean(growth[-1] - growth[-2])
        shapes[name] = {"before_last": before_last, "last": last, "clocks": clock[-1]}
        for k, grown in enumerate(growth, start=1):
            predicted = exponent_sum(clock[k - 1], in_dim=len(growth), columns=k)
            sums[f"{name}, $k = {k}$"] = {"sums": Estimate.of_mean(grown), "predicted": predicted}
    found = {**by_name(sums), **by_name(shapes)}
    yield printed(
        "sum of the $k$ largest exponents, compared with the formula", found["sums"], SCHEME(of=found["predicted"])
    )
    yield printed("sum of all exponents but the last", found["before_last"], SCHEME(of=0))
    yield printed("last exponent", found["last"], DECAYS)
    yield fact(r"$\mathrm{E}[q_d]$", found["clocks"])
