"""How many modes are learned actively at other widths and scales of the start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

if TYPE_CHECKING:
    from linnet.forecasts.diagnosis import Diagnosis


def critical_thresholds(diagnosis: Diagnosis) -> np.ndarray:
    """For each mode, the threshold of the start's two standard deviations below which it is learned actively."""
    first, second = diagnosis.stds
    now = (first**2 + second**2) * diagnosis.settings["width"] / 2
    return now * diagnosis.regimes.critical_factors**2


def active_modes(
    diagnosis: Diagnosis, widths: Float[np.ndarray, " width"], scales: Float[np.ndarray, " scale"]
) -> Int[np.ndarray, "scale width"]:
    """How many modes would be learned actively at other `widths` and `scales` (times the chosen one) of the start."""
    critical, (first, second) = critical_thresholds(diagnosis), diagnosis.stds
    # PyTorch's second layer shrinks as the width grows; given standard deviations stay
    shrinks = diagnosis.settings["init"] in ("pytorch", "gaussian")
    seconds = second * np.sqrt(diagnosis.settings["width"] / widths) if shrinks else np.full_like(widths, second)
    threshold = scales[:, None] ** 2 * (first**2 + seconds**2) * widths / 2
    return (threshold[..., None] < critical).sum(axis=-1)
