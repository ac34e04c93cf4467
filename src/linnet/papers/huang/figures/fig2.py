"""Figure 2 of Huang et al.: the two stages of a linear network on real images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import linnet as ln
from linnet.papers.huang.figures import curves as feature_curves
from linnet.papers.huang.figures import images as feature_images
from linnet.papers.huang.figures import panels as feature_panels
from linnet.reproduction.figure import Check, Figure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure as Picture


def compute(settings: feature_images.ImageSettings, panels: tuple[str, ...]) -> xr.Dataset:
    X, y, words = feature_images.images(settings)
    scales = {"first_std": settings.first_std, "magnitude": settings.magnitude}
    rate = feature_images.canonical_step(settings, X, y)
    start = ln.inits.signed(settings.seed, in_dim=X.shape[1], width=settings.width, **scales)
    problem = ln.Problem.from_data(X, y)
    trajectory = ln.gradient_descent(
        problem, start, learning_rate=rate, steps=settings.steps, save_every=settings.save_every
    )
    stages = ln.theories.feature_learning.Stages(X, y, width=settings.width, learning_rate=rate, **scales)
    ds = feature_curves.summary(ln.observables.feature_history(trajectory), stages)
    ds.attrs["panels"] = ",".join(panels or feature_panels.PANELS)
    ds.attrs["data"] = words
    ds.attrs["subtitle"] = f"Linear network, m = {settings.width}, on {words}"
    ds.attrs["loss_floor"] = float(problem.factor.floor / ds.attrs["loss_start"])
    return ds


def plot(ds: xr.Dataset) -> Picture:
    return feature_panels.draw(ds)


def check(ds: xr.Dataset) -> list[Check]:
    return [*stage_checks(ds), feature_panels.kernel_check(ds)]


def stage_checks(ds: xr.Dataset) -> list[Check]:
    """The paper's three behaviours measured: loss flat then falling, ratio settled at t1, kernel turned."""
    import numpy as np

    loss, ratio, cosine = ds.loss.values, ds.ratio.values, ds.kernel_cosine.values
    first = int(np.argmax(loss <= 0.95)) if (loss <= 0.95).any() else len(loss) - 1
    dropped = int(np.argmax(loss <= loss[-1] + 0.1 * (1 - loss[-1])))
    settled = ratio[first : dropped + 1]
    spread = float(np.ptp(settled) / settled.mean())
    return [
        Check(
            f"data: {ds.attrs['data']}. The loss has lost 5% at step {ds.attrs['first_time_loss']:.0f}, and 90% of "
            "all it "
            f"loses by step {int(ds.step[dropped])}"
        ),
        Check(
            f"median rho/(v sqrt(gamma)) where the loss has lost 5%: {ratio[first]:.4f} (above 0.95: settled)",
            float(ratio[first]),
            0.95,
            bool(ratio[first] > 0.95),
        ),
        Check(f"its spread over the drop: {spread:.2%} (limit 5%)", spread, 0.05, spread < 0.05),
        Check(
            f"and at the end, step {int(ds.step[-1])}: {ratio[-1]:.3f}: long after the drop the neurons leave the "
            "feature"
            if ratio[-1] < 0.95
            else f"and at the end, step {int(ds.step[-1])}: {ratio[-1]:.3f}"
        ),
        Check(
            f"kernel cosine to the target-aligned kernel: {cosine[0]:.4f} at the start, {cosine[first]:.4f} at t1, "
            f"{cosine[dropped]:.4f} after the drop, {cosine[-1]:.4f} at the end"
        ),
    ]


FIGURE = Figure(
    name="fig2",
    title="Two stages of a linear network on real images",
    caption=(
        "A linear network on two classes of images (targets +1 and -1); the picture's heading says which data. The "
        "stages "
        "are those of the synthetic data until the drop is done. Then, since the Gram matrix of images is far from a "
        "multiple of the identity, the network goes on to other directions and leaves the feature: the ratio falls, "
        "the kernel goes away from its target, and eq. (10), which knows only the feature's direction, sees neither. "
        "The paper "
        "gives no settings; these are linnet's (pixels centred and of unit mean square, the heading gives the width), "
        "and quick runs use a smaller width and fewer steps."
    ),
    settings=feature_images.ImageSettings,
    quick={"width": 256, "steps": 400},
    compute=compute,
    plot=plot,
    check=check,
    panels=feature_panels.PANELS,
    options=feature_images.OPTIONS,
)
