"""Varre, Vladarean, Pillaud-Vivien and Flammarion: On the spectral bias of two-layer linear networks."""

from linnet.papers.varre.claims import dynamics, growth, label_noise, limit, mirror, noise, relu, starts, whitened
from linnet.papers.varre.figures import fig1, fig2, fig3, fig4, fig5
from linnet.papers.varre.statements import STATEMENTS
from linnet.papers.varre.tables.flows import GAUSSIAN_STARTS, LIMITS, ONE_OUTPUT, WHITENED
from linnet.papers.varre.tables.label_noise import LABEL_NOISE
from linnet.papers.varre.tables.noise import GROWTH_RATES, NOISE_PROCESS
from linnet.papers.varre.tables.relu import RELU_RANKS
from linnet.reproduction import Paper

PAPER = Paper(
    name="varre",
    title="On the spectral bias of two-layer linear networks",
    authors="Varre, Vladarean, Pillaud-Vivien and Flammarion",
    year=2023,
    link="https://openreview.net/forum?id=FFdrXkm3Cz",
    subject="what the scale of the start leaves in the singular values",
    figures=[fig1.FIGURE, fig2.FIGURE, fig3.FIGURE, fig4.FIGURE, fig5.FIGURE],
    tables=[
        LIMITS,
        ONE_OUTPUT,
        WHITENED,
        GAUSSIAN_STARTS,
        LABEL_NOISE,
        NOISE_PROCESS,
        GROWTH_RATES,
        RELU_RANKS,
    ],
    claims=[
        *limit.CLAIMS,
        *starts.CLAIMS,
        *dynamics.CLAIMS,
        *whitened.CLAIMS,
        *mirror.CLAIMS,
        *noise.CLAIMS,
        *growth.CLAIMS,
        *label_noise.CLAIMS,
        *relu.CLAIMS,
    ],
    statements=STATEMENTS,
)
