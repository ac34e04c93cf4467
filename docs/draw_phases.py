"""The moving picture of the README: a dot moves over a phase diagram; beside it, how the network at the dot learns.

`python docs/draw_phases.py` writes docs/images/phases.gif, and phases.png: one frame, for readers who prefer pictures
that do not move. Everything is computed: colors and dashed lines by formula, circles and thick lines by training.
"""

import io
from pathlib import Path

import numpy as np
from matplotlib.colors import LogNorm
from PIL import Image

import linnet as ln
from linnet import style
from linnet.draw.planes import cell_edges

FOLDER = Path(__file__).parent / "images"
DIM, NOISE_STD, SIGNALS = 30, 0.5, (40.0, 28.0, 20.0, 14.0)
WIDTH = 10**4  # of the networks that the dot visits
FRAMES, MILLISECONDS, PAUSE = 36, 90, 1300
STILL = 12  # the frame of phases.png: signals are learned before noise
SHOWN = 5  # the four signals, and the strongest mode of the noise
COLORS = [style.BLUE, style.GREEN, style.ORANGE, style.PINK, style.GRAY]


def task() -> ln.Problem:
    """Return a matrix of four signals in noise."""
    random = np.random.default_rng(0)
    left, right = (np.linalg.qr(random.standard_normal((DIM, DIM)))[0][:, : len(SIGNALS)] for _ in range(2))
    truth = (left * SIGNALS) @ right.T
    return ln.Problem.from_target(truth + NOISE_STD * random.standard_normal((DIM, DIM)), truth=truth)


def curves(problem: ln.Problem, variance: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return times as a fraction of the run, what is learned of each mode, trained and predicted, and when to stop."""
    strengths = np.linalg.svd(problem.cross)[1][:SHOWN]
    threshold, weakest = variance * WIDTH, strengths[-1]
    # A mode of strength S is learned by about asinh(S / g) / S; ten times as long is enough for the last tenths.
    end = 1.15 * np.arcsinh(weakest / threshold) / weakest + 1.1 / np.hypot(weakest, threshold)
    times = np.linspace(0, end, 240)
    weights = ln.inits.reduced_gaussian(in_dim=DIM, out_dim=DIM, width=WIDTH, stds=variance**0.5, key=1)
    run = ln.gradient_flow(problem, weights, times=times)
    prediction = ln.predict(problem, weights, times)
    left, _, right = np.linalg.svd(problem.cross)
    along = [
        np.einsum("om,toi,mi->tm", left[:, :SHOWN], one.products, right[:SHOWN]) / strengths
        for one in (run, prediction)
    ]
    return times / end, along[0], along[1], times[np.argmin(run.test_loss)] / end


def main() -> None:
    """Compute everything, draw the frames, and write the pictures."""
    problem = task()
    variances, widths = 10.0 ** np.linspace(-7, -1, 25), np.round(10 ** np.linspace(0.75, 5.75, 21))
    diagram = ln.phase_diagram(problem, variances, widths)
    trained = ln.phase_diagram(problem, variances[3::6], widths[[3, 9, 17]], method="train", key=1)
    visited = 10.0 ** np.linspace(-6.6, -2, FRAMES)
    runs = [curves(problem, variance) for variance in visited]
    frames = [frame(diagram, trained, variance, run) for variance, run in zip(visited, runs, strict=True)]
    frames[STILL].save(FOLDER / "phases.png", optimize=True)
    palette = frames[len(frames) // 2].quantize(255, method=Image.Quantize.MAXCOVERAGE)
    moving = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in [*frames, *frames[-2:0:-1]]]
    pauses = [PAUSE if at in (0, FRAMES - 1) else MILLISECONDS for at in range(len(moving))]
    moving[0].save(
        FOLDER / "phases.gif", save_all=True, append_images=moving[1:], duration=pauses, loop=0, optimize=True
    )


def frame(diagram: ln.PhaseDiagram, trained: ln.PhaseDiagram, variance: float, run: tuple) -> Image.Image:
    """Draw one frame."""
    with style.applied():
        picture, (plane, over_time) = style.subplots(1, 2, size=(7.2, 2.9), width_ratios=[1.15, 1])
        both = np.concatenate([diagram.min_test_loss.ravel(), trained.min_test_loss.ravel()])
        look = {"norm": LogNorm(both.min(), both.max()), "cmap": style.SEQUENCE}
        edges = cell_edges(diagram.variances), cell_edges(diagram.widths)
        cells = plane.pcolormesh(*edges, diagram.min_test_loss, **look)
        x, y = np.meshgrid(trained.variances, trained.widths)
        plane.scatter(x, y, 26, trained.min_test_loss, edgecolors="white", linewidths=0.8, **look)
        plane.plot(variance, WIDTH, "o", ms=9, mfc=style.RED, mec="white", mew=1.5, clip_on=False)
        plane.plot(SIGNALS[-1] / edges[1], edges[1], "--", color="white", lw=1.2)
        plane.set(xscale="log", yscale="log", xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
        plane.set(xlabel="initial variance", ylabel="width", title="minimum test loss")
        plane.text(0.06, 0.25, "active", color="white", transform=plane.transAxes, fontsize=10)
        plane.text(0.96, 0.88, "lazy", color="black", transform=plane.transAxes, fontsize=10, ha="right")
        plane.grid(visible=False)
        picture.colorbar(cells, ax=plane).set_ticks([30, 40, 60, 100], labels=["30", "40", "60", "100"])
        times, fractions, predicted, stop = run
        names = [f"signal {value:g}" for value in SIGNALS] + ["strongest noise"]
        for mode, (color, name) in enumerate(zip(COLORS, names, strict=True)):
            over_time.plot(times, fractions[:, mode], color=color, label=name, lw=3.2, alpha=0.5)
            over_time.plot(times, predicted[:, mode], color=color, **style.THEORY)
        over_time.axvline(stop, color=style.BLACK, lw=1, ls=":", label="best time to stop")
        over_time.set(xlim=(0, 1), ylim=(-0.06, 1.12), xlabel="time, as a fraction of the run")
        threshold = np.format_float_positional(variance * WIDTH, 2, fractional=False, trim="-")
        over_time.set_title(f"fraction learned, at threshold {threshold}")
        over_time.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
        file = io.BytesIO()
        picture.savefig(file, format="png", dpi=120)
    return Image.open(file).convert("RGB")


if __name__ == "__main__":
    main()
