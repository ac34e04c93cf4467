r"""Plain formulas inside sentences, as TeX: `s_K at T2 is 3 sigma^2 w` becomes `$s_K$ at $T_2$ is $3 \sigma^2 w$`.

Claims are written so that a terminal can print them. A page that can draw mathematics shows the same sentences with
their formulas drawn. What is not read as a formula without doubt stays as it is.
"""

from linnet_papers.reproduction.typeset.sentence import typeset

__all__ = ["typeset"]
