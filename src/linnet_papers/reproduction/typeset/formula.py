"""The grammar of formulas as a terminal prints them, and the TeX of each."""

from __future__ import annotations

import re
from collections.abc import Callable

from linnet_papers.reproduction.typeset.tokens import (
    ARTICLES,
    END,
    FUNCTIONS,
    GREEK,
    NAMED,
    PRODUCTS,
    RELATIONS,
    SHORT,
    SIGNS,
    Token,
    is_letter,
    tokens_of,
)


class NoFormulaError(Exception):
    """What stands here is not read as a formula."""


class Reader:
    """Reads one formula by recursive descent; `at` is the token that follows what was read."""

    def __init__(self, tokens: list[Token], at: int) -> None:
        self.tokens, self.at, self.depth = tokens, at, 0

    def peek(self, ahead: int = 0) -> Token:
        """Return the token so many ahead, without taking it; `END` behind the last."""
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else END

    def is_next(self, *texts: str) -> bool:
        """Whether one of these follows without a space."""
        return self.peek().text in texts and not self.peek().spaced

    def take(self) -> Token:
        """Take the next token; there must be one."""
        token = self.peek()
        if token is END:
            raise NoFormulaError
        self.at += 1
        return token

    def try_read(self, read: Callable[[], str], *, after: int = 0) -> str | None:
        """Return what a method reads after so many tokens; None, and no token is taken, where it reads no formula."""
        at = self.at
        self.at += after
        try:
            return read()
        except NoFormulaError:
            self.at = at
            return None

    def relation(self) -> str:
        """Read sums with =, <, -> and the like between them."""
        tex = self.sum()
        while (token := self.peek()).kind == "relation" and (right := self.try_read(self.sum, after=1)):
            tex += f" {RELATIONS[token.text]} {right}"
        return tex

    def sum(self) -> str:
        """Read products with signs between them."""
        sign = ""
        if self.peek().text in ("-", "+-", "+"):
            if self.peek(1).spaced:
                raise NoFormulaError
            sign = SIGNS[self.take().text]
            sign += " " if sign.startswith("\\") else ""
        tex = sign + self.product()
        while (token := self.peek()).text in ("+", "-", "+-"):
            if token.spaced != self.peek(1).spaced:  # a dash, a hyphen or a sign of what follows
                break
            right = self.try_read(self.product, after=1)
            if right is None:
                break
            tex += f" {SIGNS[token.text]} {right}"
        return tex

    def product(self) -> str:
        """Read powers that are multiplied or divided, with a sign or without."""
        tex = self.power()
        while (token := self.peek()) is not END:
            signed = token.text in ("/", "*") or self.is_times(token)
            if not signed and not self.multiplies(token):
                break
            right = self.try_read(self.power, after=int(signed))
            if right is None:
                break
            tex += f"/{right}" if token.text == "/" else f" {SIGNS[token.text]} {right}" if signed else f" {right}"
        return tex

    def is_times(self, token: Token) -> bool:
        """Whether an x stands between two numbers: `40 x 40`."""
        return token.text == "x" and self.tokens[self.at - 1].kind == "number" == self.peek(1).kind

    def multiplies(self, token: Token) -> bool:
        """Whether what follows without a sign is a factor: `sigma^2 w`, `2 (1 - x)`, never an English word."""
        if token.kind == "word":
            if token.text not in ARTICLES:
                return True
            after = self.peek(1)
            tied = after.text in "^_'*" and not after.spaced
            return tied or is_letter(after) or after.kind in ("sign", "bar")
        if token.kind == "open":
            return self.holds_letters()
        return token.kind == "bar" and any(later.kind == "bar" for later in self.tokens[self.at + 1 :])

    def holds_letters(self) -> bool:
        """Whether the parentheses that open here hold a formula and not a reference or a remark."""
        at = self.at
        group = self.try_read(self.group)
        used = self.tokens[at : self.at]
        self.at = at
        return group is not None and any(token.kind == "sign" for token in used)

    def power(self) -> str:
        """Read an atom with its star and its exponent."""
        tex = self.atom()
        if self.is_next("*") and self.is_star():
            self.take()
            tex = f"{{{tex}^*}}" if self.peek().text == "^" else f"{tex}^*"
        return tex + self.superscript()

    def superscript(self) -> str:
        """Read what follows a ^; empty where nothing does."""
        if not self.is_next("^"):
            return ""
        self.take()
        return _script("^", self.exponent())

    def is_star(self) -> bool:
        """Whether a star belongs to the letter before it: `A* + E`, not `a*b`."""
        after = self.peek(1)
        return after.spaced or after.kind in ("close", "bar", "sign", "relation") or after.text in "^,.;:"

    def exponent(self) -> str:
        """Read what follows a ^."""
        sign = self.take().text if self.peek().text in ("-", "+") else ""
        token = self.peek()
        if token.spaced:
            raise NoFormulaError
        grouped = token.kind == "open" or (token.kind == "number" and sign == "-")  # d^-1/2 is d^(-1/2)
        if token.text == "T" and not sign:
            self.take()
            return r"\top"
        at = self.at
        tex = self.atom()
        slash, under = self.peek(), self.peek(1)
        if slash.text == "/" and under.kind == "number" and grouped:
            self.at += 2
            return f"{sign}{tex}/{under.text}"
        if grouped and not sign:
            tex = tex[1:-1] if tex.startswith("(") and tex.endswith(")") and _encloses(tex) else tex
        if self.at == at:
            raise NoFormulaError
        return sign + tex

    def atom(self) -> str:
        """Read a number, a letter, a function, or something in parentheses or bars."""
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
        raise NoFormulaError

    def pair(self, token: Token) -> str:
        """Read a scalar product: `<w, x>`."""
        sides = []
        for side in token.text[1:-1].split(", "):
            inner = Reader(tokens_of(side), 0)
            sides.append(inner.sum())
            if inner.peek() is not END:
                raise NoFormulaError
        return rf"\langle {sides[0]}, {sides[1]} \rangle"

    def group(self) -> str:
        """Read what stands in parentheses, brackets or braces."""
        opening = self.take()
        if opening.kind != "open":
            raise NoFormulaError
        self.depth += 1
        inside = [self.relation()]
        while self.peek().text == ",":
            self.take()
            inside.append(self.relation())
        closing = self.take()
        self.depth -= 1
        if closing.kind != "close":
            raise NoFormulaError
        return f"{opening.text}{', '.join(inside)}{closing.text}"

    def bars(self) -> str:
        """Read a norm or an absolute value."""
        end = next((place for place in range(self.at, len(self.tokens)) if self.tokens[place].kind == "bar"), self.at)
        if end == self.at:
            raise NoFormulaError
        inner = Reader(self.tokens[:end], self.at)
        inner.depth = 1
        tex = inner.sum()
        if inner.at != end:
            raise NoFormulaError
        self.at = end + 1
        return rf"\lvert {tex} \rvert" + self.subscript()

    def letter(self, token: Token) -> str:
        """Read a letter or a name of mathematics, with its subscript."""
        name, digits = re.fullmatch(r"([A-Za-z]+)(\d*)", token.text).groups()  # type: ignore[union-attr]
        if name == "sqrt" and self.is_next("("):
            return rf"\sqrt{{{self.group()[1:-1]}}}"
        if name in FUNCTIONS and not digits:
            return self.function(FUNCTIONS[name])
        if name in ("O", "Theta", "Omega") and self.is_next("(") and not digits:
            return (rf"\{name}" if len(name) > 1 else name) + self.group()
        if name in NAMED:
            tex = NAMED[name]
        elif name in GREEK:
            tex = rf"\{name}"
        elif len(name) == 1 or (self.depth > 0 and len(name) <= 3 and name not in SHORT) or name in PRODUCTS:
            tex = " ".join(name)
        else:
            raise NoFormulaError
        tex += _script("_", digits) if digits else self.subscript()
        while self.is_next("'"):
            self.take()
            if self.is_next("s"):  # the genitive of a letter
                raise NoFormulaError
            tex += "'"
        return tex + self.group() if self.is_next("(") and (len(name) == 1 or name in GREEK) else tex

    def function(self, tex: str) -> str:
        """Read a function with its argument."""
        tex += self.superscript()
        if self.is_next("("):
            return tex + self.group()
        tex += self.subscript()
        after = self.peek()
        if after.kind in ("number", "bar") or (after.kind == "word" and self.multiplies(after)):
            return f"{tex} {self.power()}"
        if tex == FUNCTIONS["tr"]:  # the trace of what a paper has only one of
            return tex
        raise NoFormulaError

    def subscript(self) -> str:
        """Read what follows a _; empty where nothing does."""
        if not self.is_next("_"):
            return ""
        self.take()
        token = self.take()
        if token.kind == "open":
            self.at -= 1
            return f"_{{{self.group()[1:-1]}}}"
        if token.kind == "number":
            return _script("_", token.text)
        if token.kind != "word":
            raise NoFormulaError
        if token.text == "sigma2":
            return r"_{\sigma^2}"
        name, digits = re.fullmatch(r"([A-Za-z]+)(\d*)", token.text).groups()  # type: ignore[union-attr]
        if name in GREEK:
            return _script("_", rf"\{name}" + (_script("_", digits) if digits else ""))
        return _script("_", token.text if len(token.text) < 3 else rf"\mathrm{{{token.text}}}")


def _script(mark: str, text: str) -> str:
    """Return a sub- or superscript, with braces where it is more than one sign."""
    return f"{mark}{text}" if len(text) == 1 or re.fullmatch(r"\\[A-Za-z]+", text) else f"{mark}{{{text}}}"


def _encloses(tex: str) -> bool:
    """Return whether the first parenthesis closes at the end."""
    depth = 0
    for place, sign in enumerate(tex):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0:
            return place == len(tex) - 1
    return False


def _number(text: str) -> str:
    """Write a number as TeX, a power of ten in place of `e`."""
    digits, _, power = text.replace(" ", r"\,").partition("e")
    if not power:
        return digits
    exponent = f"10^{{{int(power)}}}"
    return exponent if float(digits) == 1 else rf"{digits} \cdot {exponent}"
