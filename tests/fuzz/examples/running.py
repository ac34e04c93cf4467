"""Trainers, trajectories and observables."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from fuzz.examples import example, instance
from fuzz.examples import materials as m
from linnet import precision
from linnet.trainers import stopping, updates

instance("trajectories.Trajectory", m.run, received=True)
instance("trajectories.Status", m.made(lambda: m.run().status), received=True)
instance("trajectories.Saving", m.made(lambda: ln.trajectories.every(2)), received=True)
instance("observables.Regimes", m.made(lambda: ln.observables.regimes(m.data_problem(), m.weights())), received=True)
instance(
    "trainers.diagrams.DiagramRuns",
    m.made(
        lambda: ln.trainers.gaussian_diagram(
            [m.target_problem()], keys=[0], widths=[5], variances=[0.25], learning_rates=[0.05], steps=3
        )
    ),
    received=True,
)
instance("trainers.stopping.Never", m.made(stopping.Never), received=True)

RATE: dict = {"long": ("steps",), "problem": m.data_problem, "weights": m.weights, "learning_rate": 0.05, "steps": 3}
example("trainers.gradient_descent", **RATE, weight_decay=0.01, momentum=0.25, save_every=2, stop=1e-3, slow=True)
example(
    "trainers.gradient_descent",
    **RATE,
    update="sequential",
    dtype="float64",
    reduce=False,
    keep="products",
    throw=True,
    slow=True,
)
example(
    "trainers.gradient_flow", problem=m.data_problem, weights=m.weights, times=m.TIMES, rtol=1e-8, atol=1e-10, slow=True
)
example("trainers.label_noise_descent", **RATE, noise_std=0.25, key=0, slow=True)
example(
    "trainers.label_noise_descent",
    **(RATE | {"problem": m.target_problem}),
    noise_std=0.25,
    key=0,
    samples=4,
    slow=True,
)
example("trainers.stochastic_descent", **RATE, batch_size=2, key=0, slow=True)
example(
    "trainers.relu_descent",
    data=m.data_problem,
    weights=m.weights,
    learning_rate=0.05,
    steps=3,
    slow=True,
    long=("steps",),
)
example(
    "trainers.noise_sde",
    problem=None,
    weights=m.weights,
    times=m.TIMES,
    step=0.25,
    key=0,
    paths=2,
    noise_std=0.5,
    slow=True,
)
example("trainers.decreasing", first=0.25)
example("trainers.stable_learning_rate", problem=m.data_problem, weights=m.weights)
example(
    "trainers.gaussian_diagram",
    problems=m.made(lambda: [m.target_problem()]),
    keys=[0],
    widths=[5],
    variances=[0.25],
    learning_rates=[0.05],
    steps=3,
    slow=True,
    long=("steps",),
)
example("trainers.Schedule", values=[0.5, 0.25, 0.125])
example(
    "trainers.Schedule.over",
    on=m.made(lambda: ln.trainers.Schedule([0.5, 0.25, 0.125])),
    steps=2,
    names=("learning_rate",),
    long=("steps",),
)
example("trainers.stopping.rule_of", stop=0.5)

# Their methods are called inside compiled loops, with what the trainers hand them.
LAYERS = {"first": m.FIRST, "second": m.SECOND}


def one_step(update: Any, layers: Any, rate: Any) -> Any:
    with precision.computing():
        rates = {name: rate * update.remaining(rate) for name in layers}
        return update.step(layers, layers, update.init(layers), rates, 0)


for kind in ("Muon", "NormalizedDescent", "SpectralDescent"):
    U, update = f"trainers.updates.{kind}", m.made(lambda kind=kind: getattr(updates, kind)())
    instance(U, update, received=True)
    example(U, weight_decay=0.5)
    for method in ("init", "remaining", "step"):
        example(
            f"{U}.{method}",
            call=lambda layers, rate, update=update: one_step(update(), layers, rate),
            layers=LAYERS,
            rate=0.5,
            frozen=("layers", "rate"),
        )
example(U.replace(kind, "Muon.with_shapes"), on=m.made(updates.Muon), shapes={"first": (4, 3)}, frozen=("shapes",))
example(
    "trainers.stopping.first_of",
    call=lambda rule: stopping.first_of(stopping.LossBelow(0.5), rule),
    rule=stopping.Stalled(0.5),
    names=("rules",),
)
example("trainers.stopping.LossBelow", threshold=0.5)
example("trainers.stopping.Stalled", relative=0.5, absolute=0.25, fallen=0.125)
example("trainers.stopping.TestLossRising", patience=3, after=1)
example("trainers.stopping.FirstOf", rules=(stopping.LossBelow(0.5),))

example("trajectories.at", steps=[1, 3])
example("trajectories.every", interval=2)
example("trajectories.log_spaced", number=3)
example("trajectories.Saving.steps", on=m.made(lambda: ln.trajectories.every(2)), total=7)
example("trajectories.Trajectory.weights_at", on=m.run, index=1)

W: dict = {"weights": m.weights, "nan": ("weights",)}  # of a run that diverged: NaN stays NaN
example("observables.commutator", weights=m.scalar_weights, normalized=True, nan=("weights",))
example("observables.commutator", weights=m.scalar_weights, normalized=False, nan=("weights",))
example("observables.sharpness", problem=m.data_problem, weights=m.weights, count=2)
example("observables.crossing_time", times=m.TIMES, values=[0.0, 1.0, 3.0], level=2.0)
example("observables.effective_rank", matrix=m.TARGET)
example("observables.stable_rank", matrix=m.TARGET)
example("observables.singular_values", matrix=m.TARGET)
example("observables.numerical_rank", values=m.VALUES, share=0.25)
example("observables.imbalance", **W)
example("observables.loss", problem=m.data_problem, weights=m.weights)
example("observables.test_loss", problem=m.data_problem, weights=m.weights)
example("observables.mode_kernel", **W, left=np.eye(2), right=np.eye(3)[:, :2])
example("observables.ntk", **W, X=m.X, X2=m.X[:2])
example("observables.ntk_operator", **W, residual=m.TARGET)
example("observables.regimes", problem=m.data_problem, weights=m.weights, product=m.TRUTH)
example(
    "observables.Regimes.measured",
    on=m.made(lambda: ln.observables.regimes(m.data_problem(), m.weights())),
    trained=m.weights,
)
