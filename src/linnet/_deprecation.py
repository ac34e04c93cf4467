"""Public attributes under the names that they had before (CONTRIBUTING.md, *Changing a public name*)."""

from __future__ import annotations

import warnings
from operator import attrgetter
from typing import Any


class Renamed:
    """A class attribute that answers to an old name: it warns, and returns the attribute of the new name.

        class Curves:
            honest_error = Renamed("out_of_fold_error", removed_in="0.4.0")

    `new` may have dots: an attribute of an attribute.
    """

    def __init__(self, new: str, *, removed_in: str) -> None:
        self.new, self.removed_in = new, removed_in

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner, self.old = owner.__name__, name

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None:
            return self
        old, new = f"{self.owner}.{self.old}", f"{self.owner}.{self.new}"
        text = f"`{old}` is deprecated and goes in {self.removed_in}: write `{new}`."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return attrgetter(self.new)(instance)
