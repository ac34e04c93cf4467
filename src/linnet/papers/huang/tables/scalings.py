"""Theorem 4.1: trained networks over which the scaling of t1 and t2 is fitted, one quantity varied at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet.papers.huang import misprints
from linnet.papers.huang.networks.cells.scalings import scaling_scales, scalings_cells
from linnet.papers.huang.networks.runs import first_time_errors, stages_of_spectrum
from linnet.reproduction import Columns, Estimate, Numbers, Table, Trial
from linnet.reproduction.datasets import Dataset
from linnet.reproduction.fits import highest, line
from linnet.reproduction.numbers import by_name
from linnet.reproduction.table import trial_sweep

if TYPE_CHECKING:
    from linnet.theories.feature_learning import Stages

DIM = 1000
BASE = {"m": 128, "n": 10, "trace": DIM, "beta": 1.0, "eta": 0.05, "v0": 3e-4, "ratio": 30.0}
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
PRINTED = {"m": 1.0, "n": 0.5, "trace": -0.5, "beta": -1.0, "eta": -1.0, "v0": 1.0}
WORDS = {"m": "m", "n": "n", "trace": "tr Σ", "beta": "‖β‖", "eta": "η", "v0": "v₀"}
SHARES = (0.95, *np.geomspace(0.1, 1e-9, 17).tolist())  # of the first loss: lost a twentieth, then two a decade
SETTING = (
    "n = 10, d = 1000, unit signal, m = 128, sigma_0 = v_0/30, eta = 0.05, v_0 = 3e-4, one of them varied at a time; "
    "32 data sets (quick: 4, fewer values)"
)


def case_settings(case: str) -> dict[str, float]:
    """Return the settings of a case: those of `BASE`, with the change that its name tells."""
    if case == "base":
        return dict(BASE)
    name, value = case.split(" = ")
    return {**BASE, name: float(value)}


def case_name(name: str, value: float) -> str:
    """Return the name of the case in which one quantity has that value."""
    return "base" if BASE[name] == value else f"{name} = {value:g}"


def sweep(trial: Trial) -> ln.sweeps.Sweep:
    """Return the sweep over all cases with 32 replicates; in quick mode every second value of each quantity, with 4."""
    step, replicates = (2, 4) if trial.quick else (1, 32)
    cases = dict.fromkeys(["base", *(case_name(name, v) for name, values in AXES.items() for v in values[::step])])
    cases |= dict.fromkeys([*(case_name("ratio", ratio) for ratio in RATIOS), case_name(*CORNER)])
    axes, shares = {"case": cases, "replicate": range(replicates)}, list(SHARES)
    fixed = {"seed": trial.seed, "dim": DIM, "shares": shares, "most": int(max(AXES["n"]))}
    fixed["cases"] = {case: case_settings(case) for case in cases}
    options = {"fixed": fixed, "together": "replicate", "coords": {"share": shares}}
    return trial_sweep(trial, "huang-scalings", scalings_cells, axes, **options)


def varied_values(networks: Dataset) -> dict[str, list[float]]:
    """Return the values of each quantity of which at least two were trained."""
    known = set(networks["case"].values.tolist())
    chosen = {name: [v for v in values if case_name(name, v) in known] for name, values in AXES.items()}
    return {name: values for name, values in chosen.items() if len(values) > 1}


def read(networks: Dataset) -> dict[str, dict[str, Any]]:
    """Return what was fitted by its name, as in `_fit_scaling`, and then by the quantity that was varied."""
    return by_name({name: _fit_scaling(networks, name, values) for name, values in varied_values(networks).items()})


def _fit_scaling(networks: Dataset, name: str, values: list[float]) -> Numbers:
    """Fit the exponent of t1 in one quantity (for v0 the slope in log(1/v0), in growth times): of the measured t1, by
    the alignment and by the loss, and of the corrected one, `Stages.first_time`, whose `worst` error is returned too.
    """
    chosen = networks.sel(case=[case_name(name, value) for value in values]).transpose("replicate", "case", ...)
    theories = [theories_of_case(chosen.sel(case=case_name(name, value))) for value in values]
    predicted = [[t.first_time() / t.learning_rate for t in row] for row in theories]
    times = {  # in steps, (replicate, value)
        "alignment": chosen["alignment_steps"].values,
        "loss": chosen["loss_steps"].sel(share=SHARES[0]).values,
        "corrected": np.array(predicted).T,
    }
    worst = np.abs(times["alignment"] / times["corrected"] - 1).max()
    if name == "v0":  # t1 is linear in log(1/v0): the slope in units of the growth time
        units = np.array([growths_per_step(row) for row in theories]).T
        fits = {kind: mean_slope(-np.log(values), numbers * units) for kind, numbers in times.items()}
    else:
        fits = {kind: mean_slope(np.log(values), np.log(numbers)) for kind, numbers in times.items()}
    return {"name": name, "values": values, **fits, "printed": PRINTED[name], "worst": worst}


def theories_of_case(networks: Dataset) -> list[Stages]:
    """Return the theory for the data of each replicate of one case."""
    p = case_settings(str(networks["case"].values))
    spectra = (networks[name].transpose("replicate", "mode").values for name in ("values", "coefficients"))
    n = int(p["n"])
    return [
        stages_of_spectrum(values[:n], coefficients[:n], **scaling_scales(p))
        for values, coefficients in zip(*spectra, strict=True)
    ]


def growths_per_step(theories: list[Stages]) -> np.ndarray:
    """Return how many growth times a step is, (replicate,)."""
    return np.array([t.learning_rate * t.rate for t in theories])


def mean_slope(x: object, rows: np.ndarray) -> Estimate:
    """Return the mean slope of the lines through each of `rows` (replicate, point) and its standard error over
    replicates."""
    return Estimate.of_mean(np.array([line(x, row)[0] for row in rows]))


def first_time_errors_by_ratio(networks: Dataset) -> dict[float, tuple[float, float]]:
    """Return, at each v_0/sigma_0, the largest relative errors of `Stages.first_time` and of asinh(1/(v0 sqrt(gamma)))
    alone against the measured t1."""
    cases = {ratio: networks.sel(case=case_name("ratio", ratio)) for ratio in RATIOS}
    return {
        ratio: first_time_errors(theories_of_case(case), case["alignment_steps"].values)
        for ratio, case in cases.items()
    }


@dataclass(frozen=True)
class SecondTime:
    """t2 - t1 of one case: growth times at which each share of the loss is left, t1, and the stated t2 - t1.

    `times` and `stated` are (replicate, share), `first` (replicate, 1). `staged` says which replicates have a second
    stage: those whose rho^2 ends at `LEAST_END` or more by the closed form.
    """

    theories: list[Stages]
    shares: np.ndarray
    times: np.ndarray
    first: np.ndarray
    stated: np.ndarray
    staged: np.ndarray

    def index_of(self, share: float) -> int:
        """Return the index of the nearest share."""
        return int(np.abs(np.log(self.shares / share)).argmin())

    @property
    def lengths(self) -> np.ndarray:
        """t2 - t1 in growth times, (replicate, share)."""
        return self.times - self.first

    @property
    def constants(self) -> np.ndarray:
        """What the stated time must be multiplied by where there is a second stage, (replicate, share)."""
        return (self.lengths / self.stated)[self.staged]

    def shares_between(self, high: float, low: float) -> np.ndarray:
        """Return which shares lie between the two."""
        return (self.shares <= high * 1.001) & (self.shares >= low * 0.999)

    def slope(self, high: float, low: float) -> Estimate:
        """Return the growth times for each factor e of the loss, between two shares."""
        chosen = self.shares_between(high, low)
        return mean_slope(-np.log(self.shares[chosen]), self.times[:, chosen])


def second_times(networks: Dataset) -> dict[str, SecondTime]:
    """Return t2 - t1 of every case, over shares of the loss below the first, where t1 is read."""
    return {case: _read_second_time(networks.sel(case=case)) for case in networks["case"].values.tolist()}


def _read_second_time(networks: Dataset) -> SecondTime:
    """Read when each share of the loss is left in the networks of one case, beside the stated time."""
    theories = theories_of_case(networks)
    units = growths_per_step(theories)[:, None]
    shares = networks["share"].values[1:]
    times = networks["loss_steps"].transpose("replicate", "share").values[:, 1:] * units
    first = networks["alignment_steps"].values[:, None] * units
    p = case_settings(str(networks["case"].values))
    population: Any = {"samples": int(p["n"]), "signal": p["beta"], "trace": p["trace"]}
    stated = [
        [misprints.second_time(float(share) * (t.outputs**2).mean() / 2, **population) * t.rate for share in shares]
        for t in theories
    ]
    staged = np.array([t.limit >= LEAST_END for t in theories])
    return SecondTime(theories, shares, times, first, np.array(stated), staged)


def second_time_errors(networks: Dataset, share: float) -> dict[str, float]:
    """Return how far `Stages.second_time` is from t2 - t1 at one share of the loss: the worst of each case."""
    errors = {}
    for case, later in second_times(networks).items():
        if case.startswith("ratio") or not later.staged.any():
            continue  # with another ratio alignments are not alike at t1: their root mean square is not 1
        at, staged = later.index_of(share), np.flatnonzero(later.staged)
        theories = [later.theories[i] for i in staged]
        ours = np.array([t.second_time(float(later.shares[at])) * t.rate for t in theories])
        errors[case] = highest(np.abs(ours / later.lengths[staged, at] - 1))
    return errors


def second_exponents(networks: Dataset, share: float) -> dict[str, dict[str, Any]]:
    """Return the exponents of t2 - t1, in steps, in each quantity at one share of the loss; and those of the stated
    time."""
    later, fits = second_times(networks), {}
    for name, values in varied_values(networks).items():
        if name == "v0":
            continue
        cases = [later[case_name(name, value)] for value in values]
        lengths = [case.lengths[:, case.index_of(share)] / growths_per_step(case.theories) for case in cases]
        stated = [case.stated[:, case.index_of(share)] / growths_per_step(case.theories) for case in cases]
        measured, printed = (mean_slope(np.log(values), np.log(times).T) for times in (lengths, stated))
        fits[name] = {"exponents": measured, "stated": printed.value}
    return by_name(fits)


def format_estimate(fit: Estimate) -> str:
    """Return a fitted number and its standard error as text, to three places, or two where the error is large; without
    the error where that is below 0.0005."""
    value, error = fit
    places = 2 if error > 0.05 else 3
    return f"{value:.{places}f} ± {error:.{places}f}" if error >= 0.0005 else f"{value:.3f}"


DROP, TAIL, WHOLE = (0.1, 1e-3), (1e-6, 1e-9), (1e-2, 1e-9)


def columns(networks: Dataset) -> Columns:
    """Return the table as docs/scalings.md has it."""
    rows = read(networks)
    later = second_times(networks)["base"]
    windows = {"ε, drop": (DROP, "0.25"), "ε, tail": (TAIL, "0.5"), "ε, whole": (WHOLE, "–")}
    shares = [window for window, _ in windows.values()]
    blank = ["–"] * len(windows)
    kinds = {True: "t1, slope in log(1/v₀)", False: "t1, exponent"}
    fitted = {
        name: [format_estimate(fit) for fit in rows[name].values()] for name in ("alignment", "loss", "corrected")
    }
    return {
        "varied": [WORDS[name] for name in rows["name"]] + list(windows),
        "from": [f"{values[0]:g}" for values in rows["values"].values()] + [f"{high:g}" for high, _ in shares],
        "to": [f"{values[-1]:g}" for values in rows["values"].values()] + [f"{low:g}" for _, low in shares],
        "fitted": [kinds[name == "v0"] for name in rows["name"]] + ["t2, slope in log(1/ε)"] * len(windows),
        "median abs ρ = 1": fitted["alignment"] + blank,
        "by the loss": fitted["loss"] + [format_estimate(later.slope(*window)) for window in shares],
        "corrected": fitted["corrected"] + [text for _, text in windows.values()],
        "printed": [f"{power:g}" for power in rows["printed"].values()] + ["linear"] * len(windows),
        "corrected t1 off by": [f"{worst:.2%}" for worst in rows["worst"].values()] + blank,
    }


TABLE = Table(
    name="scalings",
    title="How the ends t1 and t2 of the two stages scale: networks, Theorem 4.1 and its correction",
    sweep=sweep,
    read=read,
    columns=columns,
    note="Mean over the data sets ± its standard error, left out below 0.0005; slopes in growth times mn/(η √γ).",
)
