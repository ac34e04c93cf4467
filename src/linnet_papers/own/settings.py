"""The constants of our own results, once."""

from linnet_papers.reproduction import at_most, below

PUBLISHED_MEDIAN = at_most(0.025, "the published task is one draw, and draws differ by about 1% in all cells together")
PUBLISHED_WORST = at_most(
    0.06,
    "the same draw's deviation, and at most 3% for the stopping step in the steepest cells; standard errors are taken "
    "off, as cells near the boundary differ by 11% between tasks",
)
STANDARD_ERRORS = 2  # that a mean over draws may be off by chance
WRONG = 0.05  # relative: a covered cell that is farther off must be within its error bars
NORMAL_ERRORS = 4.5  # standard errors: one in 150 000 draws of a normal number lies beyond
SAME = below(1e-7, "a hundred times the relative tolerance of the flow's integrator")
EXACT = below(1e-6, "a hundred times the integrator's relative tolerance; the formula is exact")
