"""Varre, Vladarean, Pillaud-Vivien and Flammarion: On the spectral bias of two-layer linear networks."""

from linnet.papers.varre import runs
from linnet.papers.varre.claims import dynamics, label_noise, limit, mirror, noise, relu
from linnet.papers.varre.figures import fig1, fig2, fig3, fig4, fig5
from linnet.reproduction import Paper

PAPER = Paper(
    name="varre",
    title="On the spectral bias of two-layer linear networks",
    authors="Varre, Vladarean, Pillaud-Vivien and Flammarion",
    year=2023,
    link="https://openreview.net/forum?id=FFdrXkm3Cz",
    subject="what the scale of the start leaves in the singular values",
    figures=[
        fig1.FIGURE,
        fig2.FIGURE,
        fig3.FIGURE,
        fig4.FIGURE,
        fig5.FIGURE,
    ],
    tables=[
        *label_noise.TABLES,
        *noise.TABLES,
        *relu.TABLES,
        *runs.TABLES,
    ],
    claims=[
        *dynamics.CLAIMS,
        *label_noise.CLAIMS,
        *limit.CLAIMS,
        *mirror.CLAIMS,
        *noise.CLAIMS,
        *relu.CLAIMS,
    ],
)
