r"""Plain formulas inside sentences, as TeX: `s_K at T2 is 3 sigma^2 w` becomes `$s_K$ at $T_2$ is $3 \sigma^2 w$`.

Claims are written so that a terminal can print them. A page that can draw mathematics shows the same sentences with
their formulas drawn. What is not read as a formula without doubt stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
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
  | (?P<pair><[^<>,]+,\ [^<>,]+>)
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
class _Token:
    kind: str
    text: str
    spaced: bool  # whether a space stands before it
    at: int
    end: int


class _NoFormulaError(Exception):
    """What stands here is not read as a formula."""


def typeset(text: str) -> str:
    r"""Return the text with its plain formulas as TeX between dollars.

    **Arguments:**

    - `text`: a sentence, in which formulas are written as a terminal shows them

    **Returns** the sentence for a page of Markdown.

    **Example:**

        >>> from linnet.reproduction.typeset import typeset
        >>> print(typeset("x is at most d^-min(1/2, (gamma_w - 1)/4) at t1, for a network of d = 30."))
        $x$ is at most $d^{-\min(1/2, (\gamma_w - 1)/4)}$ at $t_1$, for a network of $d = 30$.
    """
    tokens = _tokens(text)
    pieces, at, index = [], 0, 0
    while index < len(tokens):
        formula = _formula(tokens, index)
        if formula is None:
            index += 1
            continue
        tex, after = formula
        pieces += [_plain(text[at : tokens[index].at]), f"${tex}$"]
        at, index = tokens[after - 1].end, after
    return "".join([*pieces, _plain(text[at:])])


def _plain(text: str) -> str:
    """Text outside formulas, in which Markdown must not find marks of its own."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*_$<|\\])", r"\\\1", part) for part in parts)


def _tokens(text: str) -> list[_Token]:
    found, spaced = [], False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or "other"
        if match[0].isspace():
            spaced = True
            continue
        found.append(_Token(kind, match[0], spaced, match.start(), match.end()))
        spaced = False
    return found


def _formula(tokens: list[_Token], start: int) -> tuple[str, int] | None:
    """The longest formula that begins at a token, with the place after it; None where there is none."""
    first = tokens[start]
    if first.kind not in ("number", "word", "rate", "pair", "open", "bar", "sign"):
        return None
    before = tokens[start - 1] if start else None
    if before is not None and not first.spaced and before.kind not in ("open",) and before.text not in "(,;:[":
        return None
    named = before is not None and before.text.rstrip(".").lower() in NAMERS
    if named and first.kind in ("word", "number"):
        return None
    if first.kind == "sign" and first.text not in ("-", "+-"):
        return None
    reader = _Reader(tokens, start)
    try:
        tex = reader.relation()
    except _NoFormulaError:
        return None
    used = tokens[start : reader.at]
    after = tokens[reader.at] if reader.at < len(tokens) else None
    if after is not None and not after.spaced and (after.kind in ("word", "name", "number") or after.text in "'_^%"):
        return None
    item = before is not None and before.text == "(" and after is not None and after.text == ")" and len(used) == 1
    return None if item or not _worth_it(used, after) else (tex, reader.at)  # (a) is a part of what stands before it


def _is_letter(after: _Token | None) -> bool:
    """Whether `a`, `A` or `I` is a letter of mathematics, by what follows it."""
    return after is None or after.text in AFTER_LETTERS or after.kind in ("close", "relation") or after.text in ".,;:"


def _worth_it(used: list[_Token], after: _Token | None) -> bool:
    """Whether what was read is mathematics and not a word, a number or a reference in parentheses."""
    kinds = {token.kind for token in used}
    words = [token for token in used if token.kind == "word"]
    if kinds & {"rate", "pair"}:
        return True
    if not words:
        powers = any(token.text == "^" or "e" in token.text for token in used)
        return powers or ("relation" in kinds and "number" in kinds) or (len(used) > 2 and used[1].text == "x")
    if len(used) == 1:
        return words[0].text not in ARTICLES or _is_letter(after)
    if len(words) == 1 and kinds <= {"word", "open", "close"}:  # (i), (a)
        return used[0].kind == "word"
    return True


