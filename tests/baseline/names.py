"""Names of the record that have changed since version 0.3.0, so that a rename is no difference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linnet.trajectories.saving import OLD_NAMES

OUR_OWN = ("linnet-", "own-")  # how the names of figures and claims of our own results begin
SPELLING = {  # in names, in words and in the keys of numbers
    "centred": "centered",
    "normalised": "normalized",
    "least test error": "minimum test error",
    "at the start": "at initialization",
    "of the start": "of the initialization",
    "random square starts": "random square initializations",
}


def with_new_names(part: Any) -> Any:
    """Return a part of the record with the names of now: figures, claims, variables, words and keys of numbers."""
    if isinstance(part, Mapping):
        return {_new_name(key): with_new_names(value) for key, value in part.items()}
    if isinstance(part, list):
        return [with_new_names(one) for one in part]
    return _new_name(part) if isinstance(part, str) else part


def _new_name(name: str) -> str:
    """Return a name of 0.3.0 as it is now."""
    old, new = OUR_OWN
    name = new + name.removeprefix(old) if name.startswith(old) else OLD_NAMES.get(name, name)
    for old, new in SPELLING.items():
        name = name.replace(old, new)
    return name
