"""How many modes are learned actively at other widths and scales of the initialization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from linnet.forecasts.starts import INIT_NAMES

if TYPE_CHECKING:
    from linnet.forecasts.diagnosis import Diagnosis


def critical_thresholds(diagnosis: Diagnosis) -> np.ndarray:
    """Return for each mode the threshold of the initialization, by its two standard deviations, below which it is
    active."""
    first, second = diagnosis.stds
    now = (first**2 + second**2) * diagnosis.settings["width"] / 2
    return now * diagnosis.regimes.critical_factors**2


def count_active_modes(
    diagnosis: Diagnosis, widths: Float[np.ndarray, " width"], scales: Float[np.ndarray, " scale"]
) -> Int[np.ndarray, "scale width"]:
    """Count the modes that would be active at other `widths` and `scales` (times the chosen one) of the
    initialization."""
    critical, (first, second) = critical_thresholds(diagnosis), diagnosis.stds
    # the second layer of an initialization by name shrinks as the width grows (`layer_stds`); given standard deviations
    # stay
    shrinks = diagnosis.settings["init"] in INIT_NAMES
    seconds = second * np.sqrt(diagnosis.settings["width"] / widths) if shrinks else np.full_like(widths, second)
    threshold = scales[:, None] ** 2 * (first**2 + seconds**2) * widths / 2
    return (threshold[..., None] < critical).sum(axis=-1)
