"""The page "Which function do I need?" names what exists, and lists every formula."""

import re
from pathlib import Path

import linnet as ln

PAGE = Path(__file__).parents[2] / "docs" / "which_function.md"


def test_every_name_on_the_page_is_there():
    text = PAGE.read_text(encoding="utf-8")
    names = set(re.findall(r"`ln((?:\.\w+)+)", text))
    assert len(names) > 12
    for name in names:
        found = ln
        for part in name.split(".")[1:]:
            found = getattr(found, part)


def test_every_formula_is_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    assert not [one.name for one in ln.predictions.FORMULAS if f"`{one.name}`" not in text]
