"""When the two phases end on trained networks, the timescale t1, and the bound (20) on t2 - t1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

import linnet as ln
from linnet.observables import crossing_time
from linnet.papers.watanabe.networks.phases import pair_moments
from linnet.papers.watanabe.settings import DELTA, DIM, NETWORKS, SCALE, SEEDS, WIDTH
from linnet.reproduction import Table, Trial
from linnet.reproduction.datasets import Dataset, cells_of
from linnet.reproduction.fits import highest
from linnet.reproduction.table import trial_sweep
from linnet.theories.spiked import TwoPhase

DELTAS = (DELTA, 5.0, 8.0)  # the paper's, and two far in the last approach to the limit

SPIKES, ALIGNMENTS = (0.5, 1.0, 2.0, 5.0, 20.0, 50.0, 100.0), (0.05, 0.1, 0.3, 0.5, 0.8, 0.9, 0.95)
QUICK_SPIKES, QUICK_ALIGNMENTS = (2.0, 20.0, 100.0), (0.1, 0.5, 0.95)
TIGHT_SPIKE, TIGHT_ALIGNMENTS = 100.0, (0.8, 0.95, 0.99)


def listed(numbers: Sequence[float]) -> str:
    """Return the numbers with commas between them."""
    return ", ".join(f"{number:g}" for number in numbers)


GRID = f"{NETWORKS}; spikes {listed(SPIKES)} x alignments {listed(ALIGNMENTS)} (3 x 3 of them in quick mode)"
TIGHT_RANGE = f"spike {TIGHT_SPIKE:g}, alignments {TIGHT_ALIGNMENTS[0]:g} to {TIGHT_ALIGNMENTS[-1]:g}"
TIGHT = f"spike {TIGHT_SPIKE:g} with alignments {listed(TIGHT_ALIGNMENTS)}"


def grid(trial: Trial, name: str, spikes: Sequence[float], alignments: Sequence[float]) -> ln.sweeps.Sweep:
    """`SEEDS` networks for every pair, those of one pair in a block."""
    cells, axes = "linnet.papers.watanabe.networks.phases:phase_cells", {"spike": spikes, "alignment": alignments}
    fixed = {"dim": DIM, "width": WIDTH, "scale": SCALE}
    return trial_sweep(trial, name, cells, axes, seeds=SEEDS, fixed=fixed, together="seed")


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table; three spikes and three alignments in quick mode."""
    spikes, alignments = (QUICK_SPIKES, QUICK_ALIGNMENTS) if trial.quick else (SPIKES, ALIGNMENTS)
    return grid(trial, "watanabe-phase-times", spikes, alignments)


@lru_cache(maxsize=8)
def _beside(trial: Trial, name: str, spikes: tuple[float, ...], alignments: tuple[float, ...]) -> Dataset:
    """Train the networks of pairs that are not in the table, once for all claims."""
    return ln.sweeps.run(grid(trial, name, spikes, alignments))


def tight_cells(trial: Trial) -> list[Cell]:
    """Pairs beside the table: one strong spike, ever better aligned, where w1 hardly changes in the later phase."""
    return read(_beside(trial, "watanabe-tight", (TIGHT_SPIKE,), TIGHT_ALIGNMENTS))


def corner_cells(trial: Trial) -> list[Cell]:
    """Pairs beside the table: spikes nearly orthogonal to the target, weak ones and such that (1 + rho) A is 1.5."""
    weak = read(_beside(trial, "watanabe-corner", (0.5, 2.0), (0.05,)))
    return weak + read(_beside(trial, "watanabe-border", (20.5, 23.5), (0.07,)))


def strong_cells(trial: Trial) -> list[Cell]:
    """Pairs beside the table: a strong spike, and a stronger one."""
    spikes, alignments = ((20.0, 200.0), (0.3, 0.9)) if trial.quick else ((20.0, 1000.0), (0.1, 0.3, 0.5, 0.9))
    return read(_beside(trial, "watanabe-strong", spikes, alignments))


def by_pair(cells: Sequence[Cell], of: Callable[[Cell], float]) -> dict[str, float]:
    """Return what `of` says of each cell, under the name of its pair of spike and alignment."""
    return {cell.pair: float(of(cell)) for cell in cells}


