"""A small nonlinear model with one adapter, and plain optimizers, in NumPy: what the algebra of adapters is held
against."""

import numpy as np


class Model:
    """y = V tanh((W0 + s B A) x), mean squared error: the adapter sits in front of a nonlinearity."""

    def __init__(self, seed=0, in_dim=9, out_dim=7, rank=3, samples=40):
        rng = np.random.default_rng(seed)
        self.inputs = rng.normal(size=(samples, in_dim))
        self.targets = rng.normal(size=(samples, 4))
        self.frozen = rng.normal(size=(out_dim, in_dim)) / 3
        self.head = rng.normal(size=(4, out_dim)) / 2
        self.first = rng.uniform(-1, 1, size=(rank, in_dim)) / np.sqrt(in_dim)

    def loss_and_gradient(self, product):
        """The loss and its gradient in the adapted matrix."""
        hidden = np.tanh(self.inputs @ (self.frozen + product).T)
        error = hidden @ self.head.T - self.targets
        back = (error @ self.head) * (1 - hidden**2) * 2 / error.size
        return float((error**2).mean()), back.T @ self.inputs


def train(
    model,
    scale,
    rates,
    *,
    optimizer,
    decays=(0.0, 0.0),
    eps=(1e-8, 1e-8),
    momentum=0.0,
    steps=60,
    start=None,
    clip=None,
):
    """Losses of `steps` steps on A and B; written out here, without any library's optimizer."""
    first = model.first.copy()
    second = np.zeros((model.frozen.shape[0], first.shape[0])) if start is None else start.copy()
    state = [[np.zeros_like(first), np.zeros_like(first)], [np.zeros_like(second), np.zeros_like(second)]]
    losses = []
    for step in range(1, steps + 1):
        loss, gradient = model.loss_and_gradient(scale * second @ first)
        losses.append(loss)
        slopes = [scale * second.T @ gradient, scale * gradient @ first.T]
        if clip is not None:
            norm = np.sqrt(sum((slope**2).sum() for slope in slopes))
            slopes = [slope * min(1.0, clip / norm) for slope in slopes]
        for index, weight in enumerate((first, second)):
            slope, (m, v) = slopes[index], state[index]
            if optimizer in ("sgd", "adam"):
                slope = slope + decays[index] * weight
            if optimizer == "sgd":
                m[:] = momentum * m + slope
                weight -= rates[index] * m
                continue
            if optimizer in ("adamw", "muon"):
                weight *= 1 - rates[index] * decays[index]
            if optimizer == "muon":  # with Nesterov's momentum, five iterations and the factor of the layer's shape
                m[:] = 0.95 * m + 0.05 * slope
                ahead = 0.95 * m + 0.05 * slope
                X = ahead / max(np.linalg.norm(ahead), eps[index])
                for _ in range(5):
                    gram = X @ X.T
                    X = 3.4445 * X + (-4.7750 * gram + 2.0315 * gram @ gram) @ X
                weight -= rates[index] * max(1, weight.shape[0] / weight.shape[1]) ** 0.5 * X
                continue
            m[:], v[:] = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
            weight -= rates[index] * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + eps[index])
    return np.array(losses), first, second
