"""Ten tables: what was advised, and what came of following it.

    python benchmarks/studies/advice.py [--splits 4] [--json FILE] [table ...]

A quarter of the rows is set aside, a diagnosis of the others gives advice, and plain descent at full width follows it
to the digits that are printed:

- the stopping step and the rate: the error on the rows set aside there, beside that of the mean, of the last step of
  the cross-validation, and of the best step in hindsight, which nobody knows;
- the scale at which all modes are certainly active (or lazy): how many are, by the movement of their tangent kernels in
  a network that has learned what ridge learns;
- the scale that lowers the error, where one is advised: what it gains on the rows set aside;
- the largest stable rate: 5% below it trains, 5% above it diverges.

Errors are shares of the variance of the rows set aside, means over splits with their standard errors.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import linnet as ln
from linnet.forecasts import CrossValidationCurves, Diagnosis, Settings, data_table, diagnose_table, scaler, start

Table = tuple[np.ndarray, np.ndarray]
LEARNED = 0.99  # of every mode, beside what ridge learns of it
LONGEST = 400_000  # steps for which a network is followed to its end


def shipped(name: str, *, classes: bool = False, rows: int | None = None) -> Callable[[], Table]:
    """A table that ships with scikit-learn; numbers of classes as columns of 0 and 1 if asked for."""

    def load() -> Table:
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        X, y = X[:rows], y[:rows]
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
    "diabetes": shipped("diabetes"),
    "linnerud": shipped("linnerud"),
    "iris-classes": shipped("iris", classes=True),
    "breast-cancer": shipped("breast_cancer"),
    "digits-classes": shipped("digits", classes=True, rows=400),
    "low-rank": synthetic(200, 20, 8, rank=2, noise=1.0),
    "few-rows": synthetic(30, 60, 1, rank=1, noise=3.0),
    "collinear": synthetic(150, 12, 2, rank=2, noise=0.5, decay=1e-3),
    "noise": synthetic(100, 10, 1, rank=1, noise=30.0),
}


class Plain:
    """A network at full width under plain gradient descent on half the squared error, in NumPy."""

    def __init__(self, X: np.ndarray, Y: np.ndarray, weights: ln.Weights) -> None:
        self.cov, self.cross = X.T @ X / len(X), Y.T @ X / len(X)
        self.weights = weights

    def train(self, rate: float, steps: int) -> bool:
        """Takes so many steps; says whether all numbers stayed finite."""
        first, second = self.weights.first, self.weights.second
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(steps):
                pull = self.residual(second @ first)
                first, second = first + rate * second.T @ pull, second + rate * pull @ first.T
        self.weights = ln.Weights(first, second) if np.isfinite(first).all() else self.weights
        return bool(np.isfinite(first).all() and np.abs(first).max() < 1e6)

    def residual(self, product: np.ndarray) -> np.ndarray:
        return self.cross - product @ self.cov


class Followed:
    """A diagnosis of some rows of a table, and networks trained on them as it says."""

    def __init__(self, table: Table, held: np.ndarray, settings: Settings, key: int) -> None:
        X, Y = table[0], table[1].reshape(len(table[0]), -1)
        kept = np.setdiff1d(np.arange(len(X)), held)
        self.advice: Diagnosis = diagnose_table(data_table(X[kept], Y[kept]), settings)
        inputs, outputs = scaler(X[kept], "standardize"), scaler(Y[kept], "standardize")
        self.X, self.Y = inputs.apply(X[kept]), outputs.apply(Y[kept])
        self.held, self.wanted = inputs.apply(X[held]), outputs.apply(Y[held])
        self.units = outputs.scale**2 / Y.var(axis=0)
        self.key = key

    def network(self, init_scale: float) -> Plain:
        """A start that the diagnosis has not seen."""
        shape = {"in_dim": self.X.shape[1], "out_dim": self.Y.shape[1], "width": 512}
        return Plain(self.X, self.Y, start("pytorch", **shape, scale=init_scale, key=[987, self.key]))

    def error(self, product: np.ndarray) -> float:
        """The share of the targets' variance that a product does not explain on the rows set aside."""
        return float((((self.held @ product.T - self.wanted) ** 2).mean(axis=0) * self.units).mean())

    def stopped(self, init_scale: float, curves: CrossValidationCurves) -> dict[str, float]:
        """Errors at the step where `curves` stop, at their last step, and at the best of those they were saved at."""
        network, errors, done = self.network(init_scale), {}, 0
        for step in curves.steps:
            if not network.train(float(f"{curves.learning_rate:.3g}"), int(step) - done):
                raise RuntimeError(f"the advised rate {curves.learning_rate:.3g} diverges")
            done = int(step)
            errors[done] = self.error(network.weights.product)
        return {"at stop": errors[curves.step], "last": errors[done], "hindsight": min(errors.values())}

    def stopping(self) -> dict[str, float]:
        """The error at the advised step and rate, and what it is to be held against."""
        d = self.advice
        nothing = self.error(np.zeros((self.Y.shape[1], self.X.shape[1])))
        measured = self.stopped(float(d.settings["init_scale"]), d.curves)
        measured |= {"mean": nothing, "stop": float(d.stop), "learns": self.certainty()}
        if d.helpful_scale is not None and d.trial is not None:
            measured["helpful scale"] = d.helpful_scale
            measured["gain"] = measured["at stop"] - self.stopped(d.helpful_scale, d.trial.curves)["at stop"]
            measured["promised"] = d.trial.gain
        return measured

    def certainty(self) -> float:
        """1 where a step is advised that is certainly better than the mean, 0.5 where that is not certain, else 0."""
        gain, doubt = self.advice.gain_over_mean
        return 0.0 if gain <= 0 else 0.5 if gain <= 2 * doubt else 1.0

    def regime(self) -> dict[str, float]:
        """How many modes are on the advised side in a network that has learned them all."""
        scale, judged = self.advice.advised_scale, self.advice.regimes
        if scale is None:
            return {}
        network = self.network(float(f"{scale:.3g}"))
        problem = ln.Problem.from_data(self.X, self.Y)
        r = ln.observables.regimes(problem, network.weights)
        learned = judged.learned  # what ridge learns: the regimes are about this product
        rate, steps, short = ln.stable_learning_rate(problem, network.weights), 0, True
        while steps < LONGEST and short:
            network.train(rate or 0.0, max(200, steps))
            steps += max(200, steps)
            short = not self._as_far_as(learned, network.weights.product, r)
        moved = r.measured(network.weights)
        active, wanted = np.abs(np.log(moved)) > np.log(2) / 2, judged.active < len(judged.labels)
        return {
            "scale": scale,
            "modes": float(len(moved)),
            "active before": float(judged.active),
            "wanted active": float(wanted),
            "as said": float((active == wanted).sum()),
            "learned": float(not short),
            "least movement": float(moved.min()),
            "largest movement": float(moved.max()),
        }

    def _as_far_as(self, learned: np.ndarray, product: np.ndarray, r: ln.observables.Regimes) -> bool:
        """Whether a product fits the rows as well as one that was learned, in all and along every mode."""

        def left(A: np.ndarray) -> np.ndarray:
            gaps = self.X @ A.T - self.Y
            along = np.einsum("kd,km,dm->m", gaps.T @ self.X / len(self.X), r.left, r.right)
            return np.array([(gaps**2).mean(), *np.abs(along) / r.strengths])

        return bool((left(product) <= left(learned) + [0.0, *[1 - LEARNED] * len(r.strengths)]).all())

    def rates(self) -> dict[str, float]:
        """Whether 5% below the largest stable rate trains and 5% above it diverges, from the start it was told of."""
        stable, begun = self.advice.forecast.largest_stable_rate, self.advice.forecast.weights
        below, above = (
            Plain(self.X, self.Y, begun).train(share * float(f"{stable.rate:.3g}"), stable.steps)
            for share in (0.95, 1.05)
        )
        return {"checked": float(stable.checked), "below trains": float(below), "above trains": float(above)}


