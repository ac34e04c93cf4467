"""Two classes of real images as a regression: the settings that the image figures of the feature-learning paper
share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import linnet as ln
from linnet.reproduction.figure import Settings

if TYPE_CHECKING:
    import numpy as np

OPTIONS = {
    "data": "the images: digits (embedded), cifar10 or fashion-mnist",
    "path": "the folder with a local copy of cifar10 or fashion-mnist",
}


class ImageSettings(Settings):
    """The paper gives no settings for its image figures: these are linnet's.

    Images of two classes with targets +1 and -1, pixels centred and scaled to unit mean square. `growth` is the step as
    the growth per step of the first stage: the canonical step is `growth` n/sqrt(gamma), so that one number suits
    every data set.
    """

    data: str = "digits"
    path: str = ""
    samples: int = 200
    first_class: int = 3
    second_class: int = 8
    width: int = 1024
    growth: float = 0.05
    first_std: float = 1e-4
    magnitude: float = 1e-3
    steps: int = 600
    save_every: int = 4


def images(settings: ImageSettings) -> tuple[np.ndarray, np.ndarray, str]:
    """Inputs, targets and a sentence that says which data they are."""
    loaded = ln.problems.load_images(settings.data, settings.path or None)
    for name, label in (("first_class", settings.first_class), ("second_class", settings.second_class)):
        if not 0 <= label < len(loaded.classes):
            raise ValueError(f"`{name}` must be a class of {loaded.name}, 0 to {len(loaded.classes) - 1}: got {label}.")
    X, y = loaded.two_classes(settings.first_class, settings.second_class, samples=settings.samples, key=settings.seed)
    classes = f"{loaded.classes[settings.first_class]} and {loaded.classes[settings.second_class]}"
    return X, y, f"{len(y)} images of {loaded.name} ({classes})"


def canonical_step(settings: ImageSettings, X: np.ndarray, y: np.ndarray) -> float:
    """The canonical learning rate at which the first stage grows by `growth` per step."""
    import numpy as np

    return float(settings.growth * len(y) / np.linalg.norm(X.T @ y))
