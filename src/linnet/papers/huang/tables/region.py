"""Networks over the region of Assumption 4.1, down to the smallest signals it admits: which have two stages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linnet as ln
from linnet.papers.huang import settings
from linnet.papers.huang.networks.cells.inside import region_cells
from linnet.papers.huang.networks.runs import SWEPT, theory_of
from linnet.reproduction import Table, Trial
from linnet.reproduction.datasets import Dataset, cells_of
from linnet.reproduction.table import trial_sweep


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Four signals and two margins of the start, 4 draws of each; in quick mode 2, of smaller networks."""
    axes, seeds = {"signal": settings.SIGNALS, "margin": settings.MARGINS}, 2 if trial.quick else 4
    return trial_sweep(
        trial, "huang-region", region_cells, axes, seeds=seeds, fixed=settings.size(trial.quick), **SWEPT
    )


@dataclass(frozen=True)
class Corner:
    """The networks of one signal and margin, the worst of them.

    - `start`: v_0^2 over sqrt(gamma)/tr, the largest; `limit`: the least gamma^(3/2)/tr, where rho^2 would end.
    - `settled`: the least median rho/(v sqrt(gamma)) where the loss has lost 5%; `crossover` what
      `lazy_feature_ratio` says of that network, `crossover_off` the largest distance of the two.
    - `reached`: how many come to t1; `first_share` the least share of the loss there; `worst` by which factor an
      alignment or a magnitude is off its order there.
    """

    signal: float
    margin: float
    networks: int
    inside: int
    start: float
    limit: float
    settled: float
    crossover: float
    crossover_off: float
    reached: int
    first_share: float
    worst: float
    first_output: float

    @property
    def name(self) -> str:
        return f"|beta| = {self.signal:g}" + (" at the limit" if self.margin == 1 else "")


def read(results: Dataset) -> list[Corner]:
    """Return one row for each signal and margin."""
    return [_corner(networks) for networks in cells_of(results, "margin", "signal")]


def _corner(networks: Dataset) -> Corner:
    """Read the networks of one signal and margin: the worst of them."""
    theories = [theory_of(networks.sel(seed=seed)) for seed in networks["seed"].values]
    starts = np.array([t.magnitude**2 * t.trace / np.sqrt(t.gamma) for t in theories])
    predicted = ln.theories.feature_learning.lazy_feature_ratio(starts, settings.FIRST_SHARE)
    settled, shares = networks["settled"].values, networks["first_share"].values
    return Corner(
        signal=float(networks["signal"]),
        margin=float(networks["margin"]),
        networks=len(theories),
        inside=int(networks["inside"].values.sum()),
        start=float(starts.max()),
        limit=float(min(t.gamma**1.5 / t.trace for t in theories)),
        settled=float(settled.min()),
        crossover=float(predicted[settled.argmin()]),
        crossover_off=float(np.abs(settled - predicted).max()),
        reached=int(np.isfinite(shares).sum()),
        first_share=float(np.where(np.isfinite(shares), shares, 0.0).min()),
        worst=float(networks["worst"].values.max()),
        first_output=float(networks["first_output"].values.max()),
    )


def counts(rows: list[Corner]) -> dict[str, int]:
    """Return how many networks satisfy the printed assumption, and how many there are."""
    return {"inside": sum(row.inside for row in rows), "networks": sum(row.networks for row in rows)}


TABLE = Table(
    name="region",
    title="Which networks inside Assumption 4.1 have two stages, by signal and margin of the start",
    sweep=sweep,
    read=read,
    columns={
        "abs β": "{.signal:g}",
        "margin": "{.margin:g}",
        "inside": "{0.inside} of {0.networks}",
        "v₀² tr Σ/√γ": "{.start:.1e}",
        "γ^(3/2)/tr Σ": "{.limit:.2g}",
        "ratio where 5% of the loss is lost": "{.settled:.4f}",
        "crossover": "{.crossover:.4f}",
        "reach t1": "{.reached}",
        "loss left at t1": "{.first_share:.1%}",
        "factor off at t1": "{.worst:.2g}",
    },
    note=(
        "Margin: by which factor v₀ and σ₀ are below the limits of conditions (2) and (3) with all constants 1. Ratio: "
        "median ρ/(v √γ), the least of the draws; crossover: `lazy_feature_ratio` for that network. Factor: by which "
        "an alignment or a magnitude differs from 1 or 1/(√(n tr Σ) abs β) at t1."
    ),
)
