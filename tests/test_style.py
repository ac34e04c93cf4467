"""The look of the figures: colors that color-blind readers tell apart, letters legible in print, nothing left
behind."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from linnet import style

# Machado, Oliveira and Fernandes 2009: what the three kinds of color blindness make of linear RGB.
SIGHTS = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(color: str, sight: str) -> np.ndarray:
    """CIE L*a*b* coordinates of a color as someone with that sight sees it."""
    value = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.asarray(SIGHTS[sight]) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(first: str, second: str, sight: str) -> float:
    return float(np.linalg.norm(lab(first, sight) - lab(second, sight)))


@pytest.mark.parametrize("sight", SIGHTS)
def test_colors_are_told_apart(sight: str) -> None:
    together = [style.FIRST_LAYER, style.SECOND_LAYER, style.PRODUCT, style.LOSS]
    assert min(distance(a, b, sight) for a, b in combinations(together, 2)) > 16
    for a, b in [(style.LAZY, style.ACTIVE), (style.SIGNAL, style.NOISE), (style.LOSS, style.TEST_LOSS)]:
        assert distance(a, b, sight) > 20
    assert min(distance(a, b, sight) for a, b in combinations(style.colors, 2)) > 15


def test_red_against_green_would_not_pass() -> None:
    assert distance("#c04040", "#707020", "deuteranopia") < 15  # the control: what the test above must catch


def test_shades_go_from_dark_to_light_and_stay_visible() -> None:
    lightness = [lab(color, "full")[0] for color in style.shades(6)]
    assert lightness == sorted(lightness) and lightness[-1] < 80
    luminance = ((lightness[-1] + 16) / 116) ** 3
    assert 1.05 / (luminance + 0.05) >= 3  # what WCAG asks of lines, against white
    assert len(style.shades(1)) == 1


def test_the_look_is_applied_and_taken_back() -> None:
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    with style.applied():
        picture, axes = style.subplots(2, 3)
        assert axes.shape == (2, 3)
        assert picture.get_size_inches()[0] == pytest.approx(2 * style.COLUMN)
        sizes = [value for name, value in dict(mpl.rcParams).items() if name.endswith("labelsize")]
        assert (
            min(size for size in sizes if isinstance(size, float)) >= 7
        )  # points, in a picture made for the width at which it is printed
    assert dict(mpl.rcParams) == before


def test_theory_and_training_differ_in_more_than_color() -> None:
    assert style.THEORY["linestyle"] != style.TRAINING["linestyle"] == "-"
    assert style.MARKS["linestyle"] == "none" and style.CURVE["linestyle"] == "-"


def test_subscripts() -> None:
    assert [f"σ{style.subscript(i)}" for i in (1, 20)] == ["σ₁", "σ₂₀"]


def test_settings_of_the_user_change_no_figure():
    """As a `matplotlibrc` in the current folder would."""
    import matplotlib as mpl

    with mpl.rc_context({"lines.dashed_pattern": [9.0, 9.0], "axes.facecolor": "red", "lines.linewidth": 20.0}):
        with style.applied():
            assert mpl.rcParams["axes.facecolor"] == "white" and mpl.rcParams["lines.linewidth"] == 1.4
            assert mpl.rcParams["lines.dashed_pattern"] == mpl.rcParamsDefault["lines.dashed_pattern"]
        assert mpl.rcParams["axes.facecolor"] == "red"


RC_FILES = {
    "none": None,
    "other values": b"hello\naxes.nonsense: 3\nlines.linewidth: 30\nfont.size: 30\nsavefig.bbox: tight\n",
}
DRAW = """
import hashlib, io
from linnet import style
with style.applied():
    picture, axis = style.subplots()
    axis.plot([0, 1], [1, 0], label="a")
    axis.legend()
    picture.savefig(file := io.BytesIO(), format="png")
print(hashlib.sha256(file.getvalue()).hexdigest())
"""


def test_no_matplotlibrc_of_the_current_folder_changes_a_figure(tmp_path: Path) -> None:
    drawn = {}
    for number, (kind, content) in enumerate(RC_FILES.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        if content is not None:
            (folder / "matplotlibrc").write_bytes(content)
        source = Path(style.__file__).parents[1]
        drawn[kind] = subprocess.run(
            [sys.executable, "-c", DRAW],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(source)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=60,
        ).stdout
    assert drawn["none"] and set(drawn.values()) == {drawn["none"]}, drawn
