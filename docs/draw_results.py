"""Draws docs/images/results_*.png, the README's three pictures: the plane, test error over time, any depth.

python docs/draw_results.py

Lines and colors are formulas, marks are trained networks, in all three of them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import linnet as ln
from linnet import style
from linnet_papers.own.training.trained import trained_diagram
from linnet_papers.tu.plane import RANK

IMAGES = Path(__file__).parent / "images"
SIZE = style.column(1, ratio=0.82)
DPI = 220
DIM = 200  # of the plane
EVERY = 3  # of its trained cells one in so many is marked, each way
THRESHOLDS = (1e-3, 0.1, 10.0)  # of the starts whose test error is drawn
DEPTHS = (2, 3, 4)
WIDTH = 10**9  # of the deep networks


def plane() -> None:
    """The least test error over variance and width: colored by formula, circles trained, in the same colors."""
    from matplotlib.colors import LogNorm

    cells = trained_diagram(DIM)
    width, variance, trained = (cells[name].values for name in ("gamma_width", "gamma_variance", "min_test_loss"))
    task = ln.problems.low_rank_plus_noise(DIM, rank=RANK, key=[0, 0])
    widths = np.maximum(1, np.round(float(DIM) ** width))
    diagram = ln.theories.lazy_active.predicted_diagram(task, float(DIM) ** variance, widths)
    look = {"cmap": style.SEQUENCE, "norm": LogNorm(0.03, 1.2)}
    picture, axis = style.subplots(size=SIZE)
    shades = axis.pcolormesh(
        variance, width, 2 / DIM**2 * diagram.min_test_loss, shading="nearest", rasterized=True, **look
    )
    rows, columns = np.meshgrid(width[1::EVERY], variance[1::EVERY], indexing="ij")
    axis.scatter(columns, rows, c=trained[1::EVERY, 1::EVERY], s=16, edgecolors="white", linewidths=0.4, **look)
    axis.grid(False)
    axis.set(xlabel=r"variance of the start, $\log_d \sigma^2$", ylabel=r"width, $\log_d w$")
    axis.set(title=f"{100 * diagram.covered.mean():.0f}% with a bar below 3%")
    bar = picture.colorbar(shades, label="least test error")
    bar.set_ticks([0.03, 0.1, 0.3, 1.0], labels=["0.03", "0.1", "0.3", "1"])
    picture.savefig(IMAGES / "results_plane.png", dpi=DPI)


def over_time() -> None:
    """The test error of one output over time, from one SVD for each of three starts, and trained."""
    problem = ln.problems.spiked_covariance(300, spike=20.0, alignment=0.5, samples=200, noise_std=1.0, key=0)
    picture, axis = style.subplots(size=SIZE)
    for threshold, color in zip(THRESHOLDS, style.shades(len(THRESHOLDS)), strict=True):
        times = np.append(0.0, np.geomspace(3e-3, 60, 200)) / max(1.0, threshold)
        curve = ln.theories.one_output.error_over_time(problem, threshold, times)
        axis.plot(times[1:], curve.test_loss[1:], color=color, label=f"start {threshold:g}")
        start = ln.inits.orthogonal(key=0, in_dim=300, out_dim=1, width=300, scale=threshold)
        run = ln.gradient_flow(problem, start, times=times[::14])
        axis.plot(run.times[1:], run.test_loss[1:], "o", color=color, markersize=3.5)
    axis.set(xscale="log", yscale="log", xlabel="time t", ylabel="test error")
    axis.set(title="300 inputs, 200 noisy samples")
    axis.legend()
    picture.savefig(IMAGES / "results_over_time.png", dpi=DPI)


def any_depth() -> None:
    """Two modes at each depth over time, trained at a width of a billion, and predicted."""
    values, coupling = np.array([2.0, 1.0]), 0.5
    picture, axis = style.subplots(size=SIZE)
    for depth, color in zip(DEPTHS, style.shades(len(DEPTHS)), strict=True):
        times = np.linspace(0, 4.0, 160)
        modes = ln.theories.deep.gaussian_modes(values, coupling, depth, times)
        axis.plot(times, modes, color=color, label=[f"depth {depth}", None])
        start = ln.inits.reduced_gaussian(
            in_dim=2, out_dim=2, width=WIDTH, depth=depth, stds=coupling * WIDTH**-0.5, key=0
        )
        run = ln.gradient_flow(ln.Problem.from_target(np.diag(values)), start, times=times[::5])
        axis.plot(run.times, run.singular_values, "o", color=color, markersize=3.5)
    axis.set(xlabel="time t", ylabel="singular values", title="a billion hidden units a layer")
    axis.legend(loc="lower right")
    picture.savefig(IMAGES / "results_depth.png", dpi=DPI)


def main() -> None:
    with style.applied():
        over_time()
        any_depth()
        plane()


if __name__ == "__main__":
    main()
