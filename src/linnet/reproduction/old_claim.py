"""Temporary: claims in the old form, until every paper is converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from linnet.reproduction.numbers import Numbers
from linnet.reproduction.rules import Below, Limit, Rule
from linnet.reproduction.verification import Claim, Measurement, Trial, Verdict

_ANY = Below(1, because="old")


@dataclass(frozen=True, kw_only=True)
class OldClaim(Claim):
    number: str
    sentence: str
    assumptions: str
    setting: str
    claimed: str
    judge: Callable[[Numbers], Verdict]
    tell: Callable[[Numbers], str]
    old_limits: Mapping[str, Limit] = field(default_factory=dict)
    where: str = ""
    says: str = ""
    tried: str = ""
    reads: str = ""
    holds: Rule = _ANY

    def __post_init__(self) -> None:
        for new, old in (("where", "number"), ("says", "sentence"), ("assumes", "assumptions"), ("tried", "setting")):
            object.__setattr__(self, new, getattr(self, old))

    def verdict(self, numbers: Numbers) -> Verdict:
        return self.judge(numbers)

    def measurement(self, trial: Trial) -> Measurement:
        numbers = self.measure(trial)
        value, uncertainty = numbers.get("value"), numbers.get("uncertainty")
        return Measurement(self.judge(numbers), self.tell(numbers), value, uncertainty, numbers)


def old(*, limits: Any = None, **rest: Any) -> OldClaim:
    return OldClaim(old_limits=limits or {}, **rest)
