"""Figure 3 of Watanabe et al.: the training loss for several spikes and several alignments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import linnet as ln
from linnet import style
from linnet_papers.reproduction import Figure, Rows, below, fact, printed
from linnet_papers.reproduction.datasets import Dataset, labeled
from linnet_papers.watanabe.settings import RunSettings
from linnet_papers.watanabe.training import figure_runs

# What varies from curve to curve of a panel: its name in the dataset, its symbol, and in words
VARIED = {"a": ("spike_a", "ρ", "spike ρ"), "b": ("alignment_b", "A", "alignment A of spike and target")}
CROSSED = below(1e-2, "networks of one scale differ in $u(0)$: what such a shift in time is worth on the plateau")


class LossSettings(RunSettings):
    """Spikes of panel a and alignments of panel b; our copy of the text has only A = 0.5 and rho = 20."""

    spikes: tuple[float, ...] = (1.0, 5.0, 20.0, 50.0)
    alignment: float = 0.5
    alignments: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7, 0.9)
    spike: float = 20.0


def compute(settings: LossSettings, panels: tuple[str, ...]) -> Dataset:
    """Return one trained network for each curve; times are those of the slowest curve of the panel."""
    import xarray as xr

    panels = panels or FIGURE.panels
    ds = xr.Dataset(attrs={"panels": ",".join(panels), "spike": settings.spike, "alignment": settings.alignment})
    ds.attrs.update(samples=settings.samples, delta=settings.delta, scale=settings.scale)
    for panel in panels:
        values = settings.spikes if panel == "a" else settings.alignments
        pairs = [(value, settings.alignment) if panel == "a" else (settings.spike, value) for value in values]
        theories = [ln.theories.spiked.TwoPhase(*pair) for pair in pairs]
        ends = [theory.later_time(settings.scale, settings.delta) for theory in theories]
        times = np.linspace(0, 1.5 * max(ends), settings.points)
        runs = [figure_runs.figure_run(settings, *pair, times, samples=settings.samples) for pair in pairs]
        measured = [
            figure_runs.phase_times(times, run.components, theory.plateau, theory.fixed_point[1], settings.delta)
            for run, theory in zip(runs, theories)
        ]
        early = [theory.early_time(settings.scale) for theory in theories]
        losses, descents = (
            [run.loss / run.loss[0] for run in runs],
            [run.descent_loss / run.descent_loss[0] for run in runs],
        )
        name, _, words = VARIED[panel]
        time, reached = f"time_{panel}", "when w₁² is at half its plateau, and w₂ settled"
        data = {
            f"loss_{panel}": ((name, time), losses, "training loss / its start"),
            f"descent_loss_{panel}": ((name, time), descents, "training loss / its start, by gradient descent"),
            f"early_time_{panel}": (name, early, "early timescale t₁", "canonical"),
            f"later_time_{panel}": (name, ends, "t₁ plus the bound (20)", "canonical"),
            f"measured_{panel}": ((name, "phase"), measured, reached, "canonical"),
        }
        ds = ds.merge(labeled(data, {name: (name, list(values), words), time: (time, times, "time t", "canonical")}))
    return ds


def value_colors(values: Sequence[float], all_values: Sequence[float]) -> list[str]:
    """Return a color for each value, the same however many of all of them are drawn."""
    known = sorted({*values, *all_values})
    shades = style.shades(len(known))
    return [shades[known.index(value)] for value in values]


def panel_title(ds: Dataset, panel: str) -> str:
    """Return the title of panel a, which varies the spike, or b, which varies the alignment."""
    if panel == "a":
        return f"a  Spikes at alignment {ds.attrs['alignment']:g}"
    return f"b  Alignments at spike {ds.attrs['spike']:g}"


def plot(ds: Dataset) -> style.Picture:
    """Draw the loss over its start, both times of each curve in its color; below it the same on a logarithmic axis."""
    panels = ds.attrs["panels"].split(",")
    with style.applied():
        size = style.column(len(panels), ratio=1.35 / len(panels))
        picture, axes = style.subplots(2, len(panels), size=size, squeeze=False, sharex="col", sharey="row")
        for (upper, lower), panel in zip(axes.T, panels):
            name, symbol, _ = VARIED[panel]
            usual = LossSettings().spikes if panel == "a" else LossSettings().alignments
            time, few = ds[f"time_{panel}"], slice(None, None, max(1, ds.sizes[f"time_{panel}"] // 40))
            for axis in (upper, lower):
                for i, color in enumerate(value_colors(ds[name].values.tolist(), usual)):
                    loss, descent = (ds[f"{kind}_{panel}"].isel({name: i}) for kind in ("loss", "descent_loss"))
                    label = f"{symbol} = {float(ds[name][i]):g}"
                    axis.plot(time, loss, color=color, label=label, linewidth=1.6)
                    axis.plot(time[few], descent[few], ".", color=color, markersize=2.5)
                    for mark, dashes in (("early", ":"), ("later", "-.")):
                        at = float(ds[f"{mark}_time_{panel}"][i])
                        axis.axvline(at, color=color, linestyle=dashes, linewidth=0.9, zorder=1)
            lower.plot([], [], color=style.GRAY, linestyle=":", linewidth=0.9, label="t₁")
            lower.plot([], [], color=style.GRAY, linestyle="-.", linewidth=0.9, label="t₁ + bound (20)")
            upper.set(title=panel_title(ds, panel), xlim=(0, float(time[-1])))
            lower.set(xlabel="time t (canonical)", yscale="log", ylim=(1e-5, 2))
            lower.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=4, columnspacing=1.2)
        for axis in axes[:, 0]:
            axis.set_ylabel("training loss / its start")
    return picture


def check(ds: Dataset) -> Rows:
    """Measure the order of the curves, and the marked times beside those of the networks."""
    for panel in ds.attrs["panels"].split(","):
        name = VARIED[panel][0]
        word, loss = name.removesuffix(f"_{panel}"), ds[f"loss_{panel}"]
        rise = float(loss.diff(name).max())
        yield printed(f"largest rise of the normalized loss with the {word}, at equal times", rise, CROSSED)
        late = float(abs(ds[f"descent_loss_{panel}"] - loss).max())
        yield fact(f"largest distance of gradient descent from the gradient flow, panel {panel}", late)
        labels = [f"{word} {value:g}" for value in ds[name].values]
        reached = dict(zip(("early", "later"), ds[f"measured_{panel}"].values.T, strict=True))
        for mark, words in {"early": "$w_1^2$ passes half its plateau", "later": "$w_2$ is settled"}.items():
            measured, marked = (
                dict(zip(labels, values, strict=True)) for values in (reached[mark], ds[f"{mark}_time_{panel}"].values)
            )
            yield fact(f"time at which {words}, panel {panel}", measured)
            yield fact(f"time of the mark for it, panel {panel}", marked)


FIGURE = Figure(
    name="fig3",
    title="Training loss for different spikes and alignments",
    caption=(
        "Loss of networks of 30 inputs and 50 hidden units trained on sampled data by gradient flow (lines) and "
        "gradient descent (dots), divided by its start, the mean square of the labels; below, the same on a "
        "logarithmic axis, where the later phase of well aligned spikes is seen. The spikes at A = 0.5 and the "
        "alignments at rho = 20 are ours, as our copy of the text lists none. Dotted: the early timescale. Dash- "
        "dotted: t1 plus the bound (20), delta = 3. A larger spike and a better aligned one speed up the early phase, "
        "and with it everything. The bound assumes that the component along v1 is above its limit in the later phase; "
        "where its plateau is below, as for rho = 1 in a and A = 0.1 in b, the network takes longer than the bound "
        "says. The marks of the bound at rho = 20 and 50 in a, 5.37 and 5.34, nearly coincide."
    ),
    settings=LossSettings,
    quick={"samples": 2000, "points": 200, "spikes": (1.0, 20.0), "alignments": (0.1, 0.5, 0.9)},
    compute=compute,
    plot=plot,
    check=check,
    panels=("a", "b"),
)
