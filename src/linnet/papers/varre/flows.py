"""The gradient flows behind the claims of Varre et al., as cells of sweeps: what is trained, and nothing of what is
predicted.

All are the paper's regression (n = 5, d = 10, k = 3, width 200). The kinds are "regression"; "scalar", with one output
(two of the three labels are zero, so those outputs never move); "white", with orthonormal samples; and "gaussian",
from Gaussian starts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln

if TYPE_CHECKING:
    from linnet.trajectories.trajectory import Trajectory

SAMPLES, INPUTS, OUTPUTS, WIDTH, STATES = 5, 10, 3, 200, 100
SHORTEST, LONGEST = 25.0, 25600.0  # times at which a flow may end
LEFT = 1e-21  # of the loss, where it may
GAMMAS = {
    "regression": (1e-6, 1e-4, 1e-2, 1.0, 10.0),
    "scalar": (1e-6, 1e-4, 1e-2, 1.0, 10.0),
    "white": (1e-12, 1e-9, 1e-6, 1e-3, 1.0),
    "gaussian": (1e-2, 1.0),
}
QUICK_GAMMAS = {
    "regression": (1e-6, 1e-4, 1e-2, 1.0),
    "scalar": (1e-6, 1e-4, 1e-2, 1.0),
    "white": (1e-12, 1e-6, 1.0),
    "gaussian": (1e-2, 1.0),
}
REPLICATES = {"regression": 12, "scalar": 12, "white": 6, "gaussian": 48}
QUICK_REPLICATES = {"regression": 6, "scalar": 4, "white": 4, "gaussian": 24}


def sweep(name: str, kind: str, *, quick: bool, seed: int) -> ln.sweeps.Sweep:
    """The flows of one kind: every gamma on the same data sets, those of one gamma in a block."""
    gammas, replicates = (QUICK_GAMMAS, QUICK_REPLICATES) if quick else (GAMMAS, REPLICATES)
    axes = {"gamma": list(gammas[kind]), "replicate": list(range(replicates[kind]))}
    return ln.sweeps.Sweep(
        name=name,
        function=cells,
        axes=axes,
        seed=seed,
        fixed={"kind": kind, "seed": seed},
        block=replicates[kind],
        apart=["gamma"],
    )


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, kind: str, seed: int) -> dict[str, Any]:
    """Flows one after the other, each on the data set and from the start of its replicate, in the eigenbasis of its
    data.

    `first` (state, hidden, direction) and `second` (state, output, hidden) are the layers along the flow, `loss` their
    loss; `scales` and `target` are the data in that basis. At the end, lifted back: `first_values`, all singular
    values of W1, and `outside`, the part of alpha = A (W1^T W1)^-1 outside the span of the data, of its norm.
    """
    gammas, replicates = points["gamma"].tolist(), points["replicate"].tolist()
    runs = [trained(kind, [seed, replicate], gamma) for gamma, replicate in zip(gammas, replicates, strict=True)]
    factors = [run.reduction.full_problem.factor for run in runs]
    return {
        "times": (("state",), np.stack([run.times for run in runs])),
        "loss": (("state",), np.stack([run.loss for run in runs])),
        "first": (("state", "hidden", "direction"), np.stack([run.reduced.first for run in runs])),
        "second": (("state", "output", "hidden"), np.stack([run.reduced.second for run in runs])),
        "scales": (("direction",), np.stack([factor.scales for factor in factors])),
        "target": (("output", "direction"), np.stack([factor.target for factor in factors])),
        "first_values": (("input",), np.stack([ln.observables.first_layer_values(run)[-1] for run in runs])),
        "outside": np.array([_outside(run) for run in runs]),
    }


def trained(kind: str, key: list[int], gamma: float) -> Trajectory:
    """The flow of one data set, to twice the time again and again until nothing of the loss is left.

    Its slowest mode decides how long that takes, and can be a hundred times slower for one data set than for another.
    """
    problem, weights = ln.Problem.from_data(*data(kind, key)), start(kind, key, gamma)
    end = SHORTEST
    while True:
        times = np.geomspace(0.01, end, STATES)
        # an absolute tolerance for the smallest start: W1 of 1e-6
        run = ln.gradient_flow(problem, weights, times=times, rtol=1e-11, atol=1e-17)
        if run.loss[-1] < LEFT * run.loss[0] or end >= LONGEST:
            return run
        end *= 2


def data(kind: str, key: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and outputs of one data set."""
    problem = ln.problems.gaussian_regression(key, samples=SAMPLES, in_dim=INPUTS, out_dim=OUTPUTS)
    inputs, truth = np.asarray(problem.inputs), np.asarray(problem.truth)
    if kind == "scalar":
        truth = truth * np.array([[1.0], [0.0], [0.0]])
    if kind == "white":
        inputs = np.sqrt(SAMPLES) * np.linalg.qr(inputs.T)[0].T  # orthonormal samples, in the span of the old ones
    return inputs, inputs @ truth.T


def start(kind: str, key: list[int], gamma: float) -> ln.Weights:
    """The orthogonal start of scale gamma, or a Gaussian one of that effective scale."""
    shape: dict[str, int] = {"in_dim": INPUTS, "out_dim": OUTPUTS, "width": WIDTH}
    if kind == "gaussian":
        return ln.inits.gaussian(key, first_std=float(np.sqrt(2 * gamma / WIDTH)), second_std=0.0, **shape)
    return ln.inits.orthogonal(key, scale=gamma, **shape)


def _outside(run: Trajectory) -> float:
    """The part of the trained alpha outside the span of the data, of its norm, on the lifted network."""
    whole, basis = run.weights_at(-1), run.reduction.basis
    assert basis is not None
    a = whole.product @ np.linalg.inv(whole.first.T @ whole.first)
    return float(np.linalg.norm(a - a @ basis @ basis.T) / np.linalg.norm(a))
