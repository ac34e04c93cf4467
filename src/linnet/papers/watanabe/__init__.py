"""Watanabe, Karakida and Teramae: The Impact of Anisotropic Covariance Structure on the Training Dynamics and
Generalization Error of Linear Networks."""

from linnet.papers.watanabe.claims import (
    alignment,
    bound,
    curves,
    early,
    equations,
    error,
    phases,
    proofs,
    ridgeless,
    speeds,
)
from linnet.papers.watanabe.figures import fig1, fig2, fig3, fig4, fig5
from linnet.papers.watanabe.statements import STATEMENTS
from linnet.papers.watanabe.tables import errors, phase_times
from linnet.reproduction import Paper

PAPER = Paper(
    name="watanabe",
    title="The Impact of Anisotropic Covariance Structure on the Training Dynamics and Generalization Error of Linear "
    "Networks",
    authors="Watanabe, Karakida and Teramae",
    year=2026,
    link="https://arxiv.org/abs/2601.06961",
    subject="data with one strong direction",
    figures=[fig1.FIGURE, fig2.FIGURE, fig3.FIGURE, fig4.FIGURE, fig5.FIGURE],
    tables=[errors.TABLE, phase_times.TABLE],
    claims=[
        *equations.CLAIMS,
        *early.CLAIMS,
        *alignment.CLAIMS,
        *phases.CLAIMS,
        *bound.CLAIMS,
        *curves.CLAIMS,
        *speeds.CLAIMS,
        *proofs.CLAIMS,
        *ridgeless.CLAIMS,
        *error.CLAIMS,
    ],
    statements=STATEMENTS,
)
