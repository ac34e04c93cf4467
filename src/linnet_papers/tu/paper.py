"""Tu, Aranguri and Jacot: Mixed Dynamics In Linear Networks: Unifying the Lazy and Active Regimes."""

from pathlib import Path

from linnet_papers.reproduction import Paper
from linnet_papers.tu.claims import (
    alignment,
    appendix_b,
    balanced,
    descent,
    figures,
    growth,
    lazy,
    mixed_modes,
    phase_diagram,
    stages,
    theorem_1,
)
from linnet_papers.tu.figures import fig1, fig2
from linnet_papers.tu.grids import active_region

PAPER = Paper(
    name="tu",
    title="Mixed Dynamics In Linear Networks: Unifying the Lazy and Active Regimes",
    authors="Tu, Aranguri and Jacot",
    year=2024,
    link="https://arxiv.org/abs/2405.17580",
    subject="lazy and active modes in one equation",
    figures=[fig1, fig2],
    tables=[active_region],
    claims=[
        theorem_1,
        appendix_b,
        lazy,
        balanced,
        mixed_modes,
        phase_diagram,
        figures,
        stages,
        growth,
        alignment,
        descent,
    ],
    statements=Path(__file__).with_name("statements.toml"),
)