def neighbours(cells: Sequence[Cell], along: str) -> list[tuple[Cell, Cell]]:
    """Pairs of cells that follow each other `along` the spikes or alignments, at equal values of the other one."""
    other = "alignment" if along == "spike" else "spike"
    ordered = sorted(cells, key=lambda cell: (getattr(cell, other), getattr(cell, along)))
    return [
        (weaker, stronger)
        for weaker, stronger in pairwise(ordered)
        if getattr(weaker, other) == getattr(stronger, other)
    ]


@dataclass(frozen=True)
class Cell:
    r"""What the networks of one spike and alignment did (seed,), and what is predicted.

    `early` is when $w_1^2$ passes half its plateau, `settled[delta]` when $w_2$ reaches $1 - e^{-\delta}$ of its limit.
    `allowed` is the moment from which on $w_1 \ge w_{1*}$ and $w_2 \le w_{2*}$, the hypothesis of (20): NaN where it
    has not come before $w_2$ is settled, so that (20) says nothing; `w2_there` is the share of its limit that $w_2$
    then has. `change` is by how much $w_1$ varies while $w_2$ goes from 5% to 95% of its limit, `rate` how fast $w_1$
    grows while it is small, `left` the share of the loss where it has 90% of its plateau, `u0` its start.
    """

    spike: float
    alignment: float
    rate: np.ndarray
    early: np.ndarray
    settled: dict[float, np.ndarray]
    allowed: np.ndarray
    w2_there: np.ndarray
    change: np.ndarray
    left: np.ndarray
    u0: np.ndarray

    @property
    def theory(self) -> TwoPhase:
        """What is predicted at this pair."""
        return TwoPhase(self.spike, self.alignment)

    @property
    def own_early_time(self) -> np.ndarray:
        """t1 with each network's own u(0) for s."""
        return np.array([self.theory.early_time(u0) for u0 in self.u0.tolist()])

    @property
    def bound(self) -> float:
        """The bound (20) for the paper's delta."""
        return self.theory.later_bound(DELTA)

    @property
    def late_rate(self) -> float:
        """How fast w2 approaches its limit between delta = 5 and delta = 8."""
        return float(((DELTAS[2] - DELTAS[1]) / (self.settled[DELTAS[2]] - self.settled[DELTAS[1]])).mean())

    @property
    def pair(self) -> str:
        """Spike and alignment."""
        return f"({self.spike:g}, {self.alignment:g})"

    @property
    def length(self) -> np.ndarray:
        """t2 - t1 of each network, from half the plateau of w1."""
        return self.settled[DELTA] - self.early

    @property
    def inside(self) -> bool:
        """Whether the hypothesis of (20) is met before t2, by every network."""
        return bool(np.isfinite(self.allowed).all())

    @property
    def slack(self) -> np.ndarray:
        """The bound over t2 - t1, with t1 counted from where its hypothesis is met."""
        return self.bound / (self.settled[DELTA] - self.allowed)

    @property
    def share(self) -> float:
        """The largest share of the bound (20) that t2 - t1 takes, so counted, for any delta and network."""
        return highest(((self.settled[d] - self.allowed) / self.theory.later_bound(d)).max() for d in DELTAS)


def read(networks: Dataset) -> list[Cell]:
    """Return one cell of the table for every spike and alignment of the sweep."""
    return [read_cell(cell) for cell in cells_of(networks, "spike", "alignment")]


