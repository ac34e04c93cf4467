"""Every limit of every claim: numbers on its other side turn the verdict, and the sentence with it."""

from __future__ import annotations

from typing import Any

import pytest

from linnet.reproduction import Claim, Verdict, claims
from linnet.reproduction.numbers import filled
from linnet.reproduction.rules import Leaf, Rule

CLAIMS = list(claims().values())


def numbers_for(claim: Claim, *rules: Rule | None) -> dict[str, Any]:
    """Numbers that meet every one of the rules; whatever else the sentence prints is 1."""
    numbers: dict[str, Any] = dict.fromkeys(claim.names, 1.0)
    for rule in rules:
        for leaf in rule.leaves() if rule is not None else ():
            numbers |= leaf.example(met=True)
    return numbers


def told(claim: Claim, numbers: dict[str, Any]) -> str:
    return f"{filled(claim.reads, numbers)}. {claim.conclusion(numbers)}"


def broken(numbers: dict[str, Any], leaf: Leaf) -> dict[str, Any]:
    return numbers | leaf.example(met=False)


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.name for claim in CLAIMS])
def test_the_other_side_of_each_limit_turns_verdict_and_sentence(claim: Claim) -> None:
    sound = numbers_for(claim, claim.given, claim.holds)
    assert claim.verdict(sound) == Verdict.HOLDS, "numbers that meet every rule must hold: do two rules contradict?"
    for leaf in claim.holds.leaves():
        wrong = broken(sound, leaf)
        assert claim.verdict(wrong) != Verdict.HOLDS and told(claim, wrong) != told(claim, sound), leaf.requirement
        if claim.corrected is not None:
            mended = numbers_for(claim, claim.given, claim.holds) | broken({}, leaf)
            for part in claim.corrected.leaves():
                mended |= part.example(met=True)
            if not claim.holds.met(mended):
                assert claim.verdict(mended) == Verdict.CORRECTED
                assert filled(claim.correction, mended) in told(claim, mended)
                for part in claim.corrected.leaves():
                    turned = broken(mended, part)
                    assert claim.verdict(turned) != Verdict.CORRECTED, part.requirement
                    assert told(claim, turned) != told(claim, mended)
        if claim.refuted is not None:
            refuted = wrong.copy()
            for part in claim.refuted.leaves():
                refuted |= part.example(met=True)
            if claim.verdict(refuted) not in (Verdict.HOLDS, Verdict.CORRECTED):
                assert claim.verdict(refuted) == Verdict.REFUTED
                for part in claim.refuted.leaves():
                    assert claim.verdict(broken(refuted, part)) != Verdict.REFUTED, part.requirement
    if claim.corrected is not None:  # some numbers are right with the correction alone
        cases = [broken(sound, leaf) for leaf in claim.holds.leaves()]
        for case in cases:
            for part in claim.corrected.leaves():
                case |= part.example(met=True)
        assert any(claim.verdict(case) == Verdict.CORRECTED for case in cases)
    if claim.given is not None:
        for leaf in claim.given.leaves():
            assert claim.verdict(broken(sound, leaf)) == Verdict.OUTSIDE, leaf.requirement


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.name for claim in CLAIMS])
def test_each_limit_has_a_reason(claim: Claim) -> None:
    for _, leaf in claim.limits():
        assert len(leaf.because.split()) > 2, f"{claim.name}: {leaf.requirement} must say why"
        assert leaf.what not in ("value", ""), f"{claim.name}: say in words what `{leaf.number}` is"
