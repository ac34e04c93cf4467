"""What every neuron is at t1 and through stage 2, by v_0/(sigma_0 sqrt(log m)), inside the printed assumption."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.training.cells.inside import neurons_cells
from linnet_papers.huang.training.runs import first_time_errors, theories_of
from linnet_papers.reproduction import Numbers, Table, Trial
from linnet_papers.reproduction.datasets import Dataset, by_name, cells_of
from linnet_papers.reproduction.grids import trained, trial_sweep

if TYPE_CHECKING:
    from linnet.theories.feature_learning import Stages

Rows = dict[str, dict[str, Any]]  # what was measured by its name, and then by the kind of network in words
AT_LIMIT = " at the limit"


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Train at six ratios and two margins, 8 draws of data and start; in quick mode 6, of smaller
    networks."""
    axes = {"ratio": settings.RATIOS, "margin": settings.MARGINS}
    seeds = 6 if trial.quick else 8
    fixed = settings.size(trial.quick)
    return trial_sweep(trial, "huang-neurons", neurons_cells, axes, seeds=seeds, fixed=fixed, block=2)


cells = trained(sweep)


def read(results: Dataset) -> Rows:
    """Return what was measured by its name, as in `_row`, then by v_0/(sigma_0 sqrt(log m)) and margin."""
    return read_by_start(results, "ratio", "{:g}", _row)


def read_by_start(results: Dataset, axis: str, label: str, read: Callable[[Dataset], Numbers]) -> Rows:
    """Return what `read` reads of the networks by its name, then by their value on the axis, in words, and by whether
    their start is at the limit of its conditions."""
    rows = {}
    for networks in cells_of(results, "margin", axis):
        words = label.format(networks[axis].item()) + (AT_LIMIT if networks["margin"] == 1 else "")
        rows[words] = {"label": words, **read(networks)}
    return by_name(rows)


def where_well_inside(values: dict[str, float]) -> dict[str, float]:
    """Return the values of networks whose start is a tenth of what the conditions allow with all constants 1."""
    return {key: value for key, value in values.items() if not key.endswith(AT_LIMIT)}


# Of the draws the least: what a kernel of zero would need, the cosine to the target-aligned kernel, growth of the norm
# and the share of states with it after t1, cosine of X'X W v to X'y at t1. The most: Lemma 5.3's constants with the
# smallest neuron, the largest and the mean, |X'X W v|, and the outputs of the initialization.
LEAST = ("kernel_none", "kernel_cosine", "kernel_growth", "kernel_rising", "output_first")
MOST = ("kernel_smallest", "kernel_largest", "kernel_mean", "pull", "first_output")


def _row(networks: Dataset) -> Numbers:
    """Summarize all neurons of all draws at one ratio and margin, by name."""
    from scipy.special import ndtr

    each = {name: of.transpose("seed", "neuron").values for name, of in networks.items() if "neuron" in of.dims}
    theories = theories_of(networks)
    root = np.sqrt([t.gamma for t in theories])[:, None]
    relative = each["alignments"] / np.median(each["alignments"], axis=1, keepdims=True)
    c, start, difference = each["overlaps"], each["start"], np.abs(each["difference"])
    kept = each["kept"].mean()
    law = np.mean([ndtr(t.magnitude / t.first_std) for t in theories])
    first_off, asinh_off = first_time_errors(theories, networks["first_steps"].values)
    return {
        "count": c.size,
        "networks": len(c),
        "gamma": min(t.gamma for t in theories),
        # |rho_r(t1)| in units of the median of its network, and |v_r(t1)| sqrt(n tr) |beta|: the extremes
        "least": relative.min(),
        "most": relative.max(),
        "magnitudes": [each["magnitudes"].min(), each["magnitudes"].max()],
        # of stage 2: the worst, the share of neurons whose layers differ by 1/2 or less, networks with another one
        "gap": each["gap"].max(),
        "gap_share": (each["gap"] <= 0.5).mean(),
        "gap_networks": (each["gap"] > 0.5).any(axis=1).sum(),
        "across": each["across"].max(),
        # the share that keeps its sign, the normal law's, their distance in standard errors; the share whose final
        # sign is as the two initial values say
        "kept": kept,
        "predicted": law,
        "kept_off": abs(kept - law) / np.sqrt(max(law * (1 - law), 1 / c.size) / c.size),
        "determined": determined(theories, each["sign"], start, c),
        # how many neurons have a |rho_r|, a rho_r v_r, that falls within stage 2
        "rising": (~each["rising"].astype(bool)).sum(),
        "falling_networks": (~each["rising"].astype(bool)).any(axis=1).sum(),
        "multiplying": (~each["multiplying"].astype(bool)).sum(),
        "grown": (difference > np.abs(root * start)).mean(),  # how often rho_r - sqrt(gamma) v_r has grown at t1
        **{name: networks[name].values.min() for name in LEAST},
        **{name: networks[name].values.max() for name in MOST},
        "output_start": np.median(networks["output_start"].values),
        "spread": np.median(networks["spread"].values),  # median distance of rho_r^2 from its mean at the end
        # the worst distance of `Stages.first_time` from t1, and of asinh(1/(v_0 sqrt(gamma))) alone
        "first_off": first_off,
        "asinh_off": asinh_off,
    }


def rows(trial: Trial) -> Rows:
    """Return what was measured by its name, then by ratio and margin in words."""
    return read(cells(trial))


def determined(theories: list[Stages], signs: np.ndarray, start: np.ndarray, overlaps: np.ndarray) -> float:
    """Return the share of neurons (draw, neuron) whose v_r ends with the sign of sqrt(gamma) v_r(0) + tanh(u) c_r.

    sinh(2u) = 2 v_end^2/(v_0^2 + sigma_0^2) is how far (9) goes until the output is learned: the tanh is 1 from a small
    start, and 0 in lazy training, where no v_r turns.
    """
    ends = np.array([t.limit / t.gamma / (t.magnitude**2 + t.first_std**2) for t in theories])
    root = np.sqrt([t.gamma for t in theories])
    weights = np.tanh(np.arcsinh(2 * ends) / 2)
    return float((signs == np.sign(root[:, None] * start + weights[:, None] * overlaps)).mean())


TABLE = Table(
    name="neurons",
    title="Lemmas 5.2 and 5.3 for every neuron, by how far v₀ is above σ₀ √log m, inside the printed Assumption 4.1",
    sweep=sweep,
    read=read,
    columns={
        "v₀/(σ₀ √log m)": "{[label]}",
        "neurons": "{[count]:d}",
        "abs ρ(t1)/median, least": "{[least]:.2g}",
        "largest": "{[most]:.2g}",
        "worst layer gap": "{[gap]:.2g}",
        "gap ≤ 1/2": "{[gap_share]:.2%}",
        "worst deviation": "{[across]:.2g}",
        "C of kernel, smallest neuron": "{[kernel_smallest]:.2g}",
        "C of kernel, mean": "{[kernel_mean]:.2g}",
        "signs kept": "{[kept]:.2%}",
        "predicted, Φ(v₀/σ₀)": "{[predicted]:.2%}",
        "t1 off": "{[first_off]:.2%}",
        "asinh off": "{[asinh_off]:.2%}",
    },
    note=(
        "Worst over all neurons of all draws, from t1 (median abs ρ = 1) until the loss is 4ε. The lemma allows a "
        "layer gap and a deviation of 1/2; a kernel of zero would need C = 2.0. t1 off: `Stages.first_time` against "
        "the measured t1; asinh: the same without σ₀. At the limit: σ₀ is at the limit of condition (2) with all "
        "constants 1, else a tenth of it."
    ),
)
