"""Figure 3 of Varre et al.: the process driven by noise alone, its singular values and its alignment."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import PositiveFloat, PositiveInt

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Estimate, Figure, Rows, Settings, above, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.reproduction.drawing import panel_axes
from linnet_papers.varre.training.noise_process import mean_logs_by_steps, weighted_areas

COARSER = above(0, "Euler's scheme adds to the logarithm by the square of its step", errors=4.0)
ERRORS = below(4.0, "one mean over paths in fifteen thousand lies beyond so many standard errors")
THIN = {**style.ALONE, "linewidth": 0.9, "alpha": 0.75}


class Fig3(Settings):
    """d = 2 from W1 = I, W2 = 0, three runs and steps of c/sqrt(n), as in the paper; c, the time and the many paths
    are ours. The paper's steps of about 1/sqrt(t), read with c = 1, are drawn beside them.
    """

    runs: PositiveInt = 3
    end_time: PositiveFloat = 12.0
    saves: PositiveInt = 240
    first_step: PositiveFloat = 0.05
    paper_step: PositiveFloat = 1.0
    paths: PositiveInt = 40_000
    step: PositiveFloat = 0.005


def compute(settings: Fig3, panels: tuple[str, ...]) -> Dataset:
    from linnet.theories import noise_process
    from linnet.trainers.sde import decreasing

    start = ln.Weights(np.eye(2), np.zeros((1, 2)))
    times = np.linspace(0, settings.end_time, settings.saves + 1)
    drawn = ln.noise_sde(
        None, start, times=times, step=decreasing(settings.first_step), key=settings.seed, paths=settings.runs
    )
    coarse = np.linspace(0, settings.end_time, 13)
    many = ln.noise_sde(None, start, times=coarse, step=settings.step, key=settings.seed + 1, paths=settings.paths)
    runs, sample = drawn.reduced, many.reduced
    area = ln.observables.commutator(sample)[..., 0]
    logs = np.log(np.linalg.svd(sample.first, compute_uv=False))
    sine = ln.observables.commutator(sample, normalized=True)[1:, :, 0]
    exponents = noise_process.lyapunov_exponents(2)
    offset = logs[-1].mean(axis=0) - settings.end_time * exponents  # a slope to compare with: drawn through the end
    offset[0] = np.log(2)  # the limit of its mean
    times_after, fewer = tuple(coarse[1:]), settings.paths // 4
    means, errors = np.zeros((2, coarse.size))
    # rare paths carry the mean: with paths weighted by det W1 it can be sampled at any time
    means[1:], errors[1:] = np.transpose(weighted_areas(settings.seed, times=times_after, step=0.01, paths=fewer))
    coarser = np.zeros((coarse.size, fewer))
    coarser[1:] = mean_logs_by_steps(settings.seed + 2, first_step=settings.paper_step, times=times_after, paths=fewer)
    paper_error = coarser.std(axis=1, ddof=1) / np.sqrt(coarser.shape[1])
    of_runs, of_many = ("time", "run"), "coarse_time"
    return labeled(
        {
            "values": ((*of_runs, "mode"), np.linalg.svd(runs.first, compute_uv=False), "σ of W₁"),
            "paper_values": ((of_many, "run"), np.exp(coarser[:, : settings.runs]), "σ₁ of W₁, steps 1/√n"),
            "paper_mean_log": (of_many, coarser.mean(axis=1), "mean of ln σ₁, steps 1/√n"),
            "paper_mean_log_error": (of_many, paper_error, "its standard error"),
            "area": ((*of_runs, "input"), ln.observables.commutator(runs), "size of [w_i, a]"),
            "mean_area": (of_many, means, "mean size of [w_1, a]"),
            "mean_area_error": (of_many, errors, "its standard error"),
            "median_area": (of_many, np.median(area, axis=1), "median size of [w_1, a]"),
            "mean_sine": (of_many, np.append(np.nan, sine.mean(axis=1)), "normalized, mean"),
            "mean_log": ((of_many, "mode"), logs.mean(axis=1), "mean of ln σ"),
            "mean_log_error": (
                (of_many, "mode"),
                logs.std(axis=1, ddof=1) / np.sqrt(settings.paths),
                "its standard error",
            ),
            "exponents": ("mode", exponents, "Lyapunov exponents"),
            "offset": ("mode", offset, "where their lines are drawn"),
        },
        {
            "time": ("time", times, "time t", "canonical, unit noise"),
            "coarse_time": (of_many, coarse, "time t", "canonical, unit noise"),
        },
        {"panels": ",".join(panels), "paths": settings.paths, "mean_limit": noise_process.commutator_mean_limit()},
    )


def plot(ds: Dataset) -> style.Picture:
    with style.applied():
        picture, axes = panel_axes(ds.attrs["panels"].split(","), ratio=0.8)
        for letter, draw in (("a", _plot_values), ("b", _plot_areas)):
            if letter in axes:
                draw(axes[letter], ds)
        return picture


def _plot_values(axis: style.Axes, ds: Dataset) -> None:
    """Draw panel a: the singular values of single runs, their typical size, and lines of the exponents."""
    coarse = ds["coarse_time"].values
    for mode, color in ((0, style.SIGNAL), (ds.sizes["mode"] - 1, style.NOISE)):
        lines = axis.plot(ds["time"], ds["values"][:, :, mode], color=color, **THIN)
        lines[0].set_label(f"σ{style.subscript(mode + 1)}")
    lines = axis.plot(coarse, np.exp(ds["mean_log"]), color=style.BLACK, linewidth=1.6, alpha=0.8)
    lines[0].set_label("exp of the mean of ln σ")
    paper = axis.plot(coarse, ds["paper_values"], color=style.ALIGNMENT, **{**THIN, "linestyle": ":"})
    mean = axis.plot(coarse, np.exp(ds["paper_mean_log"]), color=style.ALIGNMENT, linewidth=1.6)
    names = ["σ₁ with the paper's steps 1/√n", "exp of the mean of its ln"]
    axis.add_artist(axis.legend([paper[0], mean[0]], names, loc="upper left"))
    guides = np.exp(coarse[:, None] * ds["exponents"].values + ds["offset"].values)
    for mode, label in ((0, "exponents (σ₂: to its end)"), (ds.sizes["mode"] - 1, None)):
        axis.plot(coarse, guides[:, mode], color=style.BLACK, label=label, **style.THEORY)
    axis.set(yscale="log", xlabel="time t (canonical)", ylabel="singular values of W₁", ylim=(1e-5, 1e5))
    axis.set_title("a  Three runs of the noise process")
    axis.legend(loc="lower left")


def _plot_areas(axis: style.Axes, ds: Dataset) -> None:
    """Draw panel b: the commutator of single runs, and its mean and median over many."""
    many = ds.isel(coarse_time=slice(1, None))
    limit = ds.attrs["mean_limit"]
    lines = axis.plot(ds["time"][1:], np.maximum(ds["area"][1:, :, 0], 1e-12), color=style.ALIGNMENT, **THIN)
    lines[0].set_label("three runs")
    bars: dict[str, Any] = {"yerr": many["mean_area_error"], "color": style.BLACK, "markersize": 3.6}
    axis.errorbar(many["coarse_time"], many["mean_area"], fmt="o", label="mean of many", **bars)
    hollow = {**style.MARKS, "markerfacecolor": "white", "color": style.BLACK}
    axis.plot(many["coarse_time"], many["median_area"], label="median of many", **hollow)
    axis.axhline(limit, color=style.BLACK, label="limit of the mean", **{**style.THEORY, "zorder": 1})
    axis.set(yscale="log", xlabel="time t (canonical)", ylabel="size of the commutator [w₁, a]", ylim=(1e-4, 30))
    axis.set_title("b  The commutator: most runs, and the mean")
    axis.legend(loc="upper center", ncols=2)  # in the band above all runs


def check(ds: Dataset) -> Rows:
    times = ds["coarse_time"].values
    limit = float(ds.attrs["mean_limit"])
    at = int(np.argmin(np.abs(times - 3.0)))
    half = times.size // 2
    means, errors = ds["mean_area"].values[at:], ds["mean_area_error"].values[at:]
    away = float((np.abs(means - limit) / errors).max())
    distance = r"largest distance of the mean size of $[w_1, a]$ from its limit, $t \ge 3$, in standard errors"
    yield printed(distance, away, ERRORS)
    yield fact("that limit", limit)
    yield fact("mean size of $[w_1, a]$ at $t = 3$", Estimate(float(means[0]), float(errors[0])))
    zero = float((means / errors).min())
    yield fact("smallest number of standard errors above 0, which Proposition 4.1(c) has at every time", zero)
    for words, place in (("$t = 3$", at), ("the end", -1)):
        yield fact(f"median size at {words}", float(ds["median_area"][place]))
    sine = ds["mean_sine"].values
    turning = below(
        float(sine[1]), "its value at the first time that is kept: rows that align are at smaller angles later"
    )
    yield printed("mean sine of the angle of $w_1$ and $a$ at the end", float(sine[-1]), turning)
    logs, errors = ds["mean_log"].values, ds["mean_log_error"].values
    pairs = enumerate(zip(logs[-1], errors[-1], strict=True), start=1)
    ends = {rf"$\sigma_{mode}$": Estimate(float(log), float(error)) for mode, (log, error) in pairs}
    yield fact(r"mean of $\ln \sigma$ at the end", ends)
    time = times[-1] - times[half]
    slope = float(logs[-1, -1] - logs[half, -1]) / time
    error = float(np.hypot(errors[-1, -1], errors[half, -1])) / time
    yield fact("rate of the smallest over the second half", Estimate(slope, error))
    yield fact("exponent of the smallest", float(ds["exponents"][-1]))
    paper = Estimate(float(ds["paper_mean_log"][-1]), float(ds["paper_mean_log_error"][-1]))
    gain = paper.minus(ends[r"$\sigma_1$"])
    away = abs(float(logs[-1, 0]) - np.log(2))
    yield printed(r"mean of $\ln \sigma_1$ at the end with steps $1/\sqrt{n}$ less that with ours", gain, COARSER)
    yield fact(r"distance of the mean of $\ln \sigma_1$ from $\ln 2$, where it tends for two inputs", away)


FIGURE = Figure(
    name="fig3",
    title="Noise alone shrinks one singular value; the other wanders, and the mean commutator stays",
    caption=(
        "Three runs of the process driven by the noise of noisy labels, for two inputs, from the identity and zero, as "
        "in the paper; the time, the first step and the many paths are ours. a: both singular values of the first "
        "layer, with their typical size over many paths. The smaller one decays at the rate of its Lyapunov exponent, "
        "drawn through the last point of its mean; that of the larger is zero for two inputs: its logarithm wanders, "
        "with a mean that tends to ln 2. In the paper's picture the larger one rises. Wine red: so it does with the "
        "paper's steps of about 1/√n, read with the constant 1 (three runs dotted, and the exponential of the mean); "
        "ours begin twenty times finer. The rise is Euler's, and ends at a time of about 16. b: the area spanned by a "
        "row of the first layer and the second layer: it is zero when they are aligned. It falls in most runs, but its "
        "mean over many paths stays at 0.482: rare runs with a large area make up for the others. So that these are "
        "sampled, the paths of the mean are drawn with the weight det W₁, a martingale, and counted with its inverse."
    ),
    settings=Fig3,
    quick={"paths": 8000, "step": 0.02, "saves": 120},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
