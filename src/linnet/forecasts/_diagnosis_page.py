"""The page of a diagnosis: headline numbers, sentences, pictures and settings, whole in itself."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnet import _page as page
from linnet import style
from linnet._files import written_whole
from linnet.forecasts._columns import pluralize
from linnet.forecasts._diagnosis_sentences import diagnosis_sentences, headline, rate_table, regime_adverbs, verdict
from linnet.forecasts._forecast_figure import COLOR_OF_ADVERB, draw_kernels, draw_mode_shares, steps_for_log_axis
from linnet.forecasts._regime_map import count_active_modes
from linnet.forecasts.curves import standard_error
from linnet.forecasts.diagnosis import Diagnosis, training_shares
from linnet.trajectories.datasets import provenance

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    names = [escape(_short_list(names)) for names in (diagnosis.table.input_names, diagnosis.table.output_names)]
    listed = "".join(f"<li>{escape(sentence)}</li>" for sentence in diagnosis_sentences(diagnosis))
    header = (
        "<h1>What a two-layer linear network learns from this table</h1>\n"
        f"<p>{s['rows']} rows, {s['inputs']} inputs ({names[0]}), {pluralize(s['targets'], 'target')} ({names[1]}). "
        "Errors are fractions of the targets' variance that are not explained: 1 is as good as the mean. Both tiles of "
        "errors are of folds that took no part in the choice.</p>\n"
        f"<p><strong>{escape(' '.join(verdict(diagnosis)))}</strong></p>\n"
        f"{page.tiles(headline(diagnosis.to_dataset()))}\n<ul>{listed}</ul>"
    )
    one_target = diagnosis.comparison.thresholds is not None
    sections = (*SECTIONS, START_SCALE_SECTION) if one_target else SECTIONS
    pictures = "".join(_section_html(section, diagnosis) for section in sections)
    rows = "".join(page.setting_row(name, str(value)) for name, value in s.items())
    tables = f"<article><h3>Learning rates</h3>{page.table(rate_table(diagnosis))}</article>\n"
    tables += f"<article><h3>Settings</h3><table>{rows}</table></article>\n"
    version = escape(str(provenance()["linnet_version"]))
    footer = f"<p>Made with linnet {version}. The numbers are in <code>{DATA}</code> next to this page.</p>"
    return page.document("linnet: a diagnosis", header=header, main=pictures + tables, footer=footer)


def _section_html(section: Section, diagnosis: Diagnosis) -> str:
    """Draw a section of the page, and write its title, picture and caption."""
    with style.applied():
        figure, axes = style.subplots(1, section.panels, size=section.size)
        section.draw(axes, diagnosis)
    title, (picture, hint) = escape(section.title), page.image(page.drawn(figure), section.title)
    ridge = diagnosis.comparison.learning_curve.ridge
    caption = section.caption.format(width=diagnosis.settings["width"], ridge=ridge)
    return f"""<article id="{title.lower().replace(" ", "-")}"><header><h3>{title}</h3></header>
<figure><div class="picture" tabindex="0" role="group" aria-label="{title}">{picture}</div>
{hint}<figcaption>{escape(caption)}</figcaption></figure></article>
"""


def _short_list(names: list[str]) -> str:
    """List names, the first and the last where there are many."""
    return ", ".join(names) if len(names) <= 6 else f"{', '.join(names[:4])}, ... {names[-1]}"


class Section(NamedTuple):
    """A picture of the page: `draw(axes, diagnosis)` draws on one panel, or on the array of several.

    In its caption "{width}" stands for the width of the network and "{ridge}" for the penalty per row.
    """

    title: str
    caption: str
    draw: Callable[..., None]
    size: tuple[float, float]
    panels: int = 1


def draw_inputs(axes: np.ndarray, diagnosis: Diagnosis) -> None:
    """Draw the variance of the inputs, and every mode's size next to its threshold."""
    r, adverbs = diagnosis.regimes.regimes, np.array(regime_adverbs(diagnosis))
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
    for adverb in dict.fromkeys(adverbs.tolist()):
        at = adverbs == adverb
        axes[1].plot(modes[at], r.sizes[at], color=COLOR_OF_ADVERB[adverb], label=adverb, **style.MARKS)
    axes[1].set(yscale="log", xlabel="mode of the cross-covariance", title="size of each mode, and the threshold")
    axes[1].legend()


