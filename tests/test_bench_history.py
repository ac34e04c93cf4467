"""The history of benchmarks: every printed number by its line, and what left the scatter of earlier runs."""

from benchmarks.__main__ import moved, names, numbers_of


def test_numbers_are_found_by_their_line_and_place():
    found = numbers_of("width", "d = 60: 1.5 s, 12x\nd = 80: 2.5 s, 1e-3 off\n  row 3\n  row 4\n")
    assert found["width: d = #: # s, # off [2]"] == 1e-3
    assert found["width: row # [0]"] == 3 and found["width: row # [0] row 2"] == 4
    assert "small_problems" in names() and "__main__" not in names()


def test_what_leaves_the_scatter_on_the_same_machine_is_named():
    def runs(*values, machine="a"):
        return [{"machine": machine, "numbers": {"ratio": value}} for value in values]

    assert moved(runs(1.0, 1.1, 1.2, 1.35)) == []
    assert moved(runs(1.0, 1.1, 1.2, 1.45)) == ["ratio: 1.45, before 1 to 1.2 in 3 runs"]
    assert moved(runs(1.0, 1.1, 9.0)) == []  # two earlier runs make no scatter
    assert moved([*runs(1.0, 1.1, 1.2, machine="b"), *runs(9.0)]) == []
