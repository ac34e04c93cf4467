"""The pictures of the page Concepts, and its table of how far narrow networks are from the formula of wide ones.

`python docs/draw_concepts.py` writes docs/images/threshold.png and early_stopping.png, and prints the table.
"""

import sys
from pathlib import Path

import numpy as np

import linnet as ln
from linnet import style

FOLDER = Path(__file__).parent / "images"
THRESHOLD = 0.1
STRENGTHS = (8.0, 4.0, 2.0, 0.5, 0.05)
NOISY = {"threshold 0.03: active": 0.03, "threshold 1000: lazy": 1000.0}
WIDTH = 10**6
RATIOS = (10, 100, 1000)  # width over the number of inputs and outputs


def threshold() -> None:
    """Draw the rate of learning, and what is learned over time, of modes far above the threshold and below it."""
    picture, (rate, learned) = style.subplots(1, 2, size=style.column(2, ratio=0.38))
    strength = np.geomspace(1e-3, 10, 200)
    rate.loglog(strength, 2 * np.hypot(strength, THRESHOLD), color=style.BLACK, **style.ALONE)
    rate.axvline(THRESHOLD, color=style.GRAY, lw=1, ls=":")
    rate.text(THRESHOLD * 1.2, 0.13, "threshold", color=style.GRAY, fontsize=8)
    rate.text(1.5e-3, 0.26, "constant: lazy", fontsize=8)
    rate.text(0.55, 5, "grows with the mode: active", ha="right", backgroundcolor="white", fontsize=8)
    rate.set(xlabel="strength $s$ reached so far", title=r"rate $2\sqrt{s^2 + g^2}$", ylim=(0.1, 30))
    times = np.linspace(0, 8, 400)
    for value, color in zip(STRENGTHS, style.shades(len(STRENGTHS)), strict=True):
        problem = ln.Problem.from_target([[value]])
        weights = ln.inits.balanced([[0.0]], 2 * THRESHOLD)
        fraction = ln.predict(problem, weights, times).products[:, 0, 0] / value
        learned.plot(times, fraction, color=color, label=f"{value:g}", **style.ALONE)
    learned.legend(title="strength in the target", loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    learned.set(xlabel="time", title="fraction learned, threshold 0.1", xlim=(0, 8), ylim=(0, 1.05))
    picture.savefig(FOLDER / "threshold.png", dpi=160)


def early_stopping() -> None:
    """Draw test loss and training loss over time from a small and from a large initialization."""
    problem = ln.problems.low_rank_plus_noise(60, rank=3, key=0)
    picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.36), sharey=True)
    for axis, (title, value), end in zip(axes, NOISY.items(), (0.5, 0.004), strict=True):
        times = np.linspace(0, end, 200)
        weights = ln.inits.reduced_gaussian(in_dim=60, out_dim=60, width=WIDTH, stds=(value / WIDTH) ** 0.5, key=0)
        run = ln.gradient_flow(problem, weights, times=times)
        best = int(np.argmin(run.test_loss))
        axis.plot(times, run.loss, color=style.LOSS, label="training loss", **style.ALONE)
        axis.plot(times, run.test_loss, color=style.TEST_LOSS, label="test loss", **style.ALONE)
        axis.plot(times[best], run.test_loss[best], "o", color=style.RED, ms=6, label="best time to stop")
        axis.set(xlabel="time", title=title, xlim=(0, end), ylim=(0, 5500))
        sys.stdout.write(f"{title}: {run.test_loss[best]:.0f} at time {times[best]:.3g}, last {run.test_loss[-1]:.0f}\n")
    axes[0].set_ylabel("loss")
    axes[1].legend(loc="upper right")
    picture.savefig(FOLDER / "early_stopping.png", dpi=160)


def narrow() -> None:
    """Print how far networks are from the self-consistent equation: the largest singular value of the difference."""
    for name, relative, end in (("active", 1 / 80, 40.0), ("lazy", 10.0, 0.3)):
        for ratio in RATIOS:
            errors = []
            for dim, keys in ((20, range(4)), (60, range(2))):
                for key in keys:
                    target = np.random.default_rng(key).normal(size=(dim, dim))
                    strongest = np.linalg.norm(target, 2)
                    width, g = 2 * dim * ratio, relative * strongest
                    weights = ln.inits.reduced_gaussian(
                        in_dim=dim, out_dim=dim, width=width, stds=(g / width) ** 0.5, key=key
                    )
                    times = np.linspace(0, end / strongest, 80)
                    run = ln.gradient_flow(ln.Problem.from_target(target), weights, times=times)
                    formula = ln.theories.lazy_active.self_consistent(target, run.products[0], g, times)
                    errors.append(np.linalg.norm(run.products - formula, 2, axis=(1, 2)).max() / strongest)
            sys.stdout.write(f"{name}, width {ratio} (d + k): {100 * min(errors):.2f} to {100 * max(errors):.2f}%\n")


def main() -> None:
    """Draw the pictures and print the table."""
    with style.applied():
        threshold()
        early_stopping()
    narrow()


if __name__ == "__main__":
    main()
