"""Huang, Chen, Xu, Wang and Suzuki: Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks."""

from pathlib import Path

from linnet_papers.huang.claims import (
    appendix_a,
    appendix_b,
    equations,
    first_stage,
    kernel,
    lemma_5_2,
    lemma_5_3,
    section_4_1,
    section_5_1,
    section_6,
    theorem_4_1,
)
from linnet_papers.huang.figures import fig1, fig2, fig3
from linnet_papers.huang.grids import neurons, scalings
from linnet_papers.reproduction import Paper

PAPER = Paper(
    name="huang",
    title="Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks",
    authors="Huang, Chen, Xu, Wang and Suzuki",
    year=2025,
    link="https://irep.mbzuai.ac.ae/items/c28329c8-8834-4092-ba8b-64c12400b7c2",
    subject="two stages of learning from a small initialization",
    figures=[fig1, fig2, fig3],
    tables=[neurons, scalings],
    claims=[
        equations,
        section_4_1,
        theorem_4_1,
        first_stage,
        section_5_1,
        lemma_5_2,
        lemma_5_3,
        kernel,
        section_6,
        appendix_a,
        appendix_b,
    ],
    statements=Path(__file__).with_name("statements.toml"),
)
