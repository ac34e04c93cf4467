"""Sentences in which plain formulas are found and written as TeX."""

from __future__ import annotations

import re

from linnet_papers.reproduction.typeset.formula import NoFormulaError, Reader
from linnet_papers.reproduction.typeset.tokens import ARTICLES, END, NAMERS, Token, is_letter, tokens_of


def typeset(text: str, *, escape: bool = True) -> str:
    r"""Return the text with its plain formulas as TeX between dollars.

    **Arguments:**

    - `text`: a sentence, in which formulas are written as a terminal shows them
    - `escape`: whether the text outside formulas is made safe for Markdown

    **Returns** the sentence for a page of Markdown.

    **Example:**

        >>> from linnet_papers.reproduction.typeset import typeset
        >>> print(typeset("x is at most d^-min(1/2, (gamma_w - 1)/4) at t1, for a network of d = 30."))
        $x$ is at most $d^{-\min(1/2, (\gamma_w - 1)/4)}$ at $t_1$, for a network of $d = 30$.
    """
    tokens = tokens_of(text)
    pieces: list[str] = []
    at = index = 0
    write = _escape_markdown if escape else str
    while index < len(tokens):
        formula = _longest_formula(tokens, index)
        if formula is None:
            index += 1
            continue
        tex, after = formula
        pieces += [write(text[at : tokens[index].at]), f"${tex}$"]
        at, index = tokens[after - 1].end, after
    return "".join([*pieces, write(text[at:])])


def _escape_markdown(text: str) -> str:
    """Return text outside formulas, in which Markdown must not find marks of its own."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_$<|\\])", r"\\\1", part) for part in parts)


def _longest_formula(tokens: list[Token], start: int) -> tuple[str, int] | None:
    """Return the longest formula that begins at a token, with the place after it; None where there is none."""
    first = tokens[start]
    if first.kind not in ("number", "word", "rate", "pair", "open", "bar", "sign"):
        return None
    before = tokens[start - 1] if start else END
    if not first.spaced and before.kind not in ("open", "end") and before.text not in ",;:":
        return None
    named = before.text.rstrip(".").lower() in NAMERS
    numbered = re.fullmatch(r"[a-z]\d", first.text)  # a component: "in the early phase w1 grows"
    if named and first.kind in ("word", "number") and not numbered:
        return None
    if first.kind == "sign" and first.text not in ("-", "+-"):
        return None
    reader = Reader(tokens, start)
    try:
        tex = reader.relation()
    except NoFormulaError:
        return None
    used = tokens[start : reader.at]
    after = reader.peek()
    if not after.spaced and (after.kind in ("word", "name", "number") or after.text in "'_^%"):
        return None
    item = before.text == "(" and after.text == ")" and len(used) == 1  # (a) is a part of what stands before it
    return None if item or not _is_mathematics(used, after) else (tex, reader.at)


def _is_mathematics(used: list[Token], after: Token) -> bool:
    """Whether what was read is mathematics and not a word, a number or a reference in parentheses."""
    kinds = {token.kind for token in used}
    words = [token for token in used if token.kind == "word"]
    if kinds & {"rate", "pair"}:
        return True
    if not words:
        powers = any(token.text == "^" or "e" in token.text for token in used)
        return powers or ("relation" in kinds and "number" in kinds) or (len(used) > 2 and used[1].text == "x")
    if len(used) == 1:
        return words[0].text not in ARTICLES or is_letter(after)
    if len(words) == 1 and kinds <= {"word", "open", "close"}:  # (i), (a)
        return used[0].kind == "word"
    return True
