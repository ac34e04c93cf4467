"""The toy experiment with ReLU networks: rank, directions and plateaus of students of a teacher of two neurons."""

from __future__ import annotations

from functools import partial

import numpy as np

from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.reproduction.rows import Row, above, at_least, below, both, corrected, fact, given, printed
from linnet_papers.varre.grids import relu_ranks
from linnet_papers.varre.settings import TEACHERS

TRIED = (
    "teacher of 2 neurons, 10 points in 5 dimensions, 20 hidden units, initializations of standard deviation 0.001 and "
    "1, 80 seeds"
)
SMALL_STARTS = {"std": Range(1e-4, 1e-3, log=True)}  # the paper says "small" and gives no number
of_students = partial(claim, assumes="Gaussian teacher and initializations", tried=TRIED)
DISTANCE = above(0.2, "five times what the medians fluctuate by")
ALWAYS = at_least(0.9, "the paper shows one run: what it shows must be the rule, in nine draws of ten")
OFTEN = at_least(0.15, "in fewer draws the run that the paper shows would be a rarity; about half is measured")
ENOUGH = at_least(0.9, "students that have not learned have no final rank to judge: nine in ten must be left")
SELDOM = below(1 - 0.9, "what is found in one draw of ten is not the rule")
COSINE = 0.9  # above which a unit has a direction, an angle of 26 degrees
RANK_ONE = 0.1  # second over first singular value that counts as rank one, as everywhere here


def _students_that_learned(trial: Trial) -> tuple[Row, Dataset]:
    """Return the row that several claims share, whether enough students have learned to be judged, and the students of
    the seeds at which all have: a final loss of at most 0.01."""
    students = relu_ranks.students(trial)
    learned = relu_ranks.fitted_seeds(students)
    enough = given("fraction of seeds whose students have learned their samples", learned.mean(), ENOUGH)
    return enough, students.isel(replicate=learned)


def _small_starts(trial: Trial) -> list[tuple[str, str]]:
    """Return the two ends of the region of small initializations: their labels, and the names of their students."""
    names = {start["std"]: name for name, start in relu_ranks.STARTS.items()}
    return [(label, names[setting["std"]]) for label, setting in trial.region(0).items()]


def _rank_counts(ranks: np.ndarray) -> dict[str, int]:
    """Return how many students have each rank."""
    return {f"rank {rank}": int((ranks == rank).sum()) for rank in np.unique(ranks)}


@of_students(
    "relu-low-rank",
    says="A ReLU student ends with a hidden layer of lower rank from a small initialization than from a large one.",
)
def low_rank(trial: Trial) -> Rows:
    enough, students = _students_that_learned(trial)
    small, large = (relu_ranks.ranks(students, start) for start in ("small", "large"))
    yield enough
    yield printed("fraction of seeds at which the small initialization ends lower", np.mean(small < large), ALWAYS)
    yield fact("students from the small initialization", _rank_counts(small))
    yield fact("students from the large initialization", _rank_counts(large))


@of_students(
    "relu-rank-two",
    says="From a small initialization the student's hidden layer ends with the teacher's rank 2 (shown for one run).",
    tried=f"{TRIED}; also 0.1 and 0.0001",
    correction="in about half of the draws, from standard deviations of 0.001 and below",
    region=SMALL_STARTS,
)
def rank_two(trial: Trial) -> Rows:
    enough, students = _students_that_learned(trial)
    small, medium = (relu_ranks.ranks(students, start) for start in ("small", "medium"))
    found = {label: np.mean(relu_ranks.ranks(students, start) == TEACHERS) for label, start in _small_starts(trial)}
    yield enough
    yield printed("fraction of seeds with rank 2, all of them", np.mean(small == TEACHERS), ALWAYS)
    yield corrected("fraction of seeds with rank 2, a part of them", found, OFTEN)
    yield fact("students: values above 10% of the largest count", _rank_counts(small))
    yield fact("fraction of seeds with rank 2 from standard deviation 0.1", np.mean(medium == TEACHERS))


@of_students(
    "relu-directions",
    says="From a small initialization the hidden units learn the teacher's directions, from a large one they do not.",
    tried=f"{TRIED}; also 0.0001",
    correction="from a small initialization they come nearer, and find both in a part of the draws",
    region=SMALL_STARTS,
)
def directions(trial: Trial) -> Rows:
    """Cosines of the students' units with the teacher's neurons, from the small and from the large initialization."""
    enough, students = _students_that_learned(trial)
    cosines = students["directions"].transpose("start", "replicate", "neuron")
    small, large = (cosines.sel(start=start).values for start in ("small", "large"))
    found = {size: np.mean(one.min(axis=1) > COSINE) for size, one in (("small", small), ("large", large))}
    medians = {label: np.median(cosines.sel(start=start).values) for label, start in _small_starts(trial)}
    apart = {label: median - np.median(large) for label, median in medians.items()}
    yield enough
    yield both("median cosine from the small initialization minus that from the large one", apart, DISTANCE)
    yield both("fraction of seeds that find both neurons from the large initialization", found["large"], SELDOM)
    yield printed("fraction of seeds that find both from the small initialization", found["small"], ALWAYS)
    yield fact("median cosine of a unit with its neuron", {"small": np.median(small), "large": np.median(large)})


@of_students(
    "saddle-to-saddle",
    says="From a small initialization the student's loss falls, stays on a plateau, falls again (shown for one run).",
    tried=f"{TRIED}; also 0.0001",
    correction="in a part of the draws",
    region=SMALL_STARTS,
)
def saddle_to_saddle(trial: Trial) -> Rows:
    plateau, _ = _plateaus(trial)
    yield printed("fraction of seeds with a plateau between two falls, all of them", plateau.mean(), ALWAYS)
    found = {label: _plateaus(trial, start)[0].mean() for label, start in _small_starts(trial)}
    yield corrected("fraction of seeds with a plateau between two falls, a part of them", found, OFTEN)


MOST = at_least(
    0.4, "most of the seeds with a plateau, less a standard error of some 35 of them; seven tenths is measured"
)


@of_students(
    "phase-one", says="Up to the first plateau the hidden layer of the student learns a matrix of rank about one."
)
def phase_one(trial: Trial) -> Rows:
    plateau, ratios = _plateaus(trial)
    rank_one = float(np.mean(ratios < RANK_ONE)) if plateau.any() else 0.0
    yield printed("fraction of the plateaus with second over first singular value below 0.1", rank_one, MOST)
    yield fact("fraction of seeds with a plateau", plateau.mean())
    yield fact("second over first singular value there, median", float(np.median(ratios)) if plateau.any() else 1.0)


def _plateaus(trial: Trial, start: str = "small") -> tuple[np.ndarray, np.ndarray]:
    """Return for each student from a small initialization whether it has a plateau, and for those that have one the
    second over the first singular value there."""
    students = relu_ranks.students(trial).sel(start=start)
    plateau = students["plateau"].values.astype(bool)
    return plateau, students["plateau_ratio"].values[plateau]
