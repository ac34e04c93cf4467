"""Saxe, McClelland and Ganguli (2014): exact solutions of two-layer linear networks, for linnet."""

from pathlib import Path

from linnet_papers.reproduction import Paper
from linnet_saxe.claims import decoupling, half_time, learning_time, modes, random_start
from linnet_saxe.figures import fig3

PAPER = Paper(
    name="saxe",
    title="Exact solutions to the nonlinear dynamics of learning in deep linear neural networks",
    authors="Saxe, McClelland and Ganguli",
    year=2014,
    link="https://arxiv.org/abs/1312.6120",
    subject="every mode of a decoupled network is learned on its own, along a sigmoid",
    figures=[fig3],
    claims=[modes, decoupling, half_time, learning_time, random_start],
    statements=Path(__file__).with_name("statements.toml"),
)
