"""Figure 3 of Varre et al.: the process driven by noise alone, its singular values and its alignment."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveFloat, PositiveInt

import linnet as ln
from linnet import style
from linnet.papers.varre.networks.noise_process import weighted_areas
from linnet.reproduction import Check, Figure, Limit, Settings
from linnet.reproduction.datasets import Dataset, labelled
from linnet.reproduction.drawing import panel_axes

ERRORS = Limit(4.0, "standard errors of the mean over paths: beyond them one time in fifteen thousand")


class Fig3(Settings):
    """d = 2 from W1 = I, W2 = 0, three runs and steps of c/sqrt(n), as in the paper; c, the time and the many paths
    are ours.
    """

    dim: PositiveInt = 2
    runs: PositiveInt = 3
    end_time: PositiveFloat = 12.0
    saves: PositiveInt = 240
    first_step: PositiveFloat = 0.05
    paths: PositiveInt = 40_000
    step: PositiveFloat = 0.005


def compute(settings: Fig3, panels: tuple[str, ...]) -> Dataset:
    from linnet.theories import noise
    from linnet.trainers.sde import decreasing

    start = ln.Weights(np.eye(settings.dim), np.zeros((1, settings.dim)))
    times = np.linspace(0, settings.end_time, settings.saves + 1)
    drawn = ln.noise_sde(
        None, start, times=times, step=decreasing(settings.first_step), key=settings.seed, paths=settings.runs
    )
    coarse = np.linspace(0, settings.end_time, 13)
    many = ln.noise_sde(None, start, times=coarse, step=settings.step, key=settings.seed + 1, paths=settings.paths)
    runs, sample = drawn.reduced, many.reduced
    area = ln.observables.commutator(sample)[..., 0]
    means, errors = area.mean(axis=1), area.std(axis=1) / np.sqrt(settings.paths)
    if settings.dim == 2:  # rare paths carry the mean: with paths weighted by det W1 it can be sampled at any time
        weighted = weighted_areas(settings.seed, times=tuple(coarse[1:]), step=0.01, paths=settings.paths // 4)
        means[1:], errors[1:] = np.transpose(weighted)
    sine = ln.observables.commutator(sample, normalized=True)[1:, :, 0]
    logs = np.log(np.linalg.svd(sample.first, compute_uv=False))
    exponents = noise.lyapunov_exponents(settings.dim)
    offset = logs[-1].mean(axis=0) - settings.end_time * exponents  # a slope to compare with: drawn through the end
    if settings.dim == 2:
        offset[0] = np.log(2)  # known for two inputs
    error = np.sqrt(settings.paths)
    of_runs = ("time", "run")
    of_many = "coarse_time"
    return labelled(
        {
            "values": ((*of_runs, "mode"), np.linalg.svd(runs.first, compute_uv=False), "σ of W₁"),
            "area": ((*of_runs, "input"), ln.observables.commutator(runs), "size of [w_i, a]"),
            "mean_area": (of_many, means, "mean size of [w_1, a]"),
            "mean_area_error": (of_many, errors, "its standard error"),
            "median_area": (of_many, np.median(area, axis=1), "median size of [w_1, a]"),
            "mean_sine": (of_many, np.concatenate([[np.nan], sine.mean(axis=1)]), "normalised, mean"),
            "mean_log": ((of_many, "mode"), logs.mean(axis=1), "mean of ln σ"),
            "mean_log_error": ((of_many, "mode"), logs.std(axis=1) / error, "its standard error"),
            "exponents": ("mode", exponents, "Lyapunov exponents"),
            "offset": ("mode", offset, "where their lines are drawn"),
        },
        {
            "time": ("time", times, "time t", "canonical, unit noise"),
            "coarse_time": (of_many, coarse, "time t", "canonical, unit noise"),
        },
        {
            "panels": ",".join(panels),
            "dim": settings.dim,
            "paths": settings.paths,
            "mean_limit": noise.commutator_mean_limit() if settings.dim == 2 else np.nan,  # known for two inputs only
        },
    )


def plot(ds: Dataset) -> style.Picture:
    panels = ds.attrs["panels"].split(",")
    time, coarse = ds["time"].values, ds["coarse_time"].values
    with style.applied():
        picture, axes = panel_axes(panels, ratio=0.8)
        thin = {**style.ALONE, "linewidth": 0.9, "alpha": 0.75}
        if "a" in axes:
            for run in range(ds.sizes["run"]):
                for mode, colour in ((0, style.SIGNAL), (ds.sizes["mode"] - 1, style.NOISE)):
                    label = f"σ{style.subscript(mode + 1)}" if run == 0 else None
                    axes["a"].plot(time, ds["values"][:, run, mode], color=colour, label=label, **thin)
            axes["a"].plot(coarse, np.exp(ds["mean_log"]), color=style.BLACK, linewidth=1.6, alpha=0.8)
            axes["a"].plot([], [], color=style.BLACK, linewidth=1.6, alpha=0.8, label="exp of the mean of ln σ")
            guides = np.exp(coarse[:, None] * ds["exponents"].values + ds["offset"].values)
            for mode, label in ((0, "exponents (σ₂: to its end)"), (ds.sizes["mode"] - 1, None)):
                axes["a"].plot(coarse, guides[:, mode], color=style.BLACK, label=label, **style.THEORY)
            axes["a"].set(yscale="log", xlabel="time t (canonical)", ylabel="singular values of W₁")
            axes["a"].set_title("a  Three runs of the noise process")
            axes["a"].legend(loc="lower left")
        if "b" in axes:
            for run in range(ds.sizes["run"]):
                values = np.maximum(ds["area"][1:, run, 0], 1e-12)
                label = "three runs" if run == 0 else None
                axes["b"].plot(time[1:], values, color=style.ALIGNMENT, label=label, **thin)
            bars: dict[str, Any] = {"yerr": ds["mean_area_error"][1:], "color": style.BLACK, "markersize": 3.6}
            axes["b"].errorbar(coarse[1:], ds["mean_area"][1:], fmt="o", label="mean of many", **bars)
            hollow = {**style.MARKS, "markerfacecolor": "white", "color": style.BLACK}
            axes["b"].plot(coarse[1:], ds["median_area"][1:], label="median of many", **hollow)
            if np.isfinite(ds.attrs["mean_limit"]):
                limit = ds.attrs["mean_limit"]
                axes["b"].axhline(limit, color=style.BLACK, label="limit of the mean", **{**style.THEORY, "zorder": 1})
            axes["b"].set(yscale="log", xlabel="time t (canonical)", ylabel="size of the commutator [w₁, a]")
            axes["b"].set_ylim(1e-4, 30)
            axes["b"].set_title("b  The commutator: most runs, and the mean")
            axes["b"].legend(loc="upper center", ncols=2)  # in the band above all runs
        return picture


def check(ds: Dataset) -> list[Check]:
    checks = []
    at = int(np.argmin(np.abs(ds["coarse_time"].values - 3.0)))
    time, limit = float(ds["coarse_time"][at]), float(ds.attrs["mean_limit"])
    means, errors = ds["mean_area"].values[at:], ds["mean_area_error"].values[at:]
    if np.isfinite(limit):
        away = float((np.abs(means - limit) / errors).max())
        text = (
            f"mean size of [w_1, a] from t = {time:g} on: {means.min():.4f} to {means.max():.4f} ± {errors.max():.4f}"
        )
        text = f"{text}; it tends to {limit:.4f} ({away:.1f} errors off at most, limit {ERRORS:g})"
        checks.append(Check.below(text, away, ERRORS))
    above = float((means / errors).min())
    checks.append(Check(f"Proposition 4.1(c) says 0 at every time; the mean is {above:.0f} errors above", above))
    first, last = float(ds["median_area"][at]), float(ds["median_area"][-1])
    checks.append(Check(f"median size: {first:.3f} at t = {time:g}, {last:.4f} at the end", last))
    sine = ds["mean_sine"].values
    text = f"mean sine of the angle of w_1 and a: {sine[1]:.3f} at first, {sine[-1]:.3f} at the end"
    checks.append(Check(text, float(sine[-1]), float(sine[1]), bool(sine[-1] < sine[1])))
    logs, errors = ds["mean_log"][-1].values, ds["mean_log_error"][-1].values
    text = ", ".join(
        f"σ{style.subscript(i + 1)}: {log:+.2f} ± {err:.2f}"
        for i, (log, err) in enumerate(zip(logs, errors, strict=True))
    )
    checks.append(Check(f"mean of ln σ at the end: {text}", float(logs[-1])))
    half = ds.sizes["coarse_time"] // 2
    span = float(ds["coarse_time"][-1] - ds["coarse_time"][half])
    slope = float(ds["mean_log"][-1, -1] - ds["mean_log"][half, -1]) / span
    slope_error = float(np.hypot(ds["mean_log_error"][-1, -1], ds["mean_log_error"][half, -1])) / span
    expected = float(ds["exponents"][-1])
    text = (
        f"the smallest decays at {slope:+.3f} ± {slope_error:.3f} over the second half; its exponent is {expected:+.3f}"
    )
    checks.append(Check(text, slope))
    if ds.attrs["dim"] == 2:
        away = abs(float(ds["mean_log"][-1, 0]) - np.log(2))
        text = f"the mean of ln σ₁ ends {away:.3f} from ln 2, where it tends to: σ₁ does not grow for two inputs"
        checks.append(Check(text, away))
    return checks


FIGURE = Figure(
    name="fig3",
    title="Noise alone shrinks one singular value; the other wanders, and the mean commutator stays",
    caption=(
        "Three runs of the process driven by the noise of noisy labels, for two inputs, from the identity and zero, as "
        "in the paper; the time, the first step and the many paths are ours. a: both singular values of the first "
        "layer, with their typical size over many paths. The smaller one decays at the rate of its Lyapunov exponent, "
        "drawn through the last point of its mean; that of the larger is zero for two inputs: its logarithm wanders, "
        "with a mean that tends to ln 2. In the paper's picture the larger one rises: so does Euler's scheme at steps "
        "of 0.2 and more. b: the area spanned by a row of the "
        "first layer and the second layer: it is zero when they are aligned. It falls in most runs, but its mean over "
        "many paths stays at 0.482: rare runs with a large area make up for the others. So that these are sampled, the "
        "paths of the mean are drawn with the weight det W₁, a martingale, and counted with its inverse."
    ),
    settings=Fig3,
    quick={"paths": 8000, "step": 0.02, "saves": 120},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
