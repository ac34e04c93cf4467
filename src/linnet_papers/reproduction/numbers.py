"""What a measurement returns: numbers by name; and how they stand in a sentence.

A number is a float, an `Estimate` (with its standard error), a text, or a list or mapping of these. In a template,
`{means:.3f}` prints a list as `0.1, 0.2` and a mapping as `d = 2: 0.1, d = 3: 0.2`, each entry in the given form;
`{means.lowest:.3f}`, `.highest`, `.first`, `.last`, `.count` pick one.
"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping
from typing import Any

import numpy as np

from linnet_papers.reproduction.datasets import Numbers, by_name
from linnet_papers.reproduction.rows import Estimate

__all__ = ["Estimate", "Numbers", "by_name"]


def entries(number: object) -> list[tuple[str, Any]]:
    """Return the entries of a number with their labels: one for a scalar, all of a list, an array or a mapping."""
    if isinstance(number, (Estimate, str)):
        return [("", number)]
    if isinstance(number, Mapping):
        return [(str(label), value) for label, value in number.items()]
    if isinstance(number, (list, tuple)):
        return [("", value) for value in number]
    if isinstance(number, np.ndarray):
        return [("", value) for value in number.ravel().tolist()]
    return [("", number)]


def template_fields(template: str) -> list[str]:
    """Return the names of the numbers that a template prints."""
    parsed = (name for _, name, _, _ in string.Formatter().parse(template) if name is not None)
    return list(dict.fromkeys(name.split(".")[0] for name in parsed))


def fill_template(template: str, numbers: Numbers) -> str:
    """Return the template with its numbers filled in."""
    return _SENTENCES.vformat(template, (), numbers)


class _Sentences(string.Formatter):
    """Format strings in which lists and mappings are printed entry by entry."""

    def get_field(self, field_name: str, args: Any, kwargs: Any) -> tuple[Any, str]:
        """Return the number that a template names, or the entry of it that it picks."""
        name, _, pick = field_name.partition(".")
        if name not in kwargs:
            raise ValueError(f"the sentence prints {name!r}, which was not measured: there are {', '.join(kwargs)}.")
        return (_pick_entry(kwargs[name], pick) if pick else kwargs[name]), name

    def format_field(self, value: object, format_spec: str) -> str:
        """Write a number, or every entry of it with its label."""
        if isinstance(value, Estimate) or not isinstance(value, (Mapping, list, tuple, np.ndarray)):
            return value if isinstance(value, str) else format(value, format_spec)
        shown = [(label, self.format_field(entry, format_spec)) for label, entry in entries(value)]
        return ", ".join(f"{label}: {text}" if label else text for label, text in shown)


_SENTENCES = _Sentences()


def _pick_entry(number: object, pick: str) -> Any:
    """Return the entry that a template picks: the first, last, lowest or highest, or their count."""
    values = [value for _, value in entries(number)]
    if pick == "first":
        return values[0]
    if pick == "last":
        return values[-1]
    if pick == "count":
        return len(values)
    floats = np.array([value.value if isinstance(value, Estimate) else value for value in values], dtype=float)
    if pick == "lowest":
        return float(floats.min())
    if pick == "highest":
        return float(floats.max())
    raise ValueError(f"a sentence can pick .lowest, .highest, .first, .last or .count of a number: got .{pick}")


def json_value(value: object) -> Any:
    """Return the value as JSON can hold it: NumPy's numbers become Python's, NaN and infinity None, others text."""
    if isinstance(value, Mapping):
        return {str(name): json_value(entry) for name, entry in value.items()}
    if isinstance(value, np.ndarray):
        return json_value(value.tolist())
    if isinstance(value, (list, tuple, set)):
        return [json_value(entry) for entry in value]
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    return None if value is None else str(value)
