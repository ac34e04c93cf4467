"""The public surface, held against a committed list: every exported name with its parameters, their kinds and defaults.

    python tests/test_public_signatures.py        writes tests/public_signatures.txt anew, after a change that is meant

A name that goes or changes keeps working for one minor version, with a warning (CONTRIBUTING.md).
"""

from __future__ import annotations

import difflib
import enum
import functools
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import linnet

LIST = Path(__file__).with_name("public_signatures.txt")
# The command line and the live pages are programs; a paper's folders declare figures, tables and claims.
PROGRAMS = ("linnet.cli", "linnet.live")
# What is named in text and not imported: cell functions, in the files of sweeps.
NAMED_IN_FILES = ("linnet.sweeps.cells",)
# Papers import files of it by name: fits, tables of published cells, the plane of a diagram.
MACHINERY = "linnet_papers.reproduction"
PYTORCH = "linnet.torch"


def folders() -> Iterator[str]:
    """The package and its public folders."""
    yield "linnet"
    for module in pkgutil.walk_packages(linnet.__path__, "linnet.", onerror=lambda name: None):
        private = any(part.startswith("_") for part in module.name.split("."))
        if module.ispkg and not private and not module.name.startswith(PROGRAMS):
            yield module.name
    yield MACHINERY


def has_pytorch() -> bool:
    return importlib.util.find_spec("torch") is not None


def surface() -> list[str]:
    """One line for each public name, sorted."""
    lines: set[str] = set()
    for folder in folders():
        if folder == PYTORCH and not has_pytorch():
            continue
        module = importlib.import_module(folder)
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, ModuleType):
                lines.add(f"{folder}.{name}: module")
                if not hasattr(value, "__path__"):  # a folder is walked by itself
                    lines |= set(defined(value))
            else:
                lines |= set(described(f"{folder}.{name}", value))
    for name in NAMED_IN_FILES:
        lines |= set(defined(importlib.import_module(name)))
    return sorted(lines)


def defined(module: ModuleType) -> Iterator[str]:
    """The names that a public module defines: its `__all__`, or the functions and classes without an underscore."""
    for name, value in vars(module).items():
        named = name in getattr(module, "__all__", [name])
        if named and not name.startswith("_") and getattr(value, "__module__", None) == module.__name__:
            yield from described(f"{module.__name__}.{name}", value)


def described(name: str, value: Any) -> Iterator[str]:
    """A function with its parameters; a class with those it is made with, and its public members."""
    if not inspect.isclass(value):
        routine = inspect.isroutine(value) or hasattr(value, "__wrapped__")
        yield f"{name}{parameters(value)}" if routine else f"{name}: {type(value).__name__}"
        return
    if issubclass(value, enum.Enum):
        yield f"{name}: {', '.join(member.name for member in value)}"
    elif issubclass(value, BaseException):
        yield f"{name}: exception"
    elif getattr(value, "_is_protocol", False):
        yield f"{name}: protocol"
    else:
        yield f"{name}{parameters(value)}"
    for home in reversed(value.__mro__):
        if home.__module__.split(".")[0] == "linnet":
            for label, member in vars(home).items():
                if not label.startswith("_") and label != "model_post_init":  # which pydantic writes
                    yield from member_lines(f"{name}.{label}", member)


def member_lines(name: str, member: Any) -> Iterator[str]:
    if isinstance(member, (property, functools.cached_property)):
        yield f"{name}: property"
    elif isinstance(member, (classmethod, staticmethod)):
        yield f"{name}{parameters(member.__func__)}: {type(member).__name__}"
    elif inspect.isfunction(member):
        yield f"{name}{parameters(member)}"


def parameters(function: Any) -> str:
    """The parameters without their types, defaults in full where they are plain values."""
    signature = inspect.signature(function)
    plain = []
    for parameter in signature.parameters.values():
        default = parameter.default
        if default is not parameter.empty and not plain_value(default):
            made = "FACTORY" in type(default).__name__  # of a dataclass: a new one for each object
            default = Shown("new" if made else getattr(default, "__name__", type(default).__name__))
        plain.append(parameter.replace(annotation=parameter.empty, default=default))
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def plain_value(value: Any) -> bool:
    return isinstance(value, (str, int, float, type(None))) or (
        isinstance(value, (tuple, list)) and all(map(plain_value, value))
    )


class Shown:
    """A default that is shown by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"<{self.name}>"


def needs_pytorch(line: str) -> bool:
    return line.startswith(PYTORCH + ".")


def committed() -> list[str]:
    return LIST.read_text(encoding="utf-8").splitlines()


def test_every_public_signature_is_the_committed_one() -> None:
    wanted = [line for line in committed() if has_pytorch() or not needs_pytorch(line)]
    changes = [line for line in difflib.ndiff(wanted, surface()) if line[0] in "+-"]
    assert not changes, "\n".join(
        ["The public surface has changed; if it is meant: python tests/test_public_signatures.py", *changes]
    )


def test_no_public_name_hides_a_module() -> None:
    for folder in folders():
        package = importlib.import_module(folder)
        for module in pkgutil.iter_modules(package.__path__):
            if module.name in package.__all__:
                public = getattr(package, module.name)
                assert isinstance(public, ModuleType), (
                    f"{folder}.{module.name} is a module, and hidden by a public name"
                )


def test_a_module_without_an_underscore_holds_public_names() -> None:
    for folder in folders():
        package = importlib.import_module(folder)
        files = (Path(str(package.__file__)).with_suffix(suffix) for suffix in (".py", ".pyi"))
        text = "".join(file.read_text(encoding="utf-8") for file in files if file.exists())
        for module in pkgutil.iter_modules(package.__path__):
            name = f"{folder}.{module.name}"
            private = module.name.startswith("_") or name.startswith(PROGRAMS)
            if module.ispkg or private or name in NAMED_IN_FILES or name.startswith(MACHINERY):
                continue
            listed = re.search(rf"\b{re.escape(name)}\b|^from \.{module.name} ", text, re.MULTILINE)
            exported = module.name in package.__all__ or listed
            assert exported or used_elsewhere(name), f"only {folder} uses {name}: give it a leading underscore"


def used_elsewhere(name: str) -> bool:
    """Return whether a file outside of the module's own folder imports it."""
    home = Path(linnet.__file__).parents[1]
    folder, _, stem = name.rpartition(".")
    imported = re.compile(rf"from {re.escape(name)} import|from {re.escape(folder)} import (.*, )?{stem}\b")
    own = home / folder.replace(".", "/")
    return any(imported.search(path.read_text()) for path in home.rglob("*.py") if not path.is_relative_to(own))


def test_every_key_is_given_by_keyword() -> None:
    lines = [line for line in committed() if re.search(r"[( ]key[,=)]", line)]
    assert len(lines) > 20
    for line in lines:
        assert "*, " in line.partition("key")[0], line


def main() -> None:
    kept = [] if has_pytorch() else [line for line in committed() if needs_pytorch(line)]
    LIST.write_text("\n".join(sorted({*surface(), *kept})) + "\n", encoding="utf-8")
    if not has_pytorch():
        sys.stderr.write(f"PyTorch is not installed: the lines of {PYTORCH} are as they were.\n")


if __name__ == "__main__":
    main()
