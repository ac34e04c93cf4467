"""The paper's constants: the point of Figure 1 and its step. Those of Figure 2 are `linnet.reproduction.plane`'s."""

from __future__ import annotations

GAMMAS = (-1.85, 2.25)  # exponents of the variance and of the width in Figure 1: a point of the active region
FAST = 5.0  # c of Figure 1: the step is 1/(c |A*|), c "usually 50 but can be taken to be 2 or 5"
