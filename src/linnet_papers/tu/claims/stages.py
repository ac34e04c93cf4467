"""Claims on how singular vectors align in the active region: appendices C and E, on networks followed by descent."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.fits import exponent, highest, largest_t_by_chance, lowest
from linnet_papers.reproduction.rows import Estimate, above, at_most, below, corrected, fact, printed, within
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import timeline
from linnet_papers.tu.grids.timeline import by_place, exponent_in_dim, rank_two_tasks
from linnet_papers.tu.settings import BOUND, GAMMAS
from linnet_papers.tu.training.starts import active_start, threshold_of

EXCESS = below(0.0, "the power that the lemma names")


def alignment_rows(trial: Trial, claimed: dict[str, Callable[[float], float]]) -> Rows:
    """Yield how x changes with d at each moment and place, beside the claimed exponents."""
    x = timeline.stages(trial).defect
    found: dict[str, Estimate] = {}
    excess: dict[str, list[float]] = {moment: [] for moment in claimed}
    chance: dict[str, float] = {}
    for place, (_, width) in timeline.PLACES.items():
        for moment, power in claimed.items():
            name = f"{moment}, ${place}$"
            found[name] = exponent_in_dim(x.sel(place=place, moment=moment))
            excess[moment].append(found[name].value + power(width))
            chance[name] = found[name].errors_above(-power(width))
    means = {moment: np.mean(own) for moment, own in excess.items()}
    yield printed("power of $d$ with which $x$ changes, less the claimed one, mean of the places", means, EXCESS)
    largest = round(largest_t_by_chance(len(chance), int(x.sizes["dim"] * x.sizes["seed"]) - 1, 0.01), 1)
    by_chance = below(largest, "Student's t: what falls as claimed exceeds it at one of the places once in a hundred")
    yield printed("the same at each place, in standard errors", chance, by_chance)
    yield fact("power of $d$ with which $x$ changes", found)


ORDER_D = below(1.25, "$T_1/d$ may move by its next order, but not like a power of $d$")
LINEAR = within(0.15, "'roughly linear': between linear functions of slopes 0.7 and 1.3 half-way", of=0.5)


@claim(
    "stage-lazy",
    says=r"Until $\lvert A \rvert$ reaches $\sigma^2 w$ singular values grow roughly linearly, and $T_1 = O(d)$.",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
)
def lazy_stage(trial: Trial) -> Rows:
    stages = timeline.stages(trial)
    first = stages.reached.sel(stage="T1", drop=True).mean("seed", skipna=False)
    spread = first.max("dim", skipna=False) / first.min("dim", skipna=False)
    yield printed("largest over least $T_1/d$ of the dimensions", by_place(spread), ORDER_D)
    yield printed("$s_1$ at $T_1/2$ over that at $T_1$", by_place(stages.linear.mean("seed", skipna=False)), LINEAR)
    yield fact("$T_1/d$", by_place(first))


@claim(
    "alignment-early",
    says=r"In the short lazy stage the singular vectors align: $x$ is at most $d^{-\min(1/2, (\gamma_w - 1)/4)}$ at "
    r"$t_1$ and at $T_1$ (C.8, C.9; $d^{-\min((\gamma_w - 1)/8, 1/4)}$ for networks by E.4).",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
)
def early_alignment(trial: Trial) -> Rows:
    yield from alignment_rows(trial, dict.fromkeys(("$t_1$", "$T_1$"), lambda width: min(0.5, (width - 1) / 4)))


SCALE = within(1.0, "a factor of two either way: the next order of $x$, which is not small at the corners", of=0)


@claim(
    "alignment-rate",
    says=r"At $t_1$ the alignment measure is $x = 4 \sum_k (a_1/a_k)^2 (\sqrt{d/w} + 1/(a_1^2 d))$ to leading order: "
    r"it falls like $d^{-\min(1, (\gamma_w - 1)/2)}$, twice the power of Lemmas C.8 and C.9.",
    assumes=r"active region, $w \gg d$, simple spectrum",
    tried=r"the first steps of descent, $a = (1)$ and $(1, 1/2)$, mean of 3 tasks (full: 6); total: $\gamma_{\sigma^2} "
    r"+ \gamma_w$",
    region={"dim": Range(40, 90, whole=True), "gamma_width": Range(2.25, 3.4), "total": Range(0.1, 0.6)},
)
def rate_of_alignment(trial: Trial) -> Rows:
    draws = 3 if trial.quick else 6
    order = r"$4 \sum_k (a_1/a_k)^2 (\sqrt{d/w} + 1/(a_1^2 d))$"
    for name, spectrum in timeline.SPECTRA.items():
        logarithms = {
            label: np.log2(
                np.mean([early_defect(**setting, spectrum=spectrum, key=[trial.seed, i]) for i in range(draws)])
            )
            for label, setting in trial.region(0 if trial.quick else 4).items()
        }
        yield printed(f"binary logarithm of $x$ at $t_1$ over {order}, $a = {name}$", logarithms, SCALE)


def early_defect(dim: int, gamma_width: float, total: float, spectrum: Sequence[float], key: list[int]) -> float:
    """Return x at t1 over its leading order."""
    gammas = (total - gamma_width, gamma_width)
    ratio = round(dim**gamma_width) / dim
    task = ln.problems.low_rank_plus_noise(dim, rank=len(spectrum), key=[*key, 0], spectrum=spectrum)
    rate = 1 / (80 * dim)
    run = ln.gradient_descent(
        task, active_start(dim, gammas, key=[*key, 1]), learning_rate=rate, steps=16, keep="products"
    )
    leading = np.linalg.norm(run.products, 2, axis=(1, 2))
    time = timeline.last_rise_time(run.times, leading, threshold_of(dim, gammas) * ratio**-0.25)
    defect = lazy_active.alignment_defect(run.products, task.truth, len(spectrum))
    order = 4 * sum((spectrum[0] / value) ** 2 for value in spectrum) * (ratio**-0.5 + 1 / (spectrum[0] ** 2 * dim))
    return float(np.interp(time, run.times, defect) / order)


KEPT = at_most(1.05, "$x$ does not rise from $T_1$ to $T_3$ but by chance")
BEHIND = below(0.5, "Definition C.1 of what stays behind")


@claim(
    "alignment-kept",
    says="The signal's singular vectors stay aligned while its singular values grow ($x$ at $T_2$ at most "
    r"$d^{-(\gamma_w - 1)/2}$), and the singular values of the noise stay behind.",
    assumes=timeline.ACTIVE,
    tried=timeline.followed(),
)
def kept_alignment(trial: Trial) -> Rows:
    claimed = {"$T_2$": lambda width: (width - 1) / 2, timeline.LATER: lambda width: min(0.25, (width - 1) / 8)}
    yield from alignment_rows(trial, claimed)
    means = timeline.stages(trial).mean("seed", skipna=False)
    ratios = means.defect.sel(moment="$T_3$", drop=True) / means.defect.sel(moment="$T_1$", drop=True)
    yield printed("$x$ at $T_3$ over that at $T_1$", by_place(ratios), KEPT)
    behind = by_place(means.noise_later.isel(dim=-1))
    yield printed("largest $s_{K + 1}/s_K$ after $T_3$, at the largest $d$", behind, BEHIND)


TURNED = above(0.1, "far above its end, which is of order $1/d$")


@claim(
    "alignment-stage",
    says=r"After $T_3$ singular vectors that are not yet aligned need at most $2 \min(1, 2 \Delta)/c(a) d \log d$ to "
    "align.",
    assumes=r"active region: $\sigma^2 w = d^{0.4}$ and $d^{0.7}$, $T^*$ corrected; the signal's singular values at "
    "half their targets",
    tried="eq. (1) with noise from 5 starts turned away from alignment ($x = 0.2$ to 2), $d = 30$, 60 (full: 50, 100), "
    "spectra $(1), (1, 1/2), (1, 0.9), (1, 0.7, 0.4)$",
)
def alignment_stage(trial: Trial) -> Rows:
    draw = generator(key=trial.seed)
    starts, shares = [], {}
    cases = [(spectrum, 0.4) for spectrum in ((1.0,), (1.0, 0.5), (1.0, 0.9), (1.0, 0.7, 0.4))]
    for spectrum, power in [*cases, ((1.0, 0.5), 0.7)]:
        for dim in (30, 60) if trial.quick else (50, 100):
            rank = len(spectrum)
            bound = lazy_active.stage_lengths(spectrum, power - GAMMAS[1], GAMMAS[1], dim=dim)["alignment"]
            truth = np.diag(np.append(spectrum, np.zeros(dim - rank))) * dim
            times = np.append(0.0, np.geomspace(1e-4, 1.2, 120) * bound)
            taken = []
            for _ in range(5):
                left, right = (small_rotation(draw, dim, rank) for _ in range(2))
                target = truth + draw.normal(size=truth.shape)
                start = 0.5 * left @ truth @ right.T
                products = lazy_active.self_consistent(target, start, dim**power, times)
                x = lazy_active.alignment_defect(products, truth, rank)
                aligned = x <= 1.1 * lazy_active.alignment_defect(target, truth, rank)
                taken.append(times[np.argmax(aligned)] / bound if aligned.any() else np.inf)
                starts.append(x[0] / rank)
            shares[rf"$a = {spectrum}$, $d = {dim}$, $\Delta = {1 - power:g}$"] = highest(taken)
    yield printed("least $x$ at initialization over $K$", lowest(starts), TURNED)
    yield printed("time until $x$ is within a tenth of its end, over the bound", shares, BOUND)


def small_rotation(draw: np.random.Generator, dim: int, rank: int) -> np.ndarray:
    """Return a rotation that turns the first axes, by a tenth to a half of a radian, into the others."""
    from scipy.linalg import expm

    turn = np.zeros((dim, dim))
    turn[:, :rank] = draw.normal(size=(dim, rank)) / np.sqrt(dim) * draw.uniform(0.25, 0.5)
    return expm(turn - turn.T)


FIT = 0.15, "fitted to six tasks at three dimensions or more: twice its scatter over seeds"
FINITE = within(1.0, "a factor of two either way: the next order in $1/(a_2^2 d)$, and the mean of six tasks", of=0)


@claim(
    "final-alignment",
    says=r"At $T^*$ the network is in $P_2(C, \max(1, 2 \Delta))$: $x$ is at most $d^{-\max(1, 2 \Delta)}$.",
    assumes=timeline.ACTIVE,
    tried=f"{timeline.followed()}; $A^* + E$ itself, where any training goes, at $d = 40$ to 160 (full: 50 to 400), 6 "
    "tasks; value: $a_1$, share: $a_2/a_1$",
    correction=r"$x$ is at most $d^{-\min(1, 2 \Delta)}$: no training aligns better than $A^* + E$ itself",
    region={"dim": Range(40, 300, log=True, whole=True), "value": Range(0.7, 7, log=True), "share": Range(0.3, 0.7)},
)
def final_alignment(trial: Trial) -> Rows:
    dims = (40, 80, 160) if trial.quick else (50, 100, 200, 400)
    draws = 6
    defects = [
        [lazy_active.alignment_defect(task.cross, task.truth, 2) for task in rank_two_tasks(trial, dim, draws)]
        for dim in dims
    ]
    rate = exponent(dims, defects)[0]
    claimed = {rf"$\Delta = {gap:g}$": misprints.final_alignment(gap) for gap in (0.6, 1.0, 2.0)}
    ends = timeline.stages(trial).defect.sel(moment=timeline.END)
    trained = {f"${place}$": exponent_in_dim(ends.sel(place=place)) for place in timeline.PLACES}
    chance = round(largest_t_by_chance(len(trained), int(ends.sizes["dim"] * ends.sizes["seed"]) - 1), 1)
    scatter = "twice the scatter of the matrices; or Student's t of a fit to few networks, passed once in 10 000 runs"
    yield printed(
        r"$\max(1, 2 \Delta)$, against minus the power of $d$ of $x$ of $A^* + E$", claimed, within(*FIT, of=-rate)
    )
    yield corrected("power of $d$ with which $x$ of $A^* + E$ changes", rate, within(*FIT, of=-1))
    yield corrected(
        "power of $d$ with which $x$ of trained networks changes", trained, within(0.3, scatter, of=-1, errors=chance)
    )
    sizes = {name: final_defect(**setting, seed=trial.seed) for name, setting in trial.region(2).items()}
    order = r"$\frac{4}{d} \left(\frac{1}{a_1^2} + \frac{1}{a_2^2} + \frac{a_1^2 + a_2^2}{(a_1^2 - a_2^2)^2 d}\right)$"
    yield corrected(f"binary logarithm of $x$ of $A^* + E$ over {order}", sizes, FINITE)


def final_defect(dim: int, value: float, share: float, seed: int) -> float:
    """Return the logarithm of x of A* + E, mean of six tasks, over what E makes of it to leading order."""
    first, second = value, share * value
    tasks = [
        ln.problems.low_rank_plus_noise(dim, rank=2, key=[seed, draw], spectrum=[first, second]) for draw in range(6)
    ]
    defect = np.mean([lazy_active.alignment_defect(task.cross, task.truth, 2) for task in tasks])
    mixing = (first**2 + second**2) / (first**2 - second**2) ** 2 / dim
    return float(np.log2(defect * dim / 4 / (first**-2 + second**-2 + mixing)))
