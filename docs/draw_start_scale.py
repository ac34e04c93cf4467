"""Draws docs/images/start_scale.png: the least held-out error of two tables against the scale of the start.

python docs/draw_start_scale.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

import linnet as ln
from linnet import style
from linnet.forecasts import ThresholdCurve, all_folds, threshold_curve

PICTURE = Path(__file__).parent / "images" / "start_scale.png"


def along_a_spike(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """200 rows of 100 inputs that share one strong direction, along which the target lies, in as much noise."""
    problem = ln.problems.spiked_covariance(100, spike=20.0, alignment=1.0, samples=200, noise_std=21**0.5, key=seed)
    assert problem.inputs is not None and problem.outputs is not None
    return problem.inputs, problem.outputs


def curves() -> dict[str, ThresholdCurve]:
    """The least held-out error of each table against the threshold."""
    X, y = load_diabetes(return_X_y=True)
    tables = {"diabetes, 442 rows of 10 inputs": (X, y[:, None]), "a target along a spike, in noise": along_a_spike()}
    # standardized, the strong direction would be divided by its own strength: its variance falls from 19.7 to 2.7
    return {name: threshold_curve(all_folds(X, Y, preprocess="center")) for name, (X, Y) in tables.items()}


def main() -> None:
    with style.applied():
        picture, axes = style.subplots(1, 2, size=style.column(2, ratio=0.4))
        for panel, (name, curve) in zip(axes, curves().items(), strict=True):
            low = curve.errors - curve.errors.min(axis=0)  # within folds: these differ more than the scales do
            spread = low.std(axis=1, ddof=1) / np.sqrt(low.shape[1])
            factors = np.sqrt(curve.thresholds)
            panel.fill_between(factors, curve.mean - spread, curve.mean + spread, color=style.TEST_LOSS, alpha=0.18)
            panel.plot(factors, curve.mean, color=style.TEST_LOSS, **style.ALONE)
            panel.set(xscale="log", title=name, xlabel="root of the threshold: the scale of both layers")
            panel.set_ylim(0.9 * curve.mean.min(), 1.15 * curve.mean.max())
        axes[0].set_ylabel("least held-out error")
        picture.savefig(PICTURE, dpi=150)


if __name__ == "__main__":
    main()
