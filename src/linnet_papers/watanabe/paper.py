"""Watanabe, Karakida and Teramae: The Impact of Anisotropic Covariance Structure on the Training Dynamics and
Generalization Error of Linear Networks."""

from pathlib import Path

from linnet_papers.reproduction import Paper
from linnet_papers.watanabe.claims import (
    alignment,
    bound,
    curves,
    early,
    equations,
    error,
    ours,
    phases,
    proofs,
    ridgeless,
    speeds,
)
from linnet_papers.watanabe.figures import fig1, fig2, fig3, fig4, fig5
from linnet_papers.watanabe.tables import phase_times

PAPER = Paper(
    name="watanabe",
    title="The Impact of Anisotropic Covariance Structure on the Training Dynamics and Generalization Error of Linear "
    "Networks",
    authors="Watanabe, Karakida and Teramae",
    year=2026,
    link="https://arxiv.org/abs/2601.06961",
    subject="data with one strong direction",
    figures=[fig1, fig2, fig3, fig4, fig5],
    tables=[phase_times],
    claims=[equations, early, alignment, phases, bound, curves, speeds, proofs, ridgeless, error, ours],
    statements=Path(__file__).with_name("statements.toml"),
)
