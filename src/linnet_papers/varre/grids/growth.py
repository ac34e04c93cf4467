"""Growth under noise alone: rates of lengths and areas, and the exponents that they should be."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Trial
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.varre.grids.noise import sampled_mean
from linnet_papers.varre.settings import GROWTH, GROWTH_DIMS
from linnet_papers.varre.training.volumes import growth_cells, growth_rates

Rates = dict[str, dict[str, Any]]  # by name and dimension ("$d = 2$")
EXPONENTS = {"length": 0, "outgoing": 0, "second": 1}  # which of them ln|w_1|, ln|a| and ln(area/length) grow by


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train paths of every dimension, each in a block of its own."""
    paths, step, time = GROWTH[trial.quick]
    fixed = {"paths": paths, "step": step, "time": time}
    return trial_sweep(trial, "varre-growth", growth_cells, {"dim": GROWTH_DIMS}, fixed=fixed, block=1)


def rates(trial: Trial) -> Rates:
    """Return the rates, with standard errors, and the Lyapunov exponents that they should be (`..._theory`)."""
    from linnet.theories import noise_process

    results = cells(trial)
    dims = {f"$d = {dim}$": dim for dim in results["dim"].values.tolist()}
    exponents = {name: noise_process.lyapunov_exponents(dim) for name, dim in dims.items()}
    return {
        **{rate: {name: sampled_mean(results.sel(dim=dim), rate) for name, dim in dims.items()} for rate in EXPONENTS},
        **{f"{rate}_theory": {name: exponents[name][place] for name in dims} for rate, place in EXPONENTS.items()},
    }


@cache  # two claims have one region
def rates_at(dim: int, seed: int) -> dict[str, float]:
    """Return the growth rates at another number of inputs, of fewer paths, in a time that shrinks as rates grow."""
    time, paths = 30.0 / np.sqrt(dim), max(5000 // dim, 200)
    return growth_rates(np.ones(dim), [seed, dim, 8], paths=paths, step=0.6 / dim, time=time, burn_in=time / 3)
