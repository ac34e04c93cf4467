"""What linnet adds to the four papers, held to the same rules: the phase diagram as a formula, and when to stop."""

from pathlib import Path

from linnet_papers.own.claims import (
    depth,
    depth_of_the_papers,
    diagram,
    flattest,
    label_noise,
    one_start,
    optimizers,
    over_time,
    start_scale,
    stopping,
    weight_decay,
)
from linnet_papers.own.figures import depth as depth_figure
from linnet_papers.own.figures import optimizers as optimizers_figure
from linnet_papers.own.figures import over_time as over_time_figure
from linnet_papers.own.figures import published
from linnet_papers.own.figures import start_scale as start_scale_figure
from linnet_papers.own.figures import weight_decay as weight_decay_figure
from linnet_papers.reproduction import Paper

PAPER = Paper(
    name="own",
    title="Our own results: the phase diagram as a formula, when to stop, one initialization under three names",
    authors="linnet",
    subject="predictions without training",
    figures=[published, depth_figure, over_time_figure, start_scale_figure, optimizers_figure, weight_decay_figure],
    claims=[
        diagram,
        stopping,
        one_start,
        flattest,
        label_noise,
        over_time,
        start_scale,
        depth,
        depth_of_the_papers,
        optimizers,
        weight_decay,
    ],
    statements=Path(__file__).with_name("statements.toml"),
)
