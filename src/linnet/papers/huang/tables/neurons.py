"""What every neuron is at t1 and through stage 2, by v_0/(sigma_0 sqrt(log m)), inside the printed assumption."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.huang import settings
from linnet.papers.huang.networks import SCALES, cells, theory_of
from linnet.reproduction import Columns, Table, Trial

if TYPE_CHECKING:
    import xarray as xr


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Six ratios with 8 draws of data and start; in quick mode 6, of smaller networks."""
    return ln.sweeps.Sweep(
        name="huang-neurons",
        function=cells.neurons_cells,
        axes={"ratio": list(settings.RATIOS)},
        seeds=6 if trial.quick else 8,
        seed=trial.seed,
        fixed=settings.size(trial.quick),
        block=2,
        coords={"scale": list(SCALES)},
    )


@dataclass(frozen=True)
class Neurons:
    """All neurons of all draws at one v_0/(sigma_0 sqrt(log m)).

    - `least`, `most`: the extreme |rho_r(t1)| in units of the median of its network; `magnitudes` those of
      |v_r(t1)| sqrt(n tr) |beta|.
    - `gap`, `across`: the worst of stage 2; `gap_share` the share of neurons within 1/2, `gap_networks` how many
      networks have one that is not.
    - `kept`: the share that keeps its sign; `predicted` the normal law's, `kept_off` the distance in standard errors;
      `determined` the share whose final sign is that of sqrt(gamma) v_r(0) + c_r.
    - `rising`, `multiplying`: how many neurons have a |rho_r|, a rho_r v_r, that falls within stage 2.
    - `difference`: the median of |rho_r - sqrt(gamma) v_r + c_r|/|c_r| at t1; `grown` the share of neurons whose
      |rho_r - sqrt(gamma) v_r| is larger there than at the start.
    - `kernel`: Lemma 5.3's constants with the smallest neuron, the largest, the mean, and for no kernel at all;
      `kernel_cosine` the least to the target-aligned kernel after t1.
    - `output`: cosines of X'X W v to X'y after the first saved step (median) and at t1 (least).
    - `settled`: the least median ratio rho/(v sqrt(gamma)) where the loss has lost 5%; `share` the least share of the
      loss at t1.
    - `limit`: the mean of rho^2 at the end in units of gamma^(5/2)/phi; `spread` the median distance of rho_r^2 from
      that mean.
    """

    ratio: float
    count: int
    networks: int
    least: float
    most: float
    magnitudes: tuple[float, float]
    gap: float
    gap_share: float
    gap_networks: int
    across: float
    kept: float
    predicted: float
    kept_off: float
    determined: float
    rising: int
    multiplying: int
    difference: float
    grown: float
    kernel: tuple[float, float, float, float]
    kernel_cosine: float
    output: tuple[float, float]
    settled: float
    share: float
    limit: float
    spread: float


def read(results: xr.Dataset) -> list[Neurons]:
    """One row for each ratio."""
    return [_row(results.sel(ratio=ratio)) for ratio in results["ratio"].values]


def _row(cells_: xr.Dataset) -> Neurons:
    from scipy.stats import norm

    each = {name: cells_[name].transpose("seed", "neuron").values for name in cells.PER_NEURON}
    theories = [theory_of(cells_.sel(seed=seed)) for seed in cells_["seed"].values]
    root = np.sqrt([t.gamma for t in theories])[:, None]
    relative = each["alignments"] / np.median(each["alignments"], axis=1, keepdims=True)
    c, start = each["overlaps"], each["start"]
    kernel = [cells_[f"kernel_{name}"].values for name in ("smallest", "largest", "mean", "none")]
    kept, law = float(each["kept"].mean()), float(np.mean([norm.cdf(t.magnitude / t.first_std) for t in theories]))
    return Neurons(
        ratio=float(cells_["ratio"]),
        count=c.size,
        networks=len(c),
        least=float(relative.min()),
        most=float(relative.max()),
        magnitudes=(float(each["magnitudes"].min()), float(each["magnitudes"].max())),
        gap=float(each["gap"].max()),
        gap_share=float((each["gap"] <= 0.5).mean()),
        gap_networks=int((each["gap"] > 0.5).any(axis=1).sum()),
        across=float(each["across"].max()),
        kept=kept,
        predicted=law,
        kept_off=abs(kept - law) / float(np.sqrt(max(law * (1 - law), 1 / c.size) / c.size)),
        determined=float((each["sign"] == np.sign(root * start + c)).mean()),
        rising=int((~each["rising"].astype(bool)).sum()),
        multiplying=int((~each["multiplying"].astype(bool)).sum()),
        difference=float(np.median(np.abs(each["difference"] + c) / np.abs(c))),
        grown=float((np.abs(each["difference"]) > np.abs(root * start)).mean()),
        kernel=(float(kernel[0].max()), float(kernel[1].max()), float(kernel[2].max()), float(kernel[3].min())),
        kernel_cosine=float(cells_["kernel_cosine"].values.min()),
        output=(float(np.median(cells_["output_start"].values)), float(cells_["output_first"].values.min())),
        settled=float(cells_["settled"].values.min()),
        share=float(cells_["share"].values.min()),
        limit=float((cells_["limit"].values / np.array([t.limit for t in theories])).mean()),
        spread=float(np.median(cells_["spread"].values)),
    )


