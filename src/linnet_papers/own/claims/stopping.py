"""Claims on when to stop, from the data alone."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories.spectral_bias import half_times, singular_values
from linnet_papers.own.settings import STANDARD_ERRORS
from linnet_papers.reproduction import Estimate, Rows, Trial, at_most, claim, fact, printed

SETTINGS = (  # shape, rank, strength in units of the noise's own singular values
    ((60, 60), 3, 2.0),
    ((60, 60), 20, 2.0),
    ((40, 120), 5, 1.6),
    ((120, 40), 5, 3.0),
)
NEARLY = at_most(
    0.02,
    "Stein's estimate has an error of its own, which moves the chosen time by a few percent; standard errors over "
    "draws are taken off, as the statement is refuted where the excess is beyond chance",
)


@claim(
    "hindsight",
    says="Stein's estimate chooses a threshold and a stopping time nearly as good as the oracle, the best ones if the "
    "truth were known.",
    assumes="low rank plus independent Gaussian noise of known variance",
    tried="four shapes and ranks, 8 (full: 20) draws each",
)
def stopping_in_hindsight(trial: Trial) -> Rows:
    excess = {}
    for number, (shape, rank, strength) in enumerate(SETTINGS):
        draw = generator(trial.seed, number)
        excesses = []
        for _ in range(8 if trial.quick else 20):
            u, v = (np.linalg.qr(draw.normal(size=(n, rank)))[0] for n in shape)
            truth = strength * np.sqrt(max(shape)) * (u * draw.uniform(0.7, 1.5, rank)) @ v.T
            noisy = truth + draw.normal(size=shape)
            own = ((ln.denoise(noisy, noise_std=1.0).matrix - truth) ** 2).sum()
            excesses.append(own / _oracle_error(noisy, truth) - 1)
        excess["{} x {} of rank {}".format(*shape, rank)] = Estimate.of_mean(excesses)
    yield printed(
        f"mean relative excess of the error over the oracle's, less {STANDARD_ERRORS} standard errors",
        {name: mean.value - STANDARD_ERRORS * mean.error for name, mean in excess.items()},
        NEARLY,
    )
    yield fact("mean relative excess", excess)


def _oracle_error(noisy: np.ndarray, truth: np.ndarray) -> float:
    """Return the minimum squared error over all thresholds and times, the truth being known."""
    from scipy.optimize import minimize

    left, values, right = np.linalg.svd(noisy, full_matrices=False)
    held = np.einsum("im,im->m", left, truth @ right.T)
    power = (truth**2).sum()

    def error(point: np.ndarray) -> float:
        g, cut = np.exp(point)
        f = singular_values(values, g, half_times([cut], g))[0]
        return float((f * f - 2 * f * held).sum() + power)

    starts = [np.log([g * values[0], cut * values[0]]) for g in (1e-4, 1e-2, 1.0) for cut in (0.4, 0.7)]
    return min(float(minimize(error, start, method="Nelder-Mead", options={"maxfev": 150}).fun) for start in starts)