def read_cell(networks: Dataset) -> Cell:
    """Return the phases of one pair; levels are those of the covariance, not of the theory."""
    spike, alignment = float(networks["spike"]), float(networks["alignment"])
    moments = pair_moments(spike, alignment)
    times, first, second, loss = (
        networks[name].transpose("seed", "state").values for name in ("times", "w1", "w2", "loss")
    )
    rows = list(zip(times, first, second, strict=True))
    grown = [crossing_time(t, w1, 0.9 * moments.plateau) for t, w1, _ in rows]
    shares = [(t, w2 / moments.limit[1]) for t, _, w2 in rows]
    settled = {delta: np.array([settling_time(t, share, delta) for t, share in shares]) for delta in DELTAS}
    hypothesis = np.array([allowed_from(t, w1, w2, moments.limit) for t, w1, w2 in rows])
    hypothesis[~(hypothesis < settled[DELTA])] = np.nan
    there = [np.interp(at, t, w2) / moments.limit[1] for at, (t, _, w2) in zip(hypothesis, rows, strict=True)]
    changes = []
    for _, w1, w2 in rows:
        during = w1[(w2 >= 0.05 * moments.limit[1]) & (w2 <= 0.95 * moments.limit[1])]
        changes.append(during.max() / during.min() - 1)
    return Cell(
        spike=spike,
        alignment=alignment,
        rate=np.array([growth_rate(t, w1, moments.plateau) for t, w1, _ in rows]),
        early=np.array([crossing_time(t, w1**2, 0.5 * moments.plateau**2) for t, w1, _ in rows]),
        settled=settled,
        allowed=hypothesis,
        w2_there=np.array(there),
        change=np.array(changes),
        left=np.array([np.interp(at, t, L / L[0]) for at, t, L in zip(grown, times, loss, strict=True)]),
        u0=networks["u0"].values,
    )


def growth_rate(times: np.ndarray, w1: np.ndarray, plateau: float) -> float:
    """d log w1/dt from 30 s, where the start's decaying part is a thousandth, to a hundredth of the plateau."""
    logs, levels = np.log(np.clip(w1, 1e-30, None)), np.log([30 * SCALE, 0.01 * plateau])
    early, late = (crossing_time(times, logs, float(level)) for level in levels)
    return float((levels[1] - levels[0]) / (late - early))


def settling_time(times: np.ndarray, share: np.ndarray, delta: float) -> float:
    """Return when `share` (time,) reaches 1 - e^-delta; on a scale on which its last approach is a straight line."""
    return crossing_time(times, -np.log(np.clip(1 - share, 1e-12, None)), delta)


def allowed_from(times: np.ndarray, w1: np.ndarray, w2: np.ndarray, limit: np.ndarray) -> float:
    """Return from when on w1 is above its limit and w2 below its own, up to ten times the start's scale; NaN if
    never."""
    return highest(last_crossing(times, margin + 10 * SCALE) for margin in (w1 - limit[0], limit[1] - w2))


def last_crossing(times: np.ndarray, margin: np.ndarray) -> float:
    """Return from when on `margin` (time,) is not negative, between saved times by a straight line; NaN if it ends
    so."""
    bad = np.flatnonzero(margin < 0)
    if bad.size == 0:
        return float(times[0])
    last = int(bad[-1])
    if last + 1 == times.size:
        return float("nan")
    return float(times[last] - margin[last] * (times[last + 1] - times[last]) / (margin[last + 1] - margin[last]))


COLUMNS: dict[str, str | Callable[[Cell], str]] = {  # as docs/phase_times.md has them
    "spike": "{.spike:g}",
    "alignment": "{.alignment:g}",
    "t1": lambda cell: f"{cell.theory.early_time(SCALE):.3f}",
    "t1 measured": lambda cell: f"{cell.early.mean():.3f}",
    "over t1 from u(0)": lambda cell: f"{(cell.early / cell.own_early_time).mean():.4f}",
    "bound (20)": "{.bound:.3f}",
    "t2 - t1 measured": lambda cell: f"{cell.length.mean():.3f}",
    "hypothesis from t1 +": lambda cell: f"{(cell.allowed - cell.early).mean():.3f}" if cell.inside else "-",
    "w2 there": lambda cell: f"{cell.w2_there.mean():.0%}" if cell.inside else "-",
    "bound over t2 - that": lambda cell: f"{cell.slack.min():.3f}" if cell.inside else "-",
}


TABLE = Table(
    name="phase-times",
    title="When the two phases end: networks, t1, and the bound (20) on t2 - t1",
    sweep=sweep,
    read=read,
    columns=COLUMNS,
    note="Canonical times, d = 30, m = 50, s = 1e-5; means over the networks, the least for the last column. A dash: "
    "w1 is not above its limit before w2 is settled, and the bound says nothing.",
)
