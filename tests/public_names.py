"""Every public name of the package, found by itself: what the `__all__` of a module lists, and what those modules
hold."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import linnet
from linnet_papers import reproduction

# The live pages and the command line are programs; a paper's folders are figures, tables and claims, documented by what
# they declare.
PROGRAMS = ("linnet.cli", "linnet.live", "linnet.__main__")


def modules() -> list[str]:
    """Names of all modules of the package that may hold public names, without importing them."""
    walked = [
        *pkgutil.walk_packages(linnet.__path__, "linnet.", onerror=lambda name: None),
        *pkgutil.walk_packages(reproduction.__path__, "linnet_papers.reproduction."),
    ]
    names = sorted(found.name for found in walked if not found.name.startswith(PROGRAMS))
    return ["linnet", "linnet_papers.reproduction", *names]


def public(names: list[str]) -> dict[str, object]:
    """`module:qualified name` and object of every public function and class that these modules promise.

    A module promises what its `__all__` lists. A module that another one lists, and which has no `__all__` itself (a
    subject in one file, as `theories.ridge`), promises every function and class it defines without an underscore.
    """
    found: dict[str, object] = {}
    for name in names:
        module = importlib.import_module(name)
        for label in getattr(module, "__all__", []):
            value = getattr(module, label)
            if isinstance(value, ModuleType):
                if not hasattr(value, "__all__"):
                    found.update(defined(value))
            elif inspect.isfunction(value) or inspect.isclass(value):
                found[f"{value.__module__}:{value.__qualname__}"] = value
    return dict(sorted(found.items()))


def defined(module: ModuleType) -> dict[str, object]:
    """The functions and classes that a module defines under plain names."""
    return {
        f"{module.__name__}:{label}": value
        for label, value in vars(module).items()
        if not label.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }


def methods(owner: type) -> Iterator[tuple[str, object]]:
    """The public methods and class methods that a class defines itself."""
    for label, value in vars(owner).items():
        plain = value.__func__ if isinstance(value, (classmethod, staticmethod)) else value
        if not label.startswith("_") and inspect.isfunction(plain):
            yield label, plain
