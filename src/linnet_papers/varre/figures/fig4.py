"""Figure 4 of Varre et al.: the regression of figure 1a when the second layer does not start at zero."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, at_least, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.varre.figures.curves import draw_levels, draw_singular_values
from linnet_papers.varre.training.regression import BothLayers, flows_from_both_layers

SHOWN = 4  # singular values drawn
TREND = at_least(0.9, "the trend is the rule: one odd draw in ten is left")
INTERPOLATED = below(1e-12, "the square of a residual at a millionth of the labels, which have a loss near 1")


def compute(settings: BothLayers, panels: tuple[str, ...]) -> Dataset:
    times = settings.saved_times
    variances = settings.second_variances
    flows = flows_from_both_layers(settings, times)
    gammas = [settings.first_variance * settings.width / 2] * len(variances)
    seconds = [variance * settings.width / 2 for variance in variances]
    of_runs = ("seed", "start", "mode")
    return labeled(
        {
            "values": (("start", "time", "mode"), np.moveaxis(flows.values[:, 0], 1, 0), "σ of W₁, first seed"),
            "final": (of_runs, flows.values[-1], "final singular values of W₁"),
            "initial": (of_runs, flows.values[0], "singular values of W₁ at initialization"),
            "predicted": (of_runs, flows.predicted_values(gammas), "Corollary 3.1 for a second layer of zero"),
            "with_second": (of_runs, flows.predicted_values(gammas, seconds), "the same with the second layer's scale"),
            "loss": ("seed_start", flows.loss.ravel(), "final training loss"),
        },
        {
            "time": ("time", times, "time t", "canonical"),
            "start": ("start", np.array(variances), "variance of the second layer at initialization"),
        },
        {"panels": ",".join(panels), "outputs": settings.outputs, "first_variance": settings.first_variance},
    )


def plot(ds: Dataset) -> style.Picture:
    with style.applied():
        picture, grid = style.subplots(1, ds.sizes["start"], size=style.column(2, ratio=0.4), squeeze=False)
        for axis, variance in zip(grid[0], ds["start"].values, strict=True):
            flows = ds.sel(start=variance)
            grown = int(ds.attrs["outputs"])
            draw_singular_values(axis, ds["time"], flows["values"][:, :SHOWN], name="σ{} trained", **style.TRAINING)
            draw_levels(
                axis, flows["with_second"][0, :SHOWN], "with the second layer's scale", of=SHOWN, **style.THEORY
            )
            draw_levels(axis, flows["predicted"][0, :grown], "Corollary 3.1", of=SHOWN, **style.GUIDELINE)
            axis.set(xscale="log", xlabel="time t (canonical)", ylabel="singular values of W₁", ylim=(0, None))
            axis.set_title(f"Second layer of variance {variance:g}")
        picture.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncol=3)
        return picture


def check(ds: Dataset) -> Rows:
    k = int(ds.attrs["outputs"])
    for variance in ds["start"].values:
        flows = ds.sel(start=variance)
        name = f"second layer of variance {variance:g}"
        final, start = flows["final"].values, flows["initial"].values
        trend = float(np.mean((final[:, :k] > start[:, :k]).all(axis=1) & (final[:, k - 1] > final[:, k])))
        yield printed(f"fraction of seeds in which exactly the {k} values grow that should, {name}", trend, TREND)
        away = {
            words: float(np.abs(final / flows[theory].values - 1)[:, :k].max())
            for words, theory in (("Corollary 3.1", "predicted"), ("with the second layer's scale", "with_second"))
        }
        yield fact(f"largest relative distance of a value that grows from theory, {name}", away)
        yield fact(f"largest relative motion of the others, {name}", float(np.abs(final / start - 1)[:, k:].max()))
        yield fact(
            f"fraction of seeds that end with rank {k}, {name}", np.mean(ln.observables.numerical_rank(final) == k)
        )
        gap = float(np.median(final[:, k - 1] / final[:, k]))
        yield fact(rf"median $\sigma_{k}/\sigma_{k + 1}$, {name}", gap)
    yield printed("largest final loss", float(ds["loss"].max()), INTERPOLATED)


FIGURE = Figure(
    name="fig4",
    title="A second layer that does not start at zero: the same values grow, and end a little elsewhere",
    caption=(
        "The four largest singular values of the first layer as in figure 1a, with Gaussian initializations: variance "
        "0.001 in the first layer, 0.01 or 0.001 in the second, as in the paper. Dotted: where Corollary 3.1 has them "
        "for a second layer of zero; dashed: the same formula with the second layer's scale, which is ours."
    ),
    settings=BothLayers,
    quick={"times": 60, "seeds": 4},
    compute=compute,
    plot=plot,
    check=check,
)
