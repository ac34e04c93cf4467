"""The gradient flows behind the claims, as cells of sweeps.

All are the paper's regression (n = 5, d = 10, k = 3, width 200). The kinds are "regression"; "scalar", with one output
(two of the three labels are zero, so those outputs never move); "white", with orthonormal samples; and "gaussian",
from Gaussian initializations.
"""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction.cells import Block, cell_by_cell
from linnet_papers.varre.settings import INPUTS, LEFT_LOSS, LONGEST_TIME, OUTPUTS, SAMPLES, SHORTEST_TIME, STATES, WIDTH
from linnet_papers.varre.training.first_layer import first_layer_values
from linnet_papers.varre.training.regression import draw_regression

# states that are looked at in all inputs and hidden units: the first, the last, and two between them
LIFTED = tuple(np.linspace(0, STATES - 1, 4, dtype=int).tolist())


@cell_by_cell
def flow_cells(key: int, *, gamma: float, replicate: int, kind: str, seed: int) -> Block:
    """Return the flow of one gamma, on the data set and from the initialization of its replicate.

    `first` (state, hidden, direction) and `second` (state, output, hidden) are the layers along the flow in the
    eigenbasis of the data, `loss` their loss; `cov` and `cross` are the moments in that basis. Lifted back to all
    inputs and hidden units, of the states `LIFTED`: `projected_first` and `projected_second`, the layers seen from the
    start's own frame P, and `off_frame`, what of them lies outside it; of the last: `whole_first`, `whole_second`, and
    `values`, all singular values of W1. `whole_cov` and `whole_cross` are the moments in the inputs' own coordinates.
    """
    run = flow_to_end(kind, [seed, replicate], gamma)
    problem = run.reduction.full_problem
    end = run.weights_at(-1)
    first, second, outside = project_on_start(run, draw_start(kind, [seed, replicate], gamma).first)
    return {
        "times": ("state", run.times),
        "loss": ("state", run.loss),
        "first": (("state", "hidden", "direction"), run.reduced.first),
        "second": (("state", "output", "hidden"), run.reduced.second),
        "cov": (("direction", "other_direction"), np.diag(problem.factor.scales**2)),
        "cross": (("output", "direction"), problem.factor.target * problem.factor.scales),
        "values": ("input", first_layer_values(run)[-1]),
        "whole_first": (("unit", "input"), end.first),
        "whole_second": (("output", "unit"), end.second),
        "whole_cov": (("input", "other_input"), problem.cov),
        "whole_cross": (("output", "input"), problem.cross),
        "projected_first": (("lifted", "frame", "input"), first),
        "projected_second": (("lifted", "output", "frame"), second),
        "off_frame": outside,
    }


def flow_to_end(kind: str, key: list[int], gamma: float) -> ln.Trajectory:
    """Return the flow of one data set, followed to twice the time again and again until less than `LEFT_LOSS` of the
    loss is left; raise an error where `LONGEST_TIME` is too short for that.

    Its slowest mode decides how long that takes, and can be a hundred times slower for one data set than for another.
    """
    problem = ln.Problem.from_data(*draw_data(kind, key))
    weights = draw_start(kind, key, gamma)
    end = SHORTEST_TIME
    while end <= LONGEST_TIME:
        times = np.geomspace(0.01, end, STATES)
        # an absolute tolerance for the smallest initialization: W1 of 1e-6
        run = ln.gradient_flow(problem, weights, times=times, rtol=1e-11, atol=1e-17)
        if run.loss[-1] < LEFT_LOSS * run.loss[0]:
            return run
        end *= 2
    raise RuntimeError(
        f"the {kind} flow with key {key} and gamma = {gamma:g} has {run.loss[-1] / run.loss[0]:.2g} of its loss left "
        f"at the time {LONGEST_TIME:g}, where less than {LEFT_LOSS:g} was to be left"
    )


def draw_data(kind: str, key: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Draw the inputs and outputs of one data set."""
    problem = draw_regression(key)
    inputs, truth = np.asarray(problem.inputs), np.asarray(problem.truth)
    if kind == "scalar":
        truth = truth * np.array([[1.0], [0.0], [0.0]])
    if kind == "white":
        inputs = np.sqrt(SAMPLES) * np.linalg.qr(inputs.T)[0].T  # orthonormal samples, in the span of the old ones
    return inputs, inputs @ truth.T


def draw_start(kind: str, key: list[int], gamma: float) -> ln.Weights:
    """Draw the orthogonal start of scale gamma, or a Gaussian one of that effective scale."""
    shape: dict[str, int] = {"in_dim": INPUTS, "out_dim": OUTPUTS, "width": WIDTH}
    if kind == "gaussian":
        return ln.inits.gaussian(key=key, stds=(float(np.sqrt(2 * gamma / WIDTH)), 0.0), **shape)
    return ln.inits.orthogonal(key=key, scale=gamma, **shape)


def project_on_start(run: ln.Trajectory, first: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the layers in the frame of the initialization's first layer (the paper's Z1^T and Z2^T), and the largest
    entry of what lies outside it, at the states `LIFTED`."""
    frame = np.linalg.qr(first)[0]
    frame = frame * np.sign(np.sum(frame * first, axis=0))  # for an orthogonal initialization the paper's P, transposed
    firsts = []
    seconds = []
    outside = 0.0
    for state in LIFTED:
        whole = run.weights_at(state)
        firsts.append(frame.T @ whole.first)
        seconds.append(whole.second @ frame)
        rest = (whole.first - frame @ firsts[-1], whole.second - seconds[-1] @ frame.T)
        outside = max(outside, *(float(np.abs(part).max()) for part in rest))
    return np.stack(firsts), np.stack(seconds), outside
