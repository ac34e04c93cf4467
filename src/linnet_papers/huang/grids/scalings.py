"""Theorem 4.1: trained networks over which the scaling of t1 and t2 is fitted, one quantity varied at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

import linnet as ln
from linnet_papers.huang import misprints
from linnet_papers.huang.training.cells.scalings import DIM, SHARES, case_name, case_settings, scalings_cells
from linnet_papers.huang.training.runs import first_time_errors, theories_of, theory_of
from linnet_papers.reproduction import Columns, Estimate, Numbers, Table, Trial
from linnet_papers.reproduction.datasets import Dataset, by_name, read_cells
from linnet_papers.reproduction.fits import highest, line
from linnet_papers.reproduction.grids import trained, trial_sweep

AXES: dict[str, tuple[float, ...]] = {
    "m": (64, 128, 256, 512),
    "n": (5, 10, 20, 40),
    "trace": (250, 500, 1000, 2000, 4000),
    "beta": (0.5, 0.7, 1.0, 1.4, 2.0),
    "eta": (0.0125, 0.025, 0.05),
    "v0": (1e-6, 1e-5, 1e-4, 1e-3),
}
RATIOS = (0.1, 1.0, 30.0)  # v_0/sigma_0
CORNER = ("beta", 0.25)  # where rho^2 ends at about ten: t2 - t1 is shorter than the logarithm says
LEAST_END = 2.0  # of rho^2: data whose alignments end hardly above the 1 of t1, or below it, have no second stage
SECOND_SHARE = 1e-2  # of the loss, at which t2 - t1 is compared
WINDOWS = {"drop": (0.1, 1e-3), "tail": (1e-6, 1e-9), "whole": (1e-2, 1e-9)}  # between which shares of the loss
PRINTED = {"m": 1.0, "n": 0.5, "trace": -0.5, "beta": -1.0, "eta": -1.0, "v0": 1.0}
WORDS = {"m": "m", "n": "n", "trace": "tr Σ", "beta": "‖β‖", "eta": "η", "v0": "v₀"}
SETTING = (
    r"$n = 10$, $d = 1000$, unit signal, $m = 128$, $\sigma_0 = v_0/30$, $\eta = 0.05$, $v_0 = 3 \cdot 10^{-4}$, one "
    "of them varied at a time; 32 data sets (quick: 4, fewer values)"
)


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Train all cases with 32 replicates; in quick mode every second value of each quantity, with 4."""
    step, replicates = (2, 4) if trial.quick else (1, 32)
    cases = ["base", *(case_name(name, value) for name, values in AXES.items() for value in values[::step])]
    cases += [*(case_name("ratio", ratio) for ratio in RATIOS), case_name(*CORNER)]
    axes = {"case": dict.fromkeys(cases), "replicate": range(replicates)}
    options = {"fixed": {"seed": trial.seed, "dim": DIM}, "coords": {"share": list(SHARES)}}
    return trial_sweep(trial, "huang-scalings", scalings_cells, axes, together="replicate", **options)


cells = trained(sweep)


def read(networks: Dataset) -> Dataset:
    """Return the networks with `lengths`, the measured t2 - t1, and with what `_predict` says of each.

    Functions whose argument is called `read_networks` need what this returns.
    """
    predicted = read_cells(networks, ("case", "replicate"), _predict, stated=("share",))
    return networks.merge(predicted).assign(lengths=networks["loss_steps"] - networks["alignment_steps"])


def _predict(cell: Dataset) -> Numbers:
    """Return what is said of one network, all times in steps: t1 by `Stages.first_time`, t2 - t1 by
    `Stages.second_time` where the data have a second stage, the stated t2 - t1 for each share of the loss; and how many
    growth times a step is."""
    theory = theory_of(cell)
    p = case_settings(str(cell["case"].values))
    rate = theory.learning_rate
    staged = theory.limit >= LEAST_END
    losses = cell["share"].values * (theory.outputs**2).mean() / 2
    stated = [
        misprints.second_time(loss, samples=theory.samples, signal=p["beta"], trace=p["trace"]) / rate
        for loss in losses
    ]
    return {
        "growths": rate * theory.rate,
        "first": theory.first_time() / rate,
        "second": theory.second_time(SECOND_SHARE) / rate if staged else np.nan,
        "staged": staged,
        "stated": stated,
    }


def varied_cases(networks: Dataset) -> dict[str, tuple[list[float], Dataset]]:
    """Return, for each quantity of which at least two values were trained, these values and the networks, (replicate,
    case) first."""
    known = set(networks["case"].values.tolist())
    chosen = {name: [v for v in values if case_name(name, v) in known] for name, values in AXES.items()}
    return {
        name: (values, networks.sel(case=[case_name(name, v) for v in values]).transpose("replicate", "case", ...))
        for name, values in chosen.items()
        if len(values) > 1
    }


def first_exponents(read_networks: Dataset) -> Numbers:
    """Return what was fitted by its name, and then by the quantity that was varied: the exponent of t1 in it (for v0
    the slope in log(1/v0), in growth times), of the measured t1, by the alignment and by the loss, and of the corrected
    one, `Stages.first_time`, whose `worst` error is returned too."""
    fits = {}
    for name, (values, chosen) in varied_cases(read_networks).items():
        times = {  # in steps, (replicate, value)
            "alignment": chosen["alignment_steps"].values,
            "loss": chosen["loss_steps"].sel(share=SHARES[0]).values,
            "corrected": chosen["first"].values,
        }
        worst = np.abs(times["alignment"] / times["corrected"] - 1).max()
        if name == "v0":
            growths = chosen["growths"].values
            fitted = {kind: mean_slope(-np.log(values), steps * growths) for kind, steps in times.items()}
        else:
            fitted = {kind: mean_slope(np.log(values), np.log(steps)) for kind, steps in times.items()}
        fits[name] = {"name": name, "values": values, **fitted, "printed": PRINTED[name], "worst": worst}
    return by_name(fits)


