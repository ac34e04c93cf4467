"""Real image sets, read from local files in their published formats; nothing is ever downloaded."""

from __future__ import annotations

import gzip
import io
import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linnet import arguments
from linnet.randomness import Key, generator

CIFAR_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
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
CIFAR_PIXELS = 3 * 32 * 32
CIFAR_PLACES = ("", "cifar-10-batches-py", "cifar-10-batches-bin")
FASHION_PLACES = ("", "FashionMNIST/raw", "fashion-mnist")


@dataclass(frozen=True)
class Images:
    """Labelled images: `pixels` (image, pixel) in [0, 1], `labels` (image,), and `source`, where they came from."""

    name: str
    pixels: np.ndarray
    labels: np.ndarray
    shape: tuple[int, ...]
    classes: tuple[str, ...]
    source: str

    def two_classes(self, first: int, second: int, *, samples: int, key: Key) -> tuple[np.ndarray, np.ndarray]:
        """A balanced draw of two classes: inputs (sample, pixel), targets +1 (`first`) and -1 (`second`).

        Each pixel is centred over the draw and all are divided by one number, so that the mean square of a pixel is 1;
        pixels that never vary are zero.
        """
        n = arguments.count("samples", samples, least=2)
        chosen, targets = [], []
        for stream, (label, target) in enumerate(((first, 1.0), (second, -1.0))):
            wanted = n // 2 + (n % 2 if target > 0 else 0)
            found = np.flatnonzero(self.labels == label)
            if found.size < wanted:
                raise ValueError(
                    f"`samples` asks for {wanted} images of class {label} of {self.name}: there are {found.size}. "
                    "Ask for fewer, or for another class."
                )
            chosen.append(generator(key, stream).choice(found, size=wanted, replace=False))
            targets.append(np.full(wanted, target))
        inputs = self.pixels[np.concatenate(chosen)]
        inputs = inputs - inputs.mean(axis=0)
        return inputs / np.sqrt((inputs**2).mean()), np.concatenate(targets)


def load_images(name: str, path: str | Path | None = None) -> Images:
    """Labelled images by name: "digits" (from scikit-learn), "cifar10" or "fashion-mnist" (local files under `path`).

    CIFAR-10 is read from its Python or its binary version (`data_batch_1` .. `data_batch_5`, with `.bin` for the
    latter), Fashion-MNIST from its IDX files (`train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, plain or `.gz`).
    `path` is the folder that holds them, or the one above under its usual name.
    """
    loaders: dict[str, Callable[[Path | None], Images]] = {
        "digits": _digits,
        "cifar10": _cifar10,
        "fashion-mnist": _fashion_mnist,
    }
    if name not in loaders:
        raise ValueError(f"`name` must be one of {', '.join(loaders)}: got {name!r}.")
    return loaders[name](None if path is None else Path(path).expanduser())


def _digits(path: Path | None) -> Images:
    if path is not None:
        raise ValueError(f"`path` is not used for digits, which come with scikit-learn: got {path}.")
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise ImportError("the digits come with scikit-learn: install it with `pip install linnet[data]`.") from None
    data: Any = load_digits()
    classes = tuple(str(digit) for digit in range(10))
    return Images("digits", data.data / 16.0, data.target.astype(np.int64), (8, 8), classes, "scikit-learn")


def _cifar10(path: Path | None) -> Images:
    stems = [f"data_batch_{i}" for i in range(1, 6)]
    folder = _folder("cifar10", path, CIFAR_PLACES, [(stem, stem + ".bin") for stem in stems[:1]])
    pixels, labels, names = [], [], []
    for stem in stems:
        for file, read in ((folder / stem, _cifar_python), (folder / (stem + ".bin"), _cifar_binary)):
            if file.is_file():
                batch, batch_labels = read(file)
                if batch_labels.min() < 0 or batch_labels.max() > 9:
                    raise ValueError(
                        f"{file} has labels outside 0..9: from {batch_labels.min()} to {batch_labels.max()}."
                    )
                pixels.append(batch / 255.0)
                labels.append(batch_labels)
                names.append(file.name)
                break
    source = f"{folder}: {', '.join(names)}"
    return Images("cifar10", np.concatenate(pixels), np.concatenate(labels), (3, 32, 32), CIFAR_CLASSES, source)


