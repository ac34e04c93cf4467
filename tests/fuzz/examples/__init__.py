"""A valid small call of everything public, by folder: what the wrong calls are made from."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

FOLDERS = ("materials",)  # not tables of examples


@dataclass(frozen=True)
class Made:
    """An object that is made on first use, once for each process."""

    make: Callable[[], Any]
    kept: list[Any] = field(default_factory=list)

    def __call__(self) -> Any:
        if not self.kept:
            self.kept.append(self.make())
        return self.kept[0]


@dataclass(frozen=True)
class Example:
    """A valid call: `name`, its `arguments`, and for a method what it is called `on`.

    `slow` ones, which take more than some milliseconds, are left to the full run. `names` are words besides the
    arguments that a message may use in backticks. `frozen` arguments are not mutated, `nan` ones may hold NaN or
    infinity, and `long` ones are numbers of steps: many of them take long, with a bar.
    """

    name: str
    arguments: dict[str, Any]
    on: Any = None
    call: Callable[..., Any] | None = None
    slow: bool = False
    names: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    nan: tuple[str, ...] = ()
    long: tuple[str, ...] = ()
    number: int = 0

    def label(self) -> str:
        """Which of the examples this is."""
        return f"{self.name}#{self.number}"


EXAMPLES: dict[str, list[Example]] = {}
# An instance of each public class: its properties and methods without arguments are read off it.
INSTANCES: dict[str, Made] = {}
# Classes that users receive and do not make: their constructors are not called with wrong arguments.
RECEIVED: set[str] = set()


ABOUT = [field.name for field in fields(Example) if field.name not in ("name", "arguments", "number")]


def example(name: str, /, **given: Any) -> None:
    """Adds a valid call to the table: what is no field of `Example` is an argument."""
    about = {key: given.pop(key) for key in ABOUT if key in given}
    known = EXAMPLES.setdefault(name, [])
    known.append(Example(name, given, **about, number=len(known)))


def instance(name: str, make: Made, *, received: bool = False) -> None:
    """Adds an instance of a class; `received` ones come from a function and are not made by users."""
    INSTANCES[name] = make
    if received:
        RECEIVED.add(name)


def load() -> None:
    """Fills the tables, once."""
    if not EXAMPLES:
        from fuzz.surface import imported

        for found in pkgutil.iter_modules(__path__):
            if found.name not in FOLDERS:
                imported(f"{__name__}.{found.name}")
