"""The page *Train*: one network at any width, trained, and the closed form beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.explorer.computing.padding import gradient_descent, gradient_flow

if TYPE_CHECKING:
    import xarray as xr

POINTS = 121  # times of a run that are shown
MIN_STEPS = 64  # of descent: with a rate that is too large it is to be seen to diverge
MAX_STEPS = 10_000  # of the flow's solver, and of descent
RTOL = 1e-8  # of the flow's solver
SHARE = 0.97  # of its weakest mode that a run of length 1 learns


def diagonal_problem(values: tuple[float, ...], in_dim: int, out_dim: int) -> ln.Problem:
    """Return white inputs, and a target with these singular values."""
    if len(values) > min(in_dim, out_dim):
        raise ValueError(
            f"The target has {len(values)} singular values, more than a matrix of {out_dim} x {in_dim} can have: "
            "raise inputs and outputs."
        )
    matrix = np.zeros((out_dim, in_dim))
    matrix[: len(values), : len(values)] = np.diag(sorted(values, reverse=True))
    return ln.Problem.from_target(matrix, truth=matrix)


def horizon(problem: ln.Problem, threshold: float, until: float) -> float:
    """Return how long to train: `until` times what the weakest mode of the truth takes to be learned from nothing."""
    goal = problem.min_norm_solution() if problem.truth is None else problem.truth
    modes = np.linalg.svd(goal, compute_uv=False)
    weakest = float(modes[modes > 1e-9 * modes[0]][-1])
    return until * float(ln.theories.lazy_active.crossing_times([weakest], [0.0], threshold, level=SHARE * weakest)[0])


def train(
    *,
    target: str,
    values: tuple[float, ...],
    in_dim: int,
    out_dim: int,
    rank: int,
    noise_std: float,
    spike: float,
    alignment: float,
    samples: int,
    width: int,
    first_std: float,
    second_std: float,
    how: str,
    learning_rate: float,
    until: float,
    seed: int,
) -> xr.Dataset:
    """Train a network by gradient flow or descent, beside the self-consistent dynamics from the same start.

    **Arguments:** `target` is "values" (which takes `values`), "low_rank" (which takes `rank` and `noise_std`) or
    "spiked" (which takes the others up to `samples`, 0 for infinitely many without noise). The start is Gaussian, of
    this `width`, `first_std` and `second_std`. `how` is "flow" or "descent"; `learning_rate` is in units of
    `stable_learning_rate`, `until` in units of the time of `horizon`; `seed` is that of the start and of what is drawn.

    Variables over `time`: `trained` and `predicted` singular values of the product (time, mode), decreasing; `loss`,
    `test_loss` and their predictions. `learnable` are the singular values of the target's solution (mode), and
    `threshold` the size at which a mode passes from lazy to active, (s1^2 + s2^2) h / 2.
    """
    if target == "values":
        problem = diagonal_problem(values, in_dim, out_dim)
    elif target == "low_rank":
        if rank > min(in_dim, out_dim):
            raise ValueError(f"The rank {rank} exceeds a matrix of {out_dim} x {in_dim}: raise inputs and outputs.")
        problem = ln.problems.low_rank_plus_noise(in_dim, out_dim=out_dim, rank=rank, noise_std=noise_std, key=seed)
    else:
        problem = ln.problems.spiked_covariance(
            in_dim,
            out_dim=out_dim,
            spike=spike,
            alignment=alignment,
            samples=samples or None,
            noise_std=noise_std if samples else 0.0,
            key=seed,
        )
    threshold = (first_std**2 + second_std**2) * width / 2
    if not np.isfinite(threshold) or threshold <= 0:
        raise ValueError("The start is zero in floating point: raise the width or the initial scales.")
    start = ln.inits.reduced_gaussian(
        key=seed, in_dim=in_dim, out_dim=out_dim, width=width, stds=(first_std, second_std)
    )
    end = horizon(problem, threshold, until)
    if how == "flow":
        run = gradient_flow(problem, start, times=np.linspace(0, end, POINTS), rtol=RTOL, max_steps=MAX_STEPS)
    else:
        rate = learning_rate * float(ln.stable_learning_rate(problem, start) or np.nan)
        steps = int(np.clip(np.ceil(end / rate), MIN_STEPS, MAX_STEPS))
        run = gradient_descent(
            problem, start, learning_rate=rate, steps=steps, save_every=max(1, steps // (POINTS - 1))
        )
    theory = (
        ln.theories.lazy_active.self_consistent(problem.cross, start.product, threshold, run.times, throw=False)
        if problem.whitened
        else ln.theories.lazy_active.integrate(problem, start.product, threshold, run.times, rtol=1e-7)
    )
    modes = np.linalg.svd(np.stack([run.products, theory]), compute_uv=False)
    best = np.linalg.svd(problem.min_norm_solution(), compute_uv=False)
    losses = {
        "loss": (("time",), run.loss),
        "test_loss": (("time",), run.test_loss),
        "predicted_loss": (("time",), np.array([problem.loss(product) for product in theory])),
        "predicted_test_loss": (("time",), np.array([problem.test_loss(product) for product in theory])),
    }
    import xarray as xr  # here: at the start of the explorer it is loaded while the training above is compiled

    return xr.Dataset(
        {
            "trained": (("time", "mode"), modes[0]),
            "predicted": (("time", "mode"), modes[1]),
            "learnable": (("mode",), best),
            **losses,
            "threshold": ((), threshold),
        },
        coords={"time": run.times, "mode": np.arange(1, modes.shape[-1] + 1)},
        attrs={"units": "canonical time and losses", "how": how},
    )
