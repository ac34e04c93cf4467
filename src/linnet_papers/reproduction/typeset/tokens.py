"""The words and signs that formulas in sentences are made of, and how a sentence is cut into them."""

from __future__ import annotations

import re
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


GREEK = _words(
    "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi rho sigma tau phi chi psi omega "
    "Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega"
)
NAMED = {"epsilon": r"\varepsilon", "eps": r"\varepsilon", "Chat": r"\hat C", "grad": r"\nabla", "infinity": r"\infty"}
FUNCTIONS = {name: rf"\{name}" for name in _words("log ln exp sin cos sinh cosh tanh min max det sum")}
FUNCTIONS |= {name: rf"\mathrm{{{name}}}" for name in _words("asinh artanh tr diag")}
RELATIONS = {
    "=": "=", "<": "<", ">": ">", "<=": r"\le", ">=": r"\ge", "<<": r"\ll", ">>": r"\gg", "->": r"\to", "~": r"\sim"
}  # fmt: skip
SIGNS = {"+": "+", "-": "-", "*": r"\cdot", "x": r"\times", "/": "/", "+-": r"\pm"}
ARTICLES = _words("a A I")  # English words, unless what stands beside them cannot follow such a word
AFTER_LETTERS = _words(
    "and or is are has have both in of at to with by along from as does do evolves obeys decays follow follows grow "
    "grows rises falls itself alone"
)
# What follows these is a name (Appendix B, stage 2), not a letter or a number of a formula.
NAMERS = _words(
    "appendix section sections theorem theorems lemma lemmas proposition corollary definition assumption remark figure "
    "panel eq eqs part parts stage stages phase"
)
SHORT = _words(
    "the of at by is in on to as it no so if we or be and for its are has was all one two not out per run off any see"
)
PRODUCTS = _words("XX wd mn nk")  # of letters, where no parentheses tell that they are one

_TOKEN = re.compile(
    r"""
    (?P<code>`[^`]*`)
  | (?P<name>(?:https?://\S+)|[A-Z]\.\d+(?:\.\d+)*|[A-Za-z]{2,}(?:-[A-Za-z]+)+|[A-Za-z]+-[a-z]{3,})
  | (?P<pair><(?!\s)[^<>,]+,\ [^<>,]*[^<>,\s]>)
  | (?P<rate>d[a-zA-Z]\d?/d[a-z](?![A-Za-z]))
  | (?P<number>\d{1,3}(?:\ \d{3})+(?!\d)|\d+(?:\.\d+)?(?:e[+-]?\d+)?)
  | (?P<word>[A-Za-z]+\d*)
  | (?P<relation><=|>=|<<|>>|->|[=<>~])
  | (?P<sign>\+-|[-+/*])
  | (?P<open>[(\[])
  | (?P<close>[)\]])
  | (?P<bar>\|)
  | (?P<other>\s+|.)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """One sign, number or word of a sentence, and whether a space stands before it."""

    kind: str
    text: str
    spaced: bool  # whether a space stands before it
    at: int
    end: int


END = Token("end", "\0", spaced=True, at=0, end=0)  # what follows the last token


def tokens_of(text: str) -> list[Token]:
    """Cut the text into tokens; spaces are kept as a property of what follows them."""
    tokens, spaced = [], False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if match[0].isspace():
            spaced = True
            continue
        tokens.append(Token(kind, match[0], spaced, match.start(), match.end()))
        spaced = False
    return tokens


def is_letter(after: Token) -> bool:
    """Whether `a`, `A` or `I` is a letter of mathematics, by what follows it."""
    return after.text in AFTER_LETTERS or after.kind in ("close", "relation", "end") or after.text in ".,;:"
