"""The history of benchmarks: every printed number by its line, and what left the scatter of earlier runs."""

import numpy as np
from benchmarks.__main__ import earlier_values, moved, names, numbers_of


def test_numbers_are_found_by_their_line_and_place():
    found = numbers_of("width", "d = 60: 1.5 s, 12x\nd = 80: 2.5 s, 1e-3 off\n  row 3\n  row 4\n")
    assert found["width: d = #: # s, # off [2]"] == 1e-3
    assert found["width: row # [0]"] == 3 and found["width: row # [0] row 2"] == 4
    assert "small_problems" in names() and "__main__" not in names()


def test_what_leaves_the_scatter_on_the_same_machine_is_named():
    def runs(*values, machine="a"):
        return [{"machine": machine, "numbers": {"ratio": value}} for value in values]

    assert moved(runs(1.0, 1.1, 1.2, 2.2)) == []  # three runs say little: 11.5 standard deviations are allowed
    assert moved(runs(1.0, 1.1, 1.2, 2.3)) == ["ratio: 2.3, before 1 to 1.2 in 3 runs"]
    assert moved(runs(*[1.0, 1.1, 1.2] * 3, 1.45)) == ["ratio: 1.45, before 1 to 1.2 in 9 runs"]
    assert moved(runs(0.1, 0.1, 0.1, 0.1)) == [] and len(moved(runs(5.0, 5.0, 5.0, 6.0))) == 1
    assert moved(runs(1.0, 1.1, 9.0)) == []  # two earlier runs make no scatter
    assert moved([*runs(1.0, 1.1, 1.2, machine="b"), *runs(9.0)]) == []


def test_only_numbers_with_enough_earlier_runs_are_compared():
    other = [{"machine": "a", "numbers": {"other": 1.0}}] * 3
    assert earlier_values([*other, {"machine": "a", "numbers": {"ratio": 9.0}}]) == {}
    assert earlier_values([*other, {"machine": "a", "numbers": {"ratio": 9.0, "other": 1.0}}]) == {"other": [1.0] * 3}


def test_of_unchanged_numbers_one_in_a_hundred_is_named():
    for runs in (3, 6):
        rows = np.random.default_rng(0).lognormal(sigma=0.05, size=(runs + 1, 4000))
        history = [{"machine": "a", "numbers": dict(enumerate(row))} for row in rows]
        assert abs(len(moved(history)) - 40) < 4 * np.sqrt(40)
