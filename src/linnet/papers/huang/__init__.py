"""Huang, Chen, Xu, Wang and Suzuki: Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks."""

from linnet.papers.huang.claims import equations, kernel, lemmas, stages, times
from linnet.papers.huang.figures import fig1, fig2, fig3
from linnet.papers.huang.tables import convergence, draws, errors, scalings, signs
from linnet.reproduction import Paper

PAPER = Paper(
    name="huang",
    title="Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks",
    authors="Huang, Chen, Xu, Wang and Suzuki",
    year=None,
    link="",
    subject="two stages of learning from a small start",
    figures=[
        fig1.FIGURE,
        fig2.FIGURE,
        fig3.FIGURE,
    ],
    tables=[
        *convergence.TABLES,
        *draws.TABLES,
        *errors.TABLES,
        *scalings.TABLES,
        *signs.TABLES,
    ],
    claims=[
        *equations.CLAIMS,
        *kernel.CLAIMS,
        *lemmas.CLAIMS,
        *stages.CLAIMS,
        *times.CLAIMS,
    ],
)
