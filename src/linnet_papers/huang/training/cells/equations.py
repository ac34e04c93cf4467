"""Cells of the two stages: what equations (9) to (11) are held against, and section 6's own run."""

from __future__ import annotations

import numpy as np

from linnet_papers.huang import settings
from linnet_papers.huang.training.runs import FeatureRun, theory_inputs, train_inside, train_section_six
from linnet_papers.reproduction.cells import Block, cell_by_cell

EQUATION_STATES = (32, 128)  # kept of each stage


@cell_by_cell
def equations_cells(key: int, *, setting: str, dim: int, width: int) -> Block:
    """Return the alignments of all neurons at states of the two stages, and what a theory needs to start from.

    `setting` is "section 6" or a ratio v_0/(sigma_0 sqrt(log m)) inside the assumption. There stage 1 ends at t1, the
    saved state nearest to a median |rho_r| of 1; in section 6, where that is passed in the first step, when the loss
    has lost 5%. A stage of fewer steps repeats some states; `magnitudes` are those at initialization of each stage.
    """
    early, late = EQUATION_STATES
    run = train_to_share(1e-4, setting, key, dim=dim, width=width)
    if setting == "section 6":
        begin = run.first_state_at_share(settings.FIRST_SHARE)
    else:
        begin = int(np.abs(run.history.times - run.first_time()).argmin())
    end = run.first_state_at_share(1e-4)
    states = np.concatenate([[0], np.linspace(1, begin, early - 1), np.linspace(begin, end, late + 1)[1:]])
    states = np.rint(states).astype(int)
    return {
        "steps": ("state", run.steps[states]),
        "loss": ("state", run.history.loss[states]),
        "alignments": (("state", "neuron"), run.history.alignments[states]),
        "magnitudes": (("stage", "neuron"), run.history.magnitudes[[0, begin]]),
        "overlaps": ("neuron", run.history.overlaps),
        "ends": ("stage", run.steps[[begin, end]]),
        **theory_inputs(run),
    }


def train_to_share(share: float, setting: str, key: int, *, dim: int, width: int) -> FeatureRun:
    """Train the network of a setting until its loss has fallen to that share: slow ones longer, up to 16 times."""
    for longer in (1, 2, 4, 8, 16):
        if setting == "section 6":  # more steps than its figure has: some draws of a smaller network need them
            run = train_section_six(key, dim=dim, width=width, steps=120 * longer)
        else:
            run = train_inside(key, dim=dim, width=width, ratio=float(setting), growth_times=10.0 * longer)
        if run.loss_share.min() <= share:
            return run
    raise RuntimeError(
        f"the network of {setting} with seed {key} has only lost its loss down to {run.loss_share[-1]:.2g}"
    )


@cell_by_cell
def synthetic_cells(key: int) -> Block:
    """Train section 6's own network, at its own size; return ratio, alignments and kernel where the loss has lost 5%,
    and at the end."""
    run = train_to_share(1e-8, "section 6", key, dim=settings.DIM, width=settings.WIDTH)
    history = run.history
    first = run.history.loss_time(1 - settings.FIRST_SHARE)
    before, later = history.times < first, history.times >= first
    distance, ratio = history.kernel_distance, history.median_ratio
    return {
        "first_step": first / run.scales["learning_rate"],
        "ratio_first": np.interp(first, history.times, ratio),
        "ratio_least": ratio[later].min(),
        "ratio_most": ratio[later].max(),
        "ratio_rising": (np.diff(ratio[before]) > 0).mean(),
        "loss_settled": np.where(ratio >= 0.9, run.loss_share, np.nan)[(ratio >= 0.9).argmax()],
        "drop_steps": (history.loss_time(0.9) - first) / run.scales["learning_rate"],
        "mean_of_ratios_end": (history.alignments[-1] / history.magnitudes[-1]).mean() / np.sqrt(history.gamma),
        "kernel_distance_first": np.interp(first, history.times, distance),
        "kernel_distance_least": distance.min(),
        "kernel_distance_end": distance[-1],
        "kernel_least_step": run.steps[distance.argmin()],
        "kernel_end": (("sample", "other"), history.kernels[-1]),
        "gram": (("sample", "other"), run.data.inputs @ run.data.inputs.T),
        "outputs": ("sample", run.data.outputs),
        **run.kernel_after(first),
    }
