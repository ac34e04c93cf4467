"""A linear bottleneck on digits: its whole training forecast before it is trained, then trained to compare.

Needs linear-networks[torch,data,figures].
"""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import linnet as ln


def main(steps=1500, width=16, picture="bottleneck_forecast.png"):
    torch.manual_seed(0)
    pixels, digit = load_digits(return_X_y=True)
    X, Y = torch.tensor(pixels / 16).double(), torch.eye(10).double()[torch.tensor(digit)]
    train, held = slice(0, 400), slice(400, None)
    model = nn.Sequential(nn.Linear(64, width), nn.Linear(width, 10)).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    told = ln.torch.forecast(model, X[train], Y[train], optimizer, steps, validation=(X[held], Y[held]))
    print(told)
    print(f"largest stable learning rate: {told.largest_stable_rate:.3g}")
    print("half learned at step:", ", ".join(f"{step:.0f}" for step in told.half_steps if np.isfinite(step)))

    losses, errors = [], []
    for _ in range(steps + 1):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(X[train]), Y[train])
        loss.backward()
        with torch.no_grad():
            errors.append(nn.functional.mse_loss(model(X[held]), Y[held]).item())
        losses.append(loss.item())
        optimizer.step()
    print(f"trained: off by {np.abs(told.loss / losses - 1).max():.1e} of the loss; best step {int(np.argmin(errors))}")

    with ln.style.applied():
        figure, axes = ln.style.subplots(1, 2, size=ln.style.column(2, ratio=0.36))
        at = np.unique(np.geomspace(1, steps, 40).astype(int))
        for curve, found, color, name in (
            (told.loss, losses, ln.style.LOSS, "training"),
            (told.validation_loss, errors, ln.style.TEST_LOSS, "held out"),
        ):
            axes[0].plot(told.steps[1:], curve[1:], color=color, label=f"{name}, forecast", **ln.style.CURVE)
            axes[0].plot(
                at,
                np.array(found)[at],
                color=color,
                markerfacecolor="none",
                label=f"{name}, trained",
                **ln.style.MARKS,
            )
        axes[0].axvline(told.best_step, **ln.style.GUIDELINE)
        axes[0].set(xscale="log", yscale="log", xlabel="step", title="mean squared error, and the best step")
        axes[0].legend()
        for mode, color in enumerate(ln.style.shades(told.shares.shape[1])):
            axes[1].plot(told.steps[1:], told.shares[1:, mode], color=color)
        axes[1].axhline(0.5, **ln.style.GUIDELINE)
        axes[1].set(xscale="log", xlabel="step", title="share of each mode learned", ylim=(-0.1, 1.75))
        figure.savefig(picture, dpi=150)
    return told, losses


if __name__ == "__main__":
    main()
