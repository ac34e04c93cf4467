"""The published file formats of CIFAR-10, Python and binary."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np

CIFAR_PIXELS = 3 * 32 * 32


def cifar_labels(file: Path) -> np.ndarray:
    """The labels of one batch."""
    if file.suffix == ".bin":
        labels = np.asarray(_cifar_records(file)[:, 0]).astype(np.int64)
    else:
        labels = _cifar_python(file)[1]
    if labels.min() < 0 or labels.max() > 9:
        raise ValueError(f"{file} has labels outside 0..9: from {labels.min()} to {labels.max()}.")
    return labels


def cifar_pixels(file: Path, positions: np.ndarray) -> np.ndarray:
    """The images of one batch at these positions, as bytes (image, pixel)."""
    if not positions.size:
        return np.empty((0, CIFAR_PIXELS), dtype=np.uint8)
    if file.suffix == ".bin":
        return np.asarray(_cifar_records(file)[positions, 1:])
    return _cifar_python(file)[0][positions]


def _cifar_python(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """One batch of the Python version: a pickled dictionary of `data` (image, 3072) bytes and `labels`."""
    try:
        with warnings.catch_warnings(), file.open("rb") as stream:
            # the published files were pickled by a NumPy whose dtype arguments newer ones warn about
            warnings.simplefilter("ignore")
            content = _ArrayUnpickler(stream, encoding="bytes").load()
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


def _cifar_records(file: Path) -> np.ndarray:
    """One batch of the binary version, mapped: records of one label byte and 3072 pixel bytes."""
    size, record = file.stat().st_size, CIFAR_PIXELS + 1
    if size == 0 or size % record:
        raise ValueError(
            f"{file} must hold records of {record} bytes: its {size} bytes are not a whole number of them."
        )
    return np.memmap(file, dtype=np.uint8, mode="r", shape=(size // record, record))


class _ArrayUnpickler(pickle.Unpickler):
    """Unpickles arrays of numbers only: a data file must not be able to run code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what an array needs to be rebuilt; refuse every other name."""
        if name == "_reconstruct" and module in ("numpy.core.multiarray", "numpy._core.multiarray"):
            return _reconstruct
        if (module, name) in (("numpy", "ndarray"), ("numpy", "dtype")):
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):  # how newer Pythons write bytes in old protocols
            return _encode
        raise pickle.UnpicklingError(f"it refers to {module}.{name}, which a data file has no use for")


def _reconstruct(kind: type, shape: tuple[int, ...], code: Any) -> np.ndarray:
    """Make an empty array of any kind, as NumPy's function of this name does."""
    return np.ndarray.__new__(kind, shape, code)


def _encode(text: str, encoding: str | bytes) -> bytes:
    """Return text as bytes, as `codecs.encode` does."""
    return text.encode(encoding if isinstance(encoding, str) else encoding.decode())
