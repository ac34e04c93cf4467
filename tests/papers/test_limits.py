"""Every limit of every claim: numbers on its other side turn the verdict, and the conclusion with it. And what was
measured last, as it is recorded, is what the rules read: of the right kind, and with the verdict that is published."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from linnet_papers.reproduction import (
    AllOf,
    Below,
    Claim,
    Estimate,
    Falls,
    Trial,
    Verdict,
    Within,
    claims,
    record,
    verify,
)
from linnet_papers.reproduction.numbers import fill_template
from linnet_papers.reproduction.rules import Leaf, Rule

CLAIMS = list(claims().values())


def numbers_for(claim: Claim, *rules: Rule | None) -> dict[str, Any]:
    """Numbers that meet every one of the rules; whatever else the sentence prints is 1."""
    numbers: dict[str, Any] = dict.fromkeys(claim.names, 1.0)
    for rule in rules:
        for leaf in rule.leaves() if rule is not None else ():
            numbers |= leaf.example(met=True)
    return numbers


def met(numbers: dict[str, Any], rule: Rule) -> dict[str, Any]:
    """The numbers, with those that the rule reads inside its limits."""
    for leaf in rule.leaves():
        numbers = numbers | leaf.example(met=True)
    return numbers


def broken(numbers: dict[str, Any], leaf: Leaf) -> list[dict[str, Any]]:
    """The numbers on the other side of a limit: clearly, just so, and with one of two entries."""
    far = numbers | leaf.example(met=False)
    cases = [far]
    if not isinstance(leaf, Falls):
        near, there = leaf.example(met=True)[leaf.number], far[leaf.number]
        for _ in range(60):  # halve the way to the limit from both sides
            middle = (near + there) / 2
            near, there = (middle, there) if leaf.met(far | {leaf.number: middle}) else (near, middle)
        cases.append(far | {leaf.number: there})
        cases.append(far | {leaf.number: {"good": near, "bad": far[leaf.number]}})
    return cases


def check(claim: Claim) -> None:
    """Raises AssertionError where a limit of the claim decides nothing, or a conclusion does not follow from it."""
    sound = numbers_for(claim, claim.given, claim.holds)
    assert claim.verdict(sound) == Verdict.HOLDS, "numbers that meet every rule must hold: do two rules contradict?"
    assert claim.conclusion(sound).startswith("It holds: ")
    for leaf in claim.holds.leaves():
        alone = False
        for wrong in broken(sound, leaf):
            assert not leaf.met(wrong), leaf.requirement
            assert claim.verdict(wrong) != Verdict.HOLDS, leaf.requirement
            assert not claim.conclusion(wrong).startswith("It holds") and leaf.words(wrong) in claim.conclusion(wrong)
            others = [other for other in claim.holds.leaves() if other is not leaf]
            factors = [{other.times: size} for other in others if other.times for size in (1e-3, 1e3)]
            alone |= any(all(other.met(wrong | factor) for other in others) for factor in [{}, *factors])
        assert alone, f"never decides, others are always missed with it: {leaf.requirement}"
        check_names(claim, sound, leaf)
    check_other_verdicts(claim, sound)


def check_names(claim: Claim, sound: dict[str, Any], leaf: Leaf) -> None:
    """Every number that a limit reads counts: each entry of a list, the factor, the target and the standard error."""
    value, wrong = sound[leaf.number], sound | leaf.example(met=False)
    assert claim.verdict(sound | {leaf.number: math.nan}) != Verdict.HOLDS, f"NaN meets {leaf.requirement}"
    assert claim.verdict(sound | {leaf.number: []}) != Verdict.HOLDS, f"nothing meets {leaf.requirement}"
    if not isinstance(leaf, Falls):
        mixed = sound | {leaf.number: {"good": value, "bad": wrong[leaf.number]}}
        assert claim.verdict(mixed) != Verdict.HOLDS and "(bad)" in leaf.words(mixed), leaf.requirement
    if leaf.times and leaf.limit:
        turned = [claim.verdict(sound | {leaf.times: factor}) for factor in (-1e6, 0.0, 1e-6, 1e6)]
        assert set(turned) != {Verdict.HOLDS}, f"`{leaf.times}` decides nothing: {leaf.requirement}"
    if isinstance(leaf, Within):
        if isinstance(leaf.of, str):
            assert claim.verdict(sound | {leaf.of: 1e3 + 1e3 * leaf.limit}) != Verdict.HOLDS, leaf.requirement
        if leaf.errors:
            assert leaf.met(wrong | {"uncertainty": 1e9}), f"errors decide nothing: {leaf.requirement}"
    elif errors := getattr(leaf, "errors", 0.0):
        assert not leaf.met(sound | {"uncertainty": 1e9}) and errors > 0, f"errors decide nothing: {leaf.requirement}"


def check_other_verdicts(claim: Claim, sound: dict[str, Any]) -> None:
    cases = [wrong for leaf in claim.holds.leaves() for wrong in broken(sound, leaf)]
    reached = {claim.verdict(case) for case in cases} | {Verdict.HOLDS}
    if claim.corrected is None and claim.refuted is None:
        assert reached == {Verdict.HOLDS, Verdict.REFUTED}
    if claim.corrected is not None:
        mended = [case for case in (met(c, claim.corrected) for c in cases) if not claim.holds.met(case)]
        assert mended, "no numbers are right with the correction alone"
        for case in mended:
            assert claim.verdict(case) == Verdict.CORRECTED and fill_template(
                claim.correction, case
            ) in claim.conclusion(case)
            for leaf in claim.corrected.leaves():
                for turned in broken(case, leaf):
                    assert claim.verdict(turned) != Verdict.CORRECTED, leaf.requirement
                    assert claim.holds.met(turned) or leaf.words(turned) in claim.conclusion(turned), leaf.requirement
        reached.add(Verdict.CORRECTED)
    if claim.refuted is not None:
        refuted = [case for case in (met(c, claim.refuted) for c in cases) if claim.verdict(case) == Verdict.REFUTED]
        assert refuted, "no numbers refute it"
        for leaf in claim.refuted.leaves():
            outside = [turned for case in refuted for turned in broken(case, leaf)]
            assert Verdict.OUTSIDE in {claim.verdict(turned) for turned in outside}, leaf.requirement
            assert Verdict.REFUTED not in {claim.verdict(turned) for turned in outside}, leaf.requirement
        reached |= {Verdict.REFUTED, Verdict.OUTSIDE}
    for leaf in claim.given.leaves() if claim.given is not None else ():
        for wrong in broken(sound, leaf):
            assert claim.verdict(wrong) == Verdict.OUTSIDE, leaf.requirement
            assert "inside its assumptions" in claim.conclusion(wrong) and leaf.words(wrong) in claim.conclusion(wrong)
        reached.add(Verdict.OUTSIDE)
    assert claim.expected in reached, f"no numbers lead to the published verdict, {claim.expected}"


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.name for claim in CLAIMS])
def test_the_other_side_of_each_limit_turns_verdict_and_conclusion(claim: Claim) -> None:
    check(claim)


def made(**rules: Any) -> Claim:
    return Claim(name="toy", where="1", says="So.", tried="once", reads="it", measure=lambda trial: {}, **rules)


SOUND = Below(1, "x", because="one"), Below(2, "y", because="two")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"holds": AllOf(Below(1, "x", because="one"), Below(0.5, "x", because="half"))}, "never decides"),
        ({"holds": AllOf(Below(1, "x", because="one"), Within(0.1, "x", of=5, because="five"))}, "contradict"),
        ({"holds": SOUND[0], "expected": Verdict.CORRECTED}, "no numbers lead to the published verdict"),
        ({"holds": SOUND[0], "corrected": SOUND[0], "correction": "x"}, "no numbers are right with the correction"),
        ({"holds": SOUND[0], "refuted": SOUND[0]}, "no numbers refute it"),
    ],
)
def test_a_limit_that_decides_nothing_is_seen(rules: dict[str, Any], words: str) -> None:
    """The control: claims whose rules say less than they seem to."""
    check(made(holds=AllOf(*SOUND), corrected=SOUND[1], correction="y"))
    with pytest.raises(AssertionError, match=words):
        check(made(**rules))


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.name for claim in CLAIMS])
def test_each_limit_has_a_reason(claim: Claim) -> None:
    for _, leaf in claim.limits():
        assert len(leaf.because.split()) > 2, f"{claim.name}: {leaf.requirement} must say why"
        assert leaf.what not in ("value", ""), f"{claim.name}: say in words what `{leaf.number}` is"


def unwritten(value: Any) -> Any:
    """A recorded number as it was measured: JSON has pairs for estimates and nothing for NaN."""
    if isinstance(value, dict):
        return {label: unwritten(entry) for label, entry in value.items()}
    if isinstance(value, list):
        pair = len(value) == 2 and not any(isinstance(entry, (list, dict, str)) for entry in value)
        return Estimate(*map(unwritten, value)) if pair else [unwritten(entry) for entry in value]
    return math.nan if value is None else value


def recorded_numbers(claim: Claim) -> dict[str, Any]:
    """What was measured of the claim last; a pair is an estimate where a rule takes standard errors, else a list."""
    judged = {leaf.number for _, leaf in claim.limits() if getattr(leaf, "errors", 0.0)} | {"value"}
    numbers = {}
    for name, value in record.last_measured()[claim.name].numbers.items():
        pair = isinstance(value, list) and len(value) == 2 and name not in judged
        numbers[name] = [unwritten(entry) for entry in value] if pair else unwritten(value)
    return numbers


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.name for claim in CLAIMS])
def test_what_was_measured_last_is_what_the_rules_read(claim: Claim) -> None:
    commands = f"`linnet verify {claim.name} --quick --json FILE`, then `linnet docs --record FILE`"
    assert claim.name in record.last_measured(), f"record it: {commands}"
    (outcome,) = verify([replace(claim, measure=lambda trial: recorded_numbers(claim))], Trial(quick=True))
    assert outcome.error is None, f"{outcome.error}; if the claim has changed since, record it anew"
    assert outcome.as_expected and outcome.measurement is not None
    assert outcome.measurement.value is None or isinstance(outcome.measurement.value, (int, float))


ORDERED, FACTOR = Falls(0, "xs", because="they fall"), Below(2, "x", times="size", because="a share of its size")
BY_ERRORS, TARGETS = Below(1, "x", errors=2, because="two errors"), Within(0.1, "xs", of="ys", because="near")


@pytest.mark.parametrize(
    ("rule", "numbers", "words"),
    [
        (SOUND[0], [1.0], "by name, as a mapping"),
        (SOUND[0], {"y": 1.0}, "reads 'x', which its measurement does not return"),
        (SOUND[0], {"x": 0.5, "value": {"section 6": 1.0}}, "one number as 'value'"),
        (SOUND[0], {"x": 0.5, "value": [1.0]}, "one number as 'value'"),
        (SOUND[0], {"x": 0.5, "uncertainty": [0.1]}, "one number as 'uncertainty'"),
        (SOUND[0], {"x": {"a": {"b": 0.5}}}, "every entry must be a number"),
        (SOUND[0], {"x": "small"}, "every entry must be a number"),
        (SOUND[0], {"x": None}, "every entry must be a number"),
        (FACTOR, {"x": 1.0, "size": [1.0, 2.0]}, "one number as 'size'"),
        (ORDERED, {"xs": 1.0}, "must be a list or a mapping"),
        (BY_ERRORS, {"x": 0.5}, "judges 'x' by standard errors"),
        (TARGETS, {"xs": [1.0, 2.0, 3.0], "ys": [1.0, 2.0]}, "as many as 'xs'"),
        (Below(1, "x", because="one", otherwise="{why:.2f}"), {"x": 0.5, "why": None}, "cannot print '{why:.2f}'"),
    ],
)
def test_numbers_of_another_kind_are_refused_at_once(rule: Rule, numbers: Any, words: str) -> None:
    """Also where the verdict would not need them, as with a sentence that is printed for another verdict."""
    (outcome,) = verify([replace(made(holds=rule), measure=lambda trial: numbers)], Trial())
    assert outcome.measurement is None and words in str(outcome.error)
