"""Figure 1 of Varre et al.: which singular values of the first layer grow, and what label noise does to the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import PositiveFloat, PositiveInt

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, above, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.varre.figures.curves import draw_levels, draw_singular_values
from linnet_papers.varre.settings import NOISY_INPUTS, NOISY_RATE
from linnet_papers.varre.training.regression import Regression, flows_from

SHOWN = 4  # singular values drawn
EXACT = below(1e-8, "a hundred times the tolerance of the flow, for an end that is exact")
KEPT = above(0.99, "without noise the values of directions that nothing is learned along do not move; a step moves 1%")
TIMES = 5.0  # the rate is a mean over the noise: the worst of ten seeds is a few times above its own mean


class Fig1(Regression):
    """Panel a: the paper's sizes. Panel b: n = d orthogonal samples, one output; what the paper leaves open is fixed
    here.
    """

    gammas: tuple[float, ...] = (1.0, 1e-4)
    stds: tuple[float, ...] = (0.1, 0.01)
    noise_inputs: PositiveInt = NOISY_INPUTS
    noise_gamma: PositiveFloat = 1.0
    noise_delta: float = 1.0
    noise_rate: PositiveFloat = NOISY_RATE
    noise_steps: PositiveInt = 20_000
    noise_saves: PositiveInt = 200
    noise_seeds: PositiveInt = 10


def compute(settings: Fig1, panels: tuple[str, ...]) -> Dataset:
    import xarray as xr

    train = {"a": _train_starts, "b": _train_noise}
    attributes = {
        "panels": ",".join(panels),
        "inputs": settings.inputs,
        "outputs": settings.outputs,
        "rate": settings.noise_rate,
        "decay_rate": settings.noise_rate * settings.noise_delta**2 / 2,
    }
    return xr.merge([train[panel](settings) for panel in panels]).assign_attrs(attributes)


def _train_starts(settings: Fig1) -> Dataset:
    """Train the networks of panel a and describe them: gradient flow from orthogonal and from Gaussian starts."""
    names = [f"orthogonal, γ = {gamma:g}" for gamma in settings.gammas]
    names += [f"Gaussian, std {std:g}" for std in settings.stds]
    gammas = [*settings.gammas, *(std**2 * settings.width / 2 for std in settings.stds)]

    def draw_starts(**draw: int) -> list[ln.Weights]:
        return [
            *(ln.inits.orthogonal(scale=gamma, **draw) for gamma in settings.gammas),
            *(ln.inits.gaussian(stds=(std, 0.0), **draw) for std in settings.stds),
        ]

    times = settings.saved_times
    flows = flows_from(settings, draw_starts, times)
    one_seed = np.moveaxis(flows.values[:, 0], 1, 0)
    error = np.abs(flows.off).max(axis=(-1, -2))
    of_runs = ("seed", "start", "mode")
    return labeled(
        {
            "values": (("start", "time", "mode"), one_seed, "singular values of W₁, first seed"),
            "final": (of_runs, flows.values[-1], "final singular values of W₁"),
            "predicted": (of_runs, flows.predicted_values(gammas), "Corollary 3.1 at the effective γ"),
            "gamma": ("start", gammas, "γ, effective for Gaussian initializations"),
            "solution_error": (("seed", "start"), error, "distance from the minimum-norm solution"),
        },
        {"time": ("time", times, "time t", "canonical"), "start": ("start", names, "start of the first layer")},
    )


def _train_noise(settings: Fig1) -> Dataset:
    """Train the networks of panel b and describe them: gradient descent with noisy labels and without."""
    inputs = settings.noise_inputs
    seeds = range(settings.seed, settings.seed + settings.noise_seeds)
    problem = ln.Problem.stack([ln.problems.orthogonal_regression(key=seed, in_dim=inputs) for seed in seeds])
    shape: dict[str, int] = {"in_dim": inputs, "out_dim": 1, "width": settings.width}
    start = ln.Weights.stack(ln.inits.orthogonal(key=seed, scale=settings.noise_gamma, **shape) for seed in seeds)
    save_every = max(1, settings.noise_steps // settings.noise_saves)
    plain = ln.gradient_descent(
        problem, start, learning_rate=settings.noise_rate, steps=settings.noise_steps, save_every=save_every
    )
    noisy = ln.label_noise_descent(
        problem,
        start,
        noise_std=settings.noise_delta * np.sqrt(inputs),
        key=settings.seed,
        learning_rate=settings.noise_rate,
        steps=settings.noise_steps,
        save_every=save_every,
    )
    descent, label_noise = (np.linalg.svd(run.reduced.first, compute_uv=False) for run in (plain, noisy))
    norms = np.linalg.norm(problem.min_norm_solution(), axis=(-1, -2))
    predicted = ln.theories.spectral_bias.final_singular_values(norms[:, None], settings.noise_gamma, inputs)[0]
    flat = np.sqrt(np.sqrt(inputs) * norms)
    of_runs = ("noise_time", "noise_seed", "noise_mode")
    return labeled(
        {
            "descent_values": (of_runs, descent, "singular values of W₁"),
            "label_noise_values": (of_runs, label_noise, "singular values of W₁"),
            "descent_predicted": (of_runs[1:], predicted, "Corollary 3.1"),
            "flattest": ("noise_seed", flat, "largest value at the flattest interpolator"),
        },
        {"noise_time": ("noise_time", plain.times, "time t", "canonical")},
    )


def plot(ds: Dataset) -> style.Picture:
    """Draw a row for each panel that is there: the starts beside each other, and descent beside label noise."""
    rows = [(_plot_starts, ds.sizes.get("start", 0)), (_plot_noise, 2 if "noise_time" in ds else 0)]
    rows = [(draw, count) for draw, count in rows if count]
    with style.applied():
        picture, first = style.subplots(size=style.column(2.2, ratio=0.36 * len(rows)))
        first.remove()
        for part, (draw, count) in zip(picture.subfigures(len(rows), squeeze=False)[:, 0], rows, strict=True):
            axes = part.subplots(1, count, sharey=True, squeeze=False)[0]
            draw(axes, ds)
            axes[0].set_ylabel("singular values of W₁")
            lines = _labeled(axes)
            part.legend(lines.values(), lines.keys(), loc="outside upper center", ncols=5, frameon=False)
        return picture


def _labeled(axes: Sequence[style.Axes]) -> dict[str, Any]:
    """Return one line for each label on any of these axes."""
    found = [axis.get_legend_handles_labels() for axis in axes]
    return {label: line for lines, labels in found for line, label in zip(lines, labels, strict=True)}


def _plot_starts(axes: Sequence[style.Axes], ds: Dataset) -> None:
    """Draw panel a: the singular values of each initialization, and where Corollary 3.1 has them end."""
    for number, (axis, name) in enumerate(zip(axes, ds["start"].values, strict=True), 1):
        flows = ds.sel(start=name)
        draw_singular_values(axis, ds["time"], flows["values"][:, :SHOWN], name="σ{} trained", **style.TRAINING)
        draw_levels(axis, flows["predicted"][0, :SHOWN], "Corollary 3.1", of=SHOWN, **style.THEORY)
        axis.set(xscale="log", xlabel="time t (canonical)")
        about = "" if str(name).startswith("orth") else f"\n(γ ≈ {float(flows['gamma']):.2g})"
        axis.set_title(f"a{number}  {name}{about}")
    axes[0].set_ylim(0, 1.05 * float(ds["values"].max()))


def _plot_noise(axes: Sequence[style.Axes], ds: Dataset) -> None:
    """Draw panel b: the singular values without label noise and with it."""
    time = ds["noise_time"]
    runs = ds.isel(noise_seed=0)
    noisy = runs["label_noise_values"]
    others = f"σ₂ to σ{style.subscript(ds.sizes['noise_mode'])} trained"
    titles = {"descent_values": "gradient descent", "label_noise_values": "label-noise descent"}
    for number, (axis, (name, title)) in enumerate(zip(axes, titles.items(), strict=True), 1):
        axis.plot(time, runs[name][:, 0], color=style.SIGNAL, label="σ₁ trained", **style.TRAINING)
        lines = axis.plot(time, runs[name][:, 1:], color=style.NOISE, **style.TRAINING)
        lines[0].set_label(others)
        axis.set(yscale="log", xlabel="time t (canonical)", title=f"b{number}  {title}")
    for level, label in zip(runs["descent_predicted"].values, ("Corollary 3.1", None), strict=False):
        axes[0].axhline(level, color=style.BLACK, label=label, **style.THEORY)
    guide = float(noisy[0, -1]) * np.exp(-ds.attrs["decay_rate"] * time)
    axes[1].plot(time, guide, label="exp(−η δ² t/2)", **style.GUIDELINE)
    flattest = {**style.THEORY, "linestyle": "-.", "color": style.GREEN}
    axes[1].axhline(float(runs["flattest"]), label="flattest solution", **flattest)
    axes[0].set_ylim(0.5 * float(noisy.min()), 2 * float(noisy.max()))


def check(ds: Dataset) -> Rows:
    if "start" in ds:
        yield from _check_starts(ds)
    if "noise_time" in ds:
        yield from _check_noise(ds)


def _check_starts(ds: Dataset) -> Rows:
    """Check where the flows of panel a end, and count their ranks."""
    exact = [str(name) for name in ds["start"].values if str(name).startswith("orthogonal")]
    final = ds.sel(start=exact)
    error = float(np.abs(final["final"] - final["predicted"]).max())
    yield printed("largest distance of a final singular value from Corollary 3.1, orthogonal layers", error, EXACT)
    away = float(final["solution_error"].max())
    yield printed("largest distance of the predictor from the minimum-norm solution, orthogonal layers", away, EXACT)
    ranks = {
        str(name): ln.observables.numerical_rank(ds["final"].sel(start=name).values) for name in ds["start"].values
    }
    for words, size in (("rank $k$", "outputs"), ("full rank", "inputs")):
        found = {name: float(np.mean(each == ds.attrs[size])) for name, each in ranks.items()}
        yield fact(f"fraction of seeds that end with {words}, values above 10% of the largest", found)


def _check_noise(ds: Dataset) -> Rows:
    """Check what descent leaves of the singular values of panel b, with label noise and without."""
    last = ds.isel(noise_time=-1)
    half = ds.isel(noise_time=slice(ds.sizes["noise_time"] // 2, None))
    error = float(np.abs(last["descent_values"] - last["descent_predicted"]).max())
    one_step = below(float(ds.attrs["rate"]), "descent leaves the flow at first order in its step")
    yield printed("largest distance of gradient descent from Corollary 3.1 at the end", error, one_step)
    left = {name: (last[f"{name}_values"] / ds[f"{name}_values"][0])[:, 1:] for name in ("descent", "label_noise")}
    decay = float(np.exp(-ds.attrs["decay_rate"] * float(ds["noise_time"][-1])))
    decayed = below(
        TIMES * decay, "five times the predicted decay, a mean over the noise: the worst seed may be above it"
    )
    small = "fraction of a small singular value left"
    yield printed(f"largest {small}, with label noise", float(left["label_noise"].max()), decayed)
    yield printed(f"smallest {small}, without label noise", float(left["descent"].min()), KEPT)
    ratio = float((half["label_noise_values"][:, :, 0].mean("noise_time") / ds["flattest"]).mean())
    yield fact("largest singular value under label noise over that of the flattest interpolator, late mean", ratio)


FIGURE = Figure(
    name="fig1",
    title="Small starts leave a first layer of low rank, and label noise does so from a large one",
    caption=(
        "a: the four largest singular values of the first layer during gradient flow on 5 Gaussian samples of 10 "
        "inputs and 3 outputs, width 200, as in the paper, from orthogonal starts of scale 1 and 0.0001 and from "
        "Gaussian initializations; dashed: where Corollary 3.1 says they end. The text's variance of 0.01 means an "
        "effective scale of 1 and a full rank; a standard deviation of 0.01 gives the low rank the text describes, so "
        "both are drawn. b: all singular values under gradient descent and under descent with noisy labels, from a "
        "large initialization: 5 orthogonal samples, one output, width 200 as in the paper; the scale 1, label noise "
        "of unit size and the step 0.02 are ours, as the paper does not print its own."
    ),
    settings=Fig1,
    quick={"times": 60, "seeds": 4, "noise_saves": 100},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
