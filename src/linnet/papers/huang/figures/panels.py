"""The three panels that the feature-learning figures share: the loss, the ratio of the layers, and the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnet import style
from linnet.reproduction.figure import Check

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture

PANELS = ("a", "b", "c")
TITLES = {
    "a": "a  Loss: flat, then a drop",
    "b": "b  Layers: the ratio settles first",
    "c": "c  Kernel: direction, norm",
}


def draw(ds: xr.Dataset, *, theory: bool = True, gated: bool = False) -> Picture:
    """The panels that the dataset names; `theory` draws the stages' prediction, `gated` the ReLU network's kernel."""
    panels = tuple(ds.attrs["panels"].split(","))
    with style.applied():
        picture, axes = style.subplots(1, len(panels), size=style.column(2, ratio=0.5), squeeze=False)
        layout: Any = picture.get_layout_engine()
        layout.set(w_pad=0.1)  # room for the labels beside legends that hang below
        for axis, panel in zip(axes[0], panels):
            _PAINTERS[panel](axis, ds, theory, gated)
            axis.set_title(TITLES[panel])
            axis.set_xlabel("training step")
            axis.axvline(
                ds.attrs["first_time_loss"],
                color=style.ORANGE,
                linewidth=1.0,
                zorder=1,
                label="t₁: 5% of the loss gone",
            )
            axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), frameon=False)
        rate = ds.attrs["learning_rate"]
        picture.suptitle(f"{ds.attrs['subtitle']}\none step is {rate:.3g} of the canonical time t", fontsize=8)
        return picture


def _loss(axis: Any, ds: xr.Dataset, theory: bool, gated: bool) -> None:
    axis.plot(ds.step, ds.loss, color=style.LOSS, label="training", **(style.TRAINING if theory else style.ALONE))
    if theory:
        axis.plot(ds.step, ds.loss_theory, color=style.LOSS, label="eq. (10), mean over neurons", **style.THEORY)
    axis.set_ylabel("loss / loss at the start")
    axis.set_ylim(bottom=0)


def _ratio(axis: Any, ds: xr.Dataset, theory: bool, gated: bool) -> None:
    look = style.TRAINING if theory else style.ALONE
    # marks: the two readings of the training often lie on each other
    marks = {**style.MARKS, "markerfacecolor": "none", "markevery": max(1, ds.sizes["step"] // 16)}
    axis.plot(ds.step, ds.ratio, color=style.ALIGNMENT, label="median of ρ/(v√γ)", **look)
    axis.plot(ds.step, ds.ratio_of_means, color=style.FIRST_LAYER, label="mean |ρ| / (√γ mean |v|)", **marks)
    axis.plot(ds.step, ds.mean_of_ratios, color=style.PINK, label="mean of ρ/(v√γ), the paper's", linewidth=0.8)
    if theory:
        axis.plot(ds.step, ds.ratio_theory, color=style.ALIGNMENT, label="median by eq. (10)", **style.THEORY)
    axis.axhline(1.0, **style.GUIDELINE)
    axis.set_ylabel("alignment / magnitude")
    axis.set_ylim(0, 1.25)  # the mean of the ratios may leave it: neurons whose v passes 0


def _kernel(axis: Any, ds: xr.Dataset, theory: bool, gated: bool) -> None:
    look = style.TRAINING if theory else style.ALONE
    axis.semilogy(ds.step, ds.kernel_distance, color=style.KERNEL, label="distance to target kernel", **look)
    if theory:
        axis.semilogy(
            ds.step, ds.kernel_distance_theory, color=style.KERNEL, label="distance, predicted", **style.THEORY
        )
    if gated:
        axis.semilogy(ds.step, 1 - ds.gated_cosine, color=style.PINK, label="1 − cosine to gated target", **style.ALONE)
    axis.semilogy(ds.step, 1 - ds.kernel_cosine, color=style.GREEN, label="1 − cosine to target kernel", **style.ALONE)
    grown = ds.kernel_norm / float(ds.kernel_norm[-1])
    axis.semilogy(ds.step, grown, color=style.GREY, label="norm / norm at the end", **style.ALONE)
    axis.set_ylabel("kernel (relative)")


def kernel_check(ds: xr.Dataset) -> Check:
    """How near the trained kernel comes to the target-aligned one, and how near the stages' prediction does."""
    distance, predicted = ds.kernel_distance.values, ds.kernel_distance_theory.values
    at = int(distance.argmin())
    return Check(
        f"kernel distance to the target-aligned kernel: trained at least {distance[at]:.1e} (step {int(ds.step[at])}) "
        "and "
        f"{distance[-1]:.1e} at the end, where eq. (10), without the other directions, predicts {predicted[-1]:.1e}",
        float(distance[at]),
    )


_PAINTERS = {"a": _loss, "b": _ratio, "c": _kernel}
