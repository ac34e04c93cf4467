"""Everything public: each name in each `__all__`, and the methods and properties of the classes among them."""

from __future__ import annotations

import enum
import functools
import importlib
import importlib.util
import inspect
import multiprocessing
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any

import linnet
from linnet._extras import INSTALLED_BY

# Packages that are not an interface to call, with the reason.
LEFT_OUT = {
    "linnet.cli": "the command line, which tests/cli calls with wrong lines",
}
# Members that users write or override, and do not call.
NOT_CALLED = re.compile(r"trainers\.stopping\.\w+\.(start|update|reasons|needs_test)")
KINDS = {
    "classmethod": (classmethod, staticmethod),
    "property": (property, functools.cached_property),
    "method": FunctionType,
}
WITH_DUNDERS = ("__getitem__",)  # that users write, as indexing


@dataclass(frozen=True)
class Public:
    """A public name: a function, a class to be made, or a member of a class (`owner`)."""

    name: str
    thing: Any
    kind: str  # "function", "class", "method", "classmethod" or "property"
    owner: type | None = None


def is_missing_extra(error: ModuleNotFoundError) -> bool:
    """Whether an optional package is not installed, and not a module of it missing: what needs it is not tried here."""
    package = (error.name or "").split(".")[0]
    return package in INSTALLED_BY and importlib.util.find_spec(package) is None


@functools.cache
def imported(name: str) -> ModuleType | None:
    """A module; None, with a line, where an optional package that it needs is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as reason:
        if not is_missing_extra(reason):
            raise
        if multiprocessing.parent_process() is None:
            sys.stderr.write(f"left out: {name} ({reason})\n")
        return None


def packages() -> Iterator[ModuleType]:
    """The package and its sub-packages that are an interface."""
    yield linnet
    for found in pkgutil.walk_packages(linnet.__path__, "linnet."):
        hidden = any(found.name == out or found.name.startswith(out + ".") for out in LEFT_OUT)
        if found.ispkg and not hidden and (module := imported(found.name)) is not None:
            yield module


def exported(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The names of a module's `__all__`; of a file that is one of them, those of its own or all that it defines."""
    for name in getattr(module, "__all__", ()):
        try:
            thing = getattr(module, name)
        except ModuleNotFoundError as reason:  # a package that `packages` leaves out, with a line
            if not is_missing_extra(reason):
                raise
            continue
        if not inspect.ismodule(thing):
            yield f"{module.__name__}.{name}", thing
        elif not hasattr(thing, "__path__"):
            for inner, value in vars(thing).items():
                listed = inner in getattr(thing, "__all__", [inner]) and not inner.startswith("_")
                if listed and getattr(value, "__module__", None) == thing.__name__:
                    yield f"{thing.__name__}.{inner}", value


def members(name: str, cls: type) -> Iterator[Public]:
    """Public methods and properties that linnet wrote for a class, inherited ones too."""
    seen = set()
    for home in cls.__mro__:
        if not home.__module__.startswith("linnet."):
            continue
        for key, value in vars(home).items():
            if key in seen or key == "model_post_init" or (key.startswith("_") and key not in WITH_DUNDERS):
                continue
            seen.add(key)
            for kind, types in KINDS.items():
                if isinstance(value, types):
                    yield Public(f"{name}.{key}", value, kind, cls)


@functools.cache
def public() -> dict[str, Public]:
    """All public callables by name, such as `inits.gaussian` or `theories.spiked.TwoPhase.early`, each once."""
    found: dict[int, list[Public]] = {}
    for path, thing in (pair for module in packages() for pair in exported(module)):
        is_class = inspect.isclass(thing) and not issubclass(thing, (BaseException, enum.Enum))
        is_function = inspect.isfunction(thing) or isinstance(thing, functools._lru_cache_wrapper)
        if (is_class or is_function) and _ours(thing):
            kind = "class" if is_class else "function"
            found.setdefault(id(thing), []).append(Public(path.removeprefix("linnet."), thing, kind))
    # the shortest of its names, but in its folder
    each_once = (min(same, key=lambda each: ("." not in each.name, each.name.count("."))) for same in found.values())
    whole = {each.name: each for each in each_once}
    for each in list(whole.values()):
        if each.kind == "class":
            inner = members(each.name, each.thing)
            whole |= {member.name: member for member in inner if not NOT_CALLED.fullmatch(member.name)}
    return dict(sorted(whole.items()))


def _ours(thing: Any) -> bool:
    return thing.__module__.split(".")[0] == "linnet" and not getattr(thing, "_is_protocol", False)
