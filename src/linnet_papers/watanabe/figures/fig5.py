"""Figure 5 of Watanabe et al.: the error of trained networks on fewer samples than inputs, against eq. (27)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import PositiveFloat, PositiveInt

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, Settings, above, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.drawing import panel_axes
from linnet_papers.reproduction.fits import largest_t_by_chance
from linnet_papers.watanabe import misprints
from linnet_papers.watanabe.figures.fig3 import VARIED, panel_title
from linnet_papers.watanabe.training.few_samples import FewSamples, error_cells

MEASURED = {
    "error": {"long_name": "test error / signal power"},
    "loss": {"long_name": "final training loss / its start"},
    "time": {"long_name": "time t of training", "units": "canonical"},
    "steps": {"long_name": "steps of the integrator"},
    "distance": {"long_name": "distance from the minimum-norm solution"},
}
LAWS = {
    "predicted": "eq. (27) with the spike in its bracket / signal power",
    "printed": "eq. (27) as printed / signal power",
    "finite": "risk of the finite spectrum / signal power",
}

DESCENT = below(2e-3, "both stop where the training loss has fallen by $10^{-8}$, within $10^{-4}$ of its square root")


class ErrorSettings(Settings):
    """The paper's sizes; the lists of spikes, alignments and ratios are ours, as the text gives none."""

    dim: PositiveInt = 3000
    width: PositiveInt = 3000
    ratios: tuple[float, ...] = (1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
    spikes: tuple[float, ...] = (0.0, 5.0, 20.0, 50.0)
    alignment: float = 0.5
    alignments: tuple[float, ...] = (0.0, 0.3, 0.5, 0.8)
    spike: float = 20.0
    trials: PositiveInt = 10
    scale: PositiveFloat = 1e-5
    loss: PositiveFloat = 1e-8
    tolerance: PositiveFloat = 3e-3
    dtype: str = "float32"


def sweep(settings: ErrorSettings, panel: str) -> ln.sweeps.Sweep:
    """Return the grid of one panel: a varies the spike, b the alignment."""
    axes: dict[str, list[float]] = {"ratio": list(settings.ratios)}
    names = ("dim", "width", "scale", "loss", "tolerance")
    fixed: dict[str, float] = {name: getattr(settings, name) for name in names}
    if panel == "a":
        axes["spike"], fixed["alignment"] = list(settings.spikes), settings.alignment
    else:
        axes["alignment"], fixed["spike"] = list(settings.alignments), settings.spike
    return ln.sweeps.Sweep(
        name=f"watanabe-fig5{panel}",
        function=error_cells,
        axes=axes,
        seeds=settings.trials,
        seed=settings.seed + (panel == "b"),
        fixed=fixed,
        unbatched_axes=["ratio"],
        block=settings.trials,
        dtype=settings.dtype,
    )


def compute(settings: ErrorSettings, panels: tuple[str, ...]) -> Dataset:
    """Train every network of the wanted panels; the theory is beside them, on the same ratios and a fine grid."""
    import xarray as xr

    panels = panels or FIGURE.panels
    attrs = {
        "panels": ",".join(panels),
        "dim": settings.dim,
        "width": settings.width,
        "trials": settings.trials,
        "spike": settings.spike,
        "alignment": settings.alignment,
        "scale": settings.scale,
    }
    ds = xr.Dataset(attrs=attrs)
    fine = np.geomspace(min(settings.ratios) / 1.1, max(settings.ratios) * 1.1, 80)
    for panel in panels:
        grid = ln.sweeps.run(sweep(settings, panel))
        grid = grid if "seed" in grid.dims else grid.expand_dims("seed", -1)
        name, _, words = VARIED[panel]
        curve = name.removesuffix(f"_{panel}")
        for variable, described in MEASURED.items():
            array = grid[variable].transpose("ratio", curve, "seed").rename({curve: name, "seed": "trial"})
            ds[f"{variable}_{panel}"] = array.drop_vars("trial", errors="ignore").astype(float).assign_attrs(described)
        ds[name].attrs["long_name"] = words
        predicted = laws(settings, panel, fine)["predicted"]
        ds[f"theory_{panel}"] = (("ratio_fine", name), predicted, {"long_name": LAWS["predicted"]})
        for law, values in laws(settings, panel, settings.ratios).items():
            ds[f"{law}_{panel}"] = (("ratio", name), values, {"long_name": LAWS[law]})
    # One network trained by descent itself, on the same data as one of the integrated ones; small, as both are exact
    dim, ratio = min(settings.dim, 600), max(settings.ratios)
    trained = {name: getattr(settings, name) for name in ("spike", "alignment", "scale", "loss", "tolerance")}
    one = FewSamples(dim, round(dim / ratio), dim, **trained)
    ds.attrs.update(
        descent_dim=dim,
        descent_ratio=ratio,
        descent_error=one.descent_error(settings.seed),
        flow_error=one.flow_end(settings.seed)["error"],
    )
    ds = ds.assign_coords(ratio_fine=fine)
    for name in ("ratio", "ratio_fine"):
        ds[name].attrs["long_name"] = "inputs per sample, d/n"
    return ds


def laws(settings: ErrorSettings, panel: str, ratios: Sequence[float] | np.ndarray) -> dict[str, np.ndarray]:
    """Return eq. (27) as corrected (`predicted`), as printed, and the finite spectrum's own risk; normalized, by ratio
    and curve."""
    given = (settings.spikes, settings.alignment) if panel == "a" else (settings.spike, settings.alignments)
    ratio, rho, cosine = np.broadcast_arrays(np.reshape(ratios, (-1, 1)), *given)
    sizes = [1, settings.dim - 1]
    finite = [
        float(ln.theories.ridge.risk([1 + r, 1.0], [c**2, 1 - c**2], round(settings.dim / g), multiplicities=sizes))
        for g, r, c in zip(ratio.flat, rho.flat, cosine.flat)
    ]
    power = 1 + rho * cosine**2
    return {
        "predicted": np.asarray(ln.theories.spiked.generalization_error(rho, cosine, ratio, normalized=True)),
        "printed": misprints.generalization_error(cosine, ratio) / power,
        "finite": np.reshape(finite, ratio.shape) / power,
    }


def joint_test(errors: np.ndarray, predicted: np.ndarray) -> tuple[float, float, float]:
    """Student's t of every point (trials in the last axis): the largest, its limit by chance for all points together
    (Bonferroni), and the mean square, which is about 1.3 for ten trials where the prediction is right."""
    trials = errors.shape[-1]
    t = (errors.mean(-1) - predicted) / (errors.std(-1, ddof=1) / np.sqrt(trials))
    return float(np.abs(t).max()), largest_t_by_chance(t.size, trials), float((t**2).mean())


def plot(ds: Dataset) -> style.Picture:
    """Draw marks with standard deviations over the trials, lines of eq. (27)."""
    panels = ds.attrs["panels"].split(",")
    with style.applied():
        picture, axes = panel_axes(panels, ratio=0.95, sharey=True)
        for panel, axis in axes.items():
            curve, symbol, _ = VARIED[panel]
            for value, color in zip(ds[curve].values, style.shades(ds.sizes[curve])):
                errors = ds[f"error_{panel}"].sel({curve: value})
                axis.plot(ds.ratio_fine, ds[f"theory_{panel}"].sel({curve: value}), color=color, **style.CURVE)
                mean, spread, label = errors.mean("trial"), errors.std("trial", ddof=1), f"{symbol} = {value:g}"
                axis.errorbar(
                    ds.ratio, mean, spread, color=color, capsize=2, elinewidth=0.8, label=label, **style.MARKS
                )
            axis.set(xscale="log", xlabel="inputs per sample, d/n", title=panel_title(ds, panel))
            axis.set_xticks(ds.ratio.values, [f"{r:g}" for r in ds.ratio.values])
            axis.minorticks_off()
            axis.legend(
                title="line: eq. (27), corrected; points: trained networks",
                loc="upper center",
                bbox_to_anchor=(0.5, -0.17),
                ncols=4,
                title_fontsize=7,
                columnspacing=1.2,
                handletextpad=0.3,
            )
        axes[panels[0]].set_ylabel("test error / signal power")
    return picture


def check(ds: Dataset) -> Rows:
    """Compare all points together with eq. (27), corrected and as printed."""
    panels = ds.attrs["panels"].split(",")
    errors = np.concatenate([ds[f"error_{p}"].values.reshape(-1, ds.sizes["trial"]) for p in panels])
    predicted, printed_law, own = (np.concatenate([ds[f"{law}_{p}"].values.ravel() for p in panels]) for law in LAWS)
    worst, limit, square = joint_test(errors, predicted)
    wrong, _, wrong_square = joint_test(errors, printed_law)
    finite, _, finite_square = joint_test(errors, own)
    chance = "chance alone exceeds it once in 10 000 runs, all points together (Bonferroni)"
    yield printed(r"largest $\lvert t \rvert$ of (27) with the spike in its bracket", worst, below(limit, chance))
    yield printed(r"largest $\lvert t \rvert$ of (27) as printed", wrong, above(limit, f"{chance}: a misprint is told"))
    yield fact(r"largest $\lvert t \rvert$ of the risk of the finite spectrum", finite)
    squares = {"with the spike": square, "as printed": wrong_square, "finite spectrum": finite_square}
    yield fact(r"mean square of $t$", squares)
    yield fact("largest relative distance of a mean from (27)", float(np.abs(errors.mean(-1) / predicted - 1).max()))
    descent, flow = ds.attrs["descent_error"], ds.attrs["flow_error"]
    yield printed(
        "relative distance of gradient descent from the flow on one data set", abs(descent / flow - 1), DESCENT
    )
    loss, distance = (max(float(ds[f"{name}_{p}"].max()) for p in panels) for name in ("loss", "distance"))
    yield fact("largest loss at the end of training, over its first value", loss)
    yield fact("largest distance from the minimum-norm solution", distance)


FIGURE = Figure(
    name="fig5",
    title="Test error of trained networks on fewer samples than inputs",
    caption=(
        "Marks: two-layer networks of width d trained by gradient flow (the checks have one by gradient descent beside "
        "it) from a Gaussian start of scale 1e-5 until the training loss has fallen by 1e-8; mean and standard "
        "deviation over independent trials. Lines: eq. (27) with the spike in its bracket, where our copy of the paper "
        "has kappa. Errors are divided by the signal's power. Our copy lists no spikes, alignments or ratios beyond "
        "A = 0.5 and rho = 20: they are ours."
    ),
    settings=ErrorSettings,
    quick={
        "dim": 300,
        "width": 300,
        "ratios": (1.5, 3.0, 10.0),
        "spikes": (0.0, 20.0, 50.0),
        "alignments": (0.0, 0.5, 0.8),
        "trials": 6,
    },
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