def draw_regime_map(axes: Axes, diagnosis: Diagnosis) -> None:
    """Draw the number of active modes over width and scale of the initialization."""
    width, modes = diagnosis.settings["width"], len(diagnosis.regimes.labels)
    widths, scales = np.geomspace(1, 1e8, 97), np.geomspace(1e-3, 1e1, 81)
    active = count_active_modes(diagnosis, widths, scales)
    drawn = axes.pcolormesh(widths, scales, active, vmin=0, vmax=modes, shading="nearest", cmap=style.SEQUENCE)
    axes.plot([width], [1.0], marker="x", color="white", markersize=8, markeredgewidth=2.4)
    axes.plot([width], [1.0], marker="x", color=style.ORANGE, markersize=7, markeredgewidth=1.6)
    axes.set(xscale="log", yscale="log", xlabel="width", title="modes learned actively")
    axes.set_ylabel("scale of the initialization, times the chosen one")
    axes.figure.colorbar(drawn, ax=axes, ticks=np.unique(np.linspace(0, modes, 6).round().astype(int)))
    narrow = diagnosis.forecast.problem.in_dim + diagnosis.forecast.problem.out_dim
    axes.axvspan(widths[0], narrow, facecolor="white", alpha=0.45, linewidth=0)
    axes.grid(False)


def draw_training(axes: Axes, diagnosis: Diagnosis) -> None:
    """Draw training and held-out error by step."""
    c = diagnosis.curves
    steps = steps_for_log_axis(c.steps)
    series = {"training": (training_shares(diagnosis), style.LOSS), "held out": (c.errors, style.TEST_LOSS)}
    for name, (values, color) in series.items():
        mean, spread = values.mean(axis=(1, 2)), values.mean(axis=2).std(axis=1, ddof=1)
        axes.fill_between(steps, mean - spread, mean + spread, color=color, alpha=0.18, linewidth=0)
        axes.plot(steps, mean, color=color, label=name, **style.ALONE)
    (low, stop, high), least = (
        steps_for_log_axis(np.array([c.steps_within_one_error[0], c.step, c.steps_within_one_error[1]])),
        c.mean[c.best],
    )
    axes.hlines(least, low, high, color=style.TEST_LOSS, linewidth=3, alpha=0.6)
    axes.plot([stop], [least], color=style.TEST_LOSS, label=f"stop at step {c.step}", **style.MARKS)
    if diagnosis.stein is not None:
        axes.axvline(diagnosis.stein.step, **style.GUIDELINE, label=f"Stein: step {diagnosis.stein.step}")
    axes.set(xscale="log", yscale="log", xlabel="step", title="fraction of the variance not explained")
    axes.legend()


def draw_modes(axes: np.ndarray, diagnosis: Diagnosis) -> None:
    """Draw how much of each mode is learned by step, and the tangent kernel along it."""
    draw_mode_shares(axes[0], diagnosis.forecast, regime_adverbs(diagnosis))
    draw_kernels(axes[1], diagnosis.forecast, regime_adverbs(diagnosis))


def draw_baselines(axes: Axes, diagnosis: Diagnosis) -> None:
    """Draw the held-out errors of all methods, fold by fold."""
    methods = {"network": diagnosis.curves.out_of_fold_error(), **diagnosis.comparison.baselines}
    for row, (name, errors) in enumerate(methods.items()):
        color = style.ACTIVE if name == "network" else style.GRAY
        axes.plot(errors, np.full(len(errors), row), color=color, **style.MARKS)
        axes.plot([errors.mean()] * 2, [row - 0.3, row + 0.3], color=color, linewidth=2)
    axes.set(yticks=range(len(methods)), yticklabels=list(methods), xlabel="held-out error, fraction of the variance")
    axes.invert_yaxis()


