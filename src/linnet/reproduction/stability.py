"""How stable the verdicts are: every claim over several seeds, and how often each verdict comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

from linnet.reproduction.claim import Claim, Limit, Trial, Verdict, verify

LEAST_SHARE = Limit(0.95, "19 of 20 seeds: one odd draw in twenty is what a rule with honest error bars may have")
NONE = "no verdict"  # the measuring broke down


@dataclass
class Stability:
    """One claim over several seeds: how often each verdict came out, and one sentence of an unexpected one."""

    claim: Claim
    verdicts: Counter[str] = field(default_factory=Counter)
    example: str = ""

    @property
    def seeds(self) -> int:
        """How many seeds have been measured."""
        return self.verdicts.total()

    @property
    def share(self) -> float:
        """The share of seeds with the verdict of a sound linnet."""
        return self.verdicts[str(self.claim.expected)] / self.seeds if self.seeds else 0.0

    @property
    def stable(self) -> bool:
        """Whether the verdict may be published."""
        return self.share >= LEAST_SHARE

    def add(self, seed: int, verdict: str, measured: str) -> None:
        """Counts the verdict of one seed."""
        self.verdicts[verdict] += 1
        if verdict != self.claim.expected and not self.example:
            self.example = f"seed {seed}: {measured}"

    def to_json(self) -> dict[str, Any]:
        """As plain values, one object of `linnet verify --seeds N --json`."""
        counts = {str(verdict): self.verdicts[verdict] for verdict in [*Verdict, NONE] if self.verdicts[verdict]}
        expected = str(self.claim.expected)
        rest = {"seeds": self.seeds, "verdicts": counts, "share": self.share, "example": self.example}
        return {"name": self.claim.name, "expected": expected, **rest}


def survey(
    chosen: Sequence[Claim],
    *,
    seeds: int,
    quick: bool = False,
    workers: int = 0,
    report: Callable[[int], None] = lambda done: None,
) -> list[Stability]:
    """Measures every claim at the seeds 0 to `seeds` - 1; with `workers`, on that many processes of this machine.

    `report` is told how many pairs of claim and seed are newly done. Workers look claims up by name: they see those of
    linnet and of installed packages.
    """
    found = {claim.name: Stability(claim) for claim in chosen}
    jobs = [
        ([claim.name for claim in chosen if claim.paper == paper], Trial(quick=quick, seed=seed))
        for seed in range(seeds)
        for paper in dict.fromkeys(claim.paper for claim in chosen)
    ]
    for trial, results in _spread(jobs, workers) if workers else _here(chosen, jobs):
        for name, verdict, measured in results:
            found[name].add(trial.seed, verdict, measured)
        report(len(results))
    return list(found.values())


Batch = tuple[list[str], Trial]
Results = list[tuple[str, str, str]]


def _here(chosen: Sequence[Claim], jobs: Sequence[Batch]) -> Iterator[tuple[Trial, Results]]:
    known = {claim.name: claim for claim in chosen}
    for names, trial in jobs:
        yield trial, _measure([known[name] for name in names], trial)


def _spread(jobs: Sequence[Batch], workers: int) -> Iterator[tuple[Trial, Results]]:
    from linnet.sweeps.executors import ENVIRONMENT, environment_restored

    with environment_restored(ENVIRONMENT):
        pool = ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn"))
        try:
            pending = {pool.submit(_by_name, *job): job[1] for job in jobs}
            for future in as_completed(pending):
                yield pending[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _by_name(names: list[str], trial: Trial) -> Results:
    from linnet.reproduction.registry import claims

    known = claims()
    return _measure([known[name] for name in names], trial)


def _measure(claims: Sequence[Claim], trial: Trial) -> Results:
    rows = []
    for outcome in verify(claims, trial):
        found = outcome.measurement
        verdict = str(found.verdict) if found else NONE
        rows.append((outcome.claim.name, verdict, found.measured if found else outcome.error or ""))
    return rows
