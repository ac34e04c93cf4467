"""Controls: every state has an address that leads back to it, and what is refused is refused in a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnet_papers.explorer.controls import (
    ControlError,
    choice,
    defaults,
    log,
    number,
    numbers,
    parse,
    parse_leniently,
    query_string,
    switch,
    text,
    whole,
)

CONTROLS = (
    number("size", "Size", 1.5, (-2, 3), "Of it."),
    whole("count", "Count", 4, (1, 24), "Of them."),
    log("width", "Width h", 1000, (1, 1e12), "Hidden units."),
    log("rate", "Rate", 1e-3, (1e-9, 1), "Of steps."),
    choice("how", "How", {"flow": "flow", "descent": "gradient descent"}, "It is done."),
    switch("shown", "Shown", True, "Or not."),
    text("words", "Words", "Of one's own."),
    numbers("values", "Values", (2.0, 1.0), (0.1, 100), "A list.", most=4),
    numbers("cell", "Cell", (), (-3, 3), "Perhaps one.", most=2, hidden=True),
)

STATES = st.fixed_dictionaries(
    {
        "size": st.floats(-2, 3),
        "count": st.integers(1, 24),
        "width": st.integers(1, 10**12),
        "rate": st.floats(1e-9, 1),
        "how": st.sampled_from(["flow", "descent"]),
        "shown": st.booleans(),
        "words": st.text(max_size=60).map(str.strip),
        "values": st.lists(st.floats(0.1, 100), min_size=1, max_size=4).map(tuple),
        "cell": st.lists(st.floats(-3, 3), max_size=2).map(tuple),
    }
)


@given(STATES)
def test_an_address_leads_back_to_its_state(state):
    assert parse(CONTROLS, query_string(CONTROLS, state)) == state
    assert parse(CONTROLS, "?" + query_string(CONTROLS, state)) == state
    assert parse(CONTROLS, {one.name: one.write(state[one.name]) for one in CONTROLS}) == state  # what inputs hold


def test_only_what_differs_from_the_defaults_is_in_the_address():
    start = defaults(CONTROLS)
    assert query_string(CONTROLS, start) == "" and parse(CONTROLS, "") == start
    assert query_string(CONTROLS, start | {"width": 10**6, "shown": False}) == "width=1000000&shown=off"
    assert query_string(CONTROLS, start | {"values": (8.0, 0.5)}) == "values=8,0.5"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("size=4", r"^Size must be between -2 and 3: got 4\.$"),
        ("size=nan", r"^Size must be finite: got nan\.$"),
        ("size=1e999", r"^Size must be finite"),
        ("size=much", r"^Size must be a number: got 'much'\.$"),
        ("size=", r"^Size is empty\.$"),
        ("count=2.5", r"^Count must be a whole number: got 2.5\.$"),
        ("width=0", r"^Width h must be between 1 and 1000000000000: got 0\.$"),
        ("how=fly", r"^How must be one of flow, descent: got 'fly'\.$"),
        ("shown=perhaps", r"^Shown must be on or off: got 'perhaps'\.$"),
        ("values=1,2,3,4,5", r"^Values must have at most 4 entries: got 5\.$"),
        ("values=", r"^Values is empty\.$"),
        ("values=1,-1", r"^Values must be between 0.1 and 100: got -1\.$"),
        ("words=" + "x" * 500, r"^Words must have at most 400 characters: got 500\.$"),
        ("widht=3", r"^This page has no control 'widht'; did you mean width\?$"),
        ("count=1&count=2", r"^This address sets 'count' more than once\.$"),
        ("&".join(f"a{i}=1" for i in range(200)), r"^This address has too many fields\.$"),
    ],
)
def test_what_is_refused_is_refused_in_a_sentence(query, sentence):
    with pytest.raises(ControlError, match=sentence) as caught:
        parse(CONTROLS, query)
    assert "\n" not in str(caught.value)


def test_one_bad_parameter_of_an_address_keeps_the_others():
    state, refused = parse_leniently(CONTROLS, "size=9&count=7&widht=3&shown=off")
    assert state == defaults(CONTROLS) | {"count": 7, "shown": False}
    assert [str(reason) for reason in refused] == [
        "Size must be between -2 and 3: got 9.",
        "This page has no control 'widht'; did you mean width?",
    ]
    assert parse_leniently(CONTROLS, "count=7") == (defaults(CONTROLS) | {"count": 7}, [])


def test_a_refusal_names_the_control_that_is_to_be_marked():
    with pytest.raises(ControlError, match="Size") as caught:
        parse(CONTROLS, "size=9")
    assert caught.value.control == "size"


@pytest.mark.parametrize("raw", [None, [], {}, [1], {"a": 1}])
def test_payloads_of_another_kind_are_refused(raw):
    with pytest.raises(ControlError, match=r"Size (is empty|is not a single value)"):
        parse(CONTROLS, {"size": raw})


def test_a_checklist_and_a_list_are_read_as_inputs_give_them():
    assert parse(CONTROLS, {"shown": []})["shown"] is False and parse(CONTROLS, {"shown": ["on"]})["shown"] is True
    assert parse(CONTROLS, {"values": [3, "2"]})["values"] == (3.0, 2.0)
