"""The paper's constants: the point of Figure 1 and its step; and limits that several files of claims share.

Those of Figure 2 are `linnet_papers.tu.plane`'s.
"""

from __future__ import annotations

from linnet_papers.reproduction import at_most

GAMMAS = (-1.85, 2.25)  # exponents of the variance and of the width in Figure 1: a point of the active region
FAST = 5.0  # c of Figure 1: the step is 1/(c |A*|), c "usually 50 but can be taken to be 2 or 5"

BOUND = at_most(1.0, "it is the paper's own bound, with its constant")
ERRORS = 2.0  # standard errors that the mean over a few draws is allowed besides
