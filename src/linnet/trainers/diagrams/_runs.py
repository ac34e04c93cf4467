"""Where the runs of a diagram are trained: on the cores of a CPU, or in the slots of compiled batches elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from linnet._progress import bar
from linnet.precision import devices
from linnet.trainers._loop import Plan
from linnet.trainers.diagrams import _cores, _slots
from linnet.trainers.diagrams._diagram import Diagram

GPU_FILLING_OPERATIONS = 20_000_000_000  # floating-point operations of one step of a batch that keep a GPU busy
MIN_SLOTS, MAX_SLOTS = 16, 4096  # runs trained at once: large networks fill a GPU alone, small ones never do
REFILLS_PER_BATCH = 16  # slots are emptied and filled in groups, each a sixteenth of them
SMALL_DIMS = 800  # inputs and outputs together, up to which all networks are trained at one width


@dataclass(frozen=True)
class DiagramRuns:
    """Results of all runs of a diagram, with the runs along the first axis.

    **Attributes:**

    - `reason`: why each run ended, as `Status.reason`
    - `steps`: number of steps taken
    - `loss`: its last training loss
    - `min_test_loss`: the smallest test loss on the way
    - `best_step`: first step with that minimum
    - `stable_rank`: stable rank of the product at that step
    - `largest_distance`: the greatest $|A - \\hat A|_F^2$ between training and prediction at any step
    - `executed`: steps computed on all slots together
    - `needed`: number of steps that belong to runs
    - `plan`: number of networks trained at once and their device, in words

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
    min_test_loss: np.ndarray
    best_step: np.ndarray
    stable_rank: np.ndarray
    largest_distance: np.ndarray
    executed: int
    needed: int
    plan: str


def train_runs(
    diagram: Diagram,
    kind: Callable[[int], _slots.RunKind],
    specs: Callable[[list[int]], dict[str, np.ndarray]],
    *,
    shared: dict[str, np.ndarray],
    slots: int | None,
    device: str | None,
    tf32: bool = False,
) -> DiagramRuns:
    """Train all runs of a diagram to their ends: on the cores of a CPU, elsewhere in compiled batches.

    - `diagram`: data that a CPU needs, and the sizes of all runs
    - `kind(rows)`, `specs(runs)`, `shared`: what compiled batches need (`_slots.train_in_slots`), each of runs of one
      padded width `rows`. They must describe the same runs as `diagram.start`, up to rounding
    - `slots`: runs trained at once; None for as many as fill the device
    """
    settings, total = diagram.settings, len(diagram.widths)
    with bar("training a diagram", total) as advance:
        if on_cpu(device):
            return _diagram_runs(
                settings.plan,
                _cores.train_on_cores(diagram, device=devices(device)[0], slots=slots, advance=advance),
            )
        sides = diagram.in_dim, diagram.out_dim
        padded = np.array([padded_width(width, *sides) for width in diagram.widths], dtype=int)
        results: dict[str, np.ndarray] = {}
        executed, summaries = 0, list[str]()
        for rows in np.unique(padded).tolist():
            members = np.flatnonzero(padded == rows)
            room = min(len(members), slots or slots_to_fill_gpu(rows, *sides))
            outcome = _slots.train_in_slots(
                kind(rows),
                lambda runs, of=members: specs(of[runs].tolist()),  # type: ignore[misc]
                np.full(len(members), settings.steps),
                slots=room,
                refill=max(1, room // REFILLS_PER_BATCH),
                shared=shared,
                expected=diagram.expected[members],
                dtype=settings.dtype,
                device=device,
                tf32=tf32,
                advance=advance,
            )
            executed += outcome.executed
            summaries.append(outcome.summary)
            for name, value in outcome.results.items():
                results.setdefault(name, np.zeros((total, *value.shape[1:]), value.dtype))[members] = value
    return _diagram_runs(settings.plan, _slots.RunResults(results, settings.steps, executed, "; ".join(summaries)))


def on_cpu(device: str | None) -> bool:
    """Return whether the runs are trained on the cores of a CPU."""
    return devices(device)[0].platform == "cpu"


def _diagram_runs(plan: Plan, outcome: _slots.RunResults) -> DiagramRuns:
    """Return the results of cores or slots as `DiagramRuns`, with reasons in place of codes.

    All other keys of `outcome.results` are fields of `DiagramRuns` of the same name: a new key of `BestRecord` or
    `run_result` needs a field there, and `_numpy_run._run_result` must have it too.
    """
    results = dict(outcome.results)
    reason, steps = plan.reasons[results.pop("code")], results.pop("step")
    return DiagramRuns(reason, steps, **results, executed=outcome.executed, needed=outcome.needed, plan=outcome.summary)


def padded_width(width: int, in_dim: int, out_dim: int) -> int:
    """Return the width a network is trained at: reduced, then padded with units at zero to one of two sizes."""
    whole = in_dim + out_dim
    quarter = -(-whole // 4)
    # each size is another compilation, which small networks do not earn back
    return quarter if whole > SMALL_DIMS and width <= quarter else whole


def slots_to_fill_gpu(rows: int, in_dim: int, out_dim: int) -> int:
    """Return the number of runs that keep a GPU busy; more would idle when the last runs end.

    Memory may allow fewer: `_slots` leaves out those that do not fit.
    """
    operations = 6 * in_dim * out_dim * (rows + min(in_dim, out_dim))
    return int(np.clip(GPU_FILLING_OPERATIONS // operations, MIN_SLOTS, MAX_SLOTS))
