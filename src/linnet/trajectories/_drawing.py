"""A run as a picture: its losses and the singular values of its product."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linnet.trajectories.trajectory import Trajectory

MAX_VALUES_DRAWN = 12  # singular values


def picture(run: Trajectory) -> Figure:
    """Losses on the left, singular values on the right where the run kept its products; a batch is drawn faintly."""
    kept = bool({"first", "product"} & set(run.kept))
    with style.applied():
        figure, axes = style.subplots(1, 1 + kept, size=style.column(1 + kept, ratio=0.72 / (1 + kept)))
        panels = np.atleast_1d(axes)
        for name, color in (("loss", style.LOSS), ("test_loss", style.TEST_LOSS), ("validation_loss", style.ORANGE)):
            values = run.loss if name == "loss" else run.kept.get(name)
            if values is not None:
                label = {"loss": "training", "test_loss": "test", "validation_loss": "held out"}[name]
                lines = panels[0].plot(run.times, np.asarray(values), color=color, **style.ALONE)
                lines[0].set_label(label)
        panels[0].set(yscale="log", xlabel="time", title="loss")
        panels[0].legend()
        if kept:
            values = run.singular_values[..., :MAX_VALUES_DRAWN]
            colors = style.shades(values.shape[-1])
            for mode, color in enumerate(colors):
                panels[1].plot(run.times, values[..., mode], color=color, **style.ALONE)
            panels[1].set(xlabel="time", title="singular values of the product")
    return figure
