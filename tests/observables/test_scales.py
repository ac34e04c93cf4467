"""Observables that are ratios do not depend on the unit, and say what they need."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet import observables
from linnet_papers.varre.training.first_layer import first_layer_values

MATRIX = np.random.default_rng(0).standard_normal((4, 3))


@pytest.mark.parametrize("unit", [1e-170, 1e-150, 1.0, 1e150])
def test_ratios_do_not_depend_on_the_unit(unit: float) -> None:
    assert_allclose(observables.stable_rank(unit * MATRIX), observables.stable_rank(MATRIX), rtol=1e-13)
    assert_allclose(observables.stable_rank(unit * np.eye(3)), 3.0)


def test_zeros_have_no_direction() -> None:
    assert observables.stable_rank(np.zeros((2, 2))) == 0.0


@pytest.mark.parametrize("wrong", [MATRIX, None, "weights"])
@pytest.mark.parametrize(
    "call",
    [
        observables.imbalance,
        lambda w: observables.ntk(w, MATRIX),
        lambda w: observables.ntk_operator(w, MATRIX),
        observables.commutator,
        lambda w: observables.loss(ln.Problem.from_target(MATRIX), w),
    ],
)
def test_weights_are_asked_for_by_name(call, wrong) -> None:
    with pytest.raises(ValueError, match=r"`weights` must be linnet Weights"):
        call(wrong)


def test_a_trajectory_is_told_how_to_give_its_weights() -> None:
    problem = ln.Problem.from_target(np.eye(2))
    run = ln.gradient_descent(problem, ln.inits.balanced(0.1 * np.eye(2)), learning_rate=0.1, steps=2)
    with pytest.raises(ValueError, match=r"got Trajectory. Take one of its states: `trajectory.weights\[-1\]`"):
        observables.imbalance(run)
    with pytest.raises(ValueError, match="`trajectory` must be what a trainer returns"):
        first_layer_values(run.weights)


def test_masked_numbers_are_refused() -> None:
    masked = np.ma.masked_array(np.eye(2), mask=[[True, False], [False, False]])
    for call in (observables.stable_rank, ln.Problem.from_target, lambda a: ln.Weights(a, a)):
        with pytest.raises(ValueError, match="must not be masked: 1 of its entries are"):
            call(masked)
    with pytest.raises(ValueError, match="must not be masked"):
        ln.Problem.from_target([masked[0], masked[1]])
    assert observables.stable_rank(np.ma.masked_array(np.eye(2))) == 2.0  # nothing is hidden
