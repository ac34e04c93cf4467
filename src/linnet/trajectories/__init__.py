"""What a run is: times, weights, status; saving and datasets."""

from linnet.trajectories.saving import Saving, at, every, last, log_spaced
from linnet.trajectories.status import DivergedError, Status, StepLimitError
from linnet.trajectories.trajectory import Trajectory

__all__ = [
    "DivergedError",
    "Saving",
    "Status",
    "StepLimitError",
    "Trajectory",
    "at",
    "every",
    "last",
    "log_spaced",
]