def mean_slope(x: ArrayLike, rows: np.ndarray) -> Estimate:
    """Return the mean slope of the lines through each of `rows` (replicate, point) and its standard error over
    replicates."""
    return Estimate.of_mean(np.array([line(x, row)[0] for row in rows]))


def first_time_errors_by_ratio(networks: Dataset) -> dict[float, tuple[float, float]]:
    """Return, at each v_0/sigma_0, the largest relative errors of `Stages.first_time` and of asinh(1/(v0 sqrt(gamma)))
    alone against the measured t1."""
    cases = {ratio: networks.sel(case=case_name("ratio", ratio)) for ratio in RATIOS}
    return {
        ratio: first_time_errors(theories_of(case, "replicate"), case["alignment_steps"].values)
        for ratio, case in cases.items()
    }


def between_shares(networks: Dataset, window: tuple[float, float]) -> Dataset:
    """Return the networks at the shares of the loss between the two."""
    high, low = window
    return networks.sel(share=slice(high * 1.001, low * 0.999))


def slope_in_share(base: Dataset, window: tuple[float, float]) -> Estimate:
    """Return the growth times for each factor e of the loss, between two shares, of the networks of one case
    of `read_networks`."""
    later = between_shares(base, window)
    times = (later["loss_steps"] * later["growths"]).transpose("replicate", "share").values
    return mean_slope(-np.log(later["share"].values), times)


def second_time_errors(read_networks: Dataset) -> dict[str, float]:
    """Return how far `Stages.second_time` is from t2 - t1 at `SECOND_SHARE`: the worst of each case that has networks
    with a second stage."""
    errors = {}
    for case in read_networks["case"].values.tolist():
        later = read_networks.sel(case=case).sel(share=SECOND_SHARE, method="nearest")
        staged = later["staged"].values
        if staged.any() and not case.startswith("ratio"):  # there alignments are not alike at t1: their mean is not 1
            errors[case] = highest(np.abs(later["second"].values / later["lengths"].values - 1)[staged])
    return errors


def second_exponents(read_networks: Dataset) -> Numbers:
    """Return the exponents of t2 - t1, in steps, in each quantity at `SECOND_SHARE`; and those of the stated time."""
    at = read_networks.sel(share=SECOND_SHARE, method="nearest")
    fits = {
        name: [mean_slope(np.log(values), np.log(chosen[kind].values)) for kind in ("lengths", "stated")]
        for name, (values, chosen) in varied_cases(at).items()
        if name != "v0"
    }
    return by_name({name: {"exponents": measured, "stated": stated.value} for name, (measured, stated) in fits.items()})


def format_estimate(fit: Estimate) -> str:
    """Return a fitted number and its standard error as text, to three places, or two where the error is large; without
    the error where that is below 0.0005."""
    value, error = fit
    places = 2 if error > 0.05 else 3
    return f"{value:.{places}f} ± {error:.{places}f}" if error >= 0.0005 else f"{value:.3f}"


def columns(networks: Dataset) -> Columns:
    """Return the table as docs/scalings.md has it: a row for each quantity that t1 is fitted in, and one for each of
    the `WINDOWS` in which t2 is fitted."""
    read_networks = read(networks)
    rows = [*_rows_of_t1(read_networks), *_rows_of_t2(read_networks)]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _rows_of_t1(read_networks: Dataset) -> list[dict[str, str]]:
    """Return the row of each quantity that was varied, by column."""
    fits = first_exponents(read_networks)
    return [
        {
            "varied": WORDS[name],
            "from": f"{values[0]:g}",
            "to": f"{values[-1]:g}",
            "fitted": "t1, slope in log(1/v₀)" if name == "v0" else "t1, exponent",
            "median abs ρ = 1": format_estimate(fits["alignment"][name]),
            "by the loss": format_estimate(fits["loss"][name]),
            "corrected": format_estimate(fits["corrected"][name]),
            "printed": f"{fits['printed'][name]:g}",
            "corrected t1 off by": f"{fits['worst'][name]:.2%}",
        }
        for name, values in fits["values"].items()
    ]


def _rows_of_t2(read_networks: Dataset) -> list[dict[str, str]]:
    """Return the row of each window of the loss, by column, with the same columns as t1."""
    base = read_networks.sel(case="base")
    corrected = {"drop": "0.25", "tail": "0.5", "whole": "–"}  # of the aligned mode, and of other directions
    return [
        {
            "varied": f"ε, {name}",
            "from": f"{high:g}",
            "to": f"{low:g}",
            "fitted": "t2, slope in log(1/ε)",
            "median abs ρ = 1": "–",
            "by the loss": format_estimate(slope_in_share(base, (high, low))),
            "corrected": corrected[name],
            "printed": "linear",
            "corrected t1 off by": "–",
        }
        for name, (high, low) in WINDOWS.items()
    ]


def rows(trial: Trial) -> Dataset:
    """Return the networks with what `read` adds."""
    return read(cells(trial))


TABLE = Table(
    name="scalings",
    title="How the ends t1 and t2 of the two stages scale: networks, Theorem 4.1 and its correction",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Mean over the data sets ± its standard error, left out below 0.0005; slopes in growth times mn/(η √γ).",
)
