"""What a run is: times, weights, status; saving and datasets."""

from linnet.trajectories.saving import Saving, at, every, last, log_spaced
from linnet.trajectories.status import DivergedError, RoundingError, Status, StepLimitError
from linnet.trajectories.trajectory import Trajectory

__all__ = [
    "DivergedError",
    "RoundingError",
    "Saving",
    "Status",
    "StepLimitError",
    "Trajectory",
    "at",
    "every",
    "last",
    "log_spaced",
]
