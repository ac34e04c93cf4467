"""Problems, starts and reductions."""

from __future__ import annotations

import numpy as np

import linnet as ln
from fuzz.examples import example, instance
from fuzz.examples import materials as m

MASK = np.array([[1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])

instance("problems.Problem", m.data_problem, received=True)  # by its classmethods
instance("problems.Regression", m.regression, received=True)
instance("inits.Weights", m.weights)
instance("inits.Scaling", m.made(lambda: ln.inits.scaling("ntk", in_dim=3, out_dim=2, width=5, depth=3)), received=True)
instance("reductions.Reduction", m.reduction, received=True)
instance("reductions.DeepReduction", m.deep_reduction, received=True)

MOMENTS = {"cov": m.COV, "cross": m.TARGET}
PAIR = {"first": m.FIRST, "second": m.SECOND}
SOLUTION = {"names": ("problem", "min_norm_solution")}

example("problems.Problem.from_data", X=m.X, Y=m.Y, truth=m.TRUTH, test_cov=m.COV)
example("problems.Problem.from_moments", cov=m.COV, cross=m.TARGET, output_power=9.0, truth=m.TRUTH, test_cov=m.COV)
example("problems.Problem.from_target", target=m.TARGET, truth=m.TRUTH)
example("problems.Problem.from_cost", cost=lambda A: (A**2).sum(), in_dim=3, out_dim=2, truth=m.TRUTH)
example("problems.Problem.stack", problems=[m.target_problem(), m.target_problem()])
example("problems.Problem.with_validation", on=m.data_problem, X=m.X, Y=m.Y)
for kind in (m.data_problem, m.target_problem, m.cost_problem):
    example("problems.Problem.loss", on=kind, A=m.START)
    example("problems.Problem.residual", on=kind, A=m.START)
    example("problems.Problem.test_loss", on=kind, A=m.START)
example("problems.Problem.validation_loss", on=m.data_problem, A=m.START)
S = "problems.Problem.min_norm_solution"
example(S, call=lambda **data: ln.Problem.from_data(**data).min_norm_solution(), **SOLUTION, X=m.X, Y=m.Y)
example(S, call=lambda **moments: ln.Problem.from_moments(**moments).min_norm_solution(), **SOLUTION, **MOMENTS)
example("problems.Problem.loss", call=lambda A, **given: ln.Problem.from_moments(**given).loss(A), **MOMENTS, A=m.START)
example("problems.gaussian_regression", key=0, samples=6, in_dim=3, out_dim=2)
example("problems.gaussian_teacher", key=0, samples=4, dim=12, out_dim=2, noise_variance=0.25, signal=1.0)
example("problems.logistic", inputs=m.X, labels=np.array([1, -1, 1, 1, -1, 1]), truth=m.TRUTH[:1])
example("problems.logistic", inputs=m.X, labels=np.array([0, 1, 2, 0, 1, 2]))
example("problems.low_rank_plus_noise", dim=4, rank=2, out_dim=3, noise_std=0.5, key=0, spectrum=[3.0, 1.0])
example(
    "problems.many_spikes",
    dim=4,
    spikes=[3.0, 1.0],
    alignments=[0.5, 0.25],
    variance=1.5,
    samples=6,
    noise_std=0.25,
    key=0,
)
example("problems.matrix_completion", values=m.TARGET, mask=MASK, truth=m.TRUTH, nan=("values",))
example("problems.orthogonal_regression", key=0, in_dim=3, out_dim=2)
example("problems.power_law", dim=4, decay=1.5, target_decay=0.5, samples=6, noise_std=0.25, key=0)
example("problems.relu_teacher", key=0, samples=6, in_dim=3, neurons=2, out_dim=2)
example("problems.spectrum", eigenvalues=[2.0, 1.0, 0.5], overlaps=[0.5, 0.25, 1.0], samples=6, noise_std=0.25, key=0)
example("problems.spiked_covariance", dim=4, spike=3.0, alignment=0.5, variance=1.5, samples=6, noise_std=0.25, key=0)
example(
    "problems.subgaussian_regression",
    key=0,
    samples=6,
    covariance=m.COV,
    teacher=[1.0, 0.5, -0.5],
    noise_variance=0.25,
    entries="gaussian",
)

example(
    "inits.Weights",
    call=lambda first, second, full_width: ln.Weights(first, second, full_width=full_width),
    names=("W1", "W2", "W3"),
    first=m.FIRST,
    second=m.SECOND,
    full_width=7,
)
example("inits.Weights.stack", networks=[m.weights(), m.weights()])
example("inits.Weights.__getitem__", on=m.batch_weights, index=1)
for name in ("product", "imbalance"):
    example(
        f"inits.Weights.{name}",
        names=("W1", "W2", "imbalances"),
        call=lambda first, second, name=name: getattr(ln.Weights(first, second), name),
        **PAIR,
    )
LAYERS = [m.FIRST, m.array(4, m.FIRST.shape[0]), m.array(2, 4)]
DEEP: dict = {"in_dim": 3, "out_dim": 2, "width": 5, "depth": 3}
example(
    "inits.Weights",
    call=lambda first, middle, last: ln.Weights(first, middle, last),
    names=("W1", "W2", "W3"),
    **dict(zip(("first", "middle", "last"), LAYERS, strict=True)),
)
example(
    "inits.Weights.computed",
    call=lambda first, second: ln.Weights.computed(first, second),
    frozen=("first", "second"),  # as they are, by design
    **PAIR,
)
example("inits.Weights.stack", networks=[m.layers(), m.layers()])
example("inits.Weights.__getitem__", on=m.made(lambda: ln.Weights.stack([m.layers(), m.layers()])), index=1)
example("inits.gaussian", **DEEP, stds=[0.5, 0.25, 0.5], key=0, batch=2)
example("inits.reduced_gaussian", **(DEEP | {"width": 50}), stds="ntk", key=0, order=2, batch=2)
example("inits.orthogonal_layers", **DEEP, scales=0.5, key=0)
example("inits.balanced", product=m.TARGET, depth=3, width=2)
example("inits.scaling", name="mup", **DEEP, output_factor=2.0)
example("inits.balanced", product=m.TARGET, imbalance=0.5, width=2)
example("inits.gaussian", key=0, in_dim=3, out_dim=2, width=5, stds=(0.5, 0.25), batch=2)
example("inits.orthogonal", key=0, in_dim=3, out_dim=2, width=5, scale=0.5)
example("inits.reduced_gaussian", key=0, in_dim=3, out_dim=2, width=50, stds=(0.5, 0.25), batch=2)
example("inits.signed", key=0, in_dim=3, width=5, first_std=0.5, magnitude=0.25)

example("reductions.reduce", problem=m.data_problem, weights=m.wide_weights, optimizer="descent")
example("reductions.reduce", problem=m.data_problem, weights=m.layers, order=2)
example("reductions.reduce", problem=m.data_problem, weights=m.layers, rtol=1e-3)
for name, made, above in (("Reduction", m.reduction, "second"), ("DeepReduction", m.deep_reduction, "above")):
    R, reduced = f"reductions.{name}", m.made(lambda made=made: made().weights)
    example(f"{R}.lift", on=made, weights=reduced, rest=1.0, nan=("weights",))
    example(f"{R}.test_loss", on=made, weights=reduced, rest=1.0)
    product = m.made(lambda reduced=reduced: reduced().product)
    last = m.made(lambda reduced=reduced, above=above: getattr(reduced(), above))
    example(f"{R}.products", on=made, product=product, second=last, rest=0.5)
