"""When the two phases end on trained networks, the timescale t1, and the bound (20) on t2 - t1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

import linnet as ln
from linnet.observables import crossing_time
from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset, Numbers, cells_of, read_cells
from linnet_papers.reproduction.fits import highest, last_crossing
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.watanabe.settings import DELTA, DIM, NETWORKS, SCALE, SEEDS, WIDTH, pair_name
from linnet_papers.watanabe.training.phases import pair_moments, phase_cells

DELTAS = (DELTA, 5.0, 8.0)  # the paper's, and two far in the last approach to the limit

SPIKES, ALIGNMENTS = (0.5, 1.0, 2.0, 5.0, 20.0, 50.0, 100.0), (0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.95)
QUICK_SPIKES, QUICK_ALIGNMENTS = (2.0, 20.0, 100.0), (0.1, 0.5, 0.95)
TIGHT_SPIKE, TIGHT_ALIGNMENTS = 100.0, (0.8, 0.95, 0.99)


def comma_list(numbers: Sequence[float]) -> str:
    """Return the numbers with commas between them."""
    return ", ".join(f"{number:g}" for number in numbers)


GRID = f"{NETWORKS}; spikes {comma_list(SPIKES)} with alignments {comma_list(ALIGNMENTS)} (three of each in quick mode)"
TIGHT = f"spike {TIGHT_SPIKE:g} with alignments {comma_list(TIGHT_ALIGNMENTS)}"


def pair_sweep(trial: Trial, name: str, spikes: Sequence[float], alignments: Sequence[float]) -> ln.sweeps.Sweep:
    """Return the sweep of `SEEDS` networks for every pair, those of one pair in a block."""
    axes = {"spike": spikes, "alignment": alignments}
    fixed = {"dim": DIM, "width": WIDTH, "scale": SCALE}
    return trial_sweep(trial, name, phase_cells, axes, seeds=SEEDS, fixed=fixed, together="seed")


@trained
def grid(trial: Trial) -> ln.sweeps.Sweep:
    """Train the networks of the table; three spikes and three alignments in quick mode."""
    spikes, alignments = (QUICK_SPIKES, QUICK_ALIGNMENTS) if trial.quick else (SPIKES, ALIGNMENTS)
    return pair_sweep(trial, "watanabe-phase-times", spikes, alignments)


@trained
def tight_grid(trial: Trial) -> ln.sweeps.Sweep:
    """Train a strong spike, ever better aligned, where w1 hardly changes later."""
    return pair_sweep(trial, "watanabe-tight", (TIGHT_SPIKE,), TIGHT_ALIGNMENTS)


@trained
def weak_grid(trial: Trial) -> ln.sweeps.Sweep:
    """Train weak spikes that are nearly orthogonal to the target."""
    return pair_sweep(trial, "watanabe-corner", (0.5, 2.0), (0.05,))


def theory_of(cell: Dataset) -> TwoPhase:
    """Return what is predicted at the spike and alignment of a cell."""
    return TwoPhase(float(cell.spike), float(cell.alignment))


def pair_of(*cells: Dataset) -> str:
    """Return spike and alignment of a cell, or of one and the next."""
    return " to ".join(pair_name(float(cell.spike), float(cell.alignment)) for cell in cells)


def mean_of(cell: Dataset, name: str) -> float:
    """Return the mean of what `name` is of the networks of a cell; NaN where one network's is."""
    return float(cell[name].mean(skipna=False))


def by_pair(cells: Iterable[Dataset], of: Callable[[Dataset], float]) -> dict[str, float]:
    """Return what `of` says of each cell, under the name of its pair of spike and alignment."""
    return {pair_of(cell): float(of(cell)) for cell in cells}


def neighbors(cells: Iterable[Dataset], along: str) -> list[tuple[Dataset, Dataset]]:
    """Return pairs of cells that follow each other `along` spikes or alignments, at equal values of the other."""
    other = "alignment" if along == "spike" else "spike"
    ordered = sorted(cells, key=lambda cell: (float(cell[other]), float(cell[along])))
    return [(weaker, stronger) for weaker, stronger in pairwise(ordered) if weaker[other] == stronger[other]]


