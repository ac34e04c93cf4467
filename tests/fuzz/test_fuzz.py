"""Everything public has a valid example, and a thinned run of the wrong calls keeps all rules (`make fuzz` is the full
one)."""

from collections import Counter

import numpy as np
import pytest

from fuzz import oracles
from fuzz.calling import broken, called
from fuzz.cases import Case, cases, listed, missing
from fuzz.mutations import Mutation
from fuzz.scaling import LAWS, scaled

CALLS = 1200  # of the thinned run: about ten seconds


def test_everything_public_has_a_valid_example():
    """A new public function is called here without further ado, once its valid call stands in tests/fuzz/examples."""
    assert missing() == []


def quick():
    return [example for example in listed() if not example.slow]


def test_valid_calls_succeed():
    assert broken(called(Case(example, {})) for example in quick() if example.call is None) == []


def test_wrong_calls_keep_the_rules():
    random = np.random.default_rng(0)
    chosen = []
    for example in quick():
        several = cases(example, twice=1)
        chosen += [several[i] for i in random.choice(len(several), size=min(8, len(several)), replace=False)]
    kept = [chosen[i] for i in sorted(random.choice(len(chosen), size=min(CALLS, len(chosen)), replace=False))]
    outcomes = [called(case) for case in kept]
    assert Counter(outcome.ended for outcome in outcomes)["refused"] > len(outcomes) / 4  # most are wrong, after all
    assert broken(outcomes) == []


def test_results_do_not_depend_on_units():
    laws = [outcome for example in quick() if example.name in LAWS for outcome in scaled(example)]
    assert len(laws) > 100 and broken(laws) == []


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda value: 2 * value, "wrong type believed"),
        (lambda value: np.log(-1.0) if value == "a" else 1.0, "stray warning"),
        (lambda value: len(value) + None, "unclear error"),
    ],
)
def test_the_rules_can_be_broken(call, rule):
    """The control: functions with these mistakes are found."""
    from fuzz.examples import Example

    example = Example("mistake", {"value": 1.0}, call=call)
    outcome = called(Case(example, {"value": Mutation("text", "wrong type", "a")}))
    assert rule in outcome.broken


def test_calls_that_need_a_package_which_is_not_installed_are_left_out(monkeypatch):
    from fuzz import surface
    from fuzz.examples import Example, Made

    def needs_it(value=None):
        import no_such_package

        return no_such_package

    direct, made = (
        Example("direct", {"value": 1.0}, call=needs_it),
        Example("made", {"value": Made(needs_it)}, call=len),
    )
    assert "unclear error" in called(Case(direct, {"value": Mutation("text", "odd", "a")})).broken
    monkeypatch.setitem(surface.INSTALLED_BY, "no_such_package", "some")
    for example in (direct, made):
        outcome = called(cases(example, twice=1)[0])
        assert (outcome.ended, outcome.broken) == ("left out for want of no_such_package", {})


def test_clear_messages_are_told_from_others():
    from linnet._arguments import number

    with pytest.raises(ValueError, match="`value` must be a number") as caught:
        number("value", "a")
    assert oracles.clear(caught.value, {"value"}) is None
    assert "names no argument" in oracles.clear(caught.value, {"other"})
    with pytest.raises(ValueError, match="could not convert") as caught:
        float("a")
    assert "raised in test_fuzz.py" in oracles.clear(caught.value, {"a"})


def test_forms_of_equal_numbers_are_compared():
    assert oracles.difference([np.array([1.0, np.nan])], [np.array([1.0, np.nan])]) == 0.0
    assert oracles.difference([np.array([1.0])], [np.array([1.0, 2.0])]) == float("inf")
    assert oracles.difference({"a": 1e150}, {"a": 1.1e150}) == pytest.approx(0.1 / 1.1)
