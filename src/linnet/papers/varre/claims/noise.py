"""Varre et al., Proposition 4.1: the process driven by noise alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.papers.varre import noise_paths as varre_noise_paths
from linnet.papers.varre.noise_paths import NOISE, TIMES
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest, lowest
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

DIMS = (2, 3, 5)
SETTING = "Euler-Maruyama from W1 = I and a = 0, unit noise, t up to 6, 6 000 paths (60 000 in full mode)"


def process(trial: Trial, dim: int, *, tilted: bool = False) -> xr.Dataset:
    """What is kept of the paths of one dimension, from a = 0 or from a of unit length."""
    return TABLES[0].results(trial).sel(dim=dim, start="tilted" if tilted else "zero")


def sampled(paths: xr.Dataset, name: str, moment: float | None = None) -> tuple[float, float]:
    """A mean over the paths and its standard error, at one time where it has several."""
    chosen = paths if moment is None else paths.sel(moment=moment)
    return float(chosen[name]), float(chosen[f"{name}_error"])


def measure_moments(trial: Trial) -> Measurement:
    """Sampled mean squares against Euler's own recursion and the exact ones, where sampling can see them."""
    from linnet.theories import noise
    from linnet.trainers.noise_sde import step_sizes

    worst, bias, words, heavy = 0.0, 0.0, [], []
    _, step = NOISE[trial.quick]
    sizes, ends = step_sizes(TIMES, step)
    end = ends[varre_noise_paths.AT[0]]
    for dim in DIMS:
        paths = process(trial, dim)
        euler = noise.euler_second_moments(dim, 0.0, sizes, in_dim=dim)
        exact = noise.second_moments(dim, 0.0, [1.0, 6.0], in_dim=dim)
        for layer, moment in (("first_square", euler[0]), ("second_square", euler[1])):
            mean, error = sampled(paths, layer, 1.0)
            worst = highest(worst, abs(mean - moment[end]) / error)
        bias = highest(bias, abs(euler[0][end] / exact[0][0] - 1))
        words.append(f"{sampled(paths, 'first_square', 6.0)[0] / exact[0][1]:.2g} (d = {dim})")
        heavy.append(float(paths["largest_share"].sel(moment=6.0)))
    # the scheme is of weak order one: its own mean squares leave the exact ones by about d/2 of a step
    limit = 4 * step
    verdict = Verdict.HOLDS if worst < 4.5 and bias < limit else Verdict.REFUTED
    text = (
        f"mean squares at t = 1: {worst:.1f} standard errors from the scheme's own at most (limit 4.5), those "
        f"{bias:.1%} from the "
        f"exact ones (limit {limit:.0%}); at t = 6 sampled over exact is {', '.join(words)}, as one path in 1000 "
        "carries "
        f"{lowest(heavy):.0%} or more of it"
    )
    return Measurement(verdict, text, worst, 4.5)


def measure_scale(trial: Trial) -> Measurement:
    from linnet.theories import noise

    found = {dim: process(trial, dim, tilted=True) for dim in (1, *DIMS)}
    results = {dim: (*sampled(paths, "growth"), float(paths["clock"])) for dim, paths in found.items()}
    mean, error, _ = results[5]
    fits = all(
        abs(grown - noise.scale_drift(dim) * clock) < 4.5 * err + 0.05 * (1 + clock)
        for dim, (grown, err, clock) in results.items()
    )
    verdict = Verdict.HOLDS if mean > 4.5 * error and fits else Verdict.REFUTED
    words = ", ".join(f"d = {dim}: {grown:+.2f} ± {err:.2f}" for dim, (grown, err, _) in results.items())
    text = (
        f"mean growth of ln|w|^2 to t = 3: {words}; each is (d - 2) times the integral of a^2/|w|^2, growth starts "
        "at d = 3"
    )
    return Measurement(verdict, text, mean, error)


def measure_two_inputs(trial: Trial) -> Measurement:
    paths = process(trial, 2, tilted=True)
    mean, error = sampled(paths, "growth")
    verdict = Verdict.HOLDS if mean > 4.5 * error + 0.05 * (1 + float(paths["clock"])) else Verdict.REFUTED
    text = (
        f"d = 2: ln|w|^2 has grown by {mean:+.3f} ± {error:.3f} on average at t = 3: typical weights neither grow "
        "nor shrink"
    )
    return Measurement(verdict, text, mean, error)


