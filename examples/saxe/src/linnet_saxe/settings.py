"""The constants of the figure and the claims, once. The paper's time constant tau is one unit of linnet's clock."""

STRENGTHS = (5.0, 3.0, 1.5)  # singular values of the input-output correlation
START = 1e-3  # the strength of every mode at initialization
WIDTH = 16  # hidden units
INPUTS = 6
OUTPUTS = 5