def followed(name: str, splits: int, settings: Settings) -> dict[str, Any]:
    """What was advised for a table and what came of it, over random splits of its rows."""
    table = TABLES[name]()
    rows, parts = len(table[0]), []
    for split in range(splits):
        held = np.random.default_rng([split, rows]).permutation(rows)[: rows // 4]
        part = Followed(table, held, settings, split)
        parts.append({"stopping": part.stopping(), "regime": part.regime(), "rates": part.rates()})
    return {"table": name, "rows": rows, "inputs": table[0].shape[1], "splits": parts}


def mean_of(parts: list[dict[str, Any]], *names: str, minus: str = "") -> str:
    """The mean over splits of an entry of `stopping`, or of its difference from another, with its standard error."""
    values = np.array([p["stopping"][names[0]] - (p["stopping"][minus] if minus else 0.0) for p in parts])
    spread = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}" if len(values) > 1 else ""
    return f"{values.mean():{'+' if minus else ''}.3f}{spread}"


def row(result: dict[str, Any]) -> str:
    """One line of the table of docs/benchmarks/own_data.md."""
    parts = result["splits"]
    stops = sorted(int(p["stopping"]["stop"]) for p in parts)
    regimes = [p["regime"] for p in parts if p["regime"]]
    scales = sorted(r["scale"] for r in regimes)
    true = f"{sum(r['as said'] for r in regimes):.0f} of {sum(r['modes'] for r in regimes):.0f}" if regimes else "-"
    scale = f"{scales[0]:.2g} to {scales[-1]:.2g}" if regimes else "none"
    helped = [p["stopping"] for p in parts if "gain" in p["stopping"]]
    helps = "never"
    if helped:
        gains = ", ".join(f"{h['gain']:+.3f} (promised {h['promised']:+.3f})" for h in helped)
        helps = f"{len(helped)} of {len(parts)}: {gains}"
    learns = [p["stopping"]["learns"] for p in parts]
    stop = f"{stops[0]} to {stops[-1]}"
    if min(learns) < 1:
        stop = f"none {learns.count(0.0)}, not certain {learns.count(0.5)}, certain {learns.count(1.0)} of {len(parts)}"
    rates = [p["rates"] for p in parts]
    sharp = [r for r in rates if r["checked"]]
    rate = f"{sum(r['below trains'] for r in rates):.0f} of {len(rates)}, "
    rate += f"{sum(1 - r['above trains'] for r in sharp):.0f} of {len(sharp)}"
    cells = [
        result["table"],
        stop,
        mean_of(parts, "at stop"),
        mean_of(parts, "at stop", minus="mean"),
        mean_of(parts, "at stop", minus="last"),
        mean_of(parts, "at stop", minus="hindsight"),
        scale,
        true,
        helps,
        rate,
    ]
    return "| " + " | ".join(cells) + " |"


HEADS = [
    "table",
    "stop at step",
    "error on new rows",
    "over the mean's",
    "over the last step's",
    "over the best in hindsight",
    "scale for active modes",
    "modes as said",
    "scale advised for the error: gain on new rows",
    "0.95 of the stable rate trains, 1.05 diverges",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    parser.add_argument("--splits", type=int, default=4)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    print("| " + " | ".join(HEADS) + " |\n" + "|---" * len(HEADS) + "|")
    results = []
    for name in asked.tables or TABLES:
        results.append(followed(name, asked.splits, Settings()))
        print(row(results[-1]), flush=True)
    if asked.json is not None:
        asked.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
