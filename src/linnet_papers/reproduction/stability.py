"""How stable the verdicts are: every claim over several seeds, and how often each verdict comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from linnet_papers.reproduction import parallel
from linnet_papers.reproduction.declaration import Claim, Trial, Verdict
from linnet_papers.reproduction.rules import Limit
from linnet_papers.reproduction.verification import NO_VERDICT, Outcome, verdict_and_text, verify

MIN_SHARE = Limit(0.95, "19 of 20 seeds: one odd draw in twenty is what a rule with honest error bars may have")


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
        """The share of seeds with the expected verdict."""
        return self.verdicts[str(self.claim.expected)] / self.seeds if self.seeds else 0.0

    @property
    def stable(self) -> bool:
        """Whether the verdict may be published."""
        return self.share >= MIN_SHARE

    def add(self, seed: int, verdict: str, measured: str) -> None:
        """Count the verdict of one seed."""
        self.verdicts[verdict] += 1
        if verdict != self.claim.expected and not self.example:
            self.example = f"seed {seed}: {measured}"

    def to_json(self) -> dict[str, Any]:
        """As plain values, one object of `linnet verify --seeds N --json`."""
        counts = {str(verdict): self.verdicts[verdict] for verdict in [*Verdict, NO_VERDICT] if self.verdicts[verdict]}
        expected = str(self.claim.expected)
        rest = {"seeds": self.seeds, "verdicts": counts, "share": self.share, "example": self.example}
        return {"name": self.claim.name, "expected": expected, **rest}


def survey(
    chosen: Sequence[Claim],
    *,
    seeds: Sequence[int],
    quick: bool = False,
    workers: int = 0,
    report: Callable[[Stability], None] = lambda row: None,
) -> list[Stability]:
    """Measures every claim at each of the seeds; with `workers`, on that many processes of this machine.

    `report` is called after each pair of claim and seed, with all that is known of the claim. Workers look
    claims up by name: they see those of linnet and of installed packages.
    """
    by_name = {claim.name: Stability(claim) for claim in chosen}
    for trial, outcome in _outcomes(chosen, seeds, quick, workers):
        by_name[outcome.claim.name].add(trial.seed, *verdict_and_text(outcome))
        report(by_name[outcome.claim.name])
    return list(by_name.values())


def _outcomes(
    chosen: Sequence[Claim], seeds: Sequence[int], quick: bool, workers: int
) -> Iterator[tuple[Trial, Outcome]]:
    """Measure every claim at every seed, here or in workers, and yield the outcomes."""
    trials = [Trial(quick=quick, seed=seed) for seed in seeds]
    if workers:
        yield from parallel.outcomes(chosen, [b for trial in trials for b in parallel.batches(chosen, trial)], workers)
        return
    for trial in trials:
        for claim in chosen:
            yield from ((trial, outcome) for outcome in verify([claim], trial))
