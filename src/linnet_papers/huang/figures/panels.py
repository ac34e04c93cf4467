"""The panels that the feature-learning figures share: the loss, the ratio of the layers, and the kernel."""

from __future__ import annotations

from typing import Any

from linnet import style
from linnet_papers.reproduction import Rows, fact
from linnet_papers.reproduction.datasets import Dataset

PANELS = ("a", "b", "c", "d")
RATIOS = (0.0, 1.25)  # what panel b shows: the mean of the ratios may leave it where a neuron's v passes 0


def is_relu(ds: Dataset) -> bool:
    """Return whether the dataset is of a ReLU network: the stages predict nothing of it."""
    return "gated_cosine" in ds


def draw(ds: Dataset) -> style.Picture:
    """Draw the panels that the dataset names, with the prediction of the stages for a linear network."""
    panels = ds.attrs["panels"].split(",")
    painters = {"a": _draw_loss, "b": _draw_ratio, "c": _draw_kernel_distance, "d": _draw_kernel_norm}
    if is_relu(ds):
        painters["d"] = _draw_kernel_cosines  # the kernel's direction in place of its norm
    rows, columns = (2, 2) if len(panels) > 2 else (1, len(panels))
    with style.applied():
        picture, axes = style.subplots(rows, columns, size=style.column(2, ratio=0.44 * rows), squeeze=False)
        layout: Any = picture.get_layout_engine()
        layout.set(w_pad=0.1)  # room for the labels beside legends that hang below
        for axis in axes.ravel()[len(panels) :]:
            axis.remove()
        for axis, panel in zip(axes.ravel(), panels):
            painters[panel](axis, ds)
            axis.set_xlabel("training step")
            if ds.attrs.get("logarithmic"):
                axis.set_xscale("log")
                axis.set_xlim(left=10)
            axis.axvline(
                ds.attrs["first_time_loss"],
                color=style.RED,
                linewidth=1.0,
                zorder=1,
                label="t₁: 5% of the loss gone" if panel == panels[0] else None,
            )
            axis.legend(
                loc="upper center",
                bbox_to_anchor=(0.5, -0.2),
                ncols=2,
                frameon=False,
                handlelength=1.6,
                columnspacing=1.2,
            )
        rate = ds.attrs["learning_rate"]
        picture.suptitle(f"{ds.attrs['subtitle']}\none step is {rate:.3g} of the canonical time t", fontsize=8)
        return picture


def _look_of_training(ds: Dataset) -> dict[str, Any]:
    """Return the look of what was trained: under a prediction, or alone."""
    return style.ALONE if is_relu(ds) else style.TRAINING


def _draw_loss(axis: style.Axes, ds: Dataset) -> None:
    """Draw panel a: the loss, as trained and as predicted."""
    axis.set_title("a  Loss")
    axis.plot(ds.step, ds.loss, color=style.LOSS, label="training", **_look_of_training(ds))
    if not is_relu(ds):
        axis.plot(ds.step, ds.loss_theory, color=style.LOSS, label="eq. (10)", **style.THEORY)
    if ds.attrs.get("loss_floor", 0.0) > 1e-3:
        axis.axhline(ds.attrs["loss_floor"], label="minimum loss of linear predictors", **style.GUIDELINE)
    axis.set_ylabel("loss / initial loss")
    axis.set_ylim(bottom=0)


def _draw_ratio(axis: style.Axes, ds: Dataset) -> None:
    """Draw panel b: the ratio of the layers, by the median, by the means and as the paper averages."""
    axis.set_title("b  Ratio of the layers")
    # marks: the readings of the training often lie on each other
    marks = {**style.MARKS, "markerfacecolor": "none", "markevery": max(1, ds.sizes["step"] // 16)}
    axis.plot(ds.step, ds.ratio, color=style.ALIGNMENT, label="median of ρ/(v√γ)", **_look_of_training(ds))
    axis.plot(ds.step, ds.ratio_of_means, color=style.FIRST_LAYER, label="mean |ρ| / (√γ mean |v|)", **marks)
    low, high = RATIOS
    mean = ds.mean_of_ratios.values
    axis.plot(ds.step, mean, color=style.GREEN, label="mean of ρ/(v√γ) (paper)", linestyle=":", linewidth=1.6, zorder=4)
    for outside, mark, height in ((mean > high, "^", 0.97 * high), (mean < low, "v", low + 0.03 * high)):
        if outside.any():
            axis.plot(
                ds.step.values[outside],
                outside[outside] * height,
                color=style.GREEN,
                linestyle="none",
                marker=mark,
                markersize=3.5,
                zorder=5,
                label="beyond the panel",
            )
    if not is_relu(ds):
        axis.plot(ds.step, ds.ratio_theory, color=style.ALIGNMENT, label="median by eq. (10)", **style.THEORY)
        axis.axhline(ds.attrs["end_ratio"], color=style.BLACK, linewidth=0.8, label="end by the closed form")
    axis.axhline(1.0, **style.GUIDELINE)
    axis.set_ylabel("alignment / magnitude")
    axis.set_ylim(low, high)


def _draw_kernel_distance(axis: style.Axes, ds: Dataset) -> None:
    """Draw panel c: the distance of the kernel to the target-aligned one."""
    axis.set_title("c  Distance to the target-aligned kernel")
    axis.semilogy(ds.step, ds.kernel_distance, color=style.KERNEL, label="training", **_look_of_training(ds))
    if is_relu(ds):  # far from the target throughout: nothing to magnify
        axis.set_yscale("linear")
        axis.set_ylim(0, None)
    else:
        axis.semilogy(ds.step, ds.kernel_distance_theory, color=style.KERNEL, label="eq. (10)", **style.THEORY)
        axis.axhline(ds.attrs["end_distance"], color=style.BLACK, linewidth=0.8, label="end by the closed form")
    axis.set_ylabel("relative distance")


def _draw_kernel_norm(axis: style.Axes, ds: Dataset) -> None:
    """Draw panel d: the norm of the kernel."""
    axis.set_title("d  Norm of the kernel")
    axis.semilogy(ds.step, ds.kernel_norm, color=style.GRAY, label="training", **style.ALONE)
    axis.set_ylabel("operator norm")


def _draw_kernel_cosines(axis: style.Axes, ds: Dataset) -> None:
    """Draw panel d of a ReLU network: the cosine of its kernel to the target-aligned one, and between gated images."""
    axis.set_title("d  Direction of the kernel")
    axis.plot(ds.step, ds.kernel_cosine, color=style.KERNEL, label="cosine to the target-aligned", **style.ALONE)
    axis.plot(ds.step, ds.gated_cosine, color=style.PINK, label="cosine to it between gated images", **style.ALONE)
    axis.set_ylabel("cosine")
    axis.set_ylim(0, 1.05)


def kernel_facts(ds: Dataset) -> Rows:
    """Yield how near the trained kernel comes to the target-aligned one, and how near the stages' prediction does."""
    distance = ds.kernel_distance.values
    at = int(distance.argmin())
    words = "kernel distance to the target-aligned kernel"
    yield fact(f"smallest {words}, trained", float(distance[at]), f"at step {int(ds.step[at])}")
    yield fact(f"{words} at the end, trained", float(distance[-1]))
    yield fact(f"{words} at the end, closed form", ds.attrs["end_distance"])
    yield fact(f"{words} at the end, by Eq. (10)", float(ds.kernel_distance_theory[-1]), "without other directions")
