"""Where the runs of a diagram are trained: on the cores of a CPU, or in the slots of compiled batches elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from linnet._progress import bar
from linnet.precision import devices
from linnet.trainers._loop import Plan
from linnet.trainers.diagrams import _slots, _workers
from linnet.trainers.diagrams._numpy_run import RunStart

# Floating-point operations of one step of the batch that keep a device busy.
CPU_OPERATIONS = 400_000_000
GPU_OPERATIONS = 20_000_000_000


@dataclass(frozen=True)
class DiagramRuns:
    """What is kept of every run of a diagram, the runs along the first axis.

    **Attributes:**

    - `reason`: why each run ended, as `Status.reason`
    - `steps`: how many steps it took
    - `loss`: its last training loss
    - `best_test`: the least test loss on the way
    - `best_step`: where that was reached first
    - `stable_rank`: of the product there
    - `largest_distance`: the greatest $|A - \\hat A|_F^2$ between training and prediction at any step
    - `executed`: steps computed on all slots together
    - `needed`: those that were steps of runs
    - `plan`: how many were trained at once and where, in words

    **Example:**

        >>> import linnet as ln
        >>> from linnet.trainers.diagrams import gaussian_diagram
        >>> task = ln.problems.low_rank_plus_noise(4, rank=1, key=0)
        >>> runs = gaussian_diagram([task], keys=[0], widths=[9], variances=0.01, learning_rates=0.01, steps=50)
        >>> runs.reason.tolist(), runs.steps.tolist()
        (['completed'], [50])
    """

    reason: np.ndarray
    steps: np.ndarray
    loss: np.ndarray
    best_test: np.ndarray
    best_step: np.ndarray
    stable_rank: np.ndarray
    largest_distance: np.ndarray
    executed: int
    needed: int
    plan: str


def train_runs(
    kind: Callable[[int], _slots.RunKind],
    specs: Callable[[list[int], int], dict[str, np.ndarray]],
    start: Callable[[int], RunStart],
    widths: Sequence[int],
    *,
    shared: dict[str, np.ndarray],
    sequential: bool,
    schedule: np.ndarray | None = None,
    in_dim: int,
    out_dim: int,
    steps: int,
    slots: int | None,
    dtype: np.dtype,
    device: str | None,
    expected: np.ndarray | None = None,
    tf32: bool = False,
) -> DiagramRuns:
    """Train the runs of all widths to their ends.

    - `kind(rows)`, `specs(runs, rows)`: for compiled batches, which hold runs of one padded width
    - `start(run)`, `sequential`, `schedule`: for the cores of a CPU; compiled batches have the schedule in `shared`
    """
    plan = kind(0).plan
    with bar("training a diagram", len(widths)) as advance:
        if one_processor(device):
            outcome = _workers.train_all(
                start,
                widths,
                in_dim=in_dim,
                out_dim=out_dim,
                plan=plan,
                steps=steps,
                sequential=sequential,
                schedule=schedule,
                dtype=dtype,
                place=devices(device)[0],
                slots=slots,
                expected=expected,
                advance=advance,
            )
            return _diagram_runs(plan, outcome)
        padded = np.array([padded_width(width, in_dim, out_dim, device) for width in widths], dtype=int)
        results: dict[str, np.ndarray] = {}
        executed, needed, plans = 0, 0, list[str]()
        for rows in np.unique(padded).tolist():
            members = np.flatnonzero(padded == rows)
            room = slots or slots_at_once(rows, in_dim, out_dim, device)
            outcome = _slots.train_all(
                kind(rows),
                lambda runs, of=members, rows=rows: specs(of[runs].tolist(), rows),  # type: ignore[misc]
                np.full(len(members), steps),
                slots=min(len(members), room),
                refill=max(1, min(len(members), room) // 16),
                shared=shared,
                expected=None if expected is None else expected[members],
                dtype=dtype,
                device=device,
                tf32=tf32,
                advance=advance,
            )
            executed, needed = executed + outcome.executed, needed + outcome.needed
            plans.append(outcome.plan)
            for name, value in outcome.results.items():
                results.setdefault(name, np.zeros((len(widths), *value.shape[1:]), value.dtype))[members] = value
    return _diagram_runs(plan, _slots.RunResults(results, executed, needed, "; ".join(plans)))


def one_processor(device: str | None = None) -> bool:
    """Whether the cores of one CPU train the runs; several CPU devices have slots, as those of a GPU do."""
    places = devices(device)
    return len(places) == 1 and places[0].platform == "cpu"


def _diagram_runs(plan: Plan, outcome: _slots.RunResults) -> DiagramRuns:
    """Return what slots have kept of the runs as `DiagramRuns`."""
    results = outcome.results
    return DiagramRuns(
        reason=plan.reasons[results["code"]],
        steps=results["step"],
        loss=results["loss"],
        best_test=results["best_test"],
        best_step=results["best_step"],
        stable_rank=results["stable_rank"],
        largest_distance=results["distance"],
        executed=outcome.executed,
        needed=outcome.needed,
        plan=outcome.plan,
    )


def padded_width(width: int, in_dim: int, out_dim: int, device: str | None = None) -> int:
    """The width a network is trained at: reduced, then filled with silent units to one of few sizes."""
    whole = in_dim + out_dim
    # each size is another compilation, which networks this small do not earn back
    parts: tuple[int, ...] = (8,)
    if _large_on_cpu(whole, device):
        parts = (1, 2, 4, 6, 8)
    elif whole > 800:
        parts = (2, 8)
    return next(size for size in (-(-whole * part // 8) for part in parts) if size >= min(width, whole))


def slots_at_once(rows: int, in_dim: int, out_dim: int, device: str | None = None) -> int:
    """Runs trained at once: enough to fill the device, and no more, as slots idle when the last runs end."""
    operations = 6 * in_dim * out_dim * (rows + min(in_dim, out_dim))
    if _on_cpu(device):
        return int(np.clip(CPU_OPERATIONS // operations, 2, 32))
    return int(np.clip(GPU_OPERATIONS // operations, 16, 4096))


def _large_on_cpu(whole: int, device: str | None) -> bool:
    """Whether a step is long enough for several CPU devices to be worth more than one compilation."""
    return whole > 160 and _on_cpu(device)


def _on_cpu(device: str | None) -> bool:
    """Return whether runs are trained on a CPU."""
    return devices(device)[0].platform == "cpu"
