"""Tu, Aranguri and Jacot: Mixed Dynamics In Linear Networks: Unifying the Lazy and Active Regimes."""

from linnet.papers.tu.claims import alignment, descent, gram, modes, theorem2
from linnet.papers.tu.figures import fig1, fig2
from linnet.papers.tu.tables import active_region, border, published, regions, timeline, updates, widths
from linnet.reproduction import Paper

PAPER = Paper(
    name="tu",
    title="Mixed Dynamics In Linear Networks: Unifying the Lazy and Active Regimes",
    authors="Tu, Aranguri and Jacot",
    year=2024,
    link="https://arxiv.org/abs/2405.17580",
    subject="lazy and active modes in one equation",
    figures=[
        fig1.FIGURE,
        fig2.FIGURE,
    ],
    tables=[
        *active_region.TABLES,
        *border.TABLES,
        published.PUBLISHED,
        *regions.TABLES,
        *timeline.TABLES,
        *updates.TABLES,
        *widths.TABLES,
    ],
    claims=[
        *alignment.CLAIMS,
        *descent.CLAIMS,
        *gram.CLAIMS,
        *modes.CLAIMS,
        *theorem2.CLAIMS,
    ],
)
