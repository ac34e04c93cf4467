"""Claims on the stages of the active region: appendices C and E, on networks followed by descent."""

from __future__ import annotations

from typing import Any

import numpy as np

import linnet as ln
from linnet.papers.tu import misprints
from linnet.papers.tu.settings import GAMMAS
from linnet.papers.tu.tables import timeline
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, highest, lowest
from linnet.reproduction.old_claim import old as Claim

GAP = 1 - sum(GAMMAS)  # Delta of Theorem 2
SAME = Limit(1.25, "T1 = O(d): T1/d may move by its next order, but not like a power of d")
LINEAR = Limit(0.15, "'roughly linear (bounded above and below by linear functions)': half-way within 0.35 to 0.65")
FIT = Limit(0.15, "of an exponent, from three tasks at two or three dimensions: twice its scatter over seeds")
TRAINED_FIT = Limit(0.3, "twice that of the matrices A* + E themselves: fewer tasks, at fewer dimensions")
HALF = Limit(0.5, "Definition C.1: s_(K+1)/s_K < 1/2")
ARRIVED = Limit(0.05, "the singular values are those of A* + E at the end of the run")
FLAT = Limit(0.35, "of an exponent that should be 0: the scatter of 20 tasks, twice")
VANISHES = Limit(0.7, "an exponent of -1 that 20 tasks could not tell from it")
GROWTH = Limit(0.06, "the equation's own time, at the saved states' resolution")
FACTOR = Limit(0.2, "between the printed time and half of it, which the next order in log d blurs")
SHORT = Limit(0.25, "'a very short time': less than a quarter of the time to the learned signal")


def rows_of(trial: Trial, name: str = "(1, 1/2)") -> list[timeline.Stages]:
    return [row for row in timeline.table(trial) if row.name == name]


def slope(rows: list[timeline.Stages], values: list[np.ndarray]) -> float:
    """The exponent in d of what each network of each row has."""
    dims = np.repeat([float(row.dim) for row in rows], [len(array) for array in values])
    return exponent(dims, np.concatenate(values))[0]


def measure_lazy_stage(trial: Trial) -> dict[str, Any]:
    rows = rows_of(trial)
    return {
        "dims": [row.dim for row in rows],
        "first": [float(row.reached["T1"].mean()) for row in rows],
        "linear": [float(row.linear.mean()) for row in rows],
        "value": highest(row.reached["T1"].mean() for row in rows) / lowest(row.reached["T1"].mean() for row in rows),
    }


def judge_lazy_stage(numbers: Numbers) -> Verdict:
    straight = highest(abs(share - 0.5) for share in numbers["linear"]) < LINEAR
    return Verdict.HOLDS if numbers["value"] < SAME and straight else Verdict.REFUTED


def tell_lazy_stage(numbers: Numbers) -> str:
    first, linear = (", ".join(f"{value:.2f}" for value in numbers[name]) for name in ("first", "linear"))
    return f"T1/d is {first} at d = {', '.join(map(str, numbers['dims']))}; half-way s_1 is at {linear} of sigma^2 w"


def measure_early(trial: Trial) -> dict[str, Any]:
    rows = rows_of(trial)
    claimed = {"t1": min(0.5, (GAMMAS[1] - 1) / 4), "T1": min((GAMMAS[1] - 1) / 8, 0.25)}
    found = {stage: slope(rows, [row.defect[stage] for row in rows]) for stage in claimed}
    return {
        "claimed": claimed,
        "found": found,
        "x": {stage: [float(row.defect[stage].mean()) for row in rows] for stage in claimed},
        "dims": [row.dim for row in rows],
        "value": highest(found[stage] + claimed[stage] for stage in claimed),
    }


