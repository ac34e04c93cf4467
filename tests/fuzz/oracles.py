"""What a call may do. Each rule has a name; a call that keeps them all is fine."""

from __future__ import annotations

import dataclasses
import linecache
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

import linnet
from linnet import _memory as memory

HOME = str(Path(linnet.__file__).parent)
LONGEST = 900  # characters of a message that is read, not scrolled
RULES = {
    "unclear error": "an error is raised by linnet itself and names an argument in backticks",
    "not finite": "finite arguments give finite results, or an error, or a result that is documented",
    "NaN believed": "NaN and infinities are refused where they are not documented to be taken",
    "mask ignored": "masked entries are refused",
    "wrong type believed": "what is no real number is refused where a number is wanted",
    "depends on type": "equal numbers give equal results in whatever form they come, as NumPy arrays",
    "breaks under scaling": "in other units the result is the same in other units",
    "stray warning": "no warning but documented ones",
    "too slow": "no call takes longer than the limit",
    "argument changed": "arguments are left as they were",
    "example fails": "the valid call of the table of examples succeeds, with finite results",
}


def clear(error: BaseException, names: set[str]) -> str | None:
    """None where an error is clear, else what is wrong with it."""
    kind = type(error)
    raised = _innermost(error.__traceback__)
    if raised is None or not raised[0].startswith(HOME):
        return f"{kind.__name__} raised in {Path(raised[0]).name if raised else '?'}: {_short(error)}"
    line = linecache.getline(raised[0], raised[1]).strip()
    if not line.startswith("raise"):
        return f"{kind.__name__} from `{line[:60]}`: {_short(error)}"
    if not (issubclass(kind, (ValueError, TypeError)) or kind.__module__.startswith("linnet") or _announced(kind)):
        return f"{kind.__name__} is no ValueError: {_short(error)}"
    text = str(error)
    if raised[0] == memory.__file__ and "GiB" in text:  # a refusal with its size, whatever asked for it
        return None if len(text) < LONGEST else f"message of {len(text)} characters: {_short(error)}"
    if len(text) > LONGEST:
        return f"message of {len(text)} characters: {_short(error)}"
    if issubclass(kind, ArithmeticError) or not names & set(re.findall(r"`([A-Za-z_][A-Za-z_0-9]*)", text)):
        if issubclass(kind, (ArithmeticError, OSError, ImportError)):
            return None
        return f"names no argument: {_short(error)}"
    return None


def _announced(kind: type) -> bool:
    """Other errors that linnet raises on purpose: of computing, of files, of what is not installed."""
    return issubclass(kind, (ArithmeticError, OSError, ImportError, IndexError, KeyError))


def _innermost(trace: TracebackType | None) -> tuple[str, int] | None:
    found = None
    while trace is not None:
        found = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return found


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text if len(text) < 160 else text[:157] + "..."


def numbers(result: Any, depth: int = 0) -> Iterator[np.ndarray]:
    """All real numbers in a result, of whatever kind, as arrays."""
    if depth > 6 or result is None or isinstance(result, (str, bytes, bool, type)):
        return
    if isinstance(result, (int, float, np.number)):
        if not isinstance(result, int):
            yield np.asarray(result)
    elif isinstance(result, np.ndarray):
        if result.dtype.kind in "fiu":
            yield result
    elif isinstance(result, dict):
        for value in result.values():
            yield from numbers(value, depth + 1)
    elif isinstance(result, (list, tuple, set)):
        for value in result:
            yield from numbers(value, depth + 1)
    elif type(result).__module__.startswith("pandas"):
        yield from numbers(result.to_numpy(), depth + 1)
    elif type(result).__module__.startswith("xarray"):
        for value in result.variables.values():
            yield from numbers(value.values, depth + 1)
    elif type(result).__module__.startswith("linnet"):
        yield from numbers(_fields(result), depth + 1)


def _fields(result: Any) -> dict[str, Any]:
    if isinstance(result, linnet.Problem):
        parts = (result.inputs, result.outputs, result._cov, result._cross, result.truth, result._test_cov)
        return dict(enumerate(parts))  # type: ignore[arg-type]
    if dataclasses.is_dataclass(result):
        return {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return {name: value for name, value in vars(result).items() if not name.startswith("_")}


def finite(result: Any) -> bool:
    """Whether all numbers of a result are finite."""
    return all(np.isfinite(part).all() for part in numbers(result))


def failed(result: Any) -> bool:
    """Whether the status of a run says that it failed: then its numbers need not be finite."""
    status = getattr(result, "status", None)
    return isinstance(status, linnet.Status) and not status.ok


def foreign(result: Any) -> str | None:
    """Other arrays than NumPy's in a result."""
    for value in result if isinstance(result, (tuple, list)) else [result]:
        if type(value).__module__.split(".")[0] in ("jax", "jaxlib", "pandas"):
            return type(value).__name__
    return None


def difference(left: Any, right: Any) -> float:
    """How far two results are apart, relative to their size; infinite where they have other shapes."""
    ours, theirs = list(numbers(left)), list(numbers(right))
    if len(ours) != len(theirs) or any(a.shape != b.shape for a, b in zip(ours, theirs, strict=True)):
        return float("inf")
    worst = 0.0
    with np.errstate(all="ignore"):
        for a, b in zip(ours, theirs, strict=True):
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            if not same.all():
                size = max(float(np.abs(b[np.isfinite(b)]).max(initial=0.0)), np.finfo(float).tiny)
                gap = np.where(same, 0.0, np.abs(a / size - b / size))
                worst = max(worst, float(np.where(np.isnan(gap), np.inf, gap).max()))
    return worst
