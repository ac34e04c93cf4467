"""The gallery: figures of a report become small pictures with numbers; every figure is shown with its command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from linnet_papers.reproduction import figures
from website import gallery

pytestmark = pytest.mark.site
GALLERY = Path(__file__).parents[2] / "docs" / "gallery"


def report(folder: Path, *, quick: bool, value: float) -> Path:
    place = folder / ("tu-fig1-quick" if quick else "tu-fig1")
    place.mkdir(parents=True)
    Image.new("RGBA", (3000, 1500), "white").save(place / "figure.png")
    check = {"text": f"gap {value}", "value": value, "limit": 0.1, "passed": True}
    result: dict[str, Any] = dict.fromkeys(gallery.KEPT, "") | {"name": "tu-fig1", "paper": "tu", "quick": quick}
    result |= {"checks": [check], "settings": {"dim": 5}, "panels": ["a", "b"], "seconds": 3.0, "key": "dropped"}
    (place / "result.json").write_text(json.dumps(result), encoding="utf-8")
    return folder


def test_a_quick_picture_does_not_replace_one_at_the_paper_s_size(tmp_path: Path) -> None:
    shown = tmp_path / "gallery"
    gallery.take(report(tmp_path / "full", quick=False, value=0.01), shown)
    assert gallery.take(report(tmp_path / "quick", quick=True, value=0.09), shown) == [
        "tu-fig1: kept, at the paper's size"
    ]
    kept = json.loads((shown / "tu-fig1.json").read_text(encoding="utf-8"))
    assert kept["checks"][0]["value"] == 0.01 and "key" not in kept
    with Image.open(shown / "tu-fig1.webp") as picture:
        assert picture.size == (gallery.WIDTH, gallery.WIDTH // 2) == tuple(kept["size"])


def test_the_page_says_at_which_settings_a_picture_was_made(tmp_path: Path) -> None:
    shown = tmp_path / "gallery"
    for quick, words in ((True, "Drawn at **quick settings**"), (False, "Drawn at **the paper's settings**")):
        gallery.take(report(tmp_path / str(quick), quick=quick, value=0.01), shown)
        made = {"tu-fig1": json.loads((shown / "tu-fig1.json").read_text(encoding="utf-8"))}
        text = gallery.page([figures()["tu-fig1"]], made)
        assert words in text and "linnet run tu-fig1" in text and "### Figure 1 of paper 4 (Tu) { #tu-fig1 }" in text


def test_every_figure_has_its_picture_and_its_numbers() -> None:
    for name in figures():
        numbers = json.loads((GALLERY / f"{name}.json").read_text(encoding="utf-8"))
        assert numbers["checks"] and numbers["command"].startswith(f"linnet run {name}")
        assert 5_000 < (GALLERY / f"{name}.webp").stat().st_size < 400_000
