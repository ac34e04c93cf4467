"""The font of the formulas: STIX Two Math, which the package ziamath brings, cut down to the signs that pages use."""

from __future__ import annotations

import re
from html import unescape
from importlib.resources import files
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

FILE = "assets/mathematics.woff"
# Italic, bold, script and double-struck letters: browsers take them for letters that are written plainly.
ALPHABETS = range(0x1D400, 0x1D800)
# What browsers draw without its being written: the sign of a root (`<msqrt>`), and a minus for a hyphen.
IMPLIED = "\N{SQUARE ROOT}\N{MINUS SIGN}"


def write(html: Path) -> int:
    """Write the font beside the pages in `html`, where the style sheet looks for it; returns its size in bytes."""
    characters = {*map(chr, range(0x20, 0x7F)), *IMPLIED}
    for page in html.rglob("*.html"):
        for formula in re.findall(r"<math.*?</math>", page.read_text(encoding="utf-8"), flags=re.DOTALL):
            characters |= set(unescape(re.sub(r"<[^>]*>", "", formula)))
    font = TTFont(str(files("ziamath").joinpath("fonts", "STIXTwoMath-Regular.ttf")))
    options = subset.Options()
    options.layout_features = ["*"]
    options.flavor = "woff"
    options.notdef_outline = True
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[*map(ord, characters), *ALPHABETS])
    cutter.subset(font)
    font.flavor = "woff"
    target = html / FILE
    font.save(str(target))
    return target.stat().st_size
