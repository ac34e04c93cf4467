"""Huang et al., below Eqs. (9) and (11): which neurons keep their signs, by how far v_0 is above sigma_0 sqrt(log
m)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.huang.runs import EPSILON, INGREDIENTS, SCALES, ingredients, once, separated, theory_of
from linnet.reproduction.claim import Trial
from linnet.reproduction.table import Columns, Table

if TYPE_CHECKING:
    import xarray as xr

RATIOS = (0.03, 0.3, 1.0, 3.0, 10.0)
ENDS = (0.95, 1e-3)  # the share of the loss at which the second stage begins, and until which |rho| is watched


def cells(points: dict[str, np.ndarray], seeds: np.ndarray, *, dim: int, width: int) -> dict[str, Any]:
    """Of each neuron of networks inside Assumption 4.1: whether its signs stayed, whether |rho| grew through stage 2.

    Only v_0 moves, downwards from the admissible one: every condition of the printed assumption goes on holding.
    """
    found: dict[str, list[Any]] = {}
    for ratio, seed in zip(points["ratio"].tolist(), seeds.tolist(), strict=True):
        data = ln.problems.gaussian_teacher(seed, dim=dim, signal=1.0)
        usual = ln.theories.feature_learning.assumptions.admissible(data, width=width, epsilon=EPSILON)
        wanted = ratio * usual["first_std"] * np.sqrt(np.log(width))
        run = once(separated, seed, dim=dim, width=width, magnitude=wanted / usual["magnitude"])
        rho, v = run.history.alignments, run.history.magnitudes
        signs = np.sign(v[0])
        begin, end = (run.reached(share) for share in ENDS)
        cell = {
            "kept": (np.sign(rho[1:]) == signs).all(axis=0) & (np.sign(v) == signs).all(axis=0),
            "rising": (np.diff(np.abs(rho[begin : end + 1]), axis=0) > 0).all(axis=0),
            "magnitudes": v[0],
            "overlaps": run.history.overlaps,
            "begin": run.steps[begin],
            **ingredients(run),
        }
        for name, value in cell.items():
            found.setdefault(name, []).append(value)
    dims = dict.fromkeys(("kept", "rising", "magnitudes", "overlaps"), ("neuron",)) | INGREDIENTS
    return {name: (dims.get(name, ()), np.array(value)) for name, value in found.items()}


def signs(trial: Trial) -> ln.sweeps.Sweep:
    """Five ratios with 4 draws of data and start; in quick mode 2, of smaller networks."""
    size = {"dim": 2000, "width": 256} if trial.quick else {"dim": 10_000, "width": 1024}
    return ln.sweeps.Sweep(
        name="huang-signs",
        function=cells,
        axes={"ratio": list(RATIOS)},
        seeds=2 if trial.quick else 4,
        seed=trial.seed,
        fixed=size,
        block=2,
        coords={"scale": list(SCALES)},
    )


@dataclass(frozen=True)
class Signs:
    """Shares of the neurons of all draws at one v_0/(sigma_0 sqrt(log m)).

    `predicted` is the normal law's share; `told` how many the linear stage, from their own start, tells rightly.
    """

    ratio: float
    kept: float
    predicted: float
    told: float
    rising: float
    neurons: int


def read(networks: xr.Dataset) -> list[Signs]:
    """One row for each ratio."""
    return [_signs(networks.sel(ratio=ratio)) for ratio in networks["ratio"].values]


def _signs(networks: xr.Dataset) -> Signs:
    from scipy.stats import norm

    kept, rising = (networks[name].transpose("seed", "neuron").values.astype(bool) for name in ("kept", "rising"))
    told = [_keeps(networks.sel(seed=seed)) for seed in networks["seed"].values]
    scales = networks["scales"].transpose("scale", "seed")
    ratios = scales.sel(scale="magnitude").values / scales.sel(scale="first_std").values
    return Signs(
        float(networks["ratio"]),
        float(kept.mean()),
        float(norm.cdf(ratios).mean()),
        float((kept == told).mean()),
        float(rising.mean()),
        kept.size,
    )


def _keeps(cell: xr.Dataset) -> np.ndarray:
    """Whether rho and v of each neuron have the sign of v(0) at the end of stage 1, by Eq. (9), corrected."""
    start = cell["magnitudes"].values
    rho, v = theory_of(cell).linear(cell["overlaps"].values, start, [int(cell["begin"])])
    return (np.sign(rho[0]) == np.sign(start)) & (np.sign(v[0]) == np.sign(start))


def columns(networks: xr.Dataset) -> Columns:
    """Measured shares beside the predicted."""
    rows = read(networks)
    return {
        "v₀/(σ₀ √log m)": [f"{row.ratio:g}" for row in rows],
        "neurons": [f"{row.neurons}" for row in rows],
        "signs kept": [f"{row.kept:.2%}" for row in rows],
        "predicted, Φ(v₀/σ₀)": [f"{row.predicted:.2%}" for row in rows],
        "told rightly by (9)": [f"{row.told:.2%}" for row in rows],
        "abs ρ rising through stage 2": [f"{row.rising:.2%}" for row in rows],
    }


TABLES = [
    Table(
        name="signs",
        title="Which neurons keep their signs and grow, inside Assumption 4.1: trained and predicted",
        sweep=signs,
        columns=columns,
        note="Shares of all neurons of all draws.",
    ),
]
