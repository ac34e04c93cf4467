"""Axes and legends of the explorer's pictures."""

from __future__ import annotations

import pytest

from linnet_papers.explorer import drawing


@pytest.mark.parametrize(
    ("highest", "ticks"),
    [
        (3.0, {}),  # Plotly writes 1, 1.5, 2, 2.5, 3
        (30.0, {"dtick": "D2", "tickformat": "~g"}),
        (1e4, {"dtick": 1}),
        (1e12, {}),
    ],
)
def test_ticks_of_logarithmic_axes_are_numbers_and_never_single_digits(highest, ticks):
    curve = drawing.line([1.0, highest], [0.0, 1.0], color=drawing.GUIDE)
    drawn = drawing.figure([curve], log_x=True)["layout"]
    assert {name: drawn["xaxis"][name] for name in ("dtick", "tickformat") if name in drawn["xaxis"]} == ticks
    assert "dtick" not in drawn["yaxis"]


def test_ticks_that_a_picture_sets_itself_are_kept():
    curve = drawing.line([1.0, 30.0], [0.0, 1.0], color=drawing.GUIDE)
    drawn = drawing.figure([curve], log_x=True, xaxis={"tickvals": [1, 3, 10]})["layout"]["xaxis"]
    assert "dtick" not in drawn and drawn["tickvals"] == [1, 3, 10]
