"""Watanabe et al., section 3: when the two phases happen, what the bound (20) is worth, and when there is one phase
only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.watanabe.networks import (
    DIM,
    POINTS,
    SCALE,
    SEEDS,
    SETTING,
    WIDTH,
    follow,
    phase_grid,
    start,
    trained,
)
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

SPIKES, ALIGNMENTS = (0.5, 1.0, 5.0, 20.0, 100.0), (0.05, 0.3, 0.5, 0.8, 0.95)
GRID = "spikes {0.5, 1, 5, 20, 100} x alignments {0.05, 0.3, 0.5, 0.8, 0.95} (3 x 3 of them in quick mode)"


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, dim: int, width: int, scale: float) -> dict[str, Any]:
    """Networks of one spike and alignment, or of several pairs one after the other: both components along the flow.

    `u0` is the start's own part along the direction that grows; the paper's times take s for it.
    """
    pairs = np.stack([points["spike"], points["alignment"]], axis=1)
    found = {name: np.empty((len(seeds), POINTS)) for name in ("times", "w1", "w2", "loss")}
    starts = np.empty(len(seeds))
    for spike, alignment in np.unique(pairs, axis=0).tolist():
        members = np.flatnonzero((pairs == (spike, alignment)).all(axis=1))
        batch = members[np.minimum(np.arange(len(seeds)), len(members) - 1)]  # always of one size: always the same bits
        theory = ln.theories.spiked.TwoPhase(spike, alignment)
        problem = ln.problems.spiked_covariance(dim, spike=spike, alignment=alignment)
        weights = ln.Weights.stack([start(int(seeds[cell]), dim, width, scale) for cell in batch])
        run = follow(theory, problem, weights, phase_grid(theory, scale))
        values = {"w1": run.components[..., 0], "w2": run.components[..., 1], "loss": run.loss}
        found["times"][members] = run.times
        starts[members] = run.u0[: len(members)]
        for name, value in values.items():
            found[name][members] = value[:, : len(members)].T
    return {"u0": starts, **{name: (("state",), value) for name, value in found.items()}}


def sweep(trial: Trial, name: str, spikes: Sequence[float], alignments: Sequence[float]) -> ln.sweeps.Sweep:
    """`SEEDS` networks for every pair, those of one pair in a block."""
    return ln.sweeps.Sweep(
        name=name,
        function=cells,
        axes={"spike": list(spikes), "alignment": list(alignments)},
        seeds=SEEDS,
        seed=trial.seed,
        fixed={"dim": DIM, "width": WIDTH, "scale": SCALE},
        block=SEEDS,
        apart=["spike", "alignment"],
    )


def phase_times(trial: Trial) -> ln.sweeps.Sweep:
    """The grid of the table; every second spike and alignment in quick mode."""
    step = 2 if trial.quick else 1
    return sweep(trial, "watanabe-phase-times", SPIKES[::step], ALIGNMENTS[::step])


@dataclass(frozen=True)
class Cell:
    """Measured phase times of the networks of one spike and alignment (seed,), the prediction, and whether (20) may be
    used."""

    spike: float
    alignment: float
    early: np.ndarray
    later: np.ndarray
    early_time: float
    own_early_time: np.ndarray
    later_bound: float
    plateau_above: bool
    above_from_early: bool

    @property
    def bounded(self) -> bool:
        return bool((self.later - self.early <= self.later_bound).all())


def table(trial: Trial) -> list[Cell]:
    """The time w1^2 passes half its plateau and the time w2 reaches (1 - e^-3) of its limit, on trained networks."""
    return read(TABLES[0].results(trial))


def read(networks: xr.Dataset) -> list[Cell]:
    """One cell of the table for every spike and alignment of the sweep."""
    return [
        read_cell(networks.sel(spike=spike, alignment=alignment))
        for spike in networks["spike"].values
        for alignment in networks["alignment"].values
    ]


def read_cell(networks: xr.Dataset) -> Cell:
    """Phase times of the networks of one pair."""
    spike, alignment = float(networks["spike"]), float(networks["alignment"])
    theory = ln.theories.spiked.TwoPhase(spike, alignment)
    times, w1, w2 = (networks[name].transpose("seed", "state").values for name in ("times", "w1", "w2"))
    plateau, limits = np.sqrt(theory.correlation / theory.lambda1), theory.fixed_point
    crossing = ln.observables.crossing_time
    early = np.array([crossing(t, w**2, 0.5 * plateau**2) for t, w in zip(times, w1, strict=True)])
    later = np.array([crossing(t, w, -np.expm1(-3.0) * limits[1]) for t, w in zip(times, w2, strict=True)])
    after = times >= early[:, None]
    return Cell(
        spike,
        alignment,
        early,
        later,
        theory.early_time(SCALE),
        np.array([theory.early_time(u0) for u0 in networks["u0"].values.tolist()]),
        theory.later_time(SCALE) - theory.early_time(SCALE),
        theory.assumption_holds(),
        bool((w1[after] >= limits[0] - 10 * SCALE).all()),
    )


def columns(networks: xr.Dataset) -> Columns:
    """The table as docs/phase_times.md has it."""
    rows = read(networks)
    words = {True: "yes", False: "no"}
    return {
        "spike": [f"{cell.spike:g}" for cell in rows],
        "alignment": [f"{cell.alignment:g}" for cell in rows],
        "t1": [f"{cell.early_time:.3f}" for cell in rows],
        "t1 measured": [f"{cell.early.mean():.3f}" for cell in rows],
        "t1 measured, over t1 from u(0)": [f"{(cell.early / cell.own_early_time).mean():.4f}" for cell in rows],
        "bound on t2 - t1": [f"{cell.later_bound:.3f}" for cell in rows],
        "t2 - t1 measured": [f"{(cell.later - cell.early).mean():.3f}" for cell in rows],
        "assumption": [words[cell.plateau_above] for cell in rows],
        "bound holds": [words[cell.bounded] for cell in rows],
    }


def _names(rows: list[Cell]) -> str:
    spikes = sorted({cell.spike for cell in rows})
    parts = [f"{s:g}: {', '.join(f'{c.alignment:g}' for c in rows if c.spike == s)}" for s in spikes]
    return "; ".join(parts) or "none"


def measure_early_time(trial: Trial) -> Measurement:
    rows = table(trial)
    errors = [abs(float(cell.early.mean() / cell.early_time - 1)) for cell in rows]
    own = float(np.max([np.abs(cell.early / cell.own_early_time - 1).max() for cell in rows]))
    worst = float(np.max(errors))
    text = (
        f"t1 against the mean time at which w1^2 passes half its plateau: off by {worst:.2%} at most (limit 5%), "
        f"{np.median(errors):.2%} in the median, over {len(rows)} pairs of {SEEDS} networks; with each start's own "
        "u(0) for s, off "
        f"by {own:.2%} at most for any network (limit 1%)"
    )
    return Measurement(Verdict.HOLDS if worst < 0.05 and own < 0.01 else Verdict.REFUTED, text, worst)


def measure_bound(trial: Trial) -> Measurement:
    rows = table(trial)
    allowed = [cell for cell in rows if cell.plateau_above]
    broken = [cell for cell in allowed if not cell.bounded]
    slack = [float(cell.later_bound / (cell.later - cell.early).max()) for cell in allowed]
    verdict = Verdict.OUTSIDE if not allowed else Verdict.REFUTED if broken else Verdict.HOLDS
    text = (
        f"holds in {len(allowed) - len(broken)} of the {len(allowed)} pairs whose plateau of w1 lies above its limit, "
        f"{min(slack, default=np.nan):.2f} to {max(slack, default=np.nan):.2f} times the measured t2 - t1"
    )
    return Measurement(verdict, text, float(len(broken)))


def measure_assumption(trial: Trial) -> Measurement:
    rows = table(trial)
    below = [cell for cell in rows if not cell.plateau_above]
    beyond = [cell for cell in rows if not cell.bounded]
    strict = sum(cell.above_from_early for cell in rows)
    # refuted by the networks: their w1 is below its limit, and not only until it reaches its plateau
    found = [cell for cell in below if not cell.above_from_early]
    verdict = Verdict.REFUTED if found else Verdict.HOLDS
    text = (
        f"fails in {len(below)} of {len(rows)} pairs: w1's plateau is below its limit (spike: alignments "
        f"{_names(below)}); "
        f"bound < t2 - t1 in {len(beyond)}, the same ones: {beyond == below}; w1 >= limit from t1 on in {strict} only"
    )
    return Measurement(verdict, text, float(len(found)))


def measure_one_phase(trial: Trial) -> Measurement:
    sizes = []
    for spike, alignment in ((20.0, 0.0), (20.0, 1.0), (0.0, 0.5)):
        run = trained(spike, alignment, SCALE, trial.seed)
        sizes.append(float(np.abs(run.components[..., 1]).max() / SCALE))
    second = float(trained(20.0, 0.3, SCALE, trial.seed).components[-1, :, 1].min())
    verdict = Verdict.HOLDS if highest(sizes) < 10 and second > 0.5 else Verdict.REFUTED
    words = ", ".join(f"{size:.2f} s" for size in sizes)
    text = (
        f"largest w2 at alignment 0, alignment 1 and spike 0: {words} (limit 10 s); at spike 20, alignment 0.3 it "
        "ends at "
        f"{second:.3f}"
    )
    return Measurement(verdict, text, highest(sizes))


def measure_order(trial: Trial) -> Measurement:
    families = {
        "spike": [(spike, 0.5) for spike in (1.0, 5.0, 20.0, 50.0)],
        "alignment": [(20.0, alignment) for alignment in (0.1, 0.3, 0.5, 0.7, 0.9)],
    }
    rises = {}
    for name, pairs in families.items():
        runs = [trained(*pair, SCALE, trial.seed) for pair in pairs]
        times = np.linspace(0, max(run.times[-1] for run in runs), 2000)
        curves = [np.interp(times, run.times, (run.loss / run.loss[0]).mean(1)) for run in runs]
        rises[name] = float(np.diff(curves, axis=0).max())
    worst = highest(rises.values())
    text = (
        f"normalised loss of a curve above that of its weaker neighbour: {rises['spike']:.1e} at most along the "
        "spikes, "
        f"{rises['alignment']:.1e} along the alignments (limit 1e-3)"
    )
    return Measurement(Verdict.HOLDS if worst < 1e-3 else Verdict.REFUTED, text, worst)


def measure_later_speed(trial: Trial) -> Measurement:
    alignments = (0.1, 0.3, 0.5, 0.7, 0.9)
    rows = read(ln.sweeps.run(sweep(trial, "watanabe-later-speed", (20.0,), alignments)))
    lengths = np.array([float((cell.later - cell.early).mean()) for cell in rows])
    variances = [ln.theories.spiked.TwoPhase(20.0, alignment).lambda2 for alignment in alignments]
    fall = float((np.diff(lengths) / lengths[:-1]).min())
    verdict = Verdict.HOLDS if fall > -0.01 and np.diff(variances).max() < 0 else Verdict.REFUTED
    text = (
        f"measured t2 - t1 for alignments 0.1 to 0.9: {', '.join(f'{x:.2f}' for x in lengths)}; largest change down "
        "between "
        f"neighbours {fall:.1%} (limit -1%), while lambda2 falls from {variances[0]:.2f} to {variances[-1]:.2f}"
    )
    return Measurement(verdict, text, fall)


CLAIMS = [
    Claim(
        name="t1",
        number="Section 3.2.1",
        sentence="The early phase lasts log(|Sigma_xy|/(lambda1 s^2))/(2|Sigma_xy|).",
        assumptions="small Gaussian start",
        setting=f"{SETTING}; {GRID}",
        claimed="characteristic timescale",
        expected=Verdict.HOLDS,
        measure=measure_early_time,
    ),
    Claim(
        name="eq20",
        number="Eqs. (20), (39)-(42)",
        sentence="The later phase takes at most the bound (20), provided that w1 stays above its limit.",
        assumptions="w1 >= its limit and w2 <= its limit during the later phase",
        setting=f"{SETTING}; {GRID}; delta = 3",
        claimed="t2 - t1 <= bound",
        expected=Verdict.HOLDS,
        measure=measure_bound,
    ),
    Claim(
        name="eq20-assumption",
        number="above Eq. (20)",
        sentence="During the later phase w1 lies above its limit.",
        assumptions="small Gaussian start, 0 < A < 1, positive spike",
        setting=f"{SETTING}; {GRID}",
        claimed="w1 >= its limit",
        expected=Verdict.REFUTED,
        measure=measure_assumption,
    ),
    Claim(
        name="one-phase",
        number="Section 3.2.2",
        sentence="Without a spike, or with one parallel or orthogonal to the target, there is no later phase.",
        assumptions="small Gaussian start",
        setting=SETTING,
        claimed="w2 stays O(s)",
        expected=Verdict.HOLDS,
        measure=measure_one_phase,
    ),
    Claim(
        name="order",
        number="Section 3.2.2, Figure 3",
        sentence="A larger spike or alignment keeps the normalised training loss lower throughout.",
        assumptions="small Gaussian start",
        setting=f"{SETTING}; the curves of Figure 3, mean over the seeds",
        claimed="no crossing",
        expected=Verdict.HOLDS,
        measure=measure_order,
    ),
    Claim(
        name="later-speed",
        number="Section 3.2.2, last paragraph",
        sentence="A stronger alignment slows the later phase, as lambda2 falls.",
        assumptions="small Gaussian start",
        setting=f"{SETTING}; spike 20, alignments 0.1 to 0.9",
        claimed="t2 - t1 rises with A",
        expected=Verdict.REFUTED,
        measure=measure_later_speed,
    ),
]

TABLES = [
    Table(
        name="phase-times",
        title="When the two phases end: networks, t1, and the bound (20) on t2 - t1",
        sweep=phase_times,
        columns=columns,
        note="Canonical times, d = 30, m = 50, s = 1e-5; measured: their mean; the bound must hold for every one.",
    ),
]
