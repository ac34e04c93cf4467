"""The table of docs/phase_times.md: when both phases end, the timescale t1, and the bound (20) on t2 - t1."""

from __future__ import annotations

from collections.abc import Callable

from linnet_papers.reproduction import Table
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.grids.phase_times import inside_hypothesis, theory_of
from linnet_papers.watanabe.settings import DELTA, SCALE


def dash_unless_allowed(shown: Callable[[Dataset], str]) -> Callable[[Dataset], str]:
    """Return the entries of a column that has a dash where the hypothesis of (20) is not met."""
    return lambda cell: shown(cell) if inside_hypothesis([cell]) else "-"


TABLE = Table(
    name="phase-times",
    title="When the two phases end: networks, t1, and the bound (20) on t2 - t1",
    sweep=phase_times.grid.__wrapped__,  # type: ignore[attr-defined]  # what `trained` makes a function of its results
    read=phase_times.read,
    columns={
        "spike": "{.spike:g}",
        "alignment": "{.alignment:g}",
        "t1": lambda cell: f"{theory_of(cell).early_time(SCALE):.3f}",
        "t1 measured": lambda cell: f"{cell.early.mean():.3f}",
        "over t1 from u(0)": lambda cell: f"{cell.own_early.mean():.4f}",
        "bound (20)": lambda cell: f"{theory_of(cell).later_bound(DELTA):.3f}",
        "t2 - t1 measured": lambda cell: f"{cell.length.mean():.3f}",
        "hypothesis from t1 +": dash_unless_allowed(lambda cell: f"{(cell.allowed - cell.early).mean():.3f}"),
        "w2 there": dash_unless_allowed(lambda cell: f"{cell.w2_there.mean():.0%}"),
        "bound over t2 - that": dash_unless_allowed(lambda cell: f"{cell.slack.min():.3f}"),
    },
    note="Canonical times, d = 30, m = 50, s = 1e-5; means over the networks, the least for the last column. A dash: "
    "w1 is not above its limit before w2 is settled, and the bound says nothing.",
)
