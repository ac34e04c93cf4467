"""Cells anywhere on the plane, tasks of many kinds: trained and predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet_papers.own.predictions import predicted_cells
from linnet_papers.own.settings import STANDARD_ERRORS, WRONG
from linnet_papers.own.training.plane import QUANTITIES, train_plane_cell
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.grids import trained, trial_sweep

FACTORS = np.geomspace(0.01, 100, 401)  # of error bars, 2.3% apart


@trained
def networks(trial: Trial) -> ln.sweeps.Sweep:
    """Train random cells of every task; wide networks take fewer initializations than narrow ones."""
    if trial.quick:
        tasks = 6
        number = 12
        starts = [60, 24, 16]
        sides = [16, 24]
    else:
        tasks = 9
        number = 60
        starts = [48, 24, 8]
        sides = [60, 200]
    axes = {"task": range(tasks), "cell": range(number), "start": range(max(starts))}
    fixed = {"seed": trial.seed, "sides": sides, "cells": number, "starts": starts}
    return trial_sweep(trial, "own-cells", train_plane_cell, axes, fixed=fixed, together="start")


@dataclass(frozen=True)
class Compared:
    """Both sides of every cell, (task, cell) each; `off` and `bars` by the name of a quantity.

    - `off`: predicted over trained minus one
    - `bars`: relative error of both sides together: the prediction's own uncertainty, and the standard error of the
      trained mean; for the stable rank, whose prediction reports no uncertainty, only the latter
    - `covered`: whether the prediction says that the cell is one it is made for
    - `told`: the relative uncertainty that the prediction reports for the minimum test error
    - `number`: initializations of the trained mean
    - `ended`: whether all trained runs of the cell ended by themselves, before the most steps that are taken
    """

    off: dict[str, np.ndarray]
    bars: dict[str, np.ndarray]
    covered: np.ndarray
    told: np.ndarray
    number: np.ndarray
    ended: np.ndarray

    def within(self, name: str, bars: float = STANDARD_ERRORS) -> np.ndarray:
        """Return whether cells are within so many bars, of those that are covered and have the quantity."""
        off = self.off[name]
        return (np.abs(off) <= bars * self.bars[name])[self.covered & np.isfinite(off)]

    def beyond(self, bars: float | np.ndarray) -> int:
        """Return how many covered cells have a minimum test error that is off by more than so many bars and `WRONG`."""
        off = np.abs(self.off["min_test_loss"])
        return int(((off > bars * self.bars["min_test_loss"]) & (off > WRONG) & self.covered).sum())

    def bars_by_chance(self, chance: float) -> np.ndarray:
        """Return Student's t, of each cell's number of initializations, that any cell exceeds with this chance."""
        from scipy.special import stdtrit

        return stdtrit(self.number - 1.0, 1 - chance / (2 * self.number.size))

    def likeliest_bar_factor(self) -> float:
        """Return by which of the `FACTORS` the bars that are told of the minimum test error make what was seen most
        likely.

        Deviations are taken as Gaussian, of the variance of the trained mean and that of the bar times the factor.
        """
        off = self.off["min_test_loss"][self.covered]
        bars = self.bars["min_test_loss"][self.covered]
        told = self.told[self.covered]
        variances = np.outer(FACTORS**2, told**2) + (bars**2 - told**2)
        return float(FACTORS[np.argmin((off**2 / variances + np.log(variances)).sum(axis=1))])


def read(networks: Dataset) -> Compared:
    """Return the trained means beside what is predicted."""
    predicted = predicted_cells(networks)
    off = {}
    bars = {}
    told = {
        "min_test_loss": predicted["uncertainty"],
        "best_time": predicted["best_time_uncertainty"],
        "stable_rank": np.zeros(()),
    }
    for name in QUANTITIES:
        runs = networks[name].transpose("task", "cell", "start")
        mean = runs.mean("start").values
        number = runs.notnull().sum("start").values
        off[name] = predicted[name] / mean - 1
        bars[name] = np.hypot(told[name], runs.std("start", ddof=1).values / mean / np.sqrt(number))
    ended = networks["ended"].min("start").transpose("task", "cell").values > 0
    return Compared(off, bars, predicted["covered"].astype(bool), predicted["uncertainty"], number, ended)