def measure_commutator(trial: Trial) -> Measurement:
    from linnet.theories import noise

    words, above, explained = [], [], False
    value, uncertainty = 0.0, 0.0
    for dim in DIMS:
        paths = process(trial, dim)
        mean, error = sampled(paths, "area", 3.0)
        medians = [float(paths["area_median"].sel(moment=moment)) for moment in (1.0, 6.0)]
        above.append(mean > 10 * error)  # the printed mean is zero at every time
        if dim == 2:
            value, uncertainty = mean, error
            explained = abs(mean - noise.commutator_mean_limit()) < 4.5 * error + 0.02
        words.append(
            f"d = {dim}: mean {mean:.3f} ± {error:.3f}, median {medians[0]:.2f} at t = 1 and {medians[1]:.2f} at 6"
        )
    # neither zero nor the limit derived for d = 2 would say that the sample or the derivation is wrong, not the claim
    verdict = Verdict.REFUTED if all(above) and explained else Verdict.OUTSIDE if any(above) else Verdict.HOLDS
    text = f"at t = 3, from a = 0: {'; '.join(words)}; for d = 2 the mean tends to {noise.commutator_mean_limit():.4f}"
    return Measurement(verdict, text, value, uncertainty)


def measure_tilted(trial: Trial) -> Measurement:
    """The printed decay e^-t of the mean, from starts at which it is not zero."""
    words, ratios = [], []
    for dim in DIMS:
        paths = process(trial, dim, tilted=True)
        mean, error = (number / float(paths["area_start"]) for number in sampled(paths, "area", 3.0))
        ratios.append((mean - np.exp(-3.0)) / error)
        words.append(f"d = {dim}: {mean:.2f} ± {error:.2f}")
    verdict = Verdict.REFUTED if lowest(ratios) > 10 else Verdict.HOLDS
    text = f"mean size of [w_1, a] at t = 3 over its start: {', '.join(words)}; printed: {np.exp(-3.0):.3f}"
    return Measurement(verdict, text, lowest(ratios), 1.0)


def measure_angle(trial: Trial) -> Measurement:
    words, falls = [], True
    for dim in DIMS:
        for tilted in (False, True):
            paths = process(trial, dim, tilted=tilted)
            drop, error = sampled(paths, "sine_drop")
            falls &= drop > 10 * error
            first, last = (sampled(paths, "sine", moment)[0] for moment in (1.0, 6.0))
            words.append(f"{first:.2f} to {last:.2f} (d = {dim}, a {'≠' if tilted else '='} 0)")
    verdict = Verdict.HOLDS if falls else Verdict.REFUTED
    return Measurement(verdict, f"mean sine of the angle of w_1 and a, t = 1 to t = 6: {', '.join(words)}")


def measure_lower_values(trial: Trial) -> Measurement:
    words, all_fall = [], True
    second = (0.0, 0.0)
    for dim in DIMS:
        lower = process(trial, dim).isel(value=slice(1, dim))
        change, error = lower["log_value_change"].values, lower["log_value_change_error"].values
        all_fall &= bool((change < -4.5 * error).all())
        second = (float(change[0]), float(error[0]))
        words.append(f"d = {dim}: " + " ".join(f"{c:+.2f}" for c in change))
    verdict = Verdict.HOLDS if all_fall else Verdict.REFUTED
    text = (
        f"change of the mean of ln σ2, ln σ3, ... from t = 3 to 6: {'; '.join(words)} (σ2 at d = 5: ± {second[1]:.3f})"
    )
    return Measurement(verdict, text, *second)


