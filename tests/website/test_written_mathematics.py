"""Formulas in Markdown become MathML; what is not a formula stays as it is."""

from __future__ import annotations

import pytest

pytest.importorskip("latex2mathml")
markdown = pytest.importorskip("markdown")

from website.mathematics import MathematicsError, mathml  # noqa: E402

pytestmark = pytest.mark.site


def rendered(text: str) -> str:
    return markdown.markdown(text, extensions=["website.mathematics", "fenced_code"])


def test_formulas_in_lines_and_on_their_own() -> None:
    page = rendered("With $x_1^2$ and $y$.\n\n$$ \\frac{a}{b} $$\n")
    assert page.count("<math") == 3 and page.count('display="block"') == 1
    assert "<msubsup>" in page and "<mfrac>" in page and "$" not in page


@pytest.mark.parametrize("text", ["it costs $5 and $6 a day", "`$x$`", "```\n$x$\n```", r"\$x\$"])
def test_a_dollar_that_is_no_formula_stays(text: str) -> None:
    assert "<math" not in rendered(text) and "$" in rendered(text)


def test_emphasis_and_backslashes_inside_a_formula_are_the_formula_s() -> None:
    assert "<em>" not in rendered(r"$a_{i}*b_{j}*c$") and "matrix" not in rendered(r"$\sigma \\ x$")


def test_a_command_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(MathematicsError, match="does not know"):
        mathml(r"\unheardof x", "inline")


def test_doctests_are_code() -> None:
    page = rendered("Text.\n\n>>> 1 + 1\n2\n\nMore.")
    assert "<blockquote>" not in page and "&gt;&gt;&gt; 1 + 1\n2" in page and page.endswith("<p>More.</p>")
