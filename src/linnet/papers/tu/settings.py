"""The paper's constants: the point of Figure 1, the step, and where the published runs stop."""

from __future__ import annotations

GAMMAS = (-1.85, 2.25)  # exponents of the variance and of the width in Figure 1: a point of the active region
RANK = 5  # of A* in both figures
NOISE_STD = 1.0  # of the entries of E
CAREFUL = 50.0  # c, which sets the step 1/(c |A*|); "usually 50 but can be taken to be 2 or 5"
FAST = 5.0

# The published loop (per entry of the matrix, without the half of the canonical loss)
STEPS = 750
LEARNED = 1e-3  # train error below which a run ends
UNCHANGED = 2e-4  # change of the train error over a step below which it ends ...
BEGUN = 1e-2  # ... once the train error has fallen by more than this
RISEN = 2  # steps running over which the test error rises at the end of a run ...
SETTLED = 3  # ... which is looked at after this step
