"""The table of growth under noise alone: rates of lengths and areas, and the exponents that they should be."""

from __future__ import annotations

from typing import TypedDict

import linnet as ln
from linnet.papers.varre.networks.volumes import growth_cells
from linnet.papers.varre.settings import GROWTH, GROWTH_DIMS
from linnet.papers.varre.tables.noise import sampled, signed
from linnet.reproduction import Estimate, Trial
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.table import Columns, Table, trial_sweep


class Rates(TypedDict):
    """By dimension: growth rates of ln|w_1|, of ln|a| and of ln(area/length), and the exponents they should be."""

    length: dict[int, Estimate]
    outgoing: dict[int, Estimate]
    second: dict[int, Estimate]
    length_theory: dict[int, float]
    outgoing_theory: dict[int, float]
    second_theory: dict[int, float]


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return every dimension in a block of its own."""
    paths, step, time = GROWTH[trial.quick]
    fixed = {"paths": paths, "step": step, "time": time}
    return trial_sweep(trial, "varre-growth", growth_cells, {"dim": GROWTH_DIMS}, fixed=fixed, block=1)


def read(results: Dataset) -> Rates:
    """Return the rates of the table, and the Lyapunov exponents beside them."""
    from linnet.theories import noise

    dims = [int(dim) for dim in results["dim"].values]
    exponents = {dim: noise.lyapunov_exponents(dim) for dim in dims}
    first, second = ({dim: float(exponents[dim][place]) for dim in dims} for place in (0, 1))

    def rate(name: str) -> dict[int, Estimate]:
        return {dim: sampled(results.sel(dim=dim), name) for dim in dims}

    return {
        "length": rate("length"),
        "outgoing": rate("outgoing"),
        "second": rate("second"),
        "length_theory": first,
        "outgoing_theory": first,
        "second_theory": second,
    }


def columns(results: Dataset) -> Columns:
    """Measured growth rates beside the Lyapunov exponents."""
    rows = read(results)
    first, second = rows["length_theory"], rows["second_theory"]
    return {
        "d": [str(dim) for dim in first],
        "rate of ln ‖w‖": [signed(rate, 4) for rate in rows["length"].values()],
        "first exponent": [f"{rate:+.4f}" for rate in first.values()],
        "rate of ln ‖a‖": [signed(rate, 4) for rate in rows["outgoing"].values()],
        "rate of ln(area/length)": [signed(rate, 4) for rate in rows["second"].values()],
        "second exponent": [f"{rate:+.4f}" for rate in second.values()],
        "commutator (sum)": [f"{first[dim] + second[dim]:+.4f}" for dim in first],
        "alignment (difference)": [f"{first[dim] - second[dim]:+.4f}" for dim in first],
    }


TABLE = Table(
    name="growth",
    title="Noise alone in the limit: growth rates of lengths and areas against the Lyapunov exponents",
    sweep=sweep,
    read=read,
    columns=columns,
    note="σ1 grows where the first exponent is positive, σ2 decays where the second is negative.",
)