def draw_learning_curve(axes: Axes, diagnosis: Diagnosis) -> None:
    """Draw the test error of ridge against the number of rows."""
    c = diagnosis.comparison.learning_curve
    spread = 2 * c.standard_error
    axes.errorbar(c.samples, c.measured, yerr=spread, color=style.BLUE, label="measured", capsize=2, **style.MARKS)
    if not np.isnan(c.gap):
        axes.plot(c.samples, c.predicted, color=style.BLUE, label="predicted", **style.THEORY)
    axes.set(
        xscale="log", yscale="log", xlabel="rows to train on", title="test error of ridge, fraction of the variance"
    )
    axes.legend()


def draw_start_scale(axes: Axes, diagnosis: Diagnosis) -> None:
    """Draw the smallest held-out error against the threshold of the initialization."""
    curve = diagnosis.comparison.thresholds
    assert curve is not None
    spread = standard_error(curve.errors)
    axes.fill_between(curve.thresholds, curve.mean - spread, curve.mean + spread, color=style.TEST_LOSS, alpha=0.18)
    axes.plot(curve.thresholds, curve.mean, color=style.TEST_LOSS, label="exact flow", **style.ALONE)
    now = float(diagnosis.forecast.regimes.thresholds.mean())
    if now > 0:
        axes.axvline(now, **style.GUIDELINE, label="this start")
    axes.set(
        xscale="log", xlabel="threshold of the initialization", title="minimum held-out error, fraction of the variance"
    )
    axes.legend()


SECTIONS = (
    Section(
        "Inputs and modes",
        "Left: the variance of the inputs along their principal directions. Right: the size of each mode of the "
        "cross-covariance in what ridge learns, against the threshold (the band is its uncertainty): modes below it "
        "are learned lazily, above it actively.",
        draw_inputs,
        size=style.column(2, ratio=0.38),
        panels=2,
    ),
    Section(
        "Lazy or active",
        "Number of modes learned actively at other widths and scales of the initialization, for the map that ridge "
        "learns from this table: the measure of the sentences above. In the paler part, narrower than inputs and "
        "outputs together, thresholds are not certain. The cross is width {width} at the chosen scale.",
        draw_regime_map,
        size=style.column(1.25, ratio=0.66),
    ),
    Section(
        "Training and when to stop",
        "Training and held-out error by step, with the spread over folds (bands: one standard deviation). The mark is "
        "where to stop, the bar the steps within one standard error of it, by the differences within folds.",
        draw_training,
        size=style.column(1.5, ratio=0.56),
    ),
    Section(
        "When each mode is learned",
        "Left: fraction of each mode's residual that is gone, in the run on all rows. Right: tangent kernel along each "
        "mode relative to its initial value, measured; the dotted line is the threshold.",
        draw_modes,
        size=style.column(2, ratio=0.38),
        panels=2,
    ),
    Section(
        "Against other linear methods",
        "Held-out errors in the same folds (points) and their means (lines), every choice made without the held-out "
        "rows.",
        draw_baselines,
        size=style.column(1.5, ratio=0.36),
    ),
    Section(
        "With more or fewer rows",
        "Test error of ridge regression (penalty {ridge:.2g} per row) against the number of rows: measured on random "
        "parts of the table (two standard errors) and predicted from the spectrum of the whole.",
        draw_learning_curve,
        size=style.column(1.25, ratio=0.6),
    ),
)
START_SCALE_SECTION = Section(  # for tables of one target
    "Does the scale of the initialization matter",
    "Minimum held-out error of the exact flow of one target against the threshold of the initialization. A factor "
    "of both layers multiplies the threshold by its square. Dotted: this initialization. Band: one standard error.",
    draw_start_scale,
    size=style.column(1.25, ratio=0.6),
)
