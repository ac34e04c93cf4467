"""Pictures as files: which texts they hold, and that equal pictures are equal files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from linnet import style
from linnet_papers.reproduction.saving import PICTURE_FORMATS, save


def saved(folder: Path, limits: tuple[int, int] | None = None) -> str:
    """The SVG of a curve whose values are hundred thousands; `limits` are those of its power of ten."""
    folder.mkdir()
    with style.applied():
        picture, axis = style.subplots()
        axis.plot([0.0, 1.0], [0.0, 300_000.0])
        if limits is not None:
            axis.ticklabel_format(scilimits=limits)
    save(picture, folder)
    return (folder / "figure.svg").read_text(encoding="utf-8")


def texts(svg: str) -> list[str]:
    """Every text that is written as one piece."""
    return [text.strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def test_numbers_are_text_and_the_power_of_ten_is_a_formula(tmp_path: Path) -> None:
    svg = saved(tmp_path / "a")
    assert {"0.0", "0.5", "1.0", "3.0"} <= set(texts(svg))
    assert "1e5" not in svg and "×" in svg


def test_limits_that_a_figure_has_set_stay(tmp_path: Path) -> None:
    svg = saved(tmp_path / "a", limits=(-9, 9))
    assert "300000" in texts(svg) and "×" not in svg


def test_equal_pictures_are_equal_files(tmp_path: Path) -> None:
    saved(tmp_path / "a"), saved(tmp_path / "b")
    for kind in PICTURE_FORMATS:
        one, other = ((tmp_path / folder / f"figure.{kind}").read_bytes() for folder in "ab")
        assert one == other


def test_labels_stand_where_matplotlib_alone_would_put_them(tmp_path: Path) -> None:
    with style.applied():
        picture, axis = style.subplots()
        axis.plot([0.0, 1.0], [0.0, 1.0])
        axis.set(xlabel="across", ylabel="up")
        picture.savefig(tmp_path / "alone.svg")
    save(picture, tmp_path)
    alone, ours = (label_places((tmp_path / name).read_text("utf-8")) for name in ("alone.svg", "figure.svg"))
    assert ours.keys() == {"across", "up"}
    for word, place in ours.items():
        assert place == pytest.approx(alone[word], abs=1.0)  # points: the hinting of small letters


def label_places(svg: str) -> dict[str, tuple[float, float]]:
    """Where the words of an SVG stand, in points."""
    found = re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>([a-z]+)</text>', svg)
    return {word: (float(x), float(y)) for x, y, word in found}
