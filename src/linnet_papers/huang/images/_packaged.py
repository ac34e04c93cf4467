"""Image sets that come inside installed packages, whose files are read without importing them."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from linnet import _extras as extras
from linnet_papers.huang.images.collection import Images

CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PATCH_PIXELS = 32  # pixels on a side
PHOTOGRAPHS = ("china", "flower")
SAMPLE_PICTURES = 20  # CIFAR-10 pictures inside foolbox


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


def cifar10_sample() -> Images:
    """The CIFAR-10 pictures that foolbox carries, `cifar10_NUMBER_LABEL.png`."""
    folder = _package_folder("cifar10-sample", "foolbox") / "data"
    named = {int(m[1]): (file, int(m[2])) for file in folder.glob("*.png") if (m := _NAME.fullmatch(file.name))}
    missing = [number for number in range(SAMPLE_PICTURES) if number not in named]
    if missing:
        raise FileNotFoundError(
            f"the cifar10-sample in {folder} is incomplete: it lacks pictures {', '.join(map(str, missing))} of "
            f"{SAMPLE_PICTURES}."
        )
    files, labels = zip(*(named[number] for number in range(SAMPLE_PICTURES)), strict=True)
    pixels = np.stack([_flatten(_read_picture("cifar10-sample", file)) for file in files])
    return Images(
        "cifar10-sample",
        np.array(labels),
        (3, PATCH_PIXELS, PATCH_PIXELS),
        CIFAR_CLASSES,
        f"foolbox: {SAMPLE_PICTURES} pictures",
        pair=(6, 8),
        reader=lambda chosen: pixels[chosen] / 255.0,
    )


SETS = {"digits": digits, "photographs": photographs, "cifar10-sample": cifar10_sample}
_NAME = re.compile(r"cifar10_(\d+)_(\d)\.png")


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


def _flatten(picture: np.ndarray) -> np.ndarray:
    """Return a picture as one row of pixels, channel by channel."""
    return picture.transpose(2, 0, 1).reshape(-1)
