"""The page of a diagnosis: pictures, sentences and settings, whole in itself."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linnet import _page as page
from linnet import style
from linnet._files import written_whole
from linnet.forecasts._columns import pluralize
from linnet.forecasts._diagnosis_sentences import rate_table, regime_adverbs
from linnet.forecasts._forecast_figure import COLOUR_OF_WORD, draw_kernels, draw_modes
from linnet.forecasts._regime_map import count_active_modes
from linnet.forecasts.curves import standard_error
from linnet.forecasts.diagnosis import Diagnosis, training_shares
from linnet.trajectories._dataset import provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE, DATA = "index.html", "diagnosis.nc"


def write(diagnosis: Diagnosis, out: Path) -> Path:
    """Write the page and the dataset into the folder `out`; return the path of the page."""
    out.mkdir(parents=True, exist_ok=True)
    with written_whole(out / DATA) as draft:  # after a kill the old file is there, or none
        diagnosis.to_dataset().to_netcdf(draft, engine="scipy")
    return page.write(out / PAGE, page_html(diagnosis))


def page_html(diagnosis: Diagnosis) -> str:
    """Write the page as HTML."""
    s = diagnosis.settings
    tiles = {
        "stop at step": f"{diagnosis.stop}" if diagnosis.gain_over_mean[0] > 0 else "nothing is learned",
        "held-out error": f"{diagnosis.curves.honest_error().mean():.3f}",
        "ridge's": f"{diagnosis.rivals['ridge'].mean():.3f}",
        "modes learned actively": f"{diagnosis.regimes.active} of {len(diagnosis.regimes.words)}",
    }
    lines = "".join(f"<li>{escape(line)}</li>" for line in diagnosis.findings() if not line.startswith(" "))
    names = [escape(_short_list(names)) for names in (diagnosis.table.input_names, diagnosis.table.output_names)]
    header = (
        "<h1>What a two-layer linear network learns from this table</h1>\n"
        f"<p>{s['rows']} rows, {s['inputs']} inputs ({names[0]}), {pluralize(s['targets'], 'target')} ({names[1]}). "
        "Errors are shares of the targets' variance that are not explained: 1 is as good as the mean. Both tiles of "
        "errors are of folds that took no part in the choice.</p>\n"
        f"{page.tiles(tiles)}\n<ul>{lines}</ul>"
    )
    sections = section_figures(diagnosis)
    cards = "".join(_article_html(title, caption, page.drawn(figure)) for title, caption, figure in sections)
    rows = "".join(page.setting_row(name, str(value)) for name, value in s.items())
    rates = "".join(
        "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"
        for row, tag in zip(rate_table(diagnosis), ["th", "td", "td"], strict=True)
    )
    settings = f"<article><h3>Learning rates</h3><table>{rates}</table></article>\n"
    settings += f"<article><h3>Settings</h3><table>{rows}</table></article>\n"
    version = escape(str(provenance()["linnet_version"]))
    footer = f"<p>Made with linnet {version}. The numbers are in <code>{DATA}</code> beside this page.</p>"
    return page.document("linnet: a diagnosis", header=header, main=cards + settings, footer=footer)


def _article_html(title: str, caption: str, png: bytes) -> str:
    """Write one section of the page: title, picture and caption."""
    name, (picture, hint) = title.lower().replace(" ", "-"), page.image(png, title)
    return f"""<article id="{escape(name)}"><header><h3>{escape(title)}</h3></header>
