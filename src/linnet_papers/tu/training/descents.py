"""Descents of single networks: test error along them, their stages, and what they prefer at half the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet.trajectories.saving import at, last
from linnet_papers.reproduction.cells import Block, Points, cell_by_cell, one_of_each
from linnet_papers.tu.training.starts import active_start, threshold_start

if TYPE_CHECKING:
    import jax

POINTS = 256  # of a curve
SEEN = [*range(40), *range(40, 200, 4), *range(200, 400, 20), 400]  # steps of a timeline that are looked at
LEADING = 3  # singular values kept: those of the signal and one of the noise


def active_cells(
    points: Points,
    seeds: np.ndarray,
    *,
    gammas: tuple[float, float],
    spectra: dict[str, list[float]],
    spans: dict[str, float],
) -> Block:
    """Networks on tasks of one dimension and spectrum, each a task of its own: test error over the noise, along
    descent.

    The curve is on a geometric grid of times, from the first step on. The step is 1/(15 d).
    """
    dim, name = one_of_each(points, "dim", "spectrum")
    spectrum = list(spectra[name])
    rate = 1 / (15 * dim)
    steps = int(np.ceil(spans[name] * np.log(dim) / dim / rate))
    tasks = ln.Problem.stack(
        [
            ln.problems.low_rank_plus_noise(dim, rank=len(spectrum), key=[seed, 0], spectrum=spectrum)
            for seed in seeds.tolist()
        ]
    )
    weights = ln.Weights.stack(active_start(dim, gammas, key=[seed, 1]) for seed in seeds.tolist())
    run = ln.gradient_descent(tasks, weights, learning_rate=rate, steps=steps, keep="losses")
    noise = ((tasks.cross - np.asarray(tasks.truth)) ** 2).sum(axis=(1, 2))
    errors = 2 * run.test_loss / noise  # in units of the noise that was drawn
    times = np.concatenate([[0.0], np.geomspace(rate, steps * rate, POINTS - 1)])
    curves = np.stack([np.interp(times, run.times, column) for column in errors.T])
    return {"times": (("state",), np.tile(times, (len(seeds), 1))), "test_error": (("state",), curves)}


@cell_by_cell
def timeline_cells(
    key: int,
    *,
    place: str,
    dim: int,
    spectrum: str,
    places: dict[str, list[float]],
    spectra: dict[str, list[float]],
    steps: int,
) -> Block:
    """Return one network and task for each cell: leading singular values, and how far the singular vectors are from
    aligned.

    Descent with a small step, 1/(40 |A*|), seen often while the signal grows (`SEEN`) and seldom later. `goals` are
    the leading singular values of A* + E, `rest` is the Frobenius norm of what is beyond the signal's.
    """
    values = list(spectra[spectrum])
    gammas = places[place]
    rank = len(values)
    task = ln.problems.low_rank_plus_noise(dim, rank=rank, key=[key, 0], spectrum=values)
    weights = active_start(dim, (gammas[0], gammas[1]), key=[key, 1])
    rate = 1 / (40 * max(values) * dim)
    seen = [step for step in SEEN if step <= steps]
    run = ln.gradient_descent(task, weights, learning_rate=rate, steps=steps, save_every=at(seen), keep="products")
    learned, goals = (np.linalg.svd(matrix, compute_uv=False) for matrix in (run.products, task.cross))
    return {
        "times": ("state", run.times),
        "singular_values": (("state", "mode"), learned[:, :LEADING]),
        "goals": ("mode", goals[:LEADING]),
        "defect": ("state", lazy_active.alignment_defect(run.products, task.truth, rank)),
        "rest": ("state", np.linalg.norm(learned[:, rank:], axis=1)),
    }


@cell_by_cell
def border_cells(key: int, *, dim: int, target: str, levels: list[float], steps: int) -> Block:
    """Return one target for each cell, one network of w = d^3 for each threshold: how far ahead the leading mode is at
    half the loss.

    `preference` is the progress of the leading singular value of the target, over that of the median one.
    """
    matrix = target_of(target, dim, key)
    left, values, right = np.linalg.svd(matrix)
    thresholds = np.asarray(levels) * values[0]
    starts = [threshold_start(dim, dim**3, threshold, key=[key, 1, i]) for i, threshold in enumerate(thresholds)]
    run = ln.gradient_descent(
        ln.Problem.from_target(matrix),
        ln.Weights.stack(starts),
        learning_rate=0.05 / np.maximum(values[0], thresholds),
        steps=steps,
        stop=LossHalved(),
        save_every=last(),
        keep="products",
    )
    if not np.isin(run.status.reason, LossHalved.reasons).all():
        raise RuntimeError(f"half of the target is not learned in {steps} steps")
    progress = np.einsum("im,nij,mj->nm", left, run.products[-1], right) / values
    ahead = progress[:, 0] / np.median(progress, axis=1)
    return {"threshold": ("level", thresholds), "preference": ("level", ahead)}


def target_of(name: str, dim: int, seed: int) -> np.ndarray:
    """Return a target of rank 1 and singular value d under unit noise, or noise alone."""
    if name == "low rank":
        return np.asarray(ln.problems.low_rank_plus_noise(dim, rank=1, key=[seed, 0], spectrum=[1.0]).cross)
    return generator(key=[seed, 0]).normal(size=(dim, dim))


@dataclass(frozen=True)
class LossHalved:
    """The stopping rule that ends a run at its first state that has half of the loss it began with."""

    reasons: tuple[str, ...] = ("half of the loss is gone",)
    needs_test: bool = False

    def start(self) -> np.float64:
        """Return what stands for the first loss before it is known."""
        return np.float64(np.inf)

    def update(
        self, first: jax.Array, step: jax.Array, loss: jax.Array, test_loss: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        """Return the first loss, and 1 to stop or 0 to go on."""
        import jax.numpy as jnp  # here: `linnet list` loads this file, and would load JAX

        first = jnp.where(step == 0, loss, first)
        return first, jnp.where(loss <= 0.5 * first, 1, 0)
