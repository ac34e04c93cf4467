"""What linnet adds to the four papers, held to the same rules: the phase diagram as a formula, and when to stop."""

from pathlib import Path

from linnet.papers.linnet.claims import diagram, flattest, one_start, stopping
from linnet.papers.linnet.figures import published
from linnet.papers.linnet.tables import cells, dimensions
from linnet.reproduction import Paper

PAPER = Paper(
    name="linnet",
    title="Our own results: the phase diagram as a formula, when to stop, one start under three names",
    authors="linnet",
    subject="predictions without training",
    figures=[published],
    tables=[cells, dimensions],
    claims=[diagram, stopping, one_start, flattest],
    statements=Path(__file__).with_name("statements.toml"),
)
