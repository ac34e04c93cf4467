"""The toy experiment with ReLU networks: rank, directions and plateaus of students of a teacher of two neurons."""

from __future__ import annotations

from functools import partial

import numpy as np

from linnet_papers.reproduction import Above, AllOf, AtLeast, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.varre.settings import TEACHERS
from linnet_papers.varre.tables import relu_ranks

TRIED = "teacher of 2 neurons, 10 points in 5 dimensions, 20 hidden units, starts of std 0.001 and 1, 40 seeds"
of_students = partial(claim, assumes="Gaussian teacher and starts", tried=TRIED)
LEFT_OUT = "; {out} of {seeds} seeds left out, with a final loss above 0.01"

DISTANCE = Limit(0.2, "five fluctuations of the medians")
ALWAYS = Limit(0.9, "share of seeds from which a rank could be called the outcome")
OFTEN = Limit(0.15, "share of seeds below which one run with this rank would be a rarity; about half is measured")
LEARNED = AtLeast(
    0.9,
    "learned",
    what="share of seeds whose students have learned their samples",
    form=".0%",
    because="the others have no final rank to judge: nine in ten must be left",
)
APART = AllOf(
    Above(DISTANCE, "apart", what="median cosine from the small start minus that from the large one", form=".2f"),
    Below(
        1 - ALWAYS,
        "large_both",
        what="share of seeds that find both neurons from the large start",
        form=".0%",
        because="the rest of the share from which it could be called the outcome",
    ),
)
COSINE = 0.9  # above which a unit has a direction, an angle of 26 degrees
RANK_ONE = Limit(0.1, "second over first singular value that counts as rank one, as everywhere here")


def _students_that_learned(trial: Trial) -> tuple[Dataset, np.ndarray, dict[str, float]]:
    """Return the students, for each seed whether all its students have learned, and how many have as numbers."""
    students = relu_ranks.TABLE.results(trial)
    learned = relu_ranks.fitted_seeds(students)
    out = int((~learned).sum())
    return students, learned, {"seeds": learned.size, "out": out, "learned": 1 - out / learned.size}


def _format_ranks(ranks: np.ndarray) -> str:
    """Return as text how many students have each rank."""
    return ", ".join(f"{int((ranks == rank).sum())} of rank {rank}" for rank in np.unique(ranks))


LOWER = Limit(0.9, "the paper shows one run: it must be the rule")


@of_students(
    "relu-low-rank",
    says="A ReLU student ends with a hidden layer of lower rank from a small start than from a large one.",
    given=LEARNED,
    holds=AtLeast(LOWER, what="share of seeds in which the small start ends lower", form=".0%"),
    reads=f"from the small start {{small}}, from the large one {{large}}{LEFT_OUT}",
)
def low_rank(trial: Trial) -> Numbers:
    students, learned, numbers = _students_that_learned(trial)
    small, large = (relu_ranks.ranks(students, start)[learned] for start in ("small", "large"))
    return {"value": np.mean(small < large), "small": _format_ranks(small), "large": _format_ranks(large), **numbers}


@of_students(
    "relu-rank-two",
    says="From a small start the hidden layer of the student ends with the teacher's rank 2 (shown for one run).",
    tried=f"{TRIED}; also std 0.1",
    given=LEARNED,
    holds=AtLeast(ALWAYS, what="share of seeds of rank 2 from std 0.001", form=".0%"),
    corrected=AtLeast(OFTEN, what="share of seeds of rank 2 from std 0.001", form=".0%"),
    correction="in a share of the draws, {value:.0%}",
    reads=f"values above 10% of the largest count: {{counts}}; from std 0.1 {{medium:.0%}} of rank 2{LEFT_OUT}",
)
def rank_two(trial: Trial) -> Numbers:
    students, learned, numbers = _students_that_learned(trial)
    small, medium = (relu_ranks.ranks(students, start)[learned] for start in ("small", "medium"))
    shares = {"value": np.mean(small == TEACHERS), "medium": np.mean(medium == TEACHERS)}
    return {**shares, "counts": _format_ranks(small), **numbers}


@of_students(
    "relu-directions",
    says="From a small start the hidden units learn the teacher's directions, from a large one they do not.",
    given=LEARNED,
    holds=AllOf(APART, AtLeast(ALWAYS, "both", what="share of seeds that find both from the small start", form=".0%")),
    corrected=APART,
    correction="from a small start they come nearer, and find both in {both:.0%} of the draws",
    reads="median cosine of the units with the teacher's neurons: {value:.2f} from the small start, {large:.2f} from "
    f"the large one; a cosine above {COSINE} counts as found{LEFT_OUT}",
)
def directions(trial: Trial) -> Numbers:
    """Cosines of the students' units with the teacher's neurons, from the small and from the large start."""
    students, learned, numbers = _students_that_learned(trial)
    cosines = students["directions"].transpose("start", "replicate", "neuron")
    small, large = (cosines.sel(start=start).values[learned] for start in ("small", "large"))
    return {
        "value": np.median(small),
        "large": np.median(large),
        "apart": np.median(small) - np.median(large),
        "both": np.mean(small.min(axis=1) > COSINE),
        "large_both": np.mean(large.min(axis=1) > COSINE),
        **numbers,
    }


@of_students(
    "saddle-to-saddle",
    says="From a small start the loss of the student falls, stays on a plateau, and falls again (shown for one run).",
    holds=AtLeast(ALWAYS, what="share of seeds with a plateau between two falls", form=".0%"),
    corrected=AtLeast(OFTEN, what="share of seeds with a plateau", form=".0%"),
    correction="in a share of the draws, {value:.0%}",
    reads="{seeds} seeds",
)
def saddle_to_saddle(trial: Trial) -> Numbers:
    return _count_plateaus(trial)


MOST = Limit(
    0.4, "most of the seeds with a plateau, less a standard error of some 16 of them; three quarters is measured"
)


@of_students(
    "phase-one",
    says="Up to the first plateau the hidden layer of the student learns a matrix of rank about one.",
    holds=AtLeast(MOST, "rank_one", what="share of the plateaus of rank one", form=".0%"),
    reads="{value:.0%} of {seeds} seeds have a plateau; the second over the first singular value is below "
    f"{RANK_ONE:g} at {{rank_one:.0%}} of these, {{ratio:.3f}} in the median",
)
def phase_one(trial: Trial) -> Numbers:
    return _count_plateaus(trial)


def _count_plateaus(trial: Trial) -> Numbers:
    """Return the share of students with a plateau, and of these the share that is of rank one there, from the small
    start."""
    students = relu_ranks.TABLE.results(trial).sel(start="small")
    plateau, ratio = students["plateau"].values.astype(bool), students["plateau_ratio"].values
    rank_one = float(np.mean(ratio[plateau] < RANK_ONE)) if plateau.any() else 0.0
    return {
        "value": np.mean(plateau),
        "ratio": float(np.median(ratio[plateau])) if plateau.any() else 1.0,
        "rank_one": rank_one,
        "seeds": plateau.size,
    }
