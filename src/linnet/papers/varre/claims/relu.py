"""Varre et al., the toy experiment with ReLU networks: which rank a student of a teacher of two neurons ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

INPUTS, HIDDEN = 5, 20
SETTING = (
    "teacher of 2 neurons, 10 points in 5 dimensions, 20 hidden units, starts of std 0.001 and 1, 20 seeds (10 "
    "in quick mode)"
)
FITTED = 1e-2  # labels have a mean square of about 1
BATCH = 10
STARTS = {"small": {"std": 1e-3, "rate": 0.02}, "large": {"std": 1.0, "rate": 0.005}}
STEPS = {True: {"small": 30_000, "large": 10_000}, False: {"small": 200_000, "large": 100_000}}  # quick or not


def cells(
    points: dict[str, np.ndarray], seeds: np.ndarray, *, small: dict[str, Any], large: dict[str, Any], seed: int
) -> dict[str, Any]:
    """Students of one start, side by side, each with the teacher and from the start of its replicate.

    `values` are the singular values of the final first layer, `loss` is the final loss.
    """
    name = str(points["start"][0])
    if (points["start"] != name).any():
        raise ValueError("`start` must be one for all cells of a block.")
    setting = {"small": small, "large": large}[name]
    std, rate, steps = setting["std"], setting["rate"], setting["steps"]
    keys = [[seed, replicate] for replicate in points["replicate"].tolist()]
    teachers = [ln.problems.relu_teacher(key, samples=10, in_dim=INPUTS, neurons=2) for key in keys]
    inputs, outputs = (np.stack([np.asarray(getattr(p, part)) for p in teachers]) for part in ("inputs", "outputs"))
    starts = [
        ln.inits.gaussian(key, in_dim=INPUTS, out_dim=1, width=HIDDEN, first_std=std, second_std=std) for key in keys
    ]
    run = ln.relu_descent(
        (inputs, outputs), ln.Weights.stack(starts), learning_rate=rate, steps=steps, save_every=ln.trajectories.last()
    )
    return {
        "values": (("value",), np.linalg.svd(run.reduced.first[-1], compute_uv=False)),
        "loss": run.loss[-1],
        "std": np.full(len(seeds), std),
        "time": np.full(len(seeds), rate * steps),
    }


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Students from the small and the large start, of the same teachers."""
    steps = STEPS[trial.quick]
    settings = {name: {**setting, "steps": steps[name]} for name, setting in STARTS.items()}
    replicates = BATCH if trial.quick else 2 * BATCH
    return ln.sweeps.Sweep(
        name="varre-relu-ranks",
        function=cells,
        axes={"start": list(STARTS), "replicate": list(range(replicates))},
        seed=trial.seed,
        fixed={**settings, "seed": trial.seed},
        block=BATCH,
        apart=["start"],
    )


def ranks(students: xr.Dataset, start: str) -> np.ndarray:
    """Singular values above a tenth of the largest, of each student from this start."""
    values = students["values"].sel(start=start).transpose("replicate", "value").values
    return np.asarray(ln.observables.numerical_rank(values))


def fitted(students: xr.Dataset) -> np.ndarray:
    """Which seeds have students that have learned their samples, from both starts (replicate,)."""
    return np.all(students["loss"].transpose("replicate", "start").values < FITTED, axis=1)


def columns(students: xr.Dataset) -> Columns:
    """How many students end with each rank."""
    found = {start: ranks(students, start) for start in students["start"].values.tolist()}
    one = students.isel(replicate=0)
    return {
        "start": list(found),
        "std of the weights": [f"{float(one['std'].sel(start=start)):g}" for start in found],
        "training time": [f"{float(one['time'].sel(start=start)):g}" for start in found],
        "students": [str(len(counted)) for counted in found.values()],
        "largest final loss": [f"{students['loss'].sel(start=start).values.max():.0e}" for start in found],
        **{
            f"rank {rank}": [str(int((counted == rank).sum())) for counted in found.values()]
            for rank in range(1, INPUTS + 1)
        },
    }


def measure_low_rank(trial: Trial) -> Measurement:
    students = TABLES[0].results(trial)
    learned = fitted(students)
    small, large = ranks(students, "small")[learned], ranks(students, "large")[learned]
    lower = float(np.mean(small < large))
    verdict = _judged(learned, Verdict.HOLDS if lower >= 0.9 else Verdict.REFUTED)
    text = (
        f"ranks from the small start {_counts(small)}, from the large one {_counts(large)}: lower in {lower:.0%} of "
        f"{len(small)} seeds ({_left_out(learned)})"
    )
    return Measurement(verdict, text, lower)


def measure_rank_two(trial: Trial) -> Measurement:
    students = TABLES[0].results(trial)
    learned = fitted(students)
    small = ranks(students, "small")[learned]
    share = float(np.mean(small == 2))
    verdict = _judged(learned, Verdict.HOLDS if share >= 0.9 else Verdict.REFUTED)
    text = (
        f"rank 2 in {share:.0%} of {len(small)} seeds: ranks {_counts(small)} (values above 10% of the largest; "
        f"{_left_out(learned)})"
    )
    return Measurement(verdict, text, share)


def _judged(learned: np.ndarray, verdict: Verdict) -> Verdict:
    """The verdict on trained students, where nine in ten of the seeds are; the others have no final rank to judge."""
    return verdict if learned.mean() >= 0.9 else Verdict.OUTSIDE


def _left_out(learned: np.ndarray) -> str:
    out = int((~learned).sum())
    return f"{out} of {learned.size} left out, with a final loss above {FITTED:g}"


def _counts(ranks: np.ndarray) -> str:
    return ", ".join(f"{int((ranks == r).sum())} of rank {r}" for r in np.unique(ranks))


CLAIMS = [
    Claim(
        name="relu-low-rank",
        number="Figure 2",
        sentence="A ReLU student ends with a hidden layer of lower rank from a small start than from a large one.",
        assumptions="Gaussian teacher and starts",
        setting=SETTING,
        claimed="low rank against high rank",
        expected=Verdict.HOLDS,
        measure=measure_low_rank,
    ),
    Claim(
        name="relu-rank-two",
        number="Figure 2",
        sentence="From a small start the hidden layer of the student ends with the rank of the teacher, two.",
        assumptions="Gaussian teacher and starts",
        setting=SETTING,
        claimed="rank 2",
        expected=Verdict.REFUTED,
        measure=measure_rank_two,
    ),
]

TABLES = [
    Table(
        name="relu-ranks",
        title="ReLU students of a teacher of two neurons: which rank they end with from a small and a large start",
        sweep=sweep,
        columns=columns,
        note="The rank counts singular values of the first layer above a tenth of the largest.",
    ),
]
