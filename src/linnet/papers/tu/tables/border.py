"""Tu et al., section 2.1: how large sigma^2 w must be for training to be lazy, for targets of low and of full rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet.papers.tu.networks.descents import border_cells
from linnet.reproduction import Columns, Table, Trial
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.fits import exponent, first_index
from linnet.reproduction.table import trial_sweep

TARGETS = {"low rank": 1.0, "full rank": 0.5}  # how |B| grows with d: the claimed gamma_sigma2 + gamma_w of the border
LEVELS = np.geomspace(0.02, 5, 13)  # thresholds, in units of |B|
PREFERRED = 1.3  # how far ahead of the median mode the leading one is where training turns lazy


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the grid of the table: five targets of each kind in every dimension, in a block."""
    axes = {"dim": [16, 48] if trial.quick else [20, 40, 80, 160], "target": TARGETS}
    fixed = {"levels": LEVELS, "steps": 150}
    return trial_sweep(trial, "tu-border", border_cells, axes, seeds=5, fixed=fixed, together="seed")


@dataclass(frozen=True)
class Border:
    """Where targets of one kind turn lazy: sigma^2 w over the dimensions (dim, seed), and how it grows."""

    name: str
    claimed: float
    dims: np.ndarray
    crossings: np.ndarray
    shares: np.ndarray  # the crossings over |B|

    @property
    def middle(self) -> np.ndarray:
        return np.exp(np.log(self.crossings).mean(axis=1))

    @property
    def growth(self) -> tuple[float, float]:
        """The p of sigma^2 w ~ d^p, and its standard error."""
        return exponent(np.repeat(self.dims, self.crossings.shape[1]), self.crossings.ravel())


def read(networks: Dataset) -> list[Border]:
    """Return one border for every kind of target in the sweep."""
    thresholds, preference = (
        networks[what].transpose("target", "dim", "seed", "level").values for what in ("threshold", "preference")
    )
    borders = []
    for i, name in enumerate(networks["target"].values.tolist()):
        crossings = [
            crossing(*pair)
            for pair in zip(*(x[i].reshape(-1, x.shape[-1]) for x in (thresholds, preference)), strict=True)
        ]
        dims = networks["dim"].values.astype(float)
        crossed = np.array(crossings).reshape(len(dims), -1)
        sizes = thresholds[i, ..., -1] / LEVELS[-1]  # |B|: thresholds are multiples of it
        borders.append(Border(name, TARGETS[name], dims, crossed, crossed / sizes))
    return borders


def crossing(thresholds: np.ndarray, preference: np.ndarray) -> float:
    """Return the threshold at which training stops preferring the leading mode."""
    above = first_index(preference < PREFERRED, "no threshold is lazy")
    if above == 0:
        raise RuntimeError("every threshold is lazy: the range is too narrow for what is measured on it")
    pair = slice(above - 1, above + 1)
    return float(np.exp(np.interp(-np.log(PREFERRED), -np.log(preference[pair]), np.log(thresholds[pair]))))


def columns(networks: Dataset) -> Columns:
    """Return where each kind of target turns lazy in every dimension, and the exponent of the line through all of
    them."""
    borders = read(networks)
    rows = [(border, i) for border in borders for i in range(len(border.dims))]
    return {
        "target": [border.name for border, _ in rows],
        "d": [f"{border.dims[i]:.0f}" for border, i in rows],
        "lazy above σ²w": [f"{border.middle[i]:.2f}" for border, i in rows],
        "over the norm of B": [f"{border.shares[i].mean():.3f}" for border, i in rows],
        "least to largest of the targets": [
            f"{border.crossings[i].min():.2f} to {border.crossings[i].max():.2f}" for border, i in rows
        ],
        "exponent over all d": [f"{border.growth[0]:.2f} ± {border.growth[1]:.2f}" for border, _ in rows],
        "claimed": [f"{border.claimed:g}" for border, _ in rows],
    }


TABLE = Table(
    name="border",
    title="Where training turns lazy: sigma^2 w over the dimension, for targets of low and of full rank",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Lazy above: geometric mean over the targets; the exponent has its standard error.",
)
