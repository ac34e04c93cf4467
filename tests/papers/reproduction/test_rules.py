"""Rules: which numbers meet them, what they say, and what they refuse."""

import math

import numpy as np
import pytest

from linnet_papers.reproduction import (
    Above,
    AllOf,
    AtLeast,
    AtMost,
    Below,
    Claim,
    Estimate,
    Falls,
    Limit,
    Rises,
    Trial,
    Verdict,
    Within,
)
from linnet_papers.reproduction.numbers import fill_template, template_fields


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (Below(1, because="one"), 0.999, 1.0),
        (AtMost(1, because="one"), 1.0, 1.001),
        (Above(1, because="one"), 1.001, 1.0),
        (AtLeast(1, because="one"), 1.0, 0.999),
        (Within(0.5, of=2, because="half"), 2.4, 1.4),
        (Within(0.1, of=10, relative=True, because="a tenth"), 10.9, 11.1),
        (Falls(0, because="it says so"), [3, 2, 1], [3, 1, 2]),
        (Rises(0.5, because="it says so"), [1, 2, 3], [1, 1.4, 3]),
        (AllOf(Below(2, because="two"), Above(1, because="one")), 1.5, 2.5),
        (Below(2, because="two") & Above(1, because="one"), 1.5, 0.5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_rule_is_met_on_one_side(rule, good, bad):
    assert rule.met({"value": good}) and not rule.met({"value": bad})
    assert ", not " not in rule.conclusion({"value": good}) and ", not " in rule.conclusion({"value": bad})
    for leaf in rule.leaves():
        assert leaf.met(leaf.example(met=True)) and not leaf.met(leaf.example(met=False))
        assert leaf.because


@pytest.mark.parametrize("rule", [Falls, Rises])
def test_nan_and_one_entry_never_rise_or_fall(rule):
    made = rule(0, because="it says so")
    for values in ([], [1.0], 1.0, [1.0, math.nan], [3.0, math.nan, 1.0], [1.0, 1.0]):
        assert not made.met({"value": values})
    assert (rule is Falls) == made.met({"value": [3.0, 2.0]})


def test_a_verdict_goes_by_each_role_of_a_rule():
    rules = {
        "given": Above(0, "steps", because="it must have run"),
        "holds": Below(1, "printed", because="one"),
        "corrected": Below(1, "right", because="one"),
        "refuted": Above(3, "sure", because="three standard errors"),
    }
    made = Claim(
        name="a", where="1", says="So.", tried="once", reads="it", correction="c", measure=lambda trial: {}, **rules
    )
    good = {"steps": 1, "printed": 0, "right": 0, "sure": 9}
    for change, verdict in (
        ({}, Verdict.HOLDS),
        ({"printed": 2}, Verdict.CORRECTED),
        ({"printed": 2, "right": 2}, Verdict.REFUTED),
        ({"printed": 2, "right": 2, "sure": 1}, Verdict.OUTSIDE),
        ({"steps": 0}, Verdict.OUTSIDE),
    ):
        assert made.verdict(good | change) == verdict


@pytest.mark.parametrize("rule", [Below, AtMost, Above, AtLeast, Within])
def test_nan_and_nothing_never_meet_a_rule(rule):
    made = rule(1.0, because="one")
    assert not made.met({"value": math.nan}) and not made.met({"value": []})
    assert not made.met({"value": [1.0, math.nan]}) and "nan" in made.conclusion({"value": [0.5, math.nan]})


@pytest.mark.parametrize("rule", [Below, AtMost, Above, AtLeast, Within])
def test_what_was_measured_of_nothing_is_told_as_nan(rule):
    """Also where standard errors are asked, which nothing has."""
    made = rule(1.0, "x", errors=3, because="one")
    assert made.conclusion({"x": []}).startswith("x nan, not ")


def test_every_entry_counts_and_the_worst_one_is_named():
    rule = Below(4.5, "away", what="standard errors", because="chance", form=".1f")
    assert rule.met({"away": {"d = 2": 1.0, "d = 3": 4.0}})
    assert rule.conclusion({"away": {"d = 2": 5.0, "d = 3": 4.0}}) == "standard errors 5.0 (d = 2), not below 4.5"


def test_a_limit_may_be_in_units_of_another_number():
    rule = Below(2, "bias", times="step", because="Euler's bias is linear in the step")
    assert rule.met({"bias": 0.019, "step": 0.01}) and not rule.met({"bias": 0.021, "step": 0.01})
    assert rule.requirement == "bias below 2 times step" and rule.names == ["bias", "step"]


def test_a_number_beyond_its_limit_by_standard_errors():
    rule = Above(0, "rate", errors=3, because="growth must be seen")
    assert rule.met({"rate": Estimate(0.4, 0.1)}) and not rule.met({"rate": Estimate(0.2, 0.1)})
    assert rule.met({"rate": 0.4, "uncertainty": 0.1}) and not rule.met({"rate": 0.2, "uncertainty": 0.1})
    rates = {"d = 2": Estimate(0.2, 0.01), "d = 3": Estimate(0.4, 0.2)}  # the larger one is the less certain
    assert rule.conclusion({"rate": rates}) == "rate 0.4 ± 0.2 (d = 3), not above 0 by 3 standard errors"
    assert rule.requirement == "rate above 0 by 3 standard errors"
    assert not rule.met({"rate": Estimate(0.4, math.nan)})  # an unknown error is no certainty
    assert Below(0, "rate", errors=3, because="decay must be seen").met({"rate": Estimate(-0.4, 0.1)})


def test_a_target_may_be_measured_and_errors_widen_the_distance():
    rule = Within(0.02, "slope", of="claimed", errors=3, because="rounding")
    assert rule.met({"slope": Estimate(1.05, 0.02), "claimed": 1.0})
    assert not rule.met({"slope": Estimate(1.05, 0.01), "claimed": 1.0})
    assert rule.met({"slope": {"a": 1.01, "b": 2.01}, "claimed": {"a": 1.0, "b": 2.0}})
    assert not rule.met({"slope": {"a": 1.01, "b": 1.01}, "claimed": {"a": 1.0, "b": 2.0}})
    with pytest.raises(ValueError, match="as many entries"):
        rule.met({"slope": [1, 2, 3], "claimed": [1, 2]})


def test_what_is_missed_is_told_first_and_meanings_follow():
    rule = AllOf(
        Below(1, "x", because="a"), Above(0, "y", because="b", then="it grows", otherwise="it falls to {y:.1f}")
    )
    assert rule.conclusion({"x": 0.5, "y": 2.0}) == "x 0.5, below 1; y 2, above 0: it grows"
    assert rule.conclusion({"x": 0.5, "y": -2.0}) == "y -2, not above 0: it falls to -2.0"


def test_a_limit_needs_its_reason_and_a_shared_one_brings_it():
    assert Below(Limit(3, "three")).because == "three"
    with pytest.raises(ValueError, match="must say why"):
        Below(3)


def test_templates_print_lists_mappings_and_estimates():
    numbers = {"means": {"d = 2": Estimate(0.4819, 0.007)}, "list": [1.0, 2.5], "n": 3, "text": "words"}
    assert fill_template("{means:.3f}; {list:.1f}; {n} {text}", numbers) == "d = 2: 0.482 ± 0.007; 1.0, 2.5; 3 words"
    assert fill_template("{list.lowest:g} {list.highest:g} {list.last:g} {list.count}", numbers) == "1 2.5 2.5 2"
    assert template_fields("{a:.3f} and {b.last:g} and {a}") == ["a", "b"]
    with pytest.raises(ValueError, match="which was not measured"):
        fill_template("{absent}", numbers)


def test_estimates_are_compared_in_their_own_errors() -> None:
    random = np.random.default_rng(0)
    one, two = random.normal(1.0, 3.0, (4000, 100)), random.normal(0.0, 4.0, (4000, 100))
    gaps = [Estimate.of_mean(a).minus(Estimate.of_mean(b)) for a, b in zip(one, two, strict=True)]
    scores = np.array([gap.errors_above(1.0) for gap in gaps])
    assert abs(scores.mean()) < 0.08 and abs(scores.std() - 1) < 0.06  # differences of means: normal, of unit width
    assert Estimate(2.0, 0.5).errors_above(3.0) == -2.0


def test_without_a_value_the_number_that_is_hardest_for_the_rules_decides() -> None:
    rules = {
        "below": Below(1.0, "number", because="a test"),
        "above": Above(0.0, "number", because="a test"),
        "within": Within(5.0, "number", of=1.0, because="a test"),
        "rises": Rises(0, "number", because="a test"),
        "second": Below(9.0, "number", because="a test") & Above(0.25, "number", because="a test"),
    }
    numbers = {"number": {"a": 0.5, "b": 0.1, "c": 0.7}}
    measured = {}
    for name, rule in rules.items():
        made = Claim(name=name, says="", tried="", holds=rule, reads="", measure=lambda trial: numbers)
        measured[name] = made.measurement(Trial(quick=True)).value
    assert measured == pytest.approx({"below": 0.7, "above": 0.1, "within": 0.1, "rises": -0.4, "second": 0.1})
    estimated = Claim(
        name="estimated",
        says="",
        tried="",
        holds=Above(0.0, "rate", errors=2, because="a test"),
        reads="",
        measure=lambda trial: {"rate": [Estimate(0.5, 0.1), Estimate(0.4, 0.01)]},
    ).measurement(Trial())
    assert (estimated.value, estimated.uncertainty) == (0.5, 0.1)  # hardest with its error bar, not the least number