def judge_exponents(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < FIT else Verdict.REFUTED


def tell_exponents(numbers: Numbers) -> str:
    parts = [
        f"at {stage} x is {', '.join(f'{value:.3f}' for value in numbers['x'][stage])} and falls like "
        f"d^{numbers['found'][stage]:.2f} (claimed at least d^-{claimed:.2f})"
        for stage, claimed in numbers["claimed"].items()
    ]
    return f"d = {', '.join(map(str, numbers['dims']))}: {'; '.join(parts)}"


def measure_kept(trial: Trial) -> dict[str, Any]:
    rows = rows_of(trial)
    claimed = {"T2": (GAMMAS[1] - 1) / 2, "T3": 0.0, "T1 and later": min(0.25, (GAMMAS[1] - 1) / 8)}
    values = {
        "T2": [row.defect["T2"] for row in rows],
        "T3": [row.defect["T3"] for row in rows],
        "T1 and later": [row.highest for row in rows],
    }
    found = {stage: slope(rows, values[stage]) for stage in claimed}
    return {
        "claimed": claimed,
        "found": found,
        "x": {stage: [float(array.mean()) for array in values[stage]] for stage in claimed},
        "dims": [row.dim for row in rows],
        "falls": bool(all(row.defect["T3"].mean() < row.defect["T1"].mean() for row in rows)),
        "noise": [float(row.noise[:, 0].mean()) for row in rows],
        "apart": [float(row.noise[:, 1].mean()) for row in rows],
        "value": highest(found[stage] + claimed[stage] for stage in claimed),
    }


def judge_kept(numbers: Numbers) -> Verdict:
    good = numbers["value"] < FIT and numbers["falls"] and numbers["apart"][-1] < HALF
    return Verdict.HOLDS if good else Verdict.REFUTED


def tell_kept(numbers: Numbers) -> str:
    noise, apart = (", ".join(f"{value:.2f}" for value in numbers[name]) for name in ("noise", "apart"))
    return f"{tell_exponents(numbers)}; s_(K+1) is {noise} sigma^2 w at T3 and at most {apart} s_K afterwards"


def measure_aligning(trial: Trial) -> dict[str, Any]:
    rows = rows_of(trial)
    # on the paper's clock over d
    bounds = [misprints.stage_lengths([1.0, 0.5], *GAMMAS, dim=row.dim)["alignment"] * row.dim for row in rows]
    lengths = [float(row.aligned.mean()) for row in rows]
    return {
        "dims": [row.dim for row in rows],
        "lengths": lengths,
        "bounds": bounds,
        "third": [float(row.defect["T3"].mean()) for row in rows],
        "least": [float(row.least.mean()) for row in rows],
        "value": highest(one / two for one, two in zip(lengths, bounds, strict=True)),
    }


def judge_aligning(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] <= 1 else Verdict.REFUTED


def tell_aligning(numbers: Numbers) -> str:
    pairs = ", ".join(f"{one:.3f} and {two:.3f}" for one, two in zip(numbers["third"], numbers["least"], strict=True))
    return (
        f"x at T3 and its later least: {pairs} at d = {', '.join(map(str, numbers['dims']))}: within a hundredth of it "
        f"after {', '.join(f'{x:.2f}' for x in numbers['lengths'])} d, where the bound is "
        f"{', '.join(f'{x:.0f}' for x in numbers['bounds'])} d. It is true and far from needed: the signal is aligned "
        "when it has grown"
    )


def measure_final(trial: Trial) -> dict[str, Any]:
    spectrum, dims, draws = [1.0, 0.5], (40, 80, 160) if trial.quick else (50, 100, 200, 400), 6
    defects = []
    for dim in dims:
        tasks = [
            ln.problems.low_rank_plus_noise(dim, rank=2, key=[trial.seed, draw], spectrum=spectrum)
            for draw in range(draws)
        ]
        defects.append([float(ln.theories.mixed.alignment_defect(task.cross, task.truth, 2)) for task in tasks])
    rate, error = exponent(np.repeat(dims, draws).astype(float), np.ravel(defects))
    rows = rows_of(trial)
    trained = slope(rows, [row.end for row in rows])
    gaps = (0.6, 1.0, 2.0)
    return {
        "dims": list(dims),
        "x": [float(np.mean(values)) for values in defects],
        "trained": trained,
        "printed": [misprints.final_alignment(gap) for gap in gaps],
        "gaps": list(gaps),
        "value": rate,
        "uncertainty": error,
    }


def judge_final(numbers: Numbers) -> Verdict:
    ours = abs(numbers["value"] + 1) < FIT and abs(numbers["trained"] + 1) < TRAINED_FIT
    theirs = abs(numbers["value"] + highest(numbers["printed"])) < FIT
    return Verdict.CORRECTED if ours else Verdict.HOLDS if theirs else Verdict.REFUTED


def tell_final(numbers: Numbers) -> str:
    return (
        f"trained networks end at an x that falls like d^{numbers['trained']:.2f}; that of A* + E, where any of them "
        f"goes, is {', '.join(f'{x:.3f}' for x in numbers['x'])} at d = {', '.join(map(str, numbers['dims']))}, like "
        f"d^{numbers['value']:.2f}: no training aligns to d^-{', d^-'.join(f'{p:g}' for p in numbers['printed'])} "
        f"(printed, Delta = {', '.join(map(str, numbers['gaps']))}); with the minimum for the maximum it is right"
    )


def measure_settling(trial: Trial) -> dict[str, Any]:
    spectrum, dims = np.array([1.0, 0.5]), (40, 80, 160) if trial.quick else (50, 100, 200)
    gaps = [
        np.array(
            [
                np.linalg.svd(
                    ln.problems.low_rank_plus_noise(
                        dim, rank=2, key=[trial.seed, draw], spectrum=spectrum.tolist()
                    ).cross,
                    compute_uv=False,
                )[:2]
                - spectrum * dim
                for draw in range(20)
            ]
        )
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


def judge_settling(numbers: Numbers) -> Verdict:
    if numbers["value"] < -VANISHES:
        return Verdict.HOLDS
    good = numbers["arrived"] < ARRIVED and abs(numbers["value"]) < FLAT
    return Verdict.CORRECTED if good else Verdict.REFUTED


def tell_settling(numbers: Numbers) -> str:
    return (
        f"signal singular values go to those of A* + E (within {numbers['arrived']:.3f}), which are "
        f"{numbers['sizes'][0]:.2f} and {numbers['sizes'][-1]:.2f} (root mean square) from a_i d at d = "
        f"{numbers['dims'][0]} and {numbers['dims'][-1]}: the distance changes like d^{numbers['value']:.2f}, not d^-1 "
        f"(mean shift {numbers['shift'][0]:.2f}, {numbers['shift'][1]:.2f}; 1/a_i = 1, 2); the claim is right for "
        "|s_i/(a_i d) - 1|"
    )


def ours() -> Any:
    return ln.theories.mixed.stage_lengths


def measure_growth(trial: Trial) -> dict[str, Any]:
    rows = rows_of(trial, "(1)")
    own = [float((row.growth / timeline.growth_of(row.smallest, row.start, row.threshold)).mean()) for row in rows]
    printed = [float(row.growth.mean() / (np.log(row.smallest / row.threshold) / row.smallest)) for row in rows]
    spectrum = [1.0, 0.5]
    settling = [lengths(spectrum, -1.6, 2.4, dim=100)["settling"] for lengths in (misprints.stage_lengths, ours())]
    total = [sum(lengths(spectrum, *GAMMAS, dim=100).values()) for lengths in (misprints.stage_lengths, ours())]
    return {
        "dims": [row.dim for row in rows],
        "printed": printed,
        "own": own[-1],
        "settling": settling[0] / settling[1],  # at Delta = 0.2
        "total": total[0] / total[1],
        "value": printed[-1],
    }


def judge_growth(numbers: Numbers) -> Verdict:
    if abs(numbers["value"] - 1) < FACTOR:
        return Verdict.HOLDS
    half = abs(numbers["value"] - 0.5) < FACTOR and abs(numbers["own"] - 1) < GROWTH
    return Verdict.CORRECTED if half else Verdict.REFUTED


def tell_growth(numbers: Numbers) -> str:
    return (
        f"T3 - T1 over d log(a_K d/sigma^2 w)/a_K: {', '.join(f'{r:.2f}' for r in numbers['printed'])} at d = "
        f"{', '.join(map(str, numbers['dims']))} (printed 1, its own ODE 1/2), and {numbers['own']:.2f} of the ODE's "
        "own time. max for min in the two last terms, a slip: at Delta = 0.2 the printed settling stage is "
        f"{numbers['settling']:.1f} times as long, and T* at Delta = 0.6 {numbers['total']:.2f} of ours"
    )


def measure_transition(trial: Trial) -> dict[str, Any]:
    rows = rows_of(trial)
    shares = [float(row.near.mean()) for row in rows]
    return {"dims": [row.dim for row in rows], "shares": shares, "value": shares[-1]}


def judge_transition(numbers: Numbers) -> Verdict:
    good = numbers["value"] < SHORT and numbers["shares"][-1] < numbers["shares"][0]
    return Verdict.HOLDS if good else Verdict.REFUTED


def tell_transition(numbers: Numbers) -> str:
    shares = ", ".join(f"{share:.1%}" for share in numbers["shares"])
    return (
        f"the leading singular value is within a factor {timeline.NEAR:g} of sigma^2 w for {shares} of the time to the "
        f"learned signal at d = {', '.join(map(str, numbers['dims']))}; it falls, slowly (like 1/log d)"
    )


FOLLOWED = "descent at d = 30, 90 (full: 50, 100, 200), 3 tasks each, a = (1, 1/2), gamma = (-1.85, 2.25)"
ACTIVE = "active region, d large"

CLAIMS = [
    Claim(
        name="stage-lazy",
        number="section E.3 (to T1), Lemma E.4",
        sentence="Until |A| reaches sigma^2 w singular values grow roughly linearly, and T1 = O(d).",
        assumptions=ACTIVE,
        setting=FOLLOWED,
        claimed="T1/d bounded, linear growth",
        expected=Verdict.HOLDS,
        measure=measure_lazy_stage,
        judge=judge_lazy_stage,
        tell=tell_lazy_stage,
        limits={"T1/d": SAME, "straight": LINEAR},
    ),
    Claim(
        name="alignment-early",
        number="Lemmas C.8, C.9, E.4",
        sentence="In the short lazy stage the singular vectors align: x is at most d^-min(1/2, delta/2) at t1, and "
        "d^-min((gamma_w - 1)/8, 1/4) at T1.",
        assumptions=ACTIVE,
        setting=FOLLOWED,
        claimed="exponents -0.31 at t1, -0.16 at T1",
        expected=Verdict.HOLDS,
        measure=measure_early,
        judge=judge_exponents,
        tell=tell_exponents,
        limits={"exponent": FIT},
    ),
    Claim(
        name="alignment-kept",
        number="Theorems C.2, E.3, Lemmas C.3, C.4, C.7, E.1, E.2, section E.3 (T2, T3)",
        sentence="The signal's singular vectors stay aligned while its singular values grow, and those of the noise "
        "stay behind.",
        assumptions=ACTIVE,
        setting=FOLLOWED,
        claimed="x at T2 at most d^-0.63; x falls to T3 and stays small; s_(K+1)/s_K < 1/2 at the largest d",
        expected=Verdict.HOLDS,
        measure=measure_kept,
        judge=judge_kept,
        tell=tell_kept,
        limits={"exponent": FIT, "apart": HALF},
    ),
    Claim(
        name="alignment-stage",
        number="section E.3 (T4)",
        sentence="After T3 the singular vectors need at most 2 max(1, 2 Delta)/c(a) d log d to align to their end.",
        assumptions=ACTIVE,
        setting=FOLLOWED,
        claimed="at most the bound",
        expected=Verdict.HOLDS,
        measure=measure_aligning,
        judge=judge_aligning,
        tell=tell_aligning,
    ),
    Claim(
        name="final-alignment",
        number="section E.3 (end), Theorem E.5",
        sentence="At T* the network is in P2(C, max(1, 2 Delta)): x is at most d^-max(1, 2 Delta).",
        assumptions=ACTIVE,
        setting=FOLLOWED + "; A* + E itself at d = 40 .. 160 (full: 50 .. 400), 6 tasks",
        claimed="exponents -1.2, -2, -4 at Delta = 0.6, 1, 2",
        expected=Verdict.CORRECTED,
        measure=measure_final,
        judge=judge_final,
        tell=tell_final,
        limits={"exponent": FIT, "of trained networks": TRAINED_FIT},
    ),
    Claim(
        name="settling",
        number="section E.3 (T5), Theorem E.5",
        sentence="After T5 the signal's singular values are within O(d^-1 + d^(-2 Delta)) log d of a_i d.",
        assumptions=ACTIVE,
        setting="d = 40, 80, 160 (full: 50, 100, 200), a = (1, 1/2), 20 tasks; 3 trained networks each",
        claimed="a distance that vanishes",
        expected=Verdict.CORRECTED,
        measure=measure_settling,
        judge=judge_settling,
        tell=tell_settling,
        limits={"arrived": ARRIVED, "no power": FLAT, "power": VANISHES},
    ),
    Claim(
        name="thm2-time",
        number="Theorem 2, E.3 (T1 to T3), Theorem E.5",
        sentence="From the threshold to half its target a singular value takes d log(a_K d/sigma^2 w)/a_K.",
        assumptions=ACTIVE,
        setting="descent at d = 30, 90 (full: 50, 100, 200), 3 tasks each, a = (1), gamma = (-1.85, 2.25)",
        claimed="ratio 1",
        expected=Verdict.CORRECTED,
        measure=measure_growth,
        judge=judge_growth,
        tell=tell_growth,
        limits={"own equation": GROWTH, "factor": FACTOR},
    ),
    Claim(
        name="transition",
        number="section 2",
        sentence="A singular value is close to the transition only for a very short time.",
        assumptions=ACTIVE,
        setting=FOLLOWED,
        claimed="a short time",
        expected=Verdict.HOLDS,
        measure=measure_transition,
        judge=judge_transition,
        tell=tell_transition,
        limits={"share": SHORT},
    ),
]