def _cifar_python(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """One batch of the Python version: a pickled dictionary of `data` (image, 3072) bytes and `labels`."""
    try:
        with warnings.catch_warnings():
            # the published files were pickled by a NumPy whose dtype arguments newer ones warn about
            warnings.simplefilter("ignore")
            content = _ArrayUnpickler(io.BytesIO(file.read_bytes()), encoding="bytes").load()
    except (pickle.UnpicklingError, EOFError, ValueError, IndexError, AttributeError, TypeError) as reason:
        raise ValueError(
            f"{file} is not a batch of CIFAR-10's Python version (cut short, or another file): {reason}."
        ) from None
    content = (
        {k.decode() if isinstance(k, bytes) else k: v for k, v in content.items()} if isinstance(content, dict) else {}
    )
    data, labels = content.get("data"), content.get("labels")
    if not isinstance(data, np.ndarray) or labels is None:
        raise ValueError(f"{file} must hold `data` and `labels`: it holds {', '.join(map(str, content)) or 'neither'}.")
    if data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != CIFAR_PIXELS or len(data) != len(labels):
        raise ValueError(
            f"{file} must hold rows of {CIFAR_PIXELS} bytes and one label each: "
            f"got {data.dtype} of shape {data.shape} and {len(labels)} labels."
        )
    return data, np.asarray(labels, dtype=np.int64)


def _cifar_binary(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """One batch of the binary version: records of one label byte and 3072 pixel bytes."""
    raw = np.frombuffer(file.read_bytes(), dtype=np.uint8)
    record = CIFAR_PIXELS + 1
    if raw.size == 0 or raw.size % record:
        raise ValueError(
            f"{file} must hold records of {record} bytes: its {raw.size} bytes are not a whole number of them."
        )
    records = raw.reshape(-1, record)
    return records[:, 1:], records[:, 0].astype(np.int64)


def _fashion_mnist(path: Path | None) -> Images:
    stems = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
    folder = _folder("fashion-mnist", path, FASHION_PLACES, [(stem, stem + ".gz") for stem in stems])
    files = [next(f for f in (folder / stem, folder / (stem + ".gz")) if f.is_file()) for stem in stems]
    pixels, labels = _idx(files[0], axes=3), _idx(files[1], axes=1)
    if len(pixels) != len(labels):
        raise ValueError(f"{files[0].name} has {len(pixels)} images, {files[1].name} has {len(labels)} labels.")
    if labels.max() > 9:
        raise ValueError(f"{files[1]} has labels outside 0..9: up to {labels.max()}.")
    shape, source = pixels.shape[1:], f"{folder}: {files[0].name}, {files[1].name}"
    flat = pixels.reshape(len(pixels), -1) / 255.0
    return Images("fashion-mnist", flat, labels.astype(np.int64), shape, FASHION_CLASSES, source)


def _idx(file: Path, *, axes: int) -> np.ndarray:
    """The bytes of an IDX file: magic 0x000008 and the number of axes, each axis' length, then the data."""
    try:
        raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except (EOFError, OSError) as reason:
        raise ValueError(f"{file} is not a whole gzip file: {reason}.") from None
    header = 4 * (1 + axes)
    if len(raw) < header:
        raise ValueError(
            f"{file} is cut short: an IDX header of {axes} axes takes {header} bytes, the file has {len(raw)}."
        )
    magic, *lengths = (int(number) for number in np.frombuffer(raw[:header], dtype=">u4"))
    if magic != 0x0800 + axes:
        raise ValueError(f"{file} must start with the IDX magic number {0x0800 + axes}: got {magic}.")
    expected = int(np.prod(lengths))
    if len(raw) - header != expected or expected == 0:
        raise ValueError(
            f"{file} must hold {'x'.join(map(str, lengths))} = {expected} bytes after its header: "
            f"got {len(raw) - header}."
        )
    return np.frombuffer(raw, dtype=np.uint8, offset=header).reshape(lengths)


def _folder(name: str, path: Path | None, places: tuple[str, ...], needed: list[tuple[str, ...]]) -> Path:
    """The folder at or below `path` that holds one file of each group of `needed`."""
    files = " and ".join(" or ".join(group) for group in needed)
    if path is None:
        raise ValueError(
            f"`path` must be given for {name}, which is read from a local copy and never downloaded: "
            f"the folder that holds {files}."
        )
    for place in places:
        if all(any((path / place / file).is_file() for file in group) for group in needed):
            return path / place
    looked = ", ".join(str(path / place) for place in places)
    raise FileNotFoundError(
        f"no copy of {name} found: looked for {files} in {looked}. Put the files there, or pass their folder."
    )


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickles arrays of numbers only: a data file must not be able to run code."""

    def find_class(self, module: str, name: str) -> Any:
        if name == "_reconstruct" and module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            return _reconstruct
        if (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")):
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):  # how newer Pythons write bytes in old protocols
            return _encode
        raise pickle.UnpicklingError(f"it refers to {module}.{name}, which a data file has no use for")


def _reconstruct(kind: type, shape: tuple[int, ...], code: Any) -> np.ndarray:
    return np.ndarray.__new__(kind, shape, code)


def _encode(text: str, encoding: str | bytes) -> bytes:
    return text.encode(encoding if isinstance(encoding, str) else encoding.decode())