def inside_hypothesis(cells: Iterable[Dataset]) -> list[Dataset]:
    """Return the cells of which every network meets the hypothesis of (20) before t2."""
    return [cell for cell in cells if np.isfinite(cell.allowed).all()]


def read(networks: Dataset) -> list[Dataset]:
    """Return one cell for every spike and alignment: what `read_network` returns of each of its networks (seed,)."""
    return list(cells_of(read_cells(networks, ("spike", "alignment", "seed"), read_network), "spike", "alignment"))


def read_network(network: Dataset) -> Numbers:
    r"""Return the phases of one network; levels are those of the covariance, not of the theory.

    - `rate`: how fast $w_1$ grows while it is small; `late_rate`: how fast $w_2$ approaches its limit between
      $\delta = 5$ and $\delta = 8$
    - `early`: when $w_1^2$ passes half its plateau; `own_early`: that over $t_1$ with its own $u(0)$ for $s$
    - `length`: from there until $w_2$ has $1 - e^{-\delta}$ of its limit, $t_2 - t_1$ for the paper's $\delta$
    - `allowed`: from when on $w_1 \ge w_{1*}$ and $w_2 \le w_{2*}$, the hypothesis of (20): NaN where it has not come
      before $w_2$ is settled, so that (20) says nothing; `w2_there`: the share of its limit that $w_2$ then has
    - `share`: the largest share of the bound (20) that $t_2 - t_1$ takes, counted from there, for any $\delta$;
      `slack`: the bound over it, for the paper's
    - `change`: by how much $w_1$ varies while $w_2$ goes from 5% to 95% of its limit
    - `left`: the share of the loss where $w_1$ has 90% of its plateau
    """
    theory = theory_of(network)
    moments = pair_moments(float(network["spike"]), float(network["alignment"]))
    times, w1, w2, loss = (network[name].values for name in ("times", "w1", "w2", "loss"))
    share = w2 / moments.limit[1]
    settled = {delta: settling_time(times, share, delta) for delta in DELTAS}
    early = crossing_time(times, w1**2, 0.5 * moments.plateau**2)
    allowed = allowed_from(times, w1, w2, moments.limit)
    allowed = allowed if allowed < settled[DELTA] else np.nan
    during = w1[(share >= 0.05) & (share <= 0.95)]
    return {
        "rate": growth_rate(times, w1, moments.plateau),
        "late_rate": (DELTAS[2] - DELTAS[1]) / (settled[DELTAS[2]] - settled[DELTAS[1]]),
        "early": early,
        "own_early": early / theory.early_time(float(network["u0"])),
        "length": settled[DELTA] - early,
        "allowed": allowed,
        "w2_there": np.interp(allowed, times, share),
        "share": highest((settled[delta] - allowed) / theory.later_bound(delta) for delta in DELTAS),
        "slack": theory.later_bound(DELTA) / (settled[DELTA] - allowed),
        "change": during.max() / during.min() - 1,
        "left": np.interp(crossing_time(times, w1, 0.9 * moments.plateau), times, loss / loss[0]),
    }


def growth_rate(times: np.ndarray, w1: np.ndarray, plateau: float) -> float:
    """d log w1/dt from 30 s, where the start's decaying part is a thousandth, to a hundredth of the plateau."""
    logs = np.log(np.clip(w1, 1e-30, None))
    levels = np.log([30 * SCALE, 0.01 * plateau])
    early, late = (crossing_time(times, logs, float(level)) for level in levels)
    return float((levels[1] - levels[0]) / (late - early))


def settling_time(times: np.ndarray, share: np.ndarray, delta: float) -> float:
    """Return when `share` (time,) reaches 1 - e^-delta; on a scale on which its last approach is a straight line."""
    return crossing_time(times, -np.log(np.clip(1 - share, 1e-12, None)), delta)


def allowed_from(times: np.ndarray, w1: np.ndarray, w2: np.ndarray, limit: np.ndarray) -> float:
    """Return from when on w1 is above its limit and w2 below its own, up to ten times the start's scale; NaN if
    never."""
    return highest(last_crossing(times, margin + 10 * SCALE) for margin in (w1 - limit[0], limit[1] - w2))