class _Reader:
    """Reads one formula by recursive descent; `at` is the token that follows what was read."""

    def __init__(self, tokens: list[_Token], at: int) -> None:
        self.tokens, self.at, self.depth = tokens, at, 0

    def next(self, ahead: int = 0) -> _Token | None:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def take(self) -> _Token:
        token = self.next()
        if token is None:
            raise _NoFormulaError
        self.at += 1
        return token

    def attempts(self, read: str) -> str | None:
        """What a method reads; None, and nothing is taken, where it cannot."""
        at = self.at
        try:
            return str(getattr(self, read)())
        except _NoFormulaError:
            self.at = at
            return None

    def relation(self) -> str:
        tex = self.sum()
        while (token := self.next()) is not None and token.kind == "relation":
            at = self.at
            self.take()
            right = self.attempts("sum")
            if right is None:
                self.at = at
                break
            tex += f" {RELATIONS[token.text]} {right}"
        return tex

    def sum(self) -> str:
        token = self.next()
        sign = ""
        if token is not None and token.text in ("-", "+-", "+"):
            follows = self.next(1)
            if follows is None or follows.spaced:
                raise _NoFormulaError
            self.take()
            sign = SIGNS[token.text]
            sign += " " if sign.startswith("\\") else ""
        tex = sign + self.product()
        while (token := self.next()) is not None and token.text in ("+", "-", "+-"):
            follows = self.next(1)
            if follows is None or token.spaced != follows.spaced:  # a dash, a hyphen or a sign of what follows
                break
            at = self.at
            self.take()
            right = self.attempts("product")
            if right is None:
                self.at = at
                break
            tex += f" {SIGNS[token.text]} {right}"
        return tex

    def product(self) -> str:
        tex = self.power()
        while (token := self.next()) is not None:
            at = self.at
            if token.text in ("/", "*") or self.is_times(token):
                self.take()
                right = self.attempts("power")
                if right is None:
                    self.at = at
                    break
                tex += f"/{right}" if token.text == "/" else rf" {SIGNS[token.text]} {right}"
                continue
            if not self.multiplies(token):
                break
            right = self.attempts("power")
            if right is None:
                break
            tex += f" {right}"
        return tex

    def is_times(self, token: _Token) -> bool:
        """Whether an x stands between two numbers: `40 x 40`."""
        before, after = self.tokens[self.at - 1], self.next(1)
        return token.text == "x" and after is not None and before.kind == "number" == after.kind

    def multiplies(self, token: _Token) -> bool:
        """Whether what follows without a sign is a factor: `sigma^2 w`, `2 (1 - x)`, never an English word."""
        if token.kind == "word":
            if token.text not in ARTICLES:
                return True
            after = self.next(1)
            tied = after is not None and after.text in "^_'*" and not after.spaced
            return tied or _is_letter(after) or (after is not None and after.kind in ("sign", "bar"))
        if token.kind == "open":
            return self.holds_letters()
        return token.kind == "bar" and any(later.kind == "bar" for later in self.tokens[self.at + 1 :])

    def holds_letters(self) -> bool:
        """Whether the parentheses that open here hold a formula and not a reference or a remark."""
        at = self.at
        group = self.attempts("group")
        used = self.tokens[at : self.at]
        self.at = at
        return group is not None and any(token.kind == "sign" for token in used)

    def power(self) -> str:
        tex = self.atom()
        token = self.next()
        if token is not None and token.text == "*" and not token.spaced and self.is_star():
            self.take()
            tex = f"{tex}^*"
            token = self.next()
            if token is not None and token.text == "^":
                tex = f"{{{tex}}}"
        if token is not None and token.text == "^" and not token.spaced:
            self.take()
            tex += _script("^", self.exponent())
        return tex

    def is_star(self) -> bool:
        """Whether a star belongs to the letter before it: `A* + E`, not `a*b`."""
        after = self.next(1)
        return (
            after is None or after.spaced or after.kind in ("close", "bar", "sign", "relation") or after.text in "^,.;:"
        )

    def exponent(self) -> str:
        token = self.next()
        sign = ""
        if token is not None and token.text in ("-", "+"):
            self.take()
            sign, token = token.text, self.next()
        if token is None or token.spaced:
            raise _NoFormulaError
        grouped = token.kind == "open" or (token.kind == "number" and sign == "-")  # d^-1/2 is d^(-1/2)
        if token.text == "T" and not sign:
            self.take()
            return r"\top"
        at = self.at
        tex = self.atom()
        slash, under = self.next(), self.next(1)
        if slash is not None and under is not None and slash.text == "/" and under.kind == "number" and grouped:
            self.at += 2
            return f"{sign}{tex}/{under.text}"
        if grouped and not sign:
            tex = tex[1:-1] if tex.startswith("(") and tex.endswith(")") and _encloses(tex) else tex
        if self.at == at:
            raise _NoFormulaError
        return sign + tex

    def atom(self) -> str:
        token = self.take()
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "pair":
            return self.pair(token)
        if token.kind == "rate":
            name, digit, by = re.fullmatch(r"d([a-zA-Z])(\d?)/d(\w)", token.text).groups()  # type: ignore[union-attr]
            return f"d{name}{_script('_', digit) if digit else ''}/d{by}"
        if token.kind == "open":
            self.at -= 1
            return self.group()
        if token.kind == "bar":
            return self.bars()
        if token.kind == "word":
            return self.letter(token)
        raise _NoFormulaError

    def pair(self, token: _Token) -> str:
        """A scalar product: `<w, x>`."""
        sides = []
        for side in token.text[1:-1].split(", "):
            inner = _Reader(_tokens(side), 0)
            sides.append(inner.sum())
            if inner.next() is not None:
                raise _NoFormulaError
        return rf"\langle {sides[0]}, {sides[1]} \rangle"

    def group(self) -> str:
        opening = self.take()
        if opening.kind != "open":
            raise _NoFormulaError
        self.depth += 1
        inside = [self.relation()]
        while (token := self.next()) is not None and token.text == ",":
            self.take()
            inside.append(self.relation())
        closing = self.take()
        self.depth -= 1
        if closing.kind != "close":
            raise _NoFormulaError
        return f"{opening.text}{', '.join(inside)}{closing.text}"

    def bars(self) -> str:
        end = None
        for place in range(self.at, len(self.tokens)):
            if self.tokens[place].kind == "bar":
                end = place
                break
        if end is None or end == self.at:
            raise _NoFormulaError
        inner = _Reader(self.tokens[:end], self.at)
        inner.depth = 1
        tex = inner.sum()
        if inner.at != end:
            raise _NoFormulaError
        self.at = end + 1
        return rf"\lvert {tex} \rvert" + self.subscript()

    def letter(self, token: _Token) -> str:
        name, digits = re.fullmatch(r"([A-Za-z]+)(\d*)", token.text).groups()  # type: ignore[union-attr]
        after = self.next()
        called = after is not None and after.text == "(" and not after.spaced
        if name == "sqrt" and called:
            group = self.group()
            return rf"\sqrt{{{group[1:-1]}}}"
        if name in FUNCTIONS and not digits:
            return self.function(FUNCTIONS[name], called)
        if name in ("O", "Theta", "Omega") and called and not digits:
            return (rf"\{name}" if len(name) > 1 else name) + self.group()
        if name in NAMED:
            tex = NAMED[name]
        elif name in GREEK:
            tex = rf"\{name}"
        elif len(name) == 1 or (self.depth > 0 and len(name) <= 3 and name not in SHORT) or name in PRODUCTS:
            tex = " ".join(name)
        else:
            raise _NoFormulaError
        tex += _script("_", digits) if digits else self.subscript()
        while (after := self.next()) is not None and after.text == "'" and not after.spaced:
            follows = self.next(1)
            if follows is not None and not follows.spaced and follows.text == "s":  # the genitive of a letter
                raise _NoFormulaError
            self.take()
            tex += "'"
        after = self.next()
        if after is not None and after.text == "(" and not after.spaced and (len(name) == 1 or name in GREEK):
            tex += self.group()
        return tex

    def function(self, tex: str, called: bool) -> str:
        after = self.next()
        if after is not None and after.text == "^" and not after.spaced:
            self.take()
            tex += _script("^", self.exponent())
            after = self.next()
            called = after is not None and after.text == "(" and not after.spaced
        if called:
            return tex + self.group()
        if after is not None and after.text == "_" and not after.spaced:
            tex += self.subscript()
            after = self.next()
        if after is not None and (after.kind in ("number", "bar") or (after.kind == "word" and self.multiplies(after))):
            return f"{tex} {self.power()}"
        if tex == FUNCTIONS["tr"]:  # the trace of what a paper has only one of
            return tex
        raise _NoFormulaError

    def subscript(self) -> str:
        token = self.next()
        if token is None or token.text != "_" or token.spaced:
            return ""
        self.take()
        token = self.take()
        if token.kind == "open":
            self.at -= 1
            return f"_{{{self.group()[1:-1]}}}"
        if token.kind == "number":
            return _script("_", token.text)
        if token.kind != "word":
            raise _NoFormulaError
        if token.text == "sigma2":
            return r"_{\sigma^2}"
        name, digits = re.fullmatch(r"([A-Za-z]+)(\d*)", token.text).groups()  # type: ignore[union-attr]
        if name in GREEK:
            return _script("_", rf"\{name}" + (_script("_", digits) if digits else ""))
        return _script("_", token.text if len(token.text) < 3 else rf"\mathrm{{{token.text}}}")


def _script(mark: str, text: str) -> str:
    """A sub- or superscript, with braces where it is more than one sign."""
    return f"{mark}{text}" if len(text) == 1 or re.fullmatch(r"\\[A-Za-z]+", text) else f"{mark}{{{text}}}"


def _encloses(tex: str) -> bool:
    """Whether the first parenthesis closes at the end."""
    depth = 0
    for place, sign in enumerate(tex):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0:
            return place == len(tex) - 1
    return False


def _number(text: str) -> str:
    digits, _, power = text.replace(" ", r"\,").partition("e")
    if not power:
        return digits
    exponent = f"10^{{{int(power)}}}"
    return exponent if float(digits) == 1 else rf"{digits} \cdot {exponent}"
