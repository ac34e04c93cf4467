"""Figure 4 of Varre et al.: the regression of figure 1a when the second layer does not start at zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.varre.regression import problems
from linnet.reproduction.figure import Check, Figure, Settings

if TYPE_CHECKING:
    import xarray as xr

SHOWN = 4  # singular values drawn


class Fig4(Settings):
    """The paper's variances; sizes are those of figure 1a."""

    samples: int = 5
    inputs: int = 10
    outputs: int = 3
    width: int = 200
    first_variance: float = 1e-3
    second_variances: tuple[float, ...] = (1e-2, 1e-3)
    end_time: float = 300.0
    times: int = 200
    seeds: int = 20


def compute(settings: Fig4, panels: tuple[str, ...]) -> xr.Dataset:
    import xarray as xr

    seeds = range(settings.seed, settings.seed + settings.seeds)
    shape: dict[str, int] = {"in_dim": settings.inputs, "out_dim": settings.outputs, "width": settings.width}
    std, variances = float(np.sqrt(settings.first_variance)), settings.second_variances
    starts = [
        ln.inits.gaussian(seed, first_std=std, second_std=float(np.sqrt(variance)), **shape)
        for seed in seeds
        for variance in variances
    ]
    sizes = {"samples": settings.samples, "inputs": settings.inputs, "outputs": settings.outputs}
    problem = problems(seeds, repeat=len(variances), **sizes)
    times = np.geomspace(0.01, settings.end_time, settings.times)
    run = ln.gradient_flow(problem, ln.Weights.stack(starts), times=times)
    values = ln.observables.first_layer_values(run).reshape(len(times), len(seeds), len(variances), -1)
    modes = np.linalg.svd(problem.min_norm_solution(), compute_uv=False).reshape(len(seeds), len(variances), -1)
    gamma = settings.first_variance * settings.width / 2
    predicted = ln.theories.spectral_bias.final_singular_values(modes, gamma, settings.inputs)[0]
    return xr.Dataset(
        {
            "values": (
                ("start", "time", "mode"),
                np.moveaxis(values[:, 0], 1, 0),
                {"long_name": "σ of W₁, first seed"},
            ),
            "final": (("seed", "start", "mode"), values[-1], {"long_name": "final singular values of W₁"}),
            "initial": (("seed", "start", "mode"), values[0], {"long_name": "singular values of W₁ at the start"}),
            "predicted": (
                ("seed", "start", "mode"),
                predicted,
                {"long_name": "Corollary 3.1 for a second layer of zero"},
            ),
            "loss": ("seed_start", run.loss[-1], {"long_name": "final training loss"}),
        },
        {
            "time": ("time", times, {"long_name": "time t", "units": "canonical"}),
            "start": ("start", np.array(variances), {"long_name": "variance of the second layer at the start"}),
        },
        {"panels": ",".join(panels), "outputs": settings.outputs, "first_variance": settings.first_variance},
    )


def plot(ds: xr.Dataset) -> Any:
    from linnet import style

    with style.applied():
        picture, grid = style.subplots(1, ds.sizes["start"], size=style.column(2, ratio=0.4), squeeze=False)
        colours = style.shades(SHOWN)
        for axis, variance in zip(grid[0], ds["start"].values, strict=True):
            one = ds.sel(start=variance)
            for mode in range(SHOWN):
                label = f"σ{style.subscript(mode + 1)} trained"
                axis.plot(ds["time"], one["values"][:, mode], color=colours[mode], label=label, **style.TRAINING)
            for mode in range(SHOWN):  # after the trained ones: last in the legend
                level = float(one["predicted"][0, mode])
                axis.axhline(level, color=colours[mode], label="Corollary 3.1" if mode == 0 else None, **style.THEORY)
            axis.set(xscale="log", xlabel="time t (canonical)", ylabel="singular values of W₁", ylim=(0, None))
            axis.set_title(f"Second layer of variance {variance:g}")
        picture.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncol=5)
        return picture


def check(ds: xr.Dataset) -> list[Check]:
    from linnet import style

    checks = []
    k, seeds = int(ds.attrs["outputs"]), ds.sizes["seed"]
    for variance in ds["start"].values:
        one = ds.sel(start=variance)
        final = one["final"].values
        away = float(np.abs(one["final"] / one["predicted"] - 1)[:, :k].max())
        idle = float(np.abs(one["final"] / one["initial"] - 1)[:, k:].max())
        ranks = ln.observables.numerical_rank(final)
        gap = float(np.median(final[:, k - 1] / final[:, k]))
        text = (
            f"second layer of variance {variance:g}: the {k} largest values end within {away:.0%} of Corollary 3.1 "
            "(worst of "
            f"{seeds} seeds), the others move by at most {idle:.0%}"
        )
        checks.append(Check(text, away))
        share = float(np.mean(ranks == k))
        text = (
            f"second layer of variance {variance:g}: {share:.0%} of seeds end with rank {k} (above 10% of the largest)"
        )
        checks.append(Check(f"{text}; median gap σ{style.subscript(k)}/σ{style.subscript(k + 1)} = {gap:.2f}", share))
    worst = float(ds["loss"].max())
    checks.append(
        Check(f"every run interpolates: largest final loss {worst:.1e} (limit 1e-12)", worst, 1e-12, worst < 1e-12)
    )
    return checks


FIGURE = Figure(
    name="fig4",
    title="A second layer that does not start at zero changes where the first layer ends",
    caption=(
        "The four largest singular values of the first layer as in figure 1a, with Gaussian starts: variance 0.001 in "
        "the "
        "first layer, 0.01 or 0.001 in the second. Dashed: where Corollary 3.1 would have them for a second layer of "
        "zero."
    ),
    settings=Fig4,
    quick={"times": 60, "seeds": 4},
    compute=compute,
    plot=plot,
    check=check,
)
