"""Image sets that come inside installed packages, whose files are read without importing them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from linnet import _extras as extras
from linnet_papers.huang.images.collection import Images

PATCH_PIXELS = 32  # pixels on a side
PHOTOGRAPHS = ("china", "flower")


def digits() -> Images:
    """scikit-learn's 8 x 8 digits."""
    file = _package_folder("digits", "sklearn") / "datasets" / "data" / "digits.csv.gz"
    table = np.loadtxt(file, delimiter=",")  # the pixels of a digit, and which one it is
    pixels, labels = table[:, :-1], table[:, -1].astype(np.int64)
    classes = tuple(str(digit) for digit in range(10))
    return Images(
        "digits", labels, (8, 8), classes, "scikit-learn", pair=(3, 8), reader=lambda chosen: pixels[chosen] / 16.0
    )


def photographs() -> Images:
    """Patches of scikit-learn's two color photographs, side by side without overlap; which one is the class."""
    folder = _package_folder("photographs", "sklearn") / "datasets" / "images"
    patches = [_cut_patches(_read_picture("photographs", folder / f"{name}.jpg")) for name in PHOTOGRAPHS]
    pixels, labels = np.concatenate(patches), np.repeat([0, 1], [len(each) for each in patches])
    return Images(
        "photographs",
        labels,
        (3, PATCH_PIXELS, PATCH_PIXELS),
        PHOTOGRAPHS,
        f"scikit-learn: {', '.join(f'{name}.jpg' for name in PHOTOGRAPHS)}",
        pair=(0, 1),
        reader=lambda chosen: pixels[chosen] / 255.0,
    )


SETS = {"digits": digits, "photographs": photographs}


def _package_folder(name: str, package: str) -> Path:
    """The folder of an installed package, found without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(extras.line(package, f"the set of {name}"), name=package)
    return Path(next(iter(spec.submodule_search_locations)))


def _read_picture(name: str, file: Path) -> np.ndarray:
    """A color picture as bytes (row, column, channel)."""
    image = extras.need("PIL.Image", f"the set of {name}")
    if not file.is_file():
        raise FileNotFoundError(f"the {name} are incomplete: {file} is missing.")
    with image.open(file) as picture:
        return np.asarray(picture.convert("RGB"))


def _cut_patches(picture: np.ndarray) -> np.ndarray:
    """All patches that fit, (patch, channel row column)."""
    rows, columns = picture.shape[0] // PATCH_PIXELS, picture.shape[1] // PATCH_PIXELS
    blocks = picture[: rows * PATCH_PIXELS, : columns * PATCH_PIXELS].reshape(
        rows, PATCH_PIXELS, columns, PATCH_PIXELS, 3
    )
    return blocks.transpose(0, 2, 4, 1, 3).reshape(rows * columns, -1)
