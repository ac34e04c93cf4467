"""Figure 3 of Huang et al.: the two stages of a ReLU network on real images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import linnet as ln
from linnet.papers.huang.figures import curves as feature_curves
from linnet.papers.huang.figures import images as feature_images
from linnet.papers.huang.figures import panels as feature_panels
from linnet.papers.huang.figures.fig2 import stage_checks
from linnet.reproduction.figure import Check, Figure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture


class ReluSettings(feature_images.ImageSettings):
    """Those of the linear network with a larger step: a ReLU network of this width cannot be reduced."""

    growth: float = 0.1
    steps: int = 400


def compute(settings: ReluSettings, panels: tuple[str, ...]) -> xr.Dataset:
    import numpy as np

    X, y, words = feature_images.images(settings)
    scales = {"first_std": settings.first_std, "magnitude": settings.magnitude}
    rate = feature_images.canonical_step(settings, X, y)
    start = ln.inits.signed(settings.seed, in_dim=X.shape[1], width=settings.width, **scales)
    # Gradients of the first layer stay in the span of the images: in its basis the network is the same, and smaller.
    basis = ln.Problem.from_data(X, y).factor.basis
    seen = X @ basis
    trajectory = ln.relu_descent(
        (seen, y),
        ln.Weights(start.first @ basis, start.second),
        learning_rate=rate,
        steps=settings.steps,
        save_every=settings.save_every,
    )
    history = ln.observables.feature_history(trajectory, activation="relu")
    stages = ln.theories.feature_learning.Stages(seen, y, width=settings.width, learning_rate=rate, **scales)
    ds = feature_curves.summary(history, stages)
    # What each half of the neurons can see: images on its own side of the feature. The target-aligned kernel, gated by
    # that.
    side = np.sign(stages.gram @ y)
    gated = np.where(np.outer(side, side) > 0, history.target, 0.0)
    inner = (history.kernels * gated).sum(axis=(1, 2))
    ds["gated_cosine"] = (
        "step",
        inner / (np.linalg.norm(history.kernels, axis=(1, 2)) * np.linalg.norm(gated)),
        {"long_name": "cosine to the target-aligned kernel between images on one side of the feature", "units": "1"},
    )
    ds.attrs["panels"] = ",".join(panels or feature_panels.PANELS)
    ds.attrs["data"] = words
    ds.attrs["subtitle"] = f"ReLU network, m = {settings.width}, on {words}"
    return ds


def plot(ds: xr.Dataset) -> Picture:
    return feature_panels.draw(ds, theory=False, gated=True)


def check(ds: xr.Dataset) -> list[Check]:
    first = int(abs(ds.step.values - ds.attrs["first_time_loss"]).argmin())
    gated = ds.gated_cosine.values
    return [
        *stage_checks(ds),
        Check(
            f"kernel cosine to the target-aligned kernel gated by the side of the feature: {gated[0]:.4f} at the "
            "start, "
            f"{gated[first]:.4f} at t1, {gated[-1]:.4f} at the end: this is the kernel a ReLU network turns to"
        ),
    ]


FIGURE = Figure(
    name="fig3",
    title="Two stages of a ReLU network on real images",
    caption=(
        "The same for a two-layer ReLU network, with its own first-layer weights in the definition of rho_r. Loss and "
        "ratio "
        "show the two stages. The kernel does not turn to the linear network's target-aligned kernel (its cosine stays "
        "near 0.7) but to that kernel restricted to pairs of images on the same side of the feature, which is what "
        "neurons with gates see. There is no theory curve: the paper's equations are for linear networks."
    ),
    settings=ReluSettings,
    quick={"width": 128, "steps": 280},
    compute=compute,
    plot=plot,
    check=check,
    panels=feature_panels.PANELS,
    options=feature_images.OPTIONS,
)
