"""Claims on the stages of the active region: appendices C and E, on networks followed by descent."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.papers.tu import misprints
from linnet.papers.tu.networks.starts import active_start
from linnet.papers.tu.tables import timeline
from linnet.reproduction import Above, AllOf, AtMost, Below, Estimate, Limit, Numbers, Trial, Verdict, Within, claim
from linnet.reproduction.fits import exponent, highest, lowest

SPECTRUM = (1.0, 0.5)
FIT = Limit(0.15, "of an exponent, from three tasks at two or three dimensions: twice its scatter over seeds")
FACTOR = Limit(0.2, "between the printed time and half of it, which the next order in log d blurs")
BOUND = Limit(1.0, "a bound is kept or it is not")
EVERYWHERE = f"(gamma_sigma2, gamma_w) = {', '.join(timeline.PLACES)}"
FOLLOWED = f"descent at d = 30, 90 (full: 50, 100, 200), 3 tasks each, a = (1, 1/2), {EVERYWHERE}"
BOTH = FOLLOWED.replace("a = (1, 1/2)", "a = (1) and (1, 1/2)")
ACTIVE = "active region, d large"


def places(trial: Trial, *names: str) -> dict[str, list[timeline.Stages]]:
    """The rows of growing d by place and spectrum; (1, 1/2) where none is named."""
    rows, chosen = timeline.TABLE.rows(trial), names or ("(1, 1/2)",)
    label = "{0}" if len(chosen) == 1 else "{0}, a = {1}"
    return {
        label.format(place, name): [row for row in rows if row.place == place and row.name == name]
        for place in timeline.PLACES
        for name in chosen
    }


def last(found: dict[str, list[timeline.Stages]]) -> dict[str, timeline.Stages]:
    """The rows of the largest d."""
    return {name: rows[-1] for name, rows in found.items()}


def each(found: dict[str, list[timeline.Stages]]) -> dict[str, timeline.Stages]:
    """The rows one by one."""
    return {f"{name}, d = {row.dim}": row for name, rows in found.items() for row in rows}


def slope(rows: list[timeline.Stages], values: list[np.ndarray]) -> Estimate:
    """The exponent in d of what each network of each row has."""
    dims = np.repeat([float(row.dim) for row in rows], [len(array) for array in values])
    return Estimate(*exponent(dims, np.concatenate(values)))


def powers(
    trial: Trial,
    claimed: dict[str, Callable[[float], float]],
    x: Callable[[timeline.Stages, str], np.ndarray] = lambda row, stage: row.defect[stage],
) -> Numbers:
    """How x falls with d at each stage and place, beside the claimed exponents; `value` is the largest excess,
    in standard errors, `excess` its mean over the places at each stage."""
    found, wanted, sizes = {}, {}, {}
    for place, rows in places(trial).items():
        for stage, power in claimed.items():
            name = f"{stage} at {place}"
            found[name] = slope(rows, [x(row, stage) for row in rows])
            wanted[name] = power(rows[0].gammas[1])
            sizes[name] = float(x(rows[-1], stage).mean())
    excess = {name: found[name].value + wanted[name] for name in found}
    return {
        "claimed": wanted,
        "found": found,
        "excess": {
            stage: float(np.mean([excess[f"{stage} at {place}"] for place in places(trial)])) for stage in claimed
        },
        "x": sizes,
        "dims": [row.dim for row in rows],
        "value": highest(excess[name] / found[name].error for name in found),
    }


@claim(
    "stage-lazy",
    where="section E.3 (to T1), Lemma E.4",
    says="Until |A| reaches sigma^2 w singular values grow roughly linearly, and T1 = O(d).",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=AllOf(
        Below(
            1.25,
            "spread",
            what="largest over least T1/d of the dimensions",
            because="T1 = O(d): T1/d may move by its next order, but not like a power of d",
        ),
        Within(
            0.15,
            "linear",
            of=0.5,
            what="s_1 over sigma^2 w half-way",
            because="'roughly linear (bounded above and below by linear functions)': half-way within 0.35 to 0.65",
        ),
    ),
    reads="T1/d is {first:.2f}; half-way s_1 is at {linear.lowest:.2f} to {linear.highest:.2f} of sigma^2 w",
)
def lazy_stage(trial: Trial) -> Numbers:
    found = places(trial)
    first = {name: [float(row.reached["T1"].mean()) for row in rows] for name, rows in found.items()}
    spread = {name: highest(times) / lowest(times) for name, times in first.items()}
    linear = {name: float(row.linear.mean()) for name, row in each(found).items()}
    return {"first": first, "linear": linear, "spread": spread, "value": highest(spread.values())}


EXCESS = Below(
    0.0,
    "excess",
    what="excess of the exponent of x over the claimed one, mean of the places",
    form=".2f",
    because="x is at most d to the claimed power",
) & Below(
    2.0,
    what="largest excess at one place, in standard errors",
    form=".1f",
    because="what falls at least as fast exceeds the claimed power by chance only",
)
X_READS = (
    "x at the largest of d = {dims} is {x:.3f}; it changes like d to the powers {found:.2f}, where at most minus "
    "{claimed:.2f} is claimed"
)


@claim(
    "alignment-early",
    where="Lemmas C.8, C.9, E.4",
    says="In the short lazy stage the singular vectors align: x is at most d^-min(1/2, (gamma_w - 1)/4) at t1 and at "
    "T1 (C.8, C.9; d^-min((gamma_w - 1)/8, 1/4) for networks by E.4).",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=EXCESS,
    reads=X_READS,
)
def early_alignment(trial: Trial) -> Numbers:
    return powers(trial, dict.fromkeys(("t1", "T1"), lambda width: min(0.5, (width - 1) / 4)))


@claim(
    "alignment-kept",
    where="Theorems C.2, E.3, Lemmas C.3, C.4, C.7, E.1, E.2, section E.3 (T2, T3)",
    says="The signal's singular vectors stay aligned while its singular values grow (x at T2 at most d^-(gamma_w - "
    "1)/2), and the singular values of the noise stay behind.",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=AllOf(
        EXCESS,
        AtMost(1.05, "ratios", what="x at T3 over that at T1", because="x does not rise from T1 to T3 but by chance"),
        Below(
            0.5, "behind", what="largest s_(K+1)/s_K after T3, at the largest d", because="Definition C.1: below 1/2"
        ),
    ),
    reads=X_READS + "; afterwards s_(K+1) is at most {behind:.2f} s_K",
)
def kept_alignment(trial: Trial) -> Numbers:
    claimed = {"T2": lambda width: (width - 1) / 2, "T1 and later": lambda width: min(0.25, (width - 1) / 8)}
    found = places(trial)
    ratios = {name: float(row.defect["T3"].mean() / row.defect["T1"].mean()) for name, row in each(found).items()}
    return {
        **powers(trial, claimed, lambda row, stage: row.highest if "later" in stage else row.defect[stage]),
        "ratios": ratios,
        "behind": {name: float(row.noise[:, 2].mean()) for name, row in last(found).items()},
    }


@claim(
    "lazy-values",
    where="section 2",
    says="The newly active singular values converge while the lazy ones remain almost constant.",
    assumes=ACTIVE,
    tried=BOTH,
    holds=Below(
        1.1,
        "grown",
        what="s_(K+1) at T3 over what it was at the start",
        because="'almost constant': within a tenth",
        otherwise="while the signal is learned the lazy values grow several times over; at the largest d they stay "
        "behind it, at {behind.highest:.2f} s_K or less",
    ),
    expected=Verdict.REFUTED,
    reads="at T3, when the signal is half learned, the largest lazy singular value is {grown:.1f} times what it was "
    "at the start: {noise:.2f} sigma^2 w",
)
def growth_of_lazy_values(trial: Trial) -> Numbers:
    found = places(trial, *timeline.SPECTRA)
    grown = {name: float(row.noise[:, 1].mean()) for name, row in each(found).items()}
    return {
        "grown": grown,
        "noise": {name: float(row.noise[:, 0].mean()) for name, row in last(found).items()},
        "behind": {
            name: float((row.noise[:, 0] * row.threshold / (0.5 * row.smallest)).mean())
            for name, row in last(found).items()
        },
        "value": highest(grown.values()),
    }


@claim(
    "early-distance",
    where="Lemma E.4",
    says="Until |A_t| + |A_theta| reaches sigma^2 w, the network and eq. (1) from the same start are within O(sigma^2 "
    "sqrt(wd)) of each other.",
    assumes=ACTIVE,
    tried=f"descent at d = 30, 90 (full: 50, 100, 200), 2 tasks each, a = (1, 1/2), {EVERYWHERE}",
    holds=Below(
        0.6,
        "constants",
        what="largest distance over sigma^2 sqrt(wd)",
        because="an O(.) that would have to grow with d to be missed; twice the largest seen",
    ),
    reads="largest distance over sigma^2 sqrt(wd): {constants.lowest:.2f} to {constants.highest:.2f}",
)
def distance_in_the_lazy_stage(trial: Trial) -> Numbers:
    found = {}
    for place, gammas in timeline.PLACES.items():
        for dim in (30, 90) if trial.quick else (50, 100, 200):
            ratios = []
            for seed, task in enumerate(tasks_of(trial, dim, 2)):
                weights, rate = active_start(dim, gammas, key=[trial.seed, seed, 1]), 1 / (400 * dim)
                run = ln.gradient_descent(task, weights, learning_rate=rate, steps=300, save_every=10, keep="products")
                threshold, width = timeline.threshold_of(dim, gammas), round(dim ** gammas[1])
                theory = ln.theories.mixed.self_consistent(task.cross, weights.product, threshold, run.times)
                sizes = np.linalg.norm(run.products, 2, axis=(1, 2)) + np.linalg.norm(theory, 2, axis=(1, 2))
                early = np.linalg.norm(run.products - theory, 2, axis=(1, 2))[sizes <= threshold]
                ratios.append(early.max() / (threshold * np.sqrt(dim / width)))
            found[f"{place}, d = {dim}"] = float(np.mean(ratios))
    return {"constants": found, "value": highest(found.values())}


@claim(
    "second-stage",
    where="section E.3 (T2), Theorem E.3",
    says="At T2 the least singular value of the signal is above sigma^2 w by a power of d.",
    assumes=ACTIVE,
    tried=BOTH,
    holds=AllOf(
        Above(1.0, "sizes", what="s_K at T2 over sigma^2 w, at the largest d", because="it has passed the threshold"),
        Above(
            0.0,
            errors=2,
            what="power of d with which it grows, mean of the places, a = (1, 1/2)",
            form=".2f",
            because="the claimed delta is positive; for a = (1) T2 itself says so",
        ),
    ),
    reads="s_K at T2 is {sizes:.2f} sigma^2 w and grows like d to the powers {powers:.2f}",
)
def signal_at_the_second_stage(trial: Trial) -> Numbers:
    found = places(trial, *timeline.SPECTRA)
    powers = {name: slope(rows, [row.second for row in rows]) for name, rows in found.items()}
    sizes = {name: float(row.second.mean()) for name, row in last(found).items()}
    second = [powers[name] for name in powers if "1/2" in name]
    mean, error = np.mean([one.value for one in second]), np.linalg.norm([one.error for one in second]) / len(second)
    return {"sizes": sizes, "powers": powers, "value": float(mean), "uncertainty": float(error)}


@claim(
    "projection",
    where="proof of Theorem E.5",
    says="|(I - P_K) A|_F is O(sigma^2 sqrt(w) d + sigma^2 w log d) while the signal is learned.",
    assumes=ACTIVE,
    tried=BOTH,
    holds=Below(
        2.5,
        "shares",
        what="largest |(I - P_K) A|_F to T3 over the sum of its two terms",
        because="lazy modes learn 2 sigma^2 w T3 of E, that is Delta/a_K = 1.6 sigma^2 w log d at most here",
    ),
    reads="largest Frobenius norm of all that is beyond the signal, to T3, over sigma^2 sqrt(w) d + sigma^2 w log d: "
    "{shares.lowest:.2f} to {shares.highest:.2f}",
)
def beyond_the_signal(trial: Trial) -> Numbers:
    shares = {name: float(row.rest.max()) for name, row in each(places(trial, *timeline.SPECTRA)).items()}
    return {"shares": shares, "value": highest(shares.values())}


@claim(
    "alignment-stage",
    where="section E.3 (T4)",
    says="After T3 singular vectors that are not yet aligned need at most 2 min(1, 2 Delta)/c(a) d log d to align.",
    assumes="active region: sigma^2 w = d^0.4, T* corrected; the signal's singular values at half their targets",
    tried="eq. (1) with noise from 5 starts turned away from alignment (x = 0.2 to 2), d = 30, 60 (full: 50, 100), "
    "spectra (1), (1, 1/2), (1, 0.9), (1, 0.7, 0.4)",
    holds=AllOf(
        Above(0.1, "starts", what="least x at the start over K", because="far above its end, which is of order 1/d"),
        AtMost(BOUND, "shares", what="time until x is within a tenth of its end, over the bound"),
    ),
    reads="from x of {starts:.2f} K to within a tenth of its end: {shares:.3f} of the bound",
)
def alignment_stage(trial: Trial) -> Numbers:
    draw, starts, shares = generator(key=trial.seed), [], {}
    for spectrum in ((1.0,), SPECTRUM, (1.0, 0.9), (1.0, 0.7, 0.4)):
        for dim in (30, 60) if trial.quick else (50, 100):
            goals, threshold, taken = np.array(spectrum) * dim, dim**0.4, []
            bound = ln.theories.mixed.stage_lengths(spectrum, -1.85, 2.25, dim=dim)["alignment"]
            truth = np.diag(np.append(goals, np.zeros(dim - len(goals))))
            times = np.append(0.0, np.geomspace(1e-4, 1.2, 120) * bound)
            for _ in range(5):
                left, right = (turned_away(draw, dim, len(goals)) for _ in range(2))
                target, start = truth + draw.normal(size=truth.shape), 0.5 * left @ truth @ right.T
                products = ln.theories.mixed.self_consistent(target, start, threshold, times)
                x = ln.theories.mixed.alignment_defect(products, truth, len(goals))
                ends = float(ln.theories.mixed.alignment_defect(target, truth, len(goals)))
                aligned = x <= 1.1 * ends
                taken.append(float(times[np.argmax(aligned)] / bound) if aligned.any() else np.inf)
                starts.append(float(x[0]) / len(goals))
            shares[f"a = {spectrum}, d = {dim}"] = highest(taken)
    return {"starts": lowest(starts), "shares": shares, "value": highest(shares.values())}


def turned_away(draw: np.random.Generator, dim: int, rank: int) -> np.ndarray:
    """A rotation that turns the first axes, by a tenth to a half of a radian, into the others."""
    turn = np.zeros((dim, dim))
    turn[:, :rank] = draw.normal(size=(dim, rank)) / np.sqrt(dim) * draw.uniform(0.25, 0.5)
    from scipy.linalg import expm

    return expm(turn - turn.T)


@claim(
    "final-alignment",
    where="section E.3 (end), Theorem E.5",
    says="At T* the network is in P2(C, max(1, 2 Delta)): x is at most d^-max(1, 2 Delta).",
    assumes=ACTIVE,
    tried=FOLLOWED + "; A* + E itself at d = 40 .. 160 (full: 50 .. 400), 6 tasks",
    holds=Within(FIT, "printed", of="power", what="printed power of 1/d at Delta = 0.6, 1, 2"),
    corrected=AllOf(
        Within(FIT, of=-1, what="exponent in d of x of A* + E, where any training goes"),
        Within(
            0.3,
            "trained",
            of=-1,
            what="that of trained networks",
            because="twice that of the matrices A* + E themselves: fewer tasks, at fewer dimensions",
        ),
    ),
    correction="x is at most d^-min(1, 2 Delta): no training aligns better than A* + E itself",
    reads="trained networks end at an x that changes like d to the powers {trained:.2f}; that of A* + E, where any of "
    "them goes, is {x:.3f} at d = {dims}, like d^{value:.2f}; printed are the powers {printed:g} of 1/d at Delta = "
    "{gaps:g}",
)
def final_alignment(trial: Trial) -> Numbers:
    dims, draws = (40, 80, 160) if trial.quick else (50, 100, 200, 400), 6
    defects = [
        [float(ln.theories.mixed.alignment_defect(task.cross, task.truth, 2)) for task in tasks_of(trial, dim, draws)]
        for dim in dims
    ]
    rate, error = exponent(np.repeat(dims, draws).astype(float), np.ravel(defects))
    gaps = (0.6, 1.0, 2.0)
    return {
        "dims": list(dims),
        "x": [float(np.mean(values)) for values in defects],
        "trained": {name: slope(rows, [row.end for row in rows]) for name, rows in places(trial).items()},
        "printed": [misprints.final_alignment(gap) for gap in gaps],
        "gaps": list(gaps),
        "power": -rate,
        "value": rate,
        "uncertainty": error,
    }


def tasks_of(trial: Trial, dim: int, draws: int) -> list[ln.Problem]:
    """Tasks of rank 2 in unit noise."""
    return [
        ln.problems.low_rank_plus_noise(dim, rank=2, key=[trial.seed, draw], spectrum=list(SPECTRUM))
        for draw in range(draws)
    ]


@claim(
    "settling",
    where="section E.3 (T5), Theorem E.5",
    says="After T5 the signal's singular values are within O(d^-1 + d^(-2 Delta)) log d of a_i d.",
    assumes=ACTIVE,
    tried="d = 40, 80, 160 (full: 50, 100, 200), a = (1, 1/2), 20 tasks; 3 trained networks each",
    holds=Below(
        -0.7,
        what="exponent in d of the distance from a_i d",
        because="an exponent of -1 that 20 tasks could not tell from it",
    ),
    corrected=AllOf(
        Below(
            0.05,
            "arrived",
            what="distance of trained values from those of A* + E, relative",
            because="the singular values are those of A* + E at the end of the run",
        ),
        Within(
            0.35,
            of=0,
            what="exponent in d of the distance from a_i d",
            because="of an exponent that should be 0: the scatter of 20 tasks, twice",
        ),
    ),
    correction="|s_i/(a_i d) - 1| is within that, not |s_i - a_i d|",
    reads="signal singular values go to those of A* + E (within {arrived:.3f}), which are {sizes:.2f} (root mean "
    "square) from a_i d at d = {dims}: the distance changes like d^{value:.2f} (mean shift {shift:.2f}; 1/a_i = 1, 2)",
)
def settled_values(trial: Trial) -> Numbers:
    dims, goals = (40, 80, 160) if trial.quick else (50, 100, 200), np.array(SPECTRUM)
    gaps = [
        np.array([np.linalg.svd(task.cross, compute_uv=False)[:2] - goals * dim for task in tasks_of(trial, dim, 20)])
        for dim in dims
    ]
    sizes = np.array([np.sqrt((gap**2).mean()) for gap in gaps])
    rate, error = exponent(np.array(dims, dtype=float), sizes)
    return {
        "arrived": highest(row.left.max() for row in each(places(trial)).values()),
        "dims": list(dims),
        "sizes": sizes.tolist(),
        "shift": gaps[-1].mean(axis=0).tolist(),
        "value": rate,
        "uncertainty": error,
    }


@claim(
    "thm2-time",
    where="Theorem 2, E.3 (T1 to T3), Theorem E.5",
    says="From the threshold to half its target a singular value takes d log(a_K d/sigma^2 w)/a_K.",
    assumes=ACTIVE,
    tried=FOLLOWED.replace("a = (1, 1/2)", "a = (1)"),
    holds=Within(FACTOR, "ratios", of=1, what="T3 - T1 over the printed time, at the largest d"),
    corrected=AllOf(
        Within(FACTOR, "ratios", of=0.5, what="T3 - T1 over the printed time, at the largest d"),
        Within(
            0.06,
            "own",
            of=1,
            what="T3 - T1 over the time of its own ODE",
            because="the equation's own time, at the saved states' resolution",
        ),
    ),
    correction="half of it, as its own ODE has",
    reads="T3 - T1 over d log(a_K d/sigma^2 w)/a_K: {printed:.2f}, and {own:.2f} of the ODE's own time",
)
def time_of_growth(trial: Trial) -> Numbers:
    found = places(trial, "(1)")
    printed = {
        name: float(row.growth.mean() / (np.log(row.smallest / row.threshold) / row.smallest))
        for name, row in each(found).items()
    }
    ratios = {name: printed[f"{name}, d = {row.dim}"] for name, row in last(found).items()}
    own = {
        name: float((row.growth / timeline.growth_of(row.smallest, row.start, row.threshold)).mean())
        for name, row in last(found).items()
    }
    return {"printed": printed, "ratios": ratios, "own": own, "value": highest(ratios.values())}


@claim(
    "settling-time",
    where="section E.3 (T5), Theorem 2 (third term of T*)",
    says="From T4 the signal's singular values need at most max(1, 2 Delta)/(2 a_K) d log d to settle.",
    assumes=f"{ACTIVE}; settled: within log(d)/d of those of A* + E; counted from T3, where T4 is (`alignment-stage`)",
    tried=BOTH,
    holds=AtMost(BOUND, "shares", what="time from T3 to settled, over min(1, 2 Delta)/(2 a_K) d log d"),
    reads="time from T3 to settled, over min(1, 2 Delta)/(2 a_K) d log d: {shares.lowest:.2f} to "
    "{shares.highest:.2f}; with the printed maximum the bound is {longer:.2f} times as long",
)
def time_of_settling(trial: Trial) -> Numbers:
    shares, longer = {}, []
    for name, row in each(places(trial, *timeline.SPECTRA)).items():
        spectrum = timeline.SPECTRA[row.name]
        ours = ln.theories.mixed.stage_lengths(spectrum, *row.gammas, dim=row.dim)["settling"] * row.dim
        shares[name] = float((row.settled * np.log(row.dim)).max() / ours)
        gap = 1 - sum(row.gammas)
        longer.append(misprints.final_alignment(gap) / min(1.0, 2 * gap))
    return {"shares": shares, "longer": highest(longer), "value": highest(shares.values())}


@claim(
    "transition",
    where="section 2",
    says="A singular value is close to the transition only for a very short time.",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=AllOf(
        Below(
            0.25,
            "shares",
            what="share of the time near the transition at the largest d",
            form=".1%",
            because="'a very short time': less than a quarter of the time to the learned signal",
        ),
        Below(1.0, "shrinks", what="that share over the one at the least d", because="it falls with d, like 1/log d"),
    ),
    reads=f"the leading singular value is within a factor {timeline.NEAR:g} of sigma^2 w for {{shares:.1%}} of the "
    "time to the learned signal",
)
def short_transition(trial: Trial) -> Numbers:
    found = places(trial)
    shares = {name: float(row.near.mean()) for name, row in last(found).items()}
    shrinks = {name: shares[name] / float(rows[0].near.mean()) for name, rows in found.items()}
    return {"shares": shares, "shrinks": shrinks, "value": highest(shares.values())}