<figure><div class="picture" tabindex="0" role="group" aria-label="{escape(title)}">{picture}</div>
{hint}<figcaption>{escape(caption)}</figcaption></figure></article>
"""


def section_figures(diagnosis: Diagnosis) -> list[tuple[str, str, Figure]]:
    """Draw every section of the page; return title, caption and figure of each."""
    sections = [inputs_section, regime_map_section, training_section, modes_section, rivals_section, rows_section]
    if diagnosis.comparison.thresholds is not None:
        sections.append(start_scale_section)
    return [section(diagnosis) for section in sections]


def _section(
    title: str, caption: str, *, width: float, ratio: float, panels: int = 1
) -> Callable[[Callable[[Any, Diagnosis], None]], Callable[[Diagnosis], tuple[str, str, Figure]]]:
    """Make a section of the page from a function that draws on `panels` axes; {settings} may stand in its caption."""

    def decorator(draw: Callable[[Any, Diagnosis], None]) -> Callable[[Diagnosis], tuple[str, str, Figure]]:
        def section(diagnosis: Diagnosis) -> tuple[str, str, Figure]:
            with style.applied():
                figure, axes = style.subplots(1, panels, size=style.column(width, ratio=ratio))
                draw(axes, diagnosis)
            return title, caption.format(ridge=diagnosis.samples.ridge, **diagnosis.settings), figure

        return section

    return decorator


@_section(
    "Inputs and modes",
    "Left: the variance of the inputs along their principal directions. Right: the size of each mode of the "
    "cross-covariance in what ridge learns, against the threshold (the band is its uncertainty): modes below it are "
    "learned lazily, above it actively.",
    width=2,
    ratio=0.38,
    panels=2,
)
def inputs_section(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw the variance of the inputs, and every mode's size beside its threshold."""
    r, words = diagnosis.regimes.regimes, regime_adverbs(diagnosis)
    variances = diagnosis.forecast.problem.factor.scales**2
    axes[0].plot(np.arange(1, len(variances) + 1), variances, color=style.SIGNAL, **style.MARKS)
    axes[0].set(xscale="log", yscale="log", xlabel="direction", title="variance of the inputs")
    if variances[0] < 2 * variances[-1]:  # whitened: there is nothing to see but rounding
        axes[0].set_ylim(variances[-1] / 4, variances[0] * 4)
    modes = np.arange(1, len(r.strengths) + 1)
    edges = np.arange(len(modes) + 1) + 0.5
    middle, low, high = (
        np.append(values, values[-1])
        for values in (
            r.thresholds,
            np.maximum(r.thresholds - r.uncertainties, r.thresholds / 100),
            r.thresholds + r.uncertainties,
        )
    )
    axes[1].fill_between(edges, low, high, step="post", color=style.GUIDE, alpha=0.25)
    axes[1].step(edges, middle, where="post", label="threshold", **style.GUIDELINE)
    for word in dict.fromkeys(words):
        at = np.array([w == word for w in words])
        axes[1].plot(modes[at], r.sizes[at], color=COLOUR_OF_WORD[word], label=word, **style.MARKS)
    axes[1].set(yscale="log", xlabel="mode of the cross-covariance", title="size of each mode, and the threshold")
    axes[1].legend()


