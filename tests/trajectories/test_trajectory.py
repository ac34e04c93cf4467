import numpy as np
import pytest

import linnet as ln
from linnet import _memory as memory
from reference import random_layers, random_moments


def run(batch=None, **options):
    X, Y = random_moments(0, 6, 3, 4)
    problem = ln.Problem.from_data(X, Y, truth=np.ones((3, 6)))
    if batch:
        shape = {"in_dim": 6, "out_dim": 3, "width": 30, "stds": 0.1}
        weights = ln.inits.gaussian(key=0, batch=batch, **shape)
    else:
        weights = ln.Weights(*random_layers(0, 6, 3, 30))
    return ln.gradient_descent(problem, weights, **{"learning_rate": 0.05, "steps": 20, "save_every": 5, **options})


def test_one_state_lifted_is_that_state():
    trajectory = run()
    assert np.allclose(trajectory.weights_at(2).first, trajectory.weights.first[2], atol=1e-15)
    assert np.allclose(trajectory.weights.product, trajectory.products, atol=1e-14)


def test_the_dataset_has_the_names_of_the_schema():
    data = run().to_dataset()
    assert dict(data.sizes) == {"time": 5, "output": 3, "input": 6, "hidden": 7, "direction": 4}
    assert set(data.data_vars) == {"loss", "test_loss", "product", "first", "second", "reason", "steps_taken"}
    assert data.time.attrs["units"] == "canonical"
    assert list(data.step.values) == [0, 5, 10, 15, 20]
    assert str(data.reason.values) == "completed"
    for name in ("schema", "linnet_version", "linnet_commit", "trainer", "learning_rate", "dtype", "device"):
        assert name in data.attrs
    assert np.array_equal(data["product"].values, run().products)


def test_the_dataset_of_a_batch_has_a_batch_dimension():
    data = run(batch=2).to_dataset()
    assert data.loss.dims == ("time", "batch") and data["product"].dims == ("time", "batch", "output", "input")
    clocks = run(batch=2, learning_rate=[0.05, 0.1]).to_dataset()
    assert clocks.clock.dims == ("time", "batch")


def test_the_dataset_survives_a_file(tmp_path):
    import xarray as xr

    data = run().to_dataset()
    data.to_netcdf(tmp_path / "run.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "run.nc", engine="scipy") as again:
        assert np.array_equal(again.loss.values, data.loss.values)
        assert again.attrs["trainer"] == "gradient_descent"


def test_a_dataset_without_weights_or_truth_leaves_them_out():
    problem = ln.Problem.from_target(np.eye(3))
    weights = ln.inits.balanced(0.1 * np.eye(3))
    trajectory = ln.gradient_descent(problem, weights, learning_rate=0.1, steps=3, keep="losses")
    assert set(trajectory.to_dataset().data_vars) == {"loss", "reason", "steps_taken"}
    with pytest.raises(ValueError, match="`test_loss` needs a problem with a `truth`"):
        _ = trajectory.test_loss


def test_a_run_prints_as_one_line():
    text = repr(run(batch=2))
    assert text.startswith("Trajectory(gradient_descent, 5 states, batch=2, t = 0 .. 1, loss ") and text.endswith(
        "completed)"
    )


def test_lifting_more_than_fits_is_refused(monkeypatch):
    trajectory = run()
    monkeypatch.setattr(memory, "available", lambda: 1000)
    monkeypatch.setattr(memory, "SMALL_BYTES", 1000)
    with pytest.raises(ValueError, match=r"lifting .* would take"):
        _ = trajectory.weights


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ln.trajectories.every(0), "`interval` must be at least 1"),
        (lambda: ln.trajectories.at([-1]), "`steps` must be non-negative"),
        (lambda: ln.trajectories.at([0.5]), "`steps` must be non-negative whole"),
        (lambda: ln.trajectories.log_spaced(1), "`number` must be at least 2"),
    ],
)
def test_nonsense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_repository_that_does_not_answer_is_done_without(monkeypatch):
    """`git describe` of a repository on a slow disk takes longer than a diagnosis may wait."""
    import subprocess

    from linnet.trajectories import datasets

    def slow(*command, **options):
        raise subprocess.TimeoutExpired("git", 5)

    monkeypatch.setattr(datasets.subprocess, "run", slow)
    assert datasets._commit.__wrapped__() == "unknown"
