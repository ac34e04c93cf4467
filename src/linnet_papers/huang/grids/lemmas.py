"""Lemmas A.3 and A.4: how often their bounds on the data hold, by the number of samples and the noise."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet_papers.huang.training.cells.scalings import lemmas_cells
from linnet_papers.reproduction import Numbers, Trial
from linnet_papers.reproduction.datasets import Dataset, by_name, cells_of, fixed_of
from linnet_papers.reproduction.grids import trained, trial_sweep

SAMPLES = (10, 20, 40)
NOISES = (8.0, 0.8, 1e-7)  # the variance as a multiple of n |beta|^2: Lemma A.4's limit, a tenth of it, hardly any
FORM = (0.5, 2.0)  # bounds of A.3
GAMMA = (0.5, 1.5)  # bounds of A.4
GAMMA_PROOF = (0.125, 2.25)  # bounds that A.4's own proof arrives at


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Draw data over numbers of samples and noises, ten times 100 draws of each; in quick mode 3 times."""
    axes = {"n": SAMPLES, "noise": NOISES}
    seeds = 3 if trial.quick else 10
    fixed = {"dim": 400 if trial.quick else 1000, "draws": 100}
    blocks = {"block": 10, "unbatched_axes": list(axes), "dtype": None}
    return trial_sweep(trial, "huang-lemmas", lemmas_cells, axes, seeds=seeds, fixed=fixed, **blocks)


def rows(trial: Trial) -> dict[str, dict[tuple[int, float], Any]]:
    """Return what was counted by its name, as in `_shares`, and then by the number of samples and the noise."""
    return by_name(
        {(int(cell["n"]), float(cell["noise"])): _shares(cell) for cell in cells_of(cells(trial), "n", "noise")}
    )


def _shares(cell: Dataset) -> Numbers:
    """Return the shares of the draws inside the bounds of A.3, of A.4 and of its proof; `..._law` is what the
    chi-squared law of |X beta|^2 and |y|^2 says (d far above n)."""
    n, noise = int(cell["n"]), float(cell["noise"])
    forms, gammas = cell["form"].values.ravel(), cell["gamma"].values.ravel()
    dim = fixed_of(cell)["dim"] if noise < 1e-3 else np.inf
    form, gamma, proof = (
        ((values >= low) & (values <= high)).mean()
        for values, (low, high) in ((forms, FORM), (gammas, GAMMA), (gammas, GAMMA_PROOF))
    )
    return {
        "draws": forms.size,
        "form": form,
        "form_law": chi_squared_share(n, FORM),
        "gamma": gamma,
        "gamma_law": chi_squared_share(n, GAMMA, 1 + n * noise, dim),  # noise adds to the variance
        "proof": proof,
        "median": np.median(gammas),
    }


def share_error(share: float, draws: int) -> float:
    """Return the standard error of a share of the draws."""
    return float(np.sqrt(max(share * (1 - share), 1 / draws) / draws))


def chi_squared_share(n: int, bounds: tuple[float, float] = GAMMA, variance: float = 1.0, dim: float = np.inf) -> float:
    """Return the expected share of draws whose |y|^2/n, or gamma/(n tr) for finite `dim`, lies between the bounds.

    |y|^2 = a is chi-squared with n degrees, and without noise gamma = a (a + b) with b chi-squared with dim - 1.
    """
    from scipy.special import chdtr, gammaincinv

    if np.isinf(dim):
        return float(np.diff(chdtr(n, n * np.array(bounds) / variance))[0])
    a = 2 * gammaincinv(n / 2, (np.arange(2000) + 0.5) / 2000)  # its quantiles
    low, high = (chdtr(dim - 1, np.maximum(n * dim * bound / a - a, 0)) for bound in bounds)
    return float((high - low).mean())