@_section(
    "Lazy or active",
    "How many modes would be learned actively at other widths and scales of the start, for what ridge learns from this "
    "table: the measure of the sentences above. In the paler part, narrower than inputs and outputs together, "
    "thresholds are not certain. The cross is width {width} at the chosen scale.",
    width=1.25,
    ratio=0.66,
)
def regime_map_section(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw the number of active modes over width and scale of the start."""
    width, modes = diagnosis.settings["width"], len(diagnosis.regimes.words)
    widths, scales = np.geomspace(1, 1e8, 97), np.geomspace(1e-3, 1e1, 81)
    active = count_active_modes(diagnosis, widths, scales)
    drawn = axes.pcolormesh(widths, scales, active, vmin=0, vmax=modes, shading="nearest", cmap=style.SEQUENCE)
    axes.plot([width], [1.0], marker="x", color="white", markersize=8, markeredgewidth=2.4)
    axes.plot([width], [1.0], marker="x", color=style.ORANGE, markersize=7, markeredgewidth=1.6)
    axes.set(xscale="log", yscale="log", xlabel="width", title="modes learned actively")
    axes.set_ylabel("scale of the start, times the chosen one")
    axes.figure.colorbar(drawn, ax=axes, ticks=np.unique(np.linspace(0, modes, 6).round().astype(int)))
    narrow = diagnosis.forecast.problem.in_dim + diagnosis.forecast.problem.out_dim
    axes.axvspan(widths[0], narrow, facecolor="white", alpha=0.45, linewidth=0)
    axes.grid(False)


@_section(
    "Training and when to stop",
    "Training and held-out error by step, with the spread over folds (bands: one standard deviation). The mark is "
    "where to stop, the bar the steps within one standard error of it, by the differences within folds.",
    width=1.5,
    ratio=0.56,
)
def training_section(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw training and held-out error by step."""
    c = diagnosis.curves
    steps = np.maximum(c.steps, 0.5)
    series = {"training": (training_shares(diagnosis), style.LOSS), "held out": (c.errors, style.TEST_LOSS)}
    for name, (values, colour) in series.items():
        mean, spread = values.mean(axis=(1, 2)), values.mean(axis=2).std(axis=1, ddof=1)
        axes.fill_between(steps, mean - spread, mean + spread, color=colour, alpha=0.18, linewidth=0)
        axes.plot(steps, mean, color=colour, label=name, **style.ALONE)
    low, high = c.range
    at = c.mean[c.best]
    axes.hlines(at, max(low, 0.5), max(high, 0.5), color=style.TEST_LOSS, linewidth=3, alpha=0.6)
    axes.plot([max(c.step, 0.5)], [at], color=style.TEST_LOSS, label=f"stop at step {c.step}", **style.MARKS)
    if diagnosis.stein is not None:
        axes.axvline(diagnosis.stein.step, **style.GUIDELINE, label=f"Stein: step {diagnosis.stein.step}")
    axes.set(xscale="log", yscale="log", xlabel="step", title="share of the variance not explained")
    axes.legend()


@_section(
    "When each mode is learned",
    "Left: the share of each mode's residual that is gone, in the run on all rows. Right: the tangent kernel along "
    "each mode over its start, measured; the dotted line is the threshold.",
    width=2,
    ratio=0.38,
    panels=2,
)
def modes_section(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw how much of each mode is learned by step, and the tangent kernel along it."""
    draw_modes(axes[0], diagnosis.forecast, regime_adverbs(diagnosis))
    draw_kernels(axes[1], diagnosis.forecast, regime_adverbs(diagnosis))


@_section(
    "Against other linear methods",
    "Held-out errors in the same folds (points) and their means (lines), every choice made without the held-out rows.",
    width=1.5,
    ratio=0.36,
)
def rivals_section(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw the held-out errors of all methods, fold by fold."""
    methods: dict[str, Any] = {"network": diagnosis.curves.honest_error(), **diagnosis.rivals}
    for row, (name, errors) in enumerate(methods.items()):
        colour = style.ACTIVE if name == "network" else style.GREY
        axes.plot(errors, np.full(len(errors), row), color=colour, **style.MARKS)
        axes.plot([errors.mean()] * 2, [row - 0.3, row + 0.3], color=colour, linewidth=2)
    axes.set(yticks=range(len(methods)), yticklabels=list(methods), xlabel="held-out error, share of the variance")
    axes.invert_yaxis()


@_section(
    "With more or fewer rows",
    "Test error of ridge regression (penalty {ridge:.2g} per row) against the number of rows: measured on random parts "
    "of the table (two standard errors) and predicted from the spectrum of the whole.",
    width=1.25,
    ratio=0.6,
)
def rows_section(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw the test error of ridge against the number of rows."""
    c = diagnosis.samples
    spread = 2 * c.standard_error
    axes.errorbar(c.samples, c.measured, yerr=spread, color=style.BLUE, label="measured", capsize=2, **style.MARKS)
    if not np.isnan(c.gap):
        axes.plot(c.samples, c.predicted, color=style.BLUE, label="predicted", **style.THEORY)
    axes.set(xscale="log", yscale="log", xlabel="rows to train on", title="test error of ridge, share of the variance")
    axes.legend()


@_section(
    "Does the scale of the start matter",
    "The least held-out error of the exact flow of one target against the threshold of the start, which a factor of "
    "both layers multiplies by its square; the dotted line is this start. Band: one standard error over folds.",
    width=1.25,
    ratio=0.6,
)
def start_scale_section(axes: Any, diagnosis: Diagnosis) -> None:
    """Draw the least held-out error against the threshold of the start."""
    curve = diagnosis.comparison.thresholds
    assert curve is not None
    spread = standard_error(curve.errors)
    axes.fill_between(curve.thresholds, curve.mean - spread, curve.mean + spread, color=style.TEST_LOSS, alpha=0.18)
    axes.plot(curve.thresholds, curve.mean, color=style.TEST_LOSS, label="exact flow", **style.ALONE)
    now = float(diagnosis.forecast.regimes.thresholds.mean())
    if now > 0:
        axes.axvline(now, **style.GUIDELINE, label="this start")
    axes.set(xscale="log", xlabel="threshold of the start", title="least held-out error, share of the variance")
    axes.legend()


def _short_list(names: list[str]) -> str:
    """List names, the first and the last where there are many."""
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:4])}, ... {names[-1]}"
