"""Image sets by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from linnet_papers.huang.images import _formats as formats
from linnet_papers.huang.images import _packaged as packaged
from linnet_papers.huang.images.collection import Images

FASHION_CLASSES = (
    "T-shirt",
    "trouser",
    "pullover",
    "dress",
    "coat",
    "sandal",
    "shirt",
    "sneaker",
    "bag",
    "ankle boot",
)
CIFAR_PLACES = ("", "cifar-10-batches-py", "cifar-10-batches-bin")
CIFAR_BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))
FASHION_PLACES = ("", "FashionMNIST/raw", "fashion-mnist")
FASHION_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")


def load_images(name: str, path: str | Path | None = None) -> Images:
    """Labeled images by name.

    **Arguments:**

    - `name`: `"digits"`: 1797 of 8 x 8, in scikit-learn (extra `data`); `"photographs"`: 520 color patches of 32 x 32
      of scikit-learn's two photographs, "china" and "flower" (extra `data`), 3072 inputs as CIFAR-10 has;
      `"cifar10-sample"`: the 20 CIFAR-10 pictures inside the package foolbox (extra `pictures`), which is not imported;
      `"cifar10"`: all five training batches, from a local copy, the Python version (`data_batch_1` .. `data_batch_5`)
      or the binary one (the same with `.bin`); `"fashion-mnist"`: a local copy of its IDX files, plain or `.gz`
    - `path`: the folder that holds the files, or the one above under its usual name

    **Returns** `Images`. An incomplete set is refused, and what is missing is named.

    **Example:**

        >>> from linnet.problems import load_images
        >>> load_images("digits").shape
        (8, 8)
    """
    local: dict[str, Callable[[Path | None], Images]] = {"cifar10": _cifar10, "fashion-mnist": _fashion_mnist}
    names = [*packaged.SETS, *local]
    if name not in names:
        raise ValueError(f"`name` must be one of {', '.join(names)}: got {name!r}.")
    if name in packaged.SETS:
        if path is not None:
            raise ValueError(f"`path` is not used for {name}, which comes inside a package: got {path}.")
        return packaged.SETS[name]()
    return local[name](None if path is None else Path(path).expanduser())


def _cifar10(path: Path | None) -> Images:
    """Load CIFAR-10 from its Python or binary batches; pixels are read when they are drawn."""
    groups = [(stem, stem + ".bin") for stem in CIFAR_BATCHES]
    files = _files_together("cifar10", path, CIFAR_PLACES, groups)
    labels = [formats.cifar_labels(file) for file in files]
    starts = np.cumsum([0, *(len(each) for each in labels)])

    def read(positions: np.ndarray) -> np.ndarray:
        parts = [
            formats.cifar_pixels(file, positions[(positions >= low) & (positions < high)] - low)
            for file, low, high in zip(files, starts[:-1], starts[1:], strict=True)
        ]
        return np.concatenate(parts) / 255.0

    source = f"{files[0].parent}: {', '.join(file.name for file in files)}"
    return Images(
        "cifar10", np.concatenate(labels), (3, 32, 32), packaged.CIFAR_CLASSES, source, pair=(3, 8), reader=read
    )


def _fashion_mnist(path: Path | None) -> Images:
    """Load Fashion-MNIST from its IDX files, gzipped or not."""
    groups = [(stem, stem + ".gz") for stem in FASHION_FILES]
    pixels, labels = _files_together("fashion-mnist", path, FASHION_PLACES, groups)
    count, *shape = formats.idx_lengths(pixels, axes=3)
    (named,) = formats.idx_lengths(labels, axes=1)
    if count != named:
        raise ValueError(f"{pixels.name} has {count} images, {labels.name} has {named} labels.")
    numbers = formats.idx_rows(labels, axes=1, positions=np.arange(named)).ravel()
    if numbers.max() > 9:
        raise ValueError(f"{labels} has labels outside 0..9: up to {numbers.max()}.")
    return Images(
        "fashion-mnist",
        numbers.astype(np.int64),
        tuple(shape),
        FASHION_CLASSES,
        f"{pixels.parent}: {pixels.name}, {labels.name}",
        pair=(3, 8),
        reader=lambda positions: formats.idx_rows(pixels, axes=3, positions=positions) / 255.0,
    )


def _files_together(name: str, path: Path | None, places: tuple[str, ...], groups: list[tuple[str, str]]) -> list[Path]:
    """One file of each group, all in one folder at or below `path`; a folder that holds some but not all is refused."""
    wanted = ", ".join(" or ".join(group) for group in groups)
    if path is None:
        raise ValueError(
            f"`path` must be given for {name}, which is read from a local copy and never downloaded: "
            f"the folder that holds {wanted}."
        )
    for place in places:
        folder = path / place
        files = [next((folder / file for file in group if (folder / file).is_file()), None) for group in groups]
        complete = [file for file in files if file is not None]
        if len(complete) == len(groups):
            return complete
        if complete:
            missing = ", ".join(" or ".join(group) for group, file in zip(groups, files, strict=True) if file is None)
            raise FileNotFoundError(f"the copy of {name} in {folder} is incomplete: it lacks {missing}.")
    looked = ", ".join(str(path / place) for place in places)
    raise FileNotFoundError(
        f"no copy of {name} found: looked for {wanted} in {looked}. Put the files there, or pass their folder."
    )
