"""Descent of a deep linear network in plain NumPy at full width: it shares no code with linnet."""

import numpy as np


def descend(layers, target, rate, steps, *, cov=None, every=1, decay=0.0, momentum=0.0, rates=None, pulls=None):
    """Products of full-batch descent on |target - A|^2/2, or on the moments `cov` and `target`, every so many steps.

    `pulls(step, A)` is the residual of a step in place of theirs, as of a mini-batch or of noisy labels.
    """
    weights = [np.array(layer) for layer in layers]
    velocity = [np.zeros_like(layer) for layer in weights]
    rates = np.ones(len(weights)) if rates is None else rates
    kept = []
    for step in range(steps + 1):
        reached = [np.eye(weights[0].shape[-1])]
        for layer in weights:
            reached.append(layer @ reached[-1])
        if step % every == 0:
            kept.append(reached[-1])
        pull = target - (reached[-1] if cov is None else reached[-1] @ cov)
        if pulls is not None:
            pull = pulls(step, reached[-1])
        forces = []
        for at in range(len(weights) - 1, -1, -1):
            forces.append(pull @ np.swapaxes(reached[at], -1, -2))
            pull = np.swapaxes(weights[at], -1, -2) @ pull
        for at, force in enumerate(forces[::-1]):
            velocity[at] = momentum * velocity[at] + force - decay * weights[at]
            weights[at] = weights[at] + rate * rates[at] * velocity[at]
    return np.stack(kept)