def first_times(results: xr.Dataset) -> dict[float, tuple[float, float]]:
    """How far `Stages.first_time`, and asinh(1/(v_0 sqrt(gamma))) alone, are from t1 at each ratio: the worst."""
    found = {}
    for ratio in results["ratio"].values.tolist():
        chosen = results.sel(ratio=ratio)
        theories = [theory_of(chosen.sel(seed=seed)) for seed in chosen["seed"].values]
        times = chosen["first_steps"].values * np.array([t.learning_rate for t in theories])
        ours = np.array([t.first_time() for t in theories])
        alone = np.array([np.arcsinh(1 / (t.magnitude * np.sqrt(t.gamma))) / t.rate for t in theories])
        found[ratio] = float(np.abs(ours / times - 1).max()), float(np.abs(alone / times - 1).max())
    return found


def columns(results: xr.Dataset) -> Columns:
    """Measured beside what the lemmas say."""
    rows, times = read(results), first_times(results)
    return {
        "v₀/(σ₀ √log m)": [f"{row.ratio:g}" for row in rows],
        "neurons": [f"{row.count}" for row in rows],
        "abs ρ(t1)/median": [f"{row.least:.2g} to {row.most:.2g}" for row in rows],
        "worst layer gap": [f"{row.gap:.2g}" for row in rows],
        "gap ≤ 1/2": [f"{row.gap_share:.2%}" for row in rows],
        "worst deviation": [f"{row.across:.2g}" for row in rows],
        "C of kernel, smallest neuron": [f"{row.kernel[0]:.2g}" for row in rows],
        "C of kernel, mean": [f"{row.kernel[2]:.2g}" for row in rows],
        "signs kept": [f"{row.kept:.2%}" for row in rows],
        "predicted, Φ(v₀/σ₀)": [f"{row.predicted:.2%}" for row in rows],
        "t1 off": [f"{times[row.ratio][0]:.2%}" for row in rows],
        "asinh off": [f"{times[row.ratio][1]:.2%}" for row in rows],
    }


TABLE = Table(
    name="neurons",
    title="Lemmas 5.2 and 5.3 for every neuron, by how far v₀ is above σ₀ √log m, inside the printed Assumption 4.1",
    sweep=sweep,
    read=read,
    columns=columns,
    note=(
        "Worst over all neurons of all draws, from t1 (median abs ρ = 1) until the loss is 4ε. The lemma allows a "
        "layer gap and a deviation of 1/2; a kernel of zero would need C = 2.0. t1 off: `Stages.first_time` against "
        "the measured t1; asinh: the same without σ₀."
    ),
)


def column(trial: Trial, name: str) -> dict[float, Any]:
    """One attribute of the rows, by v_0/(sigma_0 sqrt(log m))."""
    return {row.ratio: getattr(row, name) for row in TABLE.rows(trial)}


def dominant(values: dict[float, float]) -> list[float]:
    """Those at ratios where v_0 dominates: the correction's part."""
    return [value for ratio, value in values.items() if ratio >= settings.DOMINANT]
