"""Ten tables: what was advised, and what came of following it.

    python benchmarks/advice.py [table ...]

For each table: the modes that are lazy and active as PyTorch starts the network, the advised scale of the start, and
what a second diagnosis at that scale says and measures (how far the tangent kernels moved at the end of a run, trained
until 0.1% of what the loss can lose is left); the stopping step and the error there, both before and after, and ridge's
error; and what training twice as long changes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import linnet as ln

Table = tuple[np.ndarray, np.ndarray]


def shipped(name: str, *, classes: bool = False) -> Callable[[], Table]:
    """A table that ships with scikit-learn; numbers of classes as columns of 0 and 1 if asked for."""

    def load() -> Table:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return (X, (y[:, None] == np.unique(y)).astype(float)) if classes else (X, y)

    return load


def synthetic(
    rows: int, inputs: int, targets: int, *, rank: int, noise: float, decay: float = 1.0
) -> Callable[[], Table]:
    """Gaussian inputs whose variances fall by `decay`, a map of this rank, label noise."""

    def draw() -> Table:
        random = np.random.default_rng(0)
        X = random.standard_normal((rows, inputs)) * np.geomspace(1, decay, inputs)
        truth = random.standard_normal((inputs, rank)) @ random.standard_normal((rank, targets))
        return X, X @ truth + noise * random.standard_normal((rows, targets))

    return draw


TABLES: dict[str, Callable[[], Table]] = {
    "wine": shipped("wine"),
    "wine-classes": shipped("wine", classes=True),
    "diabetes": shipped("diabetes"),
    "linnerud": shipped("linnerud"),
    "iris-classes": shipped("iris", classes=True),
    "breast-cancer": shipped("breast_cancer"),
    "low-rank": synthetic(200, 20, 8, rank=2, noise=1.0),
    "few-rows": synthetic(30, 60, 1, rank=1, noise=3.0),
    "collinear": synthetic(150, 12, 2, rank=2, noise=0.5, decay=1e-3),
    "noise": synthetic(100, 10, 1, rank=1, noise=30.0),
}


def report(name: str) -> str:
    """One row of the table."""
    X, Y = TABLES[name]()
    before = ln.diagnose(X, Y)
    scale = before.advised_scale
    if scale is None:
        return f"{name:14} {before.regimes.words}: no scale is advised"
    after = ln.diagnose(X, Y, init_scale=float(f"{scale:.3g}"))
    long = ln.forecast(after.forecast.problem, after.forecast.weights)
    longer = ln.diagnose(X, Y, steps=2 * int(before.curves.steps[-1]))
    change = longer.curves.honest_error().mean() / before.curves.honest_error().mean() - 1
    said = "falls" if before.curves.still_falling else "flat" if before.curves.flat_from is not None else "past"
    moved = f"{long.kernel[-1].min():.3g}..{long.kernel[-1].max():.3g}"
    count = len(before.regimes.words)
    return (
        f"{name:14} active {before.regimes.active:2}/{count:<2} x{scale:<8.3g} -> {after.regimes.active:2}/{count:<2} "
        f"kernels x {moved:14} stop {before.stop:5} -> {after.stop:5} error "
        f"{before.curves.honest_error().mean():.4f} -> "
        f"{after.curves.honest_error().mean():.4f} ridge {before.rivals['ridge'].mean():.4f} {said:5} "
        f"twice as long {change:+.2%}"
    )


if __name__ == "__main__":
    for table in sys.argv[1:] or TABLES:
        print(report(table), flush=True)
