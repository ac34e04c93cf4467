"""The toy experiment with ReLU networks: rank, directions and plateaus of students of a teacher of two neurons."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnet.papers.varre.settings import TEACHERS
from linnet.papers.varre.tables.relu import FITTED, RELU_RANKS, fitted, ranks
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim

SETTING = (
    "teacher of 2 neurons, 10 points in 5 dimensions, 20 hidden units, starts of std 0.001 and 1, 40 seeds (20 "
    "in quick mode)"
)
ASSUMPTIONS = "Gaussian teacher and starts"

LEARNED = Limit(0.9, "share of seeds whose students must have learned their samples for the others' to be judged")
LOWER = Limit(0.9, "share of seeds in which the small start must end lower: the paper shows one")
ALWAYS = Limit(0.9, "share of seeds from which a rank could be called the outcome")
OFTEN = Limit(0.15, "share of seeds below which one run with this rank would be a rarity; about half is measured")
COSINE = Limit(0.9, "cosine above which a unit has a direction, an angle of 26 degrees")
APART = Limit(0.2, "difference of the two starts' cosines, of five fluctuations of their medians")
MOST = Limit(0.5, "share of the seeds with a plateau that must have rank one there")
RANK_ONE = Limit(0.1, "second over first singular value that counts as rank one, as everywhere here")


def _students(trial: Trial) -> tuple[Any, np.ndarray]:
    students = RELU_RANKS.results(trial)
    return students, fitted(students)


def _left_out(numbers: Numbers) -> str:
    return f"{numbers['out']} of {numbers['seeds']} left out, with a final loss above {FITTED:g}"


def _counts(found: np.ndarray) -> str:
    return ", ".join(f"{int((found == r).sum())} of rank {r}" for r in np.unique(found))


def _judged(numbers: Numbers, verdict: Verdict) -> Verdict:
    """The verdict on trained students, where nine in ten of the seeds are; the others have no final rank to judge."""
    return verdict if 1 - numbers["out"] / numbers["seeds"] >= LEARNED else Verdict.OUTSIDE


def measure_low_rank(trial: Trial) -> dict[str, Any]:
    students, learned = _students(trial)
    small, large = ranks(students, "small")[learned], ranks(students, "large")[learned]
    return {
        "value": float(np.mean(small < large)),
        "small": _counts(small),
        "large": _counts(large),
        "seeds": learned.size,
        "out": int((~learned).sum()),
    }


def judge_low_rank(numbers: Numbers) -> Verdict:
    return _judged(numbers, Verdict.HOLDS if numbers["value"] >= LOWER else Verdict.REFUTED)


def tell_low_rank(numbers: Numbers) -> str:
    return (
        f"ranks from the small start {numbers['small']}, from the large one {numbers['large']}: lower in "
        f"{numbers['value']:.0%} of {numbers['seeds'] - numbers['out']} seeds ({_left_out(numbers)})"
    )


def measure_rank_two(trial: Trial) -> dict[str, Any]:
    students, learned = _students(trial)
    small, medium = ranks(students, "small")[learned], ranks(students, "medium")[learned]
    return {
        "value": float(np.mean(small == TEACHERS)),
        "medium": float(np.mean(medium == TEACHERS)),
        "counts": _counts(small),
        "seeds": learned.size,
        "out": int((~learned).sum()),
    }


def judge_rank_two(numbers: Numbers) -> Verdict:
    share = numbers["value"]
    found = Verdict.HOLDS if share >= ALWAYS else Verdict.CORRECTED if share >= OFTEN else Verdict.REFUTED
    return _judged(numbers, found)


def tell_rank_two(numbers: Numbers) -> str:
    return (
        f"rank 2 in {numbers['value']:.0%} of {numbers['seeds'] - numbers['out']} seeds from std 0.001 "
        f"({numbers['counts']}), in {numbers['medium']:.0%} from std 0.1 (values above 10% of the largest; "
        f"{_left_out(numbers)})"
    )


def measure_directions(trial: Trial) -> dict[str, Any]:
    """Cosines of the students' units with the teacher's neurons, from the small and from the large start."""
    students, learned = _students(trial)
    found = {}
    for start in ("small", "large"):
        found[start] = students["directions"].sel(start=start).transpose("replicate", "neuron").values[learned]
    return {
        "value": float(np.median(found["small"])),
        "large": float(np.median(found["large"])),
        "both": float(np.mean(found["small"].min(axis=1) > COSINE)),
        "large_both": float(np.mean(found["large"].min(axis=1) > COSINE)),
        "seeds": learned.size,
        "out": int((~learned).sum()),
    }


def judge_directions(numbers: Numbers) -> Verdict:
    nearer = numbers["value"] - numbers["large"] > APART and numbers["large_both"] < 1 - ALWAYS
    if not nearer:
        return _judged(numbers, Verdict.REFUTED)
    return _judged(numbers, Verdict.HOLDS if numbers["both"] >= ALWAYS else Verdict.CORRECTED)


def tell_directions(numbers: Numbers) -> str:
    return (
        f"median cosine of the units with the teacher's neurons: {numbers['value']:.2f} from the small start, "
        f"{numbers['large']:.2f} from the large one; both neurons are found (cosine above {COSINE:g}) in "
        f"{numbers['both']:.0%} and {numbers['large_both']:.0%} of {numbers['seeds'] - numbers['out']} seeds"
    )


def measure_plateau(trial: Trial) -> dict[str, Any]:
    students = RELU_RANKS.results(trial).sel(start="small")
    plateau, ratio = students["plateau"].values.astype(bool), students["plateau_ratio"].values
    return {
        "value": float(np.mean(plateau)),
        "ratio": float(np.median(ratio[plateau])) if plateau.any() else 1.0,
        "rank_one": float(np.mean(ratio[plateau] < RANK_ONE)) if plateau.any() else 0.0,
        "seeds": plateau.size,
    }


def judge_plateau(numbers: Numbers) -> Verdict:
    share = numbers["value"]
    return Verdict.HOLDS if share >= ALWAYS else Verdict.CORRECTED if share >= OFTEN else Verdict.REFUTED


def tell_plateau(numbers: Numbers) -> str:
    return f"{numbers['value']:.0%} of {numbers['seeds']} seeds show a plateau of the loss between two falls"


def judge_phase_one(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["ratio"] < RANK_ONE and numbers["rank_one"] >= MOST else Verdict.REFUTED


def tell_phase_one(numbers: Numbers) -> str:
    return (
        f"at the first plateau the second over the first singular value of the hidden layer is {numbers['ratio']:.3f} "
        f"(median), below {RANK_ONE:g} in {numbers['rank_one']:.0%} of the seeds that have one"
    )


CLAIMS = [
    Claim(
        name="relu-low-rank",
        number="Figure 2",
        sentence="A ReLU student ends with a hidden layer of lower rank from a small start than from a large one.",
        assumptions=ASSUMPTIONS,
        setting=SETTING,
        claimed="low rank against high rank",
        expected=Verdict.HOLDS,
        measure=measure_low_rank,
        judge=judge_low_rank,
        tell=tell_low_rank,
        limits={"seeds": LOWER, "learned": LEARNED},
    ),
    Claim(
        name="relu-rank-two",
        number="Figure 2",
        sentence="From a small start the hidden layer of the student ends with the rank of the teacher, two.",
        assumptions=ASSUMPTIONS,
        setting=SETTING + "; also std 0.1",
        claimed="rank 2, in one run (with the correction: in about half of the draws)",
        expected=Verdict.CORRECTED,
        measure=measure_rank_two,
        judge=judge_rank_two,
        tell=tell_rank_two,
        limits={"always": ALWAYS, "often": OFTEN, "learned": LEARNED},
    ),
    Claim(
        name="relu-directions",
        number="Figure 2, section 4",
        sentence="From a small start the hidden units learn the teacher's directions, from a large one they do not.",
        assumptions=ASSUMPTIONS,
        setting=SETTING,
        claimed="both directions against none",
        expected=Verdict.CORRECTED,
        measure=measure_directions,
        judge=judge_directions,
        tell=tell_directions,
        limits={"a direction": COSINE, "small against large": APART, "always": ALWAYS, "learned": LEARNED},
    ),
    Claim(
        name="saddle-to-saddle",
        number="Figure 5a, Appendix C.1",
        sentence="From a small start the loss of the student falls, stays on a plateau, and falls again.",
        assumptions=ASSUMPTIONS,
        setting=SETTING,
        claimed="two falls, in one run (with the correction: in about half of the draws)",
        expected=Verdict.CORRECTED,
        measure=measure_plateau,
        judge=judge_plateau,
        tell=tell_plateau,
        limits={"always": ALWAYS, "often": OFTEN},
    ),
    Claim(
        name="phase-one",
        number="Figure 5b, Appendix C.1",
        sentence="Up to the first plateau the hidden layer of the student learns a matrix of rank about one.",
        assumptions=ASSUMPTIONS,
        setting=SETTING,
        claimed="rank one",
        expected=Verdict.HOLDS,
        measure=measure_plateau,
        judge=judge_phase_one,
        tell=tell_phase_one,
        limits={"ratio": RANK_ONE, "seeds": MOST},
    ),
]
