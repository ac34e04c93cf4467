"""Image sets by name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linnet_papers.huang.images import _formats as formats
from linnet_papers.huang.images import _packaged as packaged
from linnet_papers.huang.images.collection import Images

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
PLACES = ("", "cifar-10-batches-py", "cifar-10-batches-bin")
BATCHES = tuple(f"data_batch_{i}" for i in range(1, 6))


def load_images(name: str, path: str | Path | None = None) -> Images:
    """Labeled images by name.

    **Arguments:**

    - `name`: `"digits"`: 1797 of 8 x 8, in scikit-learn (extra `data`); `"photographs"`: 520 color patches of 32 x 32
      of scikit-learn's two photographs, "china" and "flower" (extra `data`), 3072 inputs as CIFAR-10 has; `"cifar10"`:
      all five training batches, from a local copy, the Python version (`data_batch_1` .. `data_batch_5`) or the binary
      one (the same with `.bin`)
    - `path`: the folder that holds the files, or the one above under its usual name

    **Returns** `Images`. An incomplete set is refused, and what is missing is named.

    **Example:**

        >>> from linnet.problems import load_images
        >>> load_images("digits").shape
        (8, 8)
    """
    names = [*packaged.SETS, "cifar10"]
    if name not in names:
        raise ValueError(f"`name` must be one of {', '.join(names)}: got {name!r}.")
    if name == "cifar10":
        return _cifar10(path)
    if path is not None:
        raise ValueError(f"`path` is not used for {name}, which comes inside a package: got {path}.")
    return packaged.SETS[name]()


def _cifar10(path: str | Path | None) -> Images:
    """Load CIFAR-10 from its Python or binary batches; pixels are read when they are drawn."""
    files = _batch_files(path)
    labels = [formats.cifar_labels(file) for file in files]
    starts = np.cumsum([0, *(len(each) for each in labels)])

    def read(positions: np.ndarray) -> np.ndarray:
        parts = [
            formats.cifar_pixels(file, positions[(positions >= low) & (positions < high)] - low)
            for file, low, high in zip(files, starts[:-1], starts[1:], strict=True)
        ]
        return np.concatenate(parts) / 255.0

    source = f"{files[0].parent}: {', '.join(file.name for file in files)}"
    return Images("cifar10", np.concatenate(labels), (3, 32, 32), CLASSES, source, pair=(3, 8), reader=read)


def _batch_files(path: str | Path | None) -> list[Path]:
    """Return the file of each batch, all in one folder at or below `path`; refuse a folder that holds only some."""
    wanted = [f"{batch} or {batch}.bin" for batch in BATCHES]
    if path is None:
        raise ValueError(
            "`path` must be given for cifar10, which is read from a local copy and never downloaded: the folder that "
            f"holds {', '.join(wanted)}."
        )
    folders = [Path(path).expanduser() / place for place in PLACES]
    for folder in folders:
        found = [[file for name in words.split(" or ") if (file := folder / name).is_file()] for words in wanted]
        if all(found):
            return [files[0] for files in found]
        if any(found):
            missing = ", ".join(words for words, files in zip(wanted, found, strict=True) if not files)
            raise FileNotFoundError(f"the copy of cifar10 in {folder} is incomplete: it lacks {missing}.")
    raise FileNotFoundError(
        f"no copy of cifar10 found: looked for {', '.join(wanted)} in {', '.join(map(str, folders))}. Put the files "
        "there, or pass their folder."
    )
