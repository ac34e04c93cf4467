"""Varre et al., the toy experiment with ReLU networks: which rank a student of two neurons ends with."""

from __future__ import annotations

from functools import cache

import numpy as np

import linnet as ln
from linnet.claims.registry import Claim, Measurement, Trial, Verdict

SETTING = "teacher of 2 neurons, 10 points in 5 dimensions, 20 hidden units, starts of std 0.001 and 1, 10 seeds"

FITTED = 1e-2  # labels have a mean square of about 1


@cache
def _ranks(quick: bool, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Numbers of singular values above a tenth of the largest, small and large start, and the largest final loss."""
    seeds = range(seed, seed + 10)
    teachers = [ln.problems.relu_teacher(s, samples=10, in_dim=5, neurons=2) for s in seeds]
    inputs, outputs = (np.stack([np.asarray(getattr(p, name)) for p in teachers]) for name in ("inputs", "outputs"))
    ranks, losses = [], []
    for std, rate, steps in ((1e-3, 0.02, 30_000 if quick else 200_000), (1.0, 0.005, 10_000 if quick else 100_000)):
        starts = [ln.inits.gaussian(s, in_dim=5, out_dim=1, width=20, first_std=std, second_std=std) for s in seeds]
        weights = ln.Weights.stack(starts)
        saving = ln.trajectories.last()
        run = ln.relu_descent((inputs, outputs), weights, learning_rate=rate, steps=steps, save_every=saving)
        values = np.linalg.svd(run.reduced.first[-1], compute_uv=False)
        ranks.append(ln.observables.numerical_rank(values))
        losses.append(float(run.loss[-1].max()))
    return ranks[0], ranks[1], max(losses)


def measure_low_rank(trial: Trial) -> Measurement:
    small, large, loss = _ranks(trial.quick, trial.seed)
    lower = float(np.mean(small < large))
    verdict = _judged(loss, Verdict.HOLDS if lower >= 0.9 else Verdict.REFUTED)
    text = (
        f"ranks from the small start {_counts(small)}, from the large one {_counts(large)}: lower in {lower:.0%} of 10 seeds "
        f"(largest final loss {loss:.0e})"
    )
    return Measurement(verdict, text, lower)


def measure_rank_two(trial: Trial) -> Measurement:
    small, _, loss = _ranks(trial.quick, trial.seed)
    share = float(np.mean(small == 2))
    verdict = _judged(loss, Verdict.HOLDS if share >= 0.9 else Verdict.REFUTED)
    text = f"rank 2 in {share:.0%} of 10 seeds: ranks {_counts(small)} (values above 10% of the largest, final loss {loss:.0e})"
    return Measurement(verdict, text, share)


def _judged(loss: float, verdict: Verdict) -> Verdict:
    """The verdict on trained students; a student that has not learned its samples has no final rank to judge."""
    return verdict if loss < FITTED else Verdict.OUTSIDE


def _counts(ranks: np.ndarray) -> str:
    return ", ".join(f"{int((ranks == r).sum())} of rank {r}" for r in np.unique(ranks))


CLAIMS = [
    Claim(
        name="varre-relu-low-rank", paper="varre", number="Figure 2",
        sentence="A ReLU student ends with a hidden layer of lower rank from a small start than from a large one.",
        assumptions="Gaussian teacher and starts", setting=SETTING, claimed="low rank against high rank",
        expected=Verdict.HOLDS, measure=measure_low_rank,
    ),
    Claim(
        name="varre-relu-rank-two", paper="varre", number="Figure 2",
        sentence="From a small start the hidden layer of the student ends with the rank of the teacher, two.",
        assumptions="Gaussian teacher and starts", setting=SETTING, claimed="rank 2", expected=Verdict.REFUTED,
        measure=measure_rank_two,
    ),
]  # fmt: skip
