r"""Formulas in words: TeX between dollars in the source, printed plainly in a terminal."""

from __future__ import annotations

import re
from collections.abc import Callable

FORMULA = r"(?<!\\)\$([^$]+)\$"
_SIGNS = {
    "le": "<=", "leq": "<=", "ge": ">=", "geq": ">=", "ll": "<<", "gg": ">>", "lt": "<", "gt": ">", "ne": "!=",
    "neq": "!=", "approx": "~", "sim": "~", "to": "->", "rightarrow": "->", "mapsto": "->", "times": "x", "cdot": "*",
    "pm": "+-", "mp": "-+", "in": "in", "infty": "infinity", "top": "T", "dots": "...", "ldots": "...", "cdots": "...",
    "lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "lVert": "||", "rVert": "||", "Vert": "||", "propto": "~",
    "equiv": "=", "prime": "'", "dagger": "+", "circ": "o", "odot": "o", "partial": "d", "nabla": "grad", "ell": "l",
    "langle": "<", "rangle": ">", "quad": " ", "qquad": " ", "perp": "perp", "varepsilon": "epsilon",
}  # fmt: skip
_SPACED = {"le", "leq", "ge", "geq", "ll", "gg", "lt", "gt", "ne", "neq", "approx", "sim", "to", "rightarrow", "in",
           "times", "cdot", "propto", "equiv", "mid", "pm", "odot"}  # fmt: skip
_DROPPED = "left|right|bigl?|bigr|Bigl?|Bigr|displaystyle|mathrm|mathit|mathbf|mathcal|mathbb|text|textrm|operatorname"
_GROUP = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}"


def with_formulas(text: str, formula: Callable[[str], str], words: Callable[[str], str] = str) -> str:
    """Return a text with each formula written by `formula`, and what stands between them by `words`."""
    pieces = re.split(FORMULA, text)
    return "".join(formula(piece) if place % 2 else words(piece) for place, piece in enumerate(pieces))


def plain(text: str) -> str:
    r"""Return a text as a terminal prints it.

    >>> from linnet_papers.reproduction.formulas import plain
    >>> plain(r"$\lvert a \rvert^2$ is at most $\sqrt{D^2 + \lambda_2}/2$ from $t_1$ on")
    '|a|^2 is at most sqrt(D^2 + lambda_2)/2 from t_1 on'
    """
    return with_formulas(text, plain_formula)


def plain_formula(tex: str) -> str:
    r"""Return one formula as a terminal prints it.

    >>> from linnet_papers.reproduction.formulas import plain_formula
    >>> plain_formula(r"d^{-\min(1/2, (\gamma_w - 1)/4)}"), plain_formula(r"\tfrac{\sigma_{\max}}{2}")
    ('d^-min(1/2, (gamma_w - 1)/4)', 'sigma_max/2')
    """
    tex = re.sub(r"\\([,;:! ])", lambda found: "" if found[1] == "!" else " ", tex)
    tex = re.sub(rf"\\(?:{_DROPPED})(?![A-Za-z]) ?", "", tex)
    tex = re.sub(rf"\\[dt]?frac{_GROUP}{_GROUP}", lambda f: f"{{{_factor(f[1])}/{_factor(f[2])}}}", tex)
    tex = re.sub(rf"\\sqrt{_GROUP}", lambda f: f"sqrt({f[1]})", tex)
    tex = re.sub(rf"\\(?:hat|bar|tilde|dot|widehat|widetilde|overline|vec){_GROUP}", lambda f: f[1], tex)
    tex = re.sub(r"\\lvert ?", "|", re.sub(r" ?\\rvert", "|", tex))
    tex = re.sub(r"\\lVert ?", "||", re.sub(r" ?\\rVert", "||", tex))
    tex = re.sub(r"\\([{}%&#_$|])", lambda f: {"{": "\0", "}": "\1", "|": "||"}.get(f[1], f[1]), tex)
    tex = re.sub(r" ?\\([A-Za-z]+) ?", _word, tex)
    while re.search(r"\{[^{}]*\}", tex):  # a group stays together by parentheses, or by itself
        tex = re.sub(r"([_^]?)\{([^{}]*)\}", _group, tex)
    tex = re.sub(r"(?<![\w.^)])10\^(-?\d+)", r"1e\1", tex)
    tex = re.sub(r"(?<=\d) \* 1e", "e", tex)
    return " ".join(tex.replace("\0", "{").replace("\1", "}").split())


def _word(found: re.Match[str]) -> str:
    """Return what stands for a command: a sign, or its own name."""
    name, text = found[1], found[0]
    if name in _SPACED:
        return f" {_SIGNS[name]} "
    before = " " if text.startswith(" ") else ""
    after = " " if text.endswith(" ") and name not in ("partial", "nabla") else ""
    return before + _SIGNS.get(name, name) + after


def _factor(tex: str) -> str:
    """Return one side of a fraction, in parentheses where it is a sum."""
    return f"({tex})" if re.search(r".[+-]| ", tex.strip()) else tex


def _group(found: re.Match[str]) -> str:
    """Return a group: after a sign for an index or a power in parentheses, unless it is one word or number."""
    mark, inside = found[1], found[2].strip()
    alone = not mark or re.fullmatch(r"[-+]?[\w.']+(\([^()]*(\([^()]*\)[^()]*)*\))?|\([^()]*\)", inside)
    return mark + (inside if alone else f"({inside})")
