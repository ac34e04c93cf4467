"""The file format of saved adapters, read with NumPy alone: a length, a JSON header, then the arrays."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from linnet._arguments import shown

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1"}


def parse_json(content: bytes, what: str) -> Any:
    """The value of a JSON text, or `ValueError` that begins with `what`: nothing a file may hold ends otherwise."""
    try:
        return json.loads(content.decode())
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"{what} is not JSON ({type(reason).__name__}: {str(reason)[:100]}).") from None


def read_tensors(file: Path) -> dict[str, np.ndarray]:
    """Every real array of a safetensors file, as float64; types that hold no plain numbers are refused by name.

    As the format demands, the arrays fill what follows the header, one after the other.
    """
    wanted = f"`source` must be a safetensors file: {file}"
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 2 <= length <= size - 8:
            raise ValueError(f"{wanted} has a header of {length} bytes in {size}.")
        header = parse_json(stream.read(length), f"{wanted} has a header that")
        body = stream.read()
    if not isinstance(header, dict):
        raise ValueError(f"{wanted} has a header that lists no arrays.")
    entries = {name: _parse_entry(wanted, name, entry) for name, entry in header.items() if name != "__metadata__"}
    at, tensors = 0, {}
    for name, (kind, shape, start, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        width = 2 if kind == "BF16" else np.dtype(_TYPES[kind]).itemsize
        if end - start != width * math.prod(shape) or start != at:
            raise ValueError(f"{wanted} has {name} at bytes {start} to {end}, where shape and order put it elsewhere.")
        if end > len(body):
            raise ValueError(f"`source` is cut off: {name} of {file} ends at byte {end} of {len(body)}.")
        part, at = body[start:end], end
        if kind == "BF16":  # the upper half of a float32
            values = (np.frombuffer(part, "<u2").astype("<u4") << 16).view("<f4")
        else:
            values = np.frombuffer(part, _TYPES[kind])
        tensors[name] = values.reshape(shape).astype(np.float64)
    if at != len(body):
        raise ValueError(f"{wanted} has {len(body) - at} bytes after its last array.")
    return {name: tensors[name] for name in entries}


def _parse_entry(wanted: str, name: str, entry: Any) -> tuple[str, tuple[int, ...], int, int]:
    """Type, shape, first byte and last of an array, from its entry in the header."""
    try:
        kind, shape, (start, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        numbers = [*shape, start, end]
        if any(type(value) is not int or value < 0 for value in numbers) or not isinstance(kind, str):
            raise TypeError
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"{wanted} has no type, shape and offsets for {name}: got {shown(entry)}.") from None
    if kind != "BF16" and kind not in _TYPES:
        raise ValueError(f"`source` must hold plain numbers: {name} of {wanted.split(': ', 1)[1]} is of type {kind!r}.")
    return kind, tuple(shape), start, end


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
