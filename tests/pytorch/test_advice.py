"""What `diagnose` advises, followed in PyTorch with its own loss: the printed rate and step do what was said."""

import numpy as np
import pytest
from benchmarks.studies.advice import TABLES

import linnet as ln

torch = pytest.importorskip("torch")
pytest.importorskip("sklearn")


@pytest.mark.parametrize("name", ["wine", "low-rank"])
def test_the_printed_rate_and_step_train_in_pytorch(name):
    X, Y = TABLES[name]()
    Y = Y.reshape(len(X), -1)
    diagnosis = ln.diagnose(X, Y, seeds=1, folds=4, steps=100)
    table = next(line.split() for line in diagnosis.findings() if line.startswith("  used"))
    stable = next(line.split() for line in diagnosis.findings() if line.startswith("  largest stable"))
    X, Y = (torch.tensor(ln.forecasts.scaler(part, "standardize").apply(part)) for part in (X, Y))
    start = diagnosis.forecast.weights
    for reduction, column in (("mean", 1), ("sum", 2)):
        advised, largest = float(table[1 + column]), float(stable[2 + column])
        trained = _trained(X, Y, start, advised, diagnosis.stop, reduction)
        at = int(np.searchsorted(diagnosis.forecast.steps, diagnosis.stop))
        assert np.abs(trained - diagnosis.forecast.trajectory.products[at]).max() < 0.01 * np.abs(trained).max()
        assert np.isfinite(_trained(X, Y, start, 0.95 * largest, 100, reduction)).all()
        if diagnosis.forecast.largest_stable_rate.checked:
            away = _trained(X, Y, start, 1.06 * largest, 100, reduction)
            assert not np.isfinite(away).all() or np.abs(away).max() > 1e3


def _trained(X, Y, start, rate, steps, reduction):
    """The product after plain SGD on a PyTorch model of two linear layers, full batch."""
    layers = [
        torch.nn.Linear(size[1], size[0], bias=False).double() for size in (start.first.shape, start.second.shape)
    ]
    for layer, weight in zip(layers, (start.first, start.second), strict=True):
        layer.weight.data = torch.tensor(np.array(weight))
    model = torch.nn.Sequential(*layers)
    loss, optimizer = torch.nn.MSELoss(reduction=reduction), torch.optim.SGD(model.parameters(), lr=rate)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(model(X), Y).backward()
        optimizer.step()
    return (layers[1].weight @ layers[0].weight).detach().numpy()
