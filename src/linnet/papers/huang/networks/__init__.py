"""What the paper trains: single runs, the cells of its sweeps, and networks on pictures."""

from linnet.papers.huang.networks.runs import (
    INGREDIENTS,
    SCALES,
    FeatureRun,
    Moment,
    first_time_errors,
    ingredients,
    inside,
    scales_at,
    section_six,
    spectrum,
    stages,
    theory_of,
    train,
)

__all__ = [
    "INGREDIENTS",
    "SCALES",
    "FeatureRun",
    "Moment",
    "first_time_errors",
    "ingredients",
    "inside",
    "scales_at",
    "section_six",
    "spectrum",
    "stages",
    "theory_of",
    "train",
]
