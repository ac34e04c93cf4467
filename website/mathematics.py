"""Mathematics and doctests in Markdown: TeX becomes MathML when the site is built, so that pages need no JavaScript.

MathML is drawn by the browser itself, in a font that lies beside the pages; it can be copied, enlarged and read aloud.
"""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor

# Between code (190), in which a dollar is a dollar, and escapes (180), which would take backslashes away.
PRIORITY = 185
# Before fenced code is taken out (25): a doctest becomes such a block.
BEFORE_FENCES = 40

# Characters of TeX: longer formulas inside a line scroll on a phone, as browsers do not break them.
LONG = 32

_DISPLAY = r"(?<!\\)\$\$(.+?)\$\$"
FORMULA = r"(?<![\\\w])\$(?![\s$])((?:\\.|[^\\$])+?)(?<!\s)\$(?!\d)"


# Bars and slashes, which browsers set apart from their neighbors and TeX does not.
_TIGHT = r"\||/|&#x0002F;|&#x0007C;|&#x02223;|&#x02016;|&#x02225;"


class MathematicsError(ValueError):
    """A formula that cannot be written as MathML."""


@cache
def mathml(formula: str, display: str) -> str:
    r"""The formula as MathML, `display` "inline" or "block".

    >>> mathml("x^2", "inline")[:25]
    '<math xmlns="http://www.w'
    """
    text = " ".join(formula.split())
    try:
        found = convert(text, display=display)
    except Exception as error:  # whatever the converter raises, the author wants to know which formula it was
        raise MathematicsError(f"the formula {text!r} cannot be written as MathML: {error!r}") from error
    unknown = [node.text for node in ElementTree.fromstring(found).iter() if node.text and "\\" in node.text]
    if unknown:
        raise MathematicsError(f"the formula {text!r} has commands that MathML's converter does not know: {unknown}")
    return re.sub(
        rf"<mo(?: stretchy=\"false\")?>({_TIGHT})</mo>", r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', found
    )


class _Formula(InlineProcessor):
    def __init__(self, pattern: str, md: Markdown, display: str) -> None:
        super().__init__(pattern, md)
        self.display = display

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # type: ignore[override]
        drawn = mathml(m[1], self.display)
        if self.display == "block":  # a wide formula scrolls in its own line
            drawn = f'<span class="formula">{drawn}</span>'
        elif len(m[1]) > LONG:
            drawn = f'<span class="long">{drawn}</span>'
        return self.md.htmlStash.store(drawn), m.start(0), m.end(0)


class _Doctests(Preprocessor):
    """Examples of docstrings (`>>>` up to an empty line) become code; Markdown would make quotations of them."""

    def run(self, lines: list[str]) -> list[str]:
        found: list[str] = []
        inside = fenced = False
        for line in lines:
            if line.lstrip().startswith(("```", "~~~")):
                fenced = not fenced
            starts = line.startswith(">>> ") and not fenced
            if starts and not inside:
                found += ["", "```pycon"]
                inside = True
            elif inside and not line.strip():
                found.append("```")
                inside = False
            found.append(line)
        return [*found, "```"] if inside else found


class Mathematics(Extension):
    """`$...$` and `$$...$$` as MathML, doctests as code."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(_Formula(_DISPLAY, md, "block"), "formula-block", PRIORITY + 1)
        md.inlinePatterns.register(_Formula(FORMULA, md, "inline"), "formula", PRIORITY)
        md.preprocessors.register(_Doctests(md), "doctests", BEFORE_FENCES)


def makeExtension(**settings: object) -> Mathematics:
    """The name by which Markdown looks for an extension."""
    return Mathematics(**settings)
