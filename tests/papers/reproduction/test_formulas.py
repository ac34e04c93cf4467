"""Formulas: TeX in the source, plain in a terminal, whole on a page."""

from __future__ import annotations

import pytest

from linnet_papers.reproduction.formulas import plain
from linnet_papers.reproduction.show import html_text, markdown_text


@pytest.mark.parametrize(
    ("tex", "shown"),
    [
        (r"the share $\sigma_i(W_1)^2 \ge 2 \gamma$ of it", "the share sigma_i(W_1)^2 >= 2 gamma of it"),
        (r"$\tfrac{1}{2} \lvert \Delta w_i \rvert^2$ is $O(s^3)$", "1/2 |Delta w_i|^2 is O(s^3)"),
        (r"$\frac{a + b}{\sqrt{d}}$", "(a + b)/sqrt(d)"),
        (r"$v_{\mathrm{end}}^2 = 3 \cdot 10^{-4}$, $e^{-t}$", "v_end^2 = 3e-4, e^-t"),
        (r"$d^{-(\gamma_w - 1)/2}$ to $x^{-1/2}$", "d^(-(gamma_w - 1)/2) to x^(-1/2)"),
        (r"$\hat C$ and $W_1^\top W_1$, $\{a, b\}$", "hat C and W_1^T W_1, {a, b}"),
        ("it costs 5, and no formula", "it costs 5, and no formula"),
    ],
)
def test_a_terminal_shows_them_plainly(tex: str, shown: str) -> None:
    assert plain(tex) == shown


def test_a_page_takes_nothing_else_for_a_mark() -> None:
    written = r"a * b_c < $x < y|z$ and `a_b`"
    assert markdown_text(written) == r"a \* b\_c \< $x \lt y\vert z$ and `a_b`"
    assert html_text("$a < b$ <b>", lambda tex: f"[{tex}]") == "[a < b] &lt;b&gt;"
