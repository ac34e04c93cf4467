"""Claims on the stages of the active region: appendices C and E, on networks followed by descent."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.tu import misprints
from linnet.papers.tu.settings import GAMMAS
from linnet.papers.tu.tables import timeline
from linnet.reproduction import AllOf, AtMost, Below, Limit, Numbers, Trial, Verdict, Within, claim
from linnet.reproduction.fits import exponent, highest, lowest

SPECTRUM = (1.0, 0.5)
FIT = Limit(0.15, "of an exponent, from three tasks at two or three dimensions: twice its scatter over seeds")
FACTOR = Limit(0.2, "between the printed time and half of it, which the next order in log d blurs")
FOLLOWED = "descent at d = 30, 90 (full: 50, 100, 200), 3 tasks each, a = (1, 1/2), gamma = (-1.85, 2.25)"
ACTIVE = "active region, d large"


def rows_of(trial: Trial, name: str = "(1, 1/2)") -> list[timeline.Stages]:
    return [row for row in timeline.TABLE.rows(trial) if row.name == name]


def slope(rows: list[timeline.Stages], values: list[np.ndarray]) -> float:
    """The exponent in d of what each network of each row has."""
    dims = np.repeat([float(row.dim) for row in rows], [len(array) for array in values])
    return exponent(dims, np.concatenate(values))[0]


def powers(rows: list[timeline.Stages], claimed: dict[str, float], values: dict[str, list[np.ndarray]]) -> Numbers:
    """How x falls with d at each stage, beside the claimed exponents; `value` is the largest excess over one."""
    found = {stage: slope(rows, values[stage]) for stage in claimed}
    return {
        "claimed": claimed,
        "found": found,
        "x": {stage: [float(array.mean()) for array in values[stage]] for stage in claimed},
        "dims": [row.dim for row in rows],
        "value": highest(found[stage] + claimed[stage] for stage in claimed),
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
            what="largest over least T1/d",
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
    reads="T1/d is {first:.2f} at d = {dims}; half-way s_1 is at {linear:.2f} of sigma^2 w",
)
def lazy_stage(trial: Trial) -> Numbers:
    rows = rows_of(trial)
    first = [float(row.reached["T1"].mean()) for row in rows]
    return {
        "dims": [row.dim for row in rows],
        "first": first,
        "linear": [float(row.linear.mean()) for row in rows],
        "value": highest(first) / lowest(first),
    }


EXCESS = Below(FIT, what="largest excess of an exponent over the claimed one")
X_READS = (
    "d = {dims}: x is {x:.3f}, and changes like d to the power {found:.2f}, claimed is at most minus {claimed:.2f}"
)


@claim(
    "alignment-early",
    where="Lemmas C.8, C.9, E.4",
    says="In the short lazy stage the singular vectors align: x is at most d^-min(1/2, delta/2) at t1, and "
    "d^-min((gamma_w - 1)/8, 1/4) at T1.",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=EXCESS,
    reads=X_READS,
)
def early_alignment(trial: Trial) -> Numbers:
    rows = rows_of(trial)
    claimed = {"t1": min(0.5, (GAMMAS[1] - 1) / 4), "T1": min((GAMMAS[1] - 1) / 8, 0.25)}
    return powers(rows, claimed, {stage: [row.defect[stage] for row in rows] for stage in claimed})


@claim(
    "alignment-kept",
    where="Theorems C.2, E.3, Lemmas C.3, C.4, C.7, E.1, E.2, section E.3 (T2, T3)",
    says="The signal's singular vectors stay aligned while its singular values grow (x at T2 at most d^-(gamma_w - "
    "1)/2), and the singular values of the noise stay behind.",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=AllOf(
        EXCESS,
        Below(1.0, "ratios", what="x at T3 over that at T1", because="x falls from T1 to T3"),
        Below(
            0.5, "behind", what="largest s_(K+1)/s_K after T3, at the largest d", because="Definition C.1: below 1/2"
        ),
    ),
    reads=X_READS + "; s_(K+1) is {noise:.2f} sigma^2 w at T3 and at most {apart:.2f} s_K afterwards",
)
def kept_alignment(trial: Trial) -> Numbers:
    rows = rows_of(trial)
    claimed = {"T2": (GAMMAS[1] - 1) / 2, "T3": 0.0, "T1 and later": min(0.25, (GAMMAS[1] - 1) / 8)}
    values = {stage: [row.defect[stage] for row in rows] for stage in ("T2", "T3")}
    apart = [float(row.noise[:, 1].mean()) for row in rows]
    return {
        **powers(rows, claimed, values | {"T1 and later": [row.highest for row in rows]}),
        "ratios": [float(row.defect["T3"].mean() / row.defect["T1"].mean()) for row in rows],
        "noise": [float(row.noise[:, 0].mean()) for row in rows],
        "apart": apart,
        "behind": apart[-1],
    }


@claim(
    "alignment-stage",
    where="section E.3 (T4)",
    says="After T3 the singular vectors need at most 2 max(1, 2 Delta)/c(a) d log d to align to their end.",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=AtMost(
        1.0,
        what="time to the end of the alignment over the bound",
        because="a bound is kept or it is not",
    ),
    reads="x at T3 {third:.3f} and its later least {least:.3f} at d = {dims}: within a hundredth of it after "
    "{lengths:.2f} d, where the bound is {bounds:.0f} d",
)
def alignment_stage(trial: Trial) -> Numbers:
    rows = rows_of(trial)
    # on the paper's clock over d
    bounds = [misprints.stage_lengths(SPECTRUM, *GAMMAS, dim=row.dim)["alignment"] * row.dim for row in rows]
    lengths = [float(row.aligned.mean()) for row in rows]
    return {
        "dims": [row.dim for row in rows],
        "lengths": lengths,
        "bounds": bounds,
        "third": [float(row.defect["T3"].mean()) for row in rows],
        "least": [float(row.least.mean()) for row in rows],
        "value": highest(one / two for one, two in zip(lengths, bounds, strict=True)),
    }


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
    expected=Verdict.CORRECTED,
    reads="trained networks end at an x that changes like d^{trained:.2f}; that of A* + E, where any of them goes, is "
    "{x:.3f} at d = {dims}, like d^{value:.2f}; printed are the powers {printed:g} of 1/d at Delta = {gaps:g}",
)
def final_alignment(trial: Trial) -> Numbers:
    dims, draws = (40, 80, 160) if trial.quick else (50, 100, 200, 400), 6
    defects = [
        [float(ln.theories.mixed.alignment_defect(task.cross, task.truth, 2)) for task in tasks_of(trial, dim, draws)]
        for dim in dims
    ]
    rate, error = exponent(np.repeat(dims, draws).astype(float), np.ravel(defects))
    rows = rows_of(trial)
    gaps = (0.6, 1.0, 2.0)
    return {
        "dims": list(dims),
        "x": [float(np.mean(values)) for values in defects],
        "trained": slope(rows, [row.end for row in rows]),
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
    expected=Verdict.CORRECTED,
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
        "arrived": highest(row.left.max() for row in rows_of(trial)),
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
    tried="descent at d = 30, 90 (full: 50, 100, 200), 3 tasks each, a = (1), gamma = (-1.85, 2.25)",
    holds=Within(FACTOR, of=1, what="T3 - T1 over the printed time, at the largest d"),
    corrected=AllOf(
        Within(FACTOR, of=0.5, what="T3 - T1 over the printed time, at the largest d"),
        Within(
            0.06,
            "own",
            of=1,
            what="T3 - T1 over the time of its own ODE",
            because="the equation's own time, at the saved states' resolution",
        ),
    ),
    correction="half of it, as its own ODE has",
    expected=Verdict.CORRECTED,
    reads="T3 - T1 over d log(a_K d/sigma^2 w)/a_K: {printed:.2f} at d = {dims}, and {own:.2f} of the ODE's own time. "
    "max for min in the two last terms: at Delta = 0.2 the printed settling stage is {settling:.1f} times as long, and "
    "T* at Delta = 0.6 {total:.2f} of ours",
)
def time_of_growth(trial: Trial) -> Numbers:
    rows = rows_of(trial, "(1)")
    own = [float((row.growth / timeline.growth_of(row.smallest, row.start, row.threshold)).mean()) for row in rows]
    printed = [float(row.growth.mean() / (np.log(row.smallest / row.threshold) / row.smallest)) for row in rows]
    both = (misprints.stage_lengths, ln.theories.mixed.stage_lengths)
    settling = [lengths(SPECTRUM, -1.6, 2.4, dim=100)["settling"] for lengths in both]
    total = [sum(lengths(SPECTRUM, *GAMMAS, dim=100).values()) for lengths in both]
    return {
        "dims": [row.dim for row in rows],
        "printed": printed,
        "own": own[-1],
        "settling": settling[0] / settling[1],  # at Delta = 0.2
        "total": total[0] / total[1],
        "value": printed[-1],
    }


@claim(
    "transition",
    where="section 2",
    says="A singular value is close to the transition only for a very short time.",
    assumes=ACTIVE,
    tried=FOLLOWED,
    holds=AllOf(
        Below(
            0.25,
            what="share of the time near the transition at the largest d",
            form=".1%",
            because="'a very short time': less than a quarter of the time to the learned signal",
        ),
        Below(1.0, "shrinks", what="that share over the one at the least d", because="it falls with d, like 1/log d"),
    ),
    reads=f"the leading singular value is within a factor {timeline.NEAR:g} of sigma^2 w for {{shares:.1%}} of the "
    "time to the learned signal at d = {dims}",
)
def short_transition(trial: Trial) -> Numbers:
    rows = rows_of(trial)
    shares = [float(row.near.mean()) for row in rows]
    return {"dims": [row.dim for row in rows], "shares": shares, "shrinks": shares[-1] / shares[0], "value": shares[-1]}
