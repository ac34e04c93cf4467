"""Plain formulas as TeX: what is a formula, what is a word, and that the site can draw every one of them."""

from __future__ import annotations

import pytest

from linnet_papers.reproduction.typeset import typeset

SENTENCES = {
    "s_(K+1)/s_K stays below 1/2.": r"$s_{K + 1}/s_K$ stays below 1/2.",
    "x is at most d^-min(1/2, (gamma_w - 1)/4) at t1.": r"$x$ is at most $d^{-\min(1/2, (\gamma_w - 1)/4)}$ at $t_1$.",
    "it falls like d^-1/2 or d^-(gamma_w - 1)/2": r"it falls like $d^{-1/2}$ or $d^{-(\gamma_w - 1)/2}$",
    "|Delta w_i|^2/2 is O(s^3)": r"$\lvert \Delta w_i \rvert^2/2$ is $O(s^3)$",
    "the vectors a, w1 and w2": r"the vectors $a$, $w_1$ and $w_2$",
    "a network has A* + E and a rank": r"a network has $A^* + E$ and a rank",
    "A larger spike; I is one": r"A larger spike; $I$ is one",
    "n = 10 000 samples, 5.0e-14 left": r"$n = 10\,000$ samples, $5.0 \cdot 10^{-14}$ left",
    "Eqs. (9)-(12) of Appendix A, Lemma C.5, part (a)": "Eqs. (9)-(12) of Appendix A, Lemma C.5, part (a)",
    "In stage 2 |rho_r| rises": r"In stage 2 $\lvert \rho_r \rvert$ rises",
    "rank-2 targets, 40 x 40, `d = 3` in code": r"rank-2 targets, $40 \times 40$, `d = 3` in code",
    "<w_r(0), X'y> decides": r"$\langle w_r(0), X' y \rangle$ decides",
    "x + y < 0, 2 y > 1": r"$x + y < 0$, $2 y > 1$",
    "In the early phase w1 grows": r"In the early phase $w_1$ grows",
    "sqrt(n) log(1/v_0)/(eta sqrt(tr)|beta|)": r"$\sqrt{n} \log(1/v_0)/(\eta \sqrt{\mathrm{tr}} \lvert \beta \rvert)$",
    "the network's own loss < 3 costs $5": r"the network's own loss \< 3 costs \$5",
}


@pytest.mark.parametrize("plain", SENTENCES)
def test_what_is_a_formula(plain: str) -> None:
    assert typeset(plain) == SENTENCES[plain]
