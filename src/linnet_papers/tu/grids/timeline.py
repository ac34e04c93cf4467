"""Appendix E.3: the stages T1 to T5 of networks of the active region, from the lazy start to the learned signal."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Estimate, Numbers, Trial
from linnet_papers.reproduction.datasets import DataArray, Dataset, by_label, read_cells
from linnet_papers.reproduction.fits import exponent, highest, last_crossing
from linnet_papers.reproduction.grids import trained, trial_sweep
from linnet_papers.tu.settings import GAMMAS
from linnet_papers.tu.training.descents import timeline_cells
from linnet_papers.tu.training.starts import threshold_of

SPECTRA = {"(1)": (1.0,), "(1, 1/2)": (1.0, 0.5)}
PLACES = {str(gammas): gammas for gammas in (GAMMAS, (-1.7, 2.0), (-2.6, 2.8))}  # exponents, all in the active region
STAGES = ("t1", "T1", "T2", "T3", "T5")
LATER, END = "$T_1$ and later", "the end"  # at which x is read too
STEPS = 400
SECOND_POWER = 0.25  # T2: when the leading value is (w/d)^(1/4) times the threshold
NEAR = 2.0  # a singular value between half the threshold and twice it is at the transition
SETTLED = 0.02  # singular values so close to those of A* + E have arrived: T5 as we read it

# What several claims try and assume
TWO = "(1, 1/2)"  # the spectrum of most of them
EVERYWHERE = rf"$(\gamma_{{\sigma^2}}, \gamma_w) = {', '.join(PLACES)}$"
ACTIVE = "active region, $d$ large"


@trained
def cells(trial: Trial) -> ln.sweeps.Sweep:
    """Train the tasks of one place, dimension and spectrum in a block."""
    axes = {"place": PLACES, "dim": [30, 90] if trial.quick else [50, 100, 200], "spectrum": SPECTRA}
    fixed = {"places": PLACES, "spectra": SPECTRA, "steps": STEPS}
    return trial_sweep(trial, "tu-timeline", timeline_cells, axes, seeds=3, fixed=fixed, together="seed")


def stages(trial: Trial, *spectra: str) -> Dataset:
    """Return what `read_network` returns of the networks of these spectra, of (1, 1/2) where none is named.

    (place, spectrum, dim, seed), without the spectrum where it is that one.
    """
    axes = ("place", "spectrum", "dim", "seed")
    networks = cells(trial).sel(spectrum=list(spectra) or [TWO])
    found = read_cells(networks, axes, read_network, reached=("stage",), defect=("moment",))
    found = found.assign_coords(stage=list(STAGES), moment=[*(f"${name[0]}_{name[1]}$" for name in STAGES), LATER, END])
    return found if spectra else found.squeeze("spectrum", drop=True)


def read_network(network: Dataset) -> Numbers:
    """Return the stages of one network. Between saved states logarithms are taken as straight.

    - `reached`: t1 (Lemma C.8), T1, T2, T3 and T5 on the paper's clock, over d
    - `defect`: x at those times, its largest from T1 on, and the last one
    - `printed_share`, `own_share`: T3 - T1 over the printed log(a_K d/sigma^2 w)/(a_K d), and over the time of its own
      equation
    - `second`: s_K at T2 over the threshold; `linear`: s_1 at T1/2 over that at T1
    - `near`: the share of the time to T5 that the leading singular value is near the threshold
    - `noise`, `noise_grown`, `noise_behind`: s_(K+1) at T3 over the threshold, over what it was at T1, and over half of
      the least singular value of A*; `noise_later`: the largest s_(K+1)/s_K from T3 on
    - `rest`: the largest Frobenius norm of all that is beyond the signal, to T3, over the sum of its two bounds
    - `left`: how far the signal's singular values end from those of A* + E, relative to these
    - `settling`: from T3 until they are within log(d)/d of them, over its bound
    """
    dim = int(network["dim"])
    spectrum = SPECTRA[network["spectrum"].item()]
    gammas = PLACES[network["place"].item()]
    rank = len(spectrum)
    ratio = dim ** (gammas[1] - 1)  # w/d
    threshold = threshold_of(dim, gammas)
    smallest = min(spectrum) * dim
    times, defect, goals, rest = (network[what].values for what in ("times", "defect", "goals", "rest"))
    values = network["singular_values"].transpose("state", "mode").values
    leading, last, noise = values[:, 0], values[:, rank - 1], values[:, rank]
    apart = np.abs(values[:, :rank] / goals[:rank] - 1).max(axis=1)
    reached = {
        "t1": last_rise_time(times, leading, threshold * ratio**-0.25),
        "T1": last_rise_time(times, leading, threshold),
        "T2": last_rise_time(times, leading, threshold * ratio**SECOND_POWER),
        "T3": last_rise_time(times, last, 0.5 * smallest),
        "T5": last_rise_time(times, -apart, -SETTLED),
    }
    after = times >= reached["T3"]

    def at(stage: str, values: np.ndarray) -> float:
        return float(np.interp(reached[stage], times, values))

    growth = reached["T3"] - reached["T1"]
    half_noise = at("T3", noise)
    own_growth = lazy_active.crossing_times(smallest, at("T1", last), threshold, level=0.5 * smallest)[0]
    begun, passed = (last_rise_time(times, leading, threshold * share) for share in (1 / NEAR, NEAR))
    settled = last_rise_time(times, -apart, -np.log(dim) / dim) - reached["T3"]
    return {
        "reached": [dim * reached[stage] for stage in STAGES],
        "defect": [*(at(stage, defect) for stage in STAGES), defect[times >= reached["T1"]].max(), defect[-1]],
        "printed_share": growth / (np.log(smallest / threshold) / smallest),
        "own_share": growth / float(own_growth),
        "second": at("T2", last) / threshold,
        "linear": np.interp(reached["T1"] / 2, times, leading) / threshold,
        "near": (passed - begun) / reached["T5"],
        "noise": half_noise / threshold,
        "noise_grown": half_noise / at("T1", noise),
        "noise_behind": half_noise / (0.5 * smallest),
        "noise_later": (noise[after] / last[after]).max(),
        "rest": highest(at("T3", rest), rest[~after].max())
        / (threshold * (dim / np.sqrt(round(dim ** gammas[1])) + np.log(dim))),
        "left": apart[-1],
        "settling": settled / lazy_active.stage_lengths(spectrum, *gammas, dim=dim)["settling"],
    }


def last_rise_time(times: np.ndarray, values: np.ndarray, level: float) -> float:
    """Return when the values rise through `level` for the last time; raise where they never do."""
    time = last_crossing(times, values - level)
    if not time > times[0]:
        raise RuntimeError(f"{level:.3g} is not reached from below: the run is too short for what is measured on it")
    return time


def followed(spectra: str = TWO) -> str:
    """Return in words what is tried on the networks of these spectra."""
    return f"descent at $d = 30$, 90 (full: 50, 100, 200), 3 tasks each, $a = {spectra}$, {EVERYWHERE}"


def by_place(array: DataArray) -> dict[str, float]:
    """Return the entries by place, and by spectrum and dimension where there are several.

    The keys have the name of the spectrum in them and follow the order of the array's axes: `claims/growth.py` relies
    on both.
    """
    words = {"place": "${place}$", "spectrum": "$a = {spectrum}$", "dim": "$d = {dim}$"}
    return by_label(array, ", ".join(words[str(axis)] for axis in array.dims))


def exponent_in_dim(array: DataArray) -> Estimate:
    """Return the exponent in d of what each network has, (dim, seed)."""
    return Estimate(*exponent(array["dim"], array))


def rank_two_tasks(trial: Trial, dim: int, draws: int) -> list[ln.Problem]:
    """Return tasks of rank 2 in unit noise, one for each draw."""
    return [
        ln.problems.low_rank_plus_noise(dim, rank=2, key=[trial.seed, draw], spectrum=SPECTRA[TWO])
        for draw in range(draws)
    ]
