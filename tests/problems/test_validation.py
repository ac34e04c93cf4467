"""Held-out losses recorded by trainers, in reduced and full coordinates, for one problem and for batches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers.stopping import TestLossRising


def held_out(products, X, Y):
    residual = Y - np.einsum("...oi,ni->...no", products, X)
    return 0.5 * (residual**2).sum(axis=(-1, -2)) / len(X)


def case(n=12, d=6, k=2, held=9, seed=0):
    random = np.random.default_rng(seed)
    X, Xv = random.standard_normal((n, d)), random.standard_normal((held, d))
    truth = random.standard_normal((d, k))
    return X, X @ truth + random.standard_normal((n, k)), Xv, Xv @ truth + random.standard_normal((held, k))


# 4 samples of 6 inputs: the start stays in the directions without data
@pytest.mark.parametrize(("n", "held"), [(4, 40), (12, 3)])
def test_trainers_record_the_held_out_loss(n, held):
    X, Y, Xv, Yv = case(n=n, held=held)
    problem = ln.Problem.from_data(X, Y, truth=np.ones((2, 6))).with_validation(Xv, Yv)
    start = ln.inits.gaussian(key=0, in_dim=6, out_dim=2, width=20, stds=0.3)
    options = {"learning_rate": 0.02, "steps": 30}
    runs = [
        ln.gradient_descent(problem, start, **options),
        ln.gradient_descent(problem, start, **options, reduce=False),
        ln.gradient_descent(problem, start, **options, weight_decay=0.1),
        ln.gradient_flow(problem, start, times=[0.0, 0.3, 1.0]),
        ln.stochastic_descent(problem, start, **options, batch_size=2, key=0),
        ln.label_noise_descent(problem, start, **options, noise_std=0.1, key=0),
    ]
    for run in runs:
        assert_allclose(run.validation_loss, held_out(run.products, Xv, Yv), rtol=1e-9)
        assert_allclose(run.test_loss, problem.test_loss(run.products), rtol=1e-9)
        assert_allclose(run.to_dataset()["validation_loss"], run.validation_loss)


def test_each_problem_of_a_batch_has_its_own_samples():
    cases = [case(seed=s) for s in range(3)]
    X, Y, Xv, Yv = (np.stack(part) for part in zip(*cases))
    start = ln.inits.gaussian(key=0, in_dim=6, out_dim=2, width=5, stds=0.3)
    many = ln.Problem.from_data(X, Y).with_validation(Xv, Yv)
    run = ln.gradient_descent(many, start, learning_rate=0.02, steps=10)
    for member in range(3):
        wanted = held_out(run.products[:, member], Xv[member], Yv[member])
        assert_allclose(run.validation_loss[:, member], wanted, rtol=1e-9)
    shared = ln.gradient_descent(
        ln.Problem.from_data(X, Y).with_validation(Xv[0], Yv[0]), start, learning_rate=0.02, steps=10
    )
    assert_allclose(shared.validation_loss[:, 2], held_out(shared.products[:, 2], Xv[0], Yv[0]), rtol=1e-9)
    stacked = ln.Problem.stack([ln.Problem.from_data(*c[:2]).with_validation(*c[2:]) for c in cases])
    assert_allclose(stacked.validation_loss(run.products[-1]), run.validation_loss[-1], rtol=1e-12)


def test_stopping_rules_look_at_it():
    X, Y, Xv, Yv = case(n=6, held=30, seed=1)
    start = ln.inits.gaussian(key=0, in_dim=6, out_dim=2, width=20, stds=0.05)
    problem = ln.Problem.from_data(X, Y)
    rule = TestLossRising(patience=2)
    with pytest.raises(ValueError, match="`truth`, or with held-out samples"):
        ln.gradient_descent(problem, start, learning_rate=0.02, steps=10, stop=rule)
    run = ln.gradient_descent(problem.with_validation(Xv, Yv), start, learning_rate=0.05, steps=3000, stop=rule)
    assert run.status.reason == "test loss rising"
    loss = run.validation_loss
    assert loss[-1] > loss[-2] > loss[-3] and (np.diff(loss[:-2]) <= 0)[-1]


def test_a_loss_without_samples_is_refused_and_the_problem_is_as_it_was():
    X, Y, Xv, Yv = case()
    problem = ln.Problem.from_data(X, Y)
    held = problem.with_validation(Xv, Yv)
    assert problem.validation is None and held.validation_loss(np.zeros((2, 6))) == pytest.approx(
        0.5 * (Yv**2).sum() / 9
    )
    with pytest.raises(ValueError, match="`validation_loss` needs held-out samples"):
        problem.validation_loss(np.zeros((2, 6)))
    start = ln.inits.gaussian(key=0, in_dim=6, out_dim=2, width=5, stds=0.3)
    with pytest.raises(ValueError, match=r"train on `problem\.with_validation"):
        _ = ln.gradient_descent(problem, start, learning_rate=0.02, steps=2).validation_loss
    for arrays, message in (
        ((Xv[:, :5], Yv), "must have the problem's 6 inputs and 2 outputs: got 5 and 2"),
        ((Xv, Yv[:3]), "the same number of samples"),
    ):
        with pytest.raises(ValueError, match=message):
            problem.with_validation(*arrays)
