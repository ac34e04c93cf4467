"""The comparison with the record finds what changed, and only that."""

import json
import math

import numpy as np
import pytest

from baseline import __main__ as command
from baseline.compare import Difference, compare_claim, compare_figure
from baseline.names import with_new_names
from baseline.summary import distance, summarize

VALUES = np.random.default_rng(1).standard_normal((30, 7))


def test_equal_bits_are_equal():
    assert distance(summarize(VALUES), json.loads(json.dumps(summarize(VALUES.copy())))) == 0.0
    missing = np.array([1.0, np.nan, np.inf])
    assert distance(summarize(missing), json.loads(json.dumps(summarize(missing)))) == 0.0


@pytest.mark.parametrize("place", [(0, 0), (13, 3), (29, 6)])
@pytest.mark.parametrize("size", [1e-12, 1e-3])
def test_one_changed_entry_is_found_wherever_it_is(place, size):
    changed = VALUES.copy()
    changed[place] += size * np.abs(VALUES).max()
    assert distance(summarize(VALUES), summarize(changed)) == pytest.approx(size, rel=0.05)


def test_other_shapes_words_and_missing_values_are_infinitely_far():
    holes = VALUES.copy()
    holes[3, 3] = np.nan
    for other in (VALUES.T, holes, VALUES.astype(str)):
        assert distance(summarize(VALUES), summarize(other)) == math.inf


def test_names_of_now_are_found():
    old = {"linnet-depth": {"best_test": summarize(VALUES), "convention": summarize(np.array(["centred pixels"]))}}
    new = {"own-depth": {"min_test_loss": summarize(VALUES), "convention": summarize(np.array(["centered pixels"]))}}
    assert with_new_names(old) == new


def test_claims_differ_by_verdict_number_or_a_missing_one():
    def claim(*values, verdict="holds"):
        return {"verdict": verdict, "rows": [{"quantity": "error", "values": list(values)}, {"quantity": "in short"}]}

    old = claim(2.0, 1e-14, None)
    assert compare_claim("c", old, claim(None, 7.0, 1e-14, 2.0)).size == 0.0  # in another order, among others
    assert compare_claim("c", old, claim(None)).size == math.inf
    assert compare_claim("c", old, old | {"verdict": "refuted"}).size == math.inf
    assert compare_claim("c", old, None).where == "missing"
    found = compare_claim("c", old, claim(2.0 + 4e-5, 3e-14, None))
    assert found.size == pytest.approx(2e-5, rel=1e-3) and found.where == "error = 2.0 then"
    assert compare_figure("f", {"x": summarize(VALUES)}, {}).where == "missing: x"


def test_the_status_is_1_for_what_is_not_wanted(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "CHANGES", tmp_path / "changes.toml")
    (tmp_path / "changes.toml").write_text('far = "another start"\n')
    known = [Difference("same", 0.0), Difference("close", 1e-9, "x"), Difference("far", 0.5, "x")]
    assert command.print_differences(known, 1e-5) == 0
    assert "ok        far                              off by 0.5 (x); wanted: another" in capsys.readouterr().out
    assert command.print_differences([*known, Difference("noisy", 0.02, "x")], 1e-5, {"noisy": 0.03}) == 0
    assert command.print_differences([*known, Difference("noisy", 0.04, "x")], 1e-5, {"noisy": 0.03}) == 1
    assert command.print_differences([Difference("gone", math.inf, "missing")], 1e-5) == 1
