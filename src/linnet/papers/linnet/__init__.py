"""What linnet adds to the four papers, held to the same rules: the phase diagram as a formula, and when to stop."""

from linnet.papers.linnet.claims import diagram, flattest, one_start, stopping
from linnet.papers.linnet.figures import published
from linnet.papers.linnet.tables import cells, dimensions
from linnet.reproduction import Paper

PAPER = Paper(
    name="linnet",
    title="Our own results: the phase diagram as a formula, when to stop, one start under three names",
    authors="linnet",
    subject="predictions without training",
    figures=[
        published.FIGURE,
    ],
    tables=[
        cells.TABLE,
        dimensions.TABLE,
    ],
    claims=[
        *diagram.CLAIMS,
        *stopping.CLAIMS,
        one_start.ONE_START,
        flattest.FLATTEST,
    ],
)
