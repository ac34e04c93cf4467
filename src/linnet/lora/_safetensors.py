"""The file format of saved adapters, read with NumPy alone: a length, a JSON header, then the arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1"}


def read_tensors(file: Path) -> dict[str, np.ndarray]:
    """Every real array of a safetensors file, as float64; types that hold no plain numbers are refused by name."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 2 <= length <= size - 8:
            raise ValueError(f"`source` must be a safetensors file: {file} has a header of {length} bytes in {size}.")
        try:
            header = json.loads(stream.read(length))
        except (UnicodeDecodeError, json.JSONDecodeError):
            raise ValueError(f"`source` must be a safetensors file: the header of {file} is not JSON.") from None
        body = stream.read()
    return {name: _array(file, name, entry, body) for name, entry in header.items() if name != "__metadata__"}


def _array(file: Path, name: str, entry: Mapping[str, Any], body: bytes) -> np.ndarray:
    start, end = entry["data_offsets"]
    shape, kind = tuple(entry["shape"]), entry["dtype"]
    part = body[start:end]
    if kind == "BF16":  # the upper half of a float32
        values = (np.frombuffer(part, "<u2").astype("<u4") << 16).view("<f4")
    elif kind in _TYPES:
        values = np.frombuffer(part, _TYPES[str(kind)])
    else:
        raise ValueError(f"`source` must hold plain numbers: {name} of {file} is of type {kind!r}.")
    if values.size != int(np.prod(shape)):
        raise ValueError(f"`source` is cut off: {name} of {file} has {values.size} of {int(np.prod(shape))} numbers.")
    return values.reshape(shape).astype(np.float64)


def write_tensors(file: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """A safetensors file of these arrays in float32, as PyTorch's libraries read it."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    parts, at = [], 0
    for name, array in tensors.items():
        part = np.ascontiguousarray(array, "<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + len(part)]}
        parts.append(part)
        at += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)  # arrays begin at a multiple of eight bytes
    file.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(parts))
