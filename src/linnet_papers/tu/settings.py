"""The paper's constants: the point of Figure 1 and its step; and limits that several files of claims share.

Those of Figure 2 are `linnet_papers.tu.plane`'s.
"""

from __future__ import annotations

from linnet_papers.reproduction import Limit

GAMMAS = (-1.85, 2.25)  # exponents of the variance and of the width in Figure 1: a point of the active region
FAST = 5.0  # c of Figure 1: the step is 1/(c |A*|), c "usually 50 but can be taken to be 2 or 5"

BOUND = Limit(1.0, "a bound is kept or it is not")
APART = Limit(2.0, "the printed formula is off by at least twice what the right one is")
ERRORS = 2.0  # standard errors that the mean over a few draws is allowed besides
