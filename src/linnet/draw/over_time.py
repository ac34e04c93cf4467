"""Runs and predictions over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from linnet import style
from linnet._arguments import count, of_kind

if TYPE_CHECKING:
    from matplotlib.animation import FuncAnimation
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOSSES = (("loss", "training", style.LOSS), ("test_loss", "test", style.TEST_LOSS))
HELD_OUT = ("validation_loss", "held out", style.ORANGE)


class OverTime(Protocol):
    """A run to draw over time: a `Trajectory` or a `Prediction`."""

    @property
    def times(self) -> np.ndarray: ...
    @property
    def loss(self) -> np.ndarray: ...
    @property
    def test_loss(self) -> np.ndarray | None: ...
    @property
    def products(self) -> np.ndarray: ...


def modes(run: OverTime | None, prediction: OverTime | None = None, *, most: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the strengths of the modes, the singular values of the product, over time.

    **Arguments:**

    - `run`: a trajectory, drawn thick; None for a prediction alone
    - `prediction`: prediction, drawn dashed over the run
    - `most`: number of modes that are drawn, from the strongest on
    - `ax`: axes to draw on; new ones by default

    **Returns** the axes. The members of a batch have the color of their mode.

    **Example:**

        >>> import linnet as ln
        >>> problem, weights = ln.Problem.from_target([[2.0, 0.0], [0.0, 1.0]]), ln.inits.balanced([[0.1, 0], [0, 0.1]])
        >>> prediction = ln.predict(problem, weights, [0.0, 1.0, 2.0])
        >>> ax = ln.draw.modes(None, prediction)
        >>> len(ax.lines), ax.get_xlabel()
        (2, 'time')
    """
    most = count("most", most)
    with style.applied():
        axis = _axes(ax)
        for shown, look in _pairs(run, prediction):
            values = np.linalg.svd(shown.products, compute_uv=False)[..., :most]
            for mode, color in enumerate(style.shades(values.shape[-1])):
                axis.plot(shown.times, values[..., mode], color=color, **look)
        axis.set(xlabel="time", title="singular values of the product")
        _legend(axis, run, prediction)
    return axis


def losses(run: OverTime | None, prediction: OverTime | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw training, test and held-out loss over time, on a logarithmic scale.

    **Arguments:**

    - `run`: a trajectory, drawn thick; None for a prediction alone
    - `prediction`: prediction, drawn dashed over the run
    - `ax`: axes to draw on; new ones by default

    **Returns** the axes.

    **Example:**

        >>> import linnet as ln
        >>> problem, weights = ln.Problem.from_target([[1.0]]), ln.Weights([[0.1]], [[0.1]])
        >>> run = ln.gradient_flow(problem, weights, times=[0.0, 1.0, 2.0])
        >>> ax = ln.draw.losses(run, ln.predict(problem, weights, run.times))
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['training', 'training, predicted']
    """
    with style.applied():
        axis = _axes(ax)
        for shown, look in _pairs(run, prediction):
            for name, label, color in (*LOSSES, HELD_OUT):
                values = getattr(shown, "kept", {}).get(name) if name != "loss" else shown.loss
                if values is None and prediction is not None and shown is prediction and name == "test_loss":
                    values = prediction.test_loss
                if values is not None:
                    lines = axis.plot(shown.times, np.asarray(values), color=color, **look)
                    lines[0].set_label(label + (", predicted" if shown is prediction and run is not None else ""))
        axis.set(yscale="log", xlabel="time", title="loss")
        axis.legend()
    return axis


def overview(run: OverTime, prediction: OverTime | None = None) -> Figure:
    """Draw losses and modes side by side; losses alone where a run kept no products.

    **Arguments:**

    - `run`: a trajectory or a prediction
    - `prediction`: prediction, drawn dashed over the run

    **Returns** the figure.

    **Example:**

        >>> import linnet as ln
        >>> problem, weights = ln.Problem.from_target([[1.0]]), ln.Weights([[0.1]], [[0.1]])
        >>> len(ln.draw.overview(ln.predict(problem, weights, [0.0, 1.0, 2.0])).axes)
        2
    """
    kept = {"first", "product"} & set(getattr(run, "kept", {"product"}))
    with style.applied():
        panels = 2 if kept else 1
        figure, axes = style.subplots(1, panels, size=style.column(panels, ratio=0.72 / panels), squeeze=False)
    pair = (run, prediction) if hasattr(run, "kept") else (None, run)
    losses(*pair, ax=axes[0][0])
    if kept:
        modes(*pair, ax=axes[0][1])
    return figure


def animate(run: OverTime, *, ax: Axes | None = None, interval: float = 50) -> FuncAnimation:
    """Animate the product over time, as a map of its entries.

    It needs Pillow for a GIF. For a static picture use `overview`.

    **Arguments:**

    - `run`: a single run or prediction
    - `ax`: axes to draw on; new ones by default
    - `interval`: milliseconds from one time to the next

    **Returns** matplotlib's animation, whose `save("file.gif")` writes it.

    **Example:**

        >>> import linnet as ln
        >>> problem, weights = ln.Problem.from_target([[1.0]]), ln.Weights([[0.1]], [[0.1]])
        >>> animation = ln.draw.animate(ln.predict(problem, weights, [0.0, 1.0, 2.0]))
        >>> animation.pause()
    """
    from matplotlib.animation import FuncAnimation

    products = np.asarray(_checked(run).products)
    if products.ndim != 3:
        raise ValueError(f"`run` must be a single one: got products of shape {products.shape}, a batch.")
    with style.applied():
        axis = _axes(ax)
        reach = float(np.abs(products).max())
        map_ = axis.imshow(products[0], cmap=style.DIVERGING, vmin=-reach, vmax=reach)
        axis.grid(visible=False)
        title = axis.set_title("")

    def frame(at: int) -> tuple[Any, ...]:
        map_.set_data(products[at])
        title.set_text(f"product at time {float(np.ravel(run.times[at])[0]):.3g}")
        return map_, title

    frame(0)
    animation = FuncAnimation(axis.figure, frame, frames=len(products), interval=interval)  # type: ignore[arg-type]
    animation._draw_was_started = True  # type: ignore[attr-defined]  # matplotlib warns of an animation that is dropped before it is shown
    return animation


def _axes(ax: Axes | None) -> Axes:
    """Return the axes given, or new ones."""
    if ax is not None:
        from matplotlib.axes import Axes

        return of_kind("ax", ax, Axes, "`matplotlib.pyplot.subplots`")
    axes: Axes = style.subplots()[1]
    return axes


def _pairs(run: Any, prediction: Any) -> list[tuple[Any, dict[str, Any]]]:
    """Return what is drawn, each with its look."""
    if run is None and prediction is None:
        raise ValueError("`run` or `prediction` must be given: got neither.")
    alone = style.TRAINING if prediction is not None else style.ALONE
    shown = [(run, alone), (prediction, style.THEORY)]
    return [(_checked(one), look) for one, look in shown if one is not None]


def _checked(run: Any) -> Any:
    """Return a run or a prediction; refuse anything else."""
    if not (hasattr(run, "loss") and hasattr(run, "times")):
        raise ValueError(f"`run` must be a trajectory or a prediction: got {type(run).__name__}.")
    return run


def _legend(axis: Axes, run: Any, prediction: Any) -> None:
    """Explain thick and dashed lines where there are both."""
    if run is not None and prediction is not None:
        for label, look in (("trained", style.TRAINING), ("predicted", style.THEORY)):
            axis.plot([], [], color=style.GRAY, label=label, **look)
        # below the axes, where it covers no curve
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)
