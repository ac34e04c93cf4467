"""The forecast of a linear model against PyTorch's own run in float64, step by step, at widths up to 100 000, on digits
and diabetes; and where PyTorch diverges against the forecast's stable rate.

    python benchmarks/linear_forecast.py [--widths 10 100 1000 10000 100000] [--steps 200]
"""

import argparse
import copy
import time

import numpy as np
import torch
from sklearn import datasets
from torch import nn

import linnet as ln


def table(name):
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "digits":
        return torch.tensor(X / 16 - 0.3), torch.tensor(np.eye(10)[y])
    return torch.tensor(X / X.std(axis=0) + 0.2), torch.tensor((y[:, None] - 100) / y.std())


def trained(model, X, Y, rate, momentum, decay, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=momentum, weight_decay=decay)
    losses = []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(X), Y)
        losses.append(loss.item())
        if not losses[-1] < 1e8 * losses[0]:
            break
        loss.backward()
        optimizer.step()
    return np.array(losses)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--widths", type=int, nargs="+", default=[10, 100, 1000, 10_000, 100_000])
    parser.add_argument("--steps", type=int, default=200)
    asked = parser.parse_args()
    for name in ("diabetes", "digits"):
        X, Y = table(name)
        for width in asked.widths:
            for bias in (False, True):
                torch.manual_seed(0)
                layers = nn.Linear(X.shape[1], width, bias=bias), nn.Linear(width, Y.shape[1], bias=bias)
                model = nn.Sequential(*layers).double()
                steps = asked.steps if width <= 1000 else max(asked.steps * 1000 // width, 5)
                probe = torch.optim.SGD(model.parameters(), lr=1e-6, momentum=0.9)
                rate = ln.torch.forecast(model, X, Y, probe, steps).largest_stable_rate / 4
                optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9, weight_decay=1e-3)
                begun = time.perf_counter()
                told = ln.torch.forecast(model, X, Y, optimizer, steps)
                forecast_time = time.perf_counter() - begun
                begun = time.perf_counter()
                run = trained(copy.deepcopy(model), X, Y, rate, 0.9, 1e-3, steps)
                run_time = time.perf_counter() - begun
                off = np.abs(told.loss / run - 1).max()
                line = (
                    f"{name} width {width}{' with biases' if bias else ''}: {steps} steps, off by {off:.1e} of the loss"
                )
                line += f" ({run[0]:.3g} -> {run[-1]:.3g}); forecast {forecast_time:.2f} s, training {run_time:.2f} s"
                if width <= 1000:
                    stable = told.largest_stable_rate
                    ends = [
                        len(trained(copy.deepcopy(model), X, Y, f * stable, 0.9, 1e-3, steps)) <= steps
                        for f in (0.95, 1.05)
                    ]
                    line += f"; stable rate {stable:.3g}, PyTorch diverges 5% below {ends[0]}, 5% above {ends[1]}"
                print(line, flush=True)


if __name__ == "__main__":
    main()
