"""Files of saved adapters: JSON, and arrays in the format of safetensors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linnet._memory import check_fits

MAX_SETTINGS_BYTES = 16 * 2**20  # of a file of settings: real ones have some kilobytes
COPIES = 8  # of a file of tensors, while its numbers of two bytes are made into float64


def read_bytes(file: Path, what: str) -> bytes:
    """Return what a file of settings holds; refuse one that is far too large, before it is read."""
    try:
        size = file.stat().st_size
        if size > MAX_SETTINGS_BYTES:
            raise ValueError(f"{what} must be a file of settings: {file} has {size / 2**20:.0f} MiB.")
        with file.open("rb") as opened:
            return opened.read(MAX_SETTINGS_BYTES)  # a device has no size
    except OSError as reason:
        raise ValueError(f"{what} must be readable JSON: {file} is not ({reason.strerror}).") from None


def parse_json(content: bytes, what: str) -> Any:
    """Return the value of a JSON text, or raise `ValueError` with a message that begins with `what`."""
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"{what} is not JSON ({type(reason).__name__}: {str(reason)[:100]}).") from None


def read_tensors(file: Path) -> dict[str, np.ndarray]:
    """Return every array of a safetensors file as float64; types that hold no real numbers are refused by name."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    check_fits(COPIES * file.stat().st_size, f"reading {file}", "Read it where there is more memory.")
    try:
        tensors = load_file(file)
    except (SafetensorError, AttributeError, KeyError, ValueError) as reason:  # a type that NumPy lacks is one of these
        raise ValueError(f"`source` must be a safetensors file: {file} is not one ({str(reason)[:200]}).") from None
    for name, array in tensors.items():
        if array.dtype.kind not in "iuf" and array.dtype.name != "bfloat16":
            raise ValueError(f"`source` must hold real numbers: {name} of {file} is of type {array.dtype}.")
    return {name: array.astype(np.float64) for name, array in tensors.items()}


def write_tensors(file: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write these arrays in float32 as PyTorch's libraries read them."""
    from safetensors.numpy import save_file

    single = {name: np.ascontiguousarray(array, np.float32) for name, array in tensors.items()}
    save_file(single, file, metadata={"format": "pt"})