def columns(results: xr.Dataset) -> Columns:
    """Growth, commutator, angle and lower singular values, each beside what is said of it."""
    from linnet.theories import noise

    names = {"zero": "0", "tilted": "unit length"}
    rows = [
        (int(d), str(s), results.sel(dim=d, start=s)) for d in results["dim"].values for s in results["start"].values
    ]
    start = [float(paths["area_start"]) for _, _, paths in rows]
    return {
        "d": [str(dim) for dim, _, _ in rows],
        "a(0)": [names[name] for _, name, _ in rows],
        "paths": [str(int(paths["paths"])) for _, _, paths in rows],
        "growth of ln ‖w‖² to t = 3": [_pair(*sampled(paths, "growth"), form="{:+.2f} ± {:.2f}") for *_, paths in rows],
        "(d - 2) times its clock": [f"{noise.scale_drift(dim) * float(paths['clock']):+.2f}" for dim, _, paths in rows],
        "mean size of [w1, a] at t = 3": [_pair(*sampled(paths, "area", 3.0), dim=dim) for dim, _, paths in rows],
        "printed": [
            f"{area * np.exp(-3.0):.3f}" if dim > 1 else "" for area, (dim, _, _) in zip(start, rows, strict=True)
        ],
        "its median, t = 1 to 6": [_course(paths["area_median"], dim) for dim, _, paths in rows],
        "mean sine of w1 and a, t = 1 to 6": [_course(paths["sine"], dim) for dim, _, paths in rows],
        "mean change of ln σ2, t = 3 to 6": [
            _pair(*sampled(paths.isel(value=1), "log_value_change"), dim=dim, form="{:+.3f} ± {:.3f}")
            for dim, _, paths in rows
        ],
    }


def _pair(mean: float, error: float, dim: int = 2, form: str = "{:.3f} ± {:.3f}") -> str:
    return form.format(mean, error) if dim > 1 else ""  # one input has neither angle nor second value


def _course(values: xr.DataArray, dim: int) -> str:
    return f"{float(values.sel(moment=1.0)):.2f} → {float(values.sel(moment=6.0)):.2f}" if dim > 1 else ""


CLAIMS = [
    Claim(
        name="proposition-4.1a",
        number="Proposition 4.1(a)",
        sentence="Under noise alone the mean squares of both layers grow without bound, like e^(sqrt(d) t).",
        assumptions="no drift, unit noise",
        setting=SETTING + ", d = 2, 3, 5",
        claimed="infinite limits",
        expected=Verdict.HOLDS,
        measure=measure_moments,
    ),
    Claim(
        name="proposition-4.1b",
        number="Proposition 4.1(b)",
        sentence="From five inputs on, every power of the scale of the weights diverges under noise alone.",
        assumptions="no drift, d >= 5",
        setting=SETTING.replace("a = 0", "a of unit length") + ", d = 1, 2, 3, 5",
        claimed="growth for d >= 5",
        expected=Verdict.HOLDS,
        measure=measure_scale,
    ),
    Claim(
        name="two-inputs-grow",
        number="after Proposition 4.1",
        sentence="From two inputs on the weights grow towards infinity.",
        assumptions="no drift, d >= 2",
        setting=SETTING.replace("a = 0", "a of unit length") + ", d = 2",
        claimed="growth at d = 2",
        expected=Verdict.REFUTED,
        measure=measure_two_inputs,
    ),
    Claim(
        name="proposition-4.1c",
        number="Proposition 4.1(c)",
        sentence="The mean size of the commutator of a row of the first layer with the second layer tends to zero.",
        assumptions="no drift",
        setting=SETTING + ", d = 2, 3, 5",
        claimed="0 from a = 0",
        expected=Verdict.REFUTED,
        measure=measure_commutator,
    ),
    Claim(
        name="proposition-4.1c-rate",
        number="Proposition 4.1(c), its proof",
        sentence="The mean size of the commutator decays as e^-t from any start.",
        assumptions="no drift",
        setting=SETTING.replace("a = 0", "a of unit length") + ", d = 2, 3, 5",
        claimed="e^-t",
        expected=Verdict.REFUTED,
        measure=measure_tilted,
    ),
    Claim(
        name="rows-align",
        number="after Proposition 4.1",
        sentence="Under noise alone the rows of the first layer align with the second layer.",
        assumptions="no drift",
        setting=SETTING + ", d = 2, 3, 5, also from a of unit length",
        claimed="angles tend to 0",
        expected=Verdict.HOLDS,
        measure=measure_angle,
    ),
    Claim(
        name="lower-values-decay",
        number="after Proposition 4.1, Figure 3a",
        sentence="Under noise alone all singular values of the first layer but the largest decay to zero.",
        assumptions="no drift",
        setting=SETTING + ", d = 2, 3, 5",
        claimed="decay in every dimension",
        expected=Verdict.REFUTED,
        measure=measure_lower_values,
    ),
]

TABLES = [
    Table(
        name="noise",
        title="Noise alone: growth of the weights, commutator, angle, and the second singular value",
        sweep=varre_noise_paths.sweep,
        columns=columns,
        note="Means ± standard errors over paths; the clock is the integral of a²/‖w‖²; printed: e^-3 of the start.",
    ),
]
