"""Varre, Vladarean, Pillaud-Vivien and Flammarion: On the spectral bias of two-layer linear networks."""

from pathlib import Path

from linnet_papers.reproduction import Paper
from linnet_papers.varre.claims import dynamics, growth, label_noise, limit, mirror, noise, rank, relu, starts, whitened
from linnet_papers.varre.figures import fig1, fig2, fig3, fig4, fig5

PAPER = Paper(
    name="varre",
    title="On the spectral bias of two-layer linear networks",
    authors="Varre, Vladarean, Pillaud-Vivien and Flammarion",
    year=2023,
    link="https://openreview.net/forum?id=FFdrXkm3Cz",
    subject="what the scale of the initialization leaves in the singular values",
    figures=[fig1, fig2, fig3, fig4, fig5],
    claims=[limit, rank, starts, dynamics, whitened, mirror, noise, growth, label_noise, relu],
    statements=Path(__file__).with_name("statements.toml"),
)
