"""What a docstring of a public name must have, and how its examples are run."""

from __future__ import annotations

import dataclasses
import doctest
import enum
import importlib
import inspect
import re
from typing import Any


def section(text: str, title: str) -> str:
    """What stands in a docstring from **Title** to the next bold title at the beginning of a line."""
    found = re.search(rf"^\*\*{title}\b.*?(?=^\*\*[A-Z]|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def listed(text: str) -> set[str]:
    """The names in backticks that a colon follows: `width`, `key`: ..."""
    groups = re.findall(r"((?:`\*{0,2}\w+`(?:, | and )?)+):", text)
    return {name for group in groups for name in re.findall(r"\w+", group) if name != "and"}


def parameters(value: Any) -> list[str]:
    """What a caller gives: a function's parameters, a class's fields or the parameters it is made with."""
    if inspect.isclass(value):
        if issubclass(value, (enum.Enum, BaseException)) or getattr(value, "_is_protocol", False):
            return []
        if dataclasses.is_dataclass(value):
            return [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        if hasattr(value, "model_fields"):
            return list(value.model_fields)
        if "__init__" not in vars(value):
            return []
    return [name for name in inspect.signature(value).parameters if name not in ("self", "cls") and name[0] != "_"]


def faults(value: Any) -> list[str]:
    """What the docstring lacks."""
    text = inspect.cleandoc(value.__doc__ or "")
    if not text or (dataclasses.is_dataclass(value) and text.startswith(f"{value.__name__}(")):
        return ["a docstring"]
    wrong = []
    if len(text.splitlines()[0]) < 10:
        wrong.append("a summary line")
    missing = [name for name in parameters(value) if name not in listed(section(text, "(?:Arguments|Attributes)"))]
    if missing:
        wrong.append(f"in its list of arguments: {', '.join(missing)}")
    returns = inspect.isfunction(value) and inspect.signature(value).return_annotation not in (None, "None")
    if returns and not section(text, "Returns"):
        wrong.append("what is returned")
    if ">>> " not in text:
        wrong.append("an example")
    return wrong


def failures(module: str) -> str:
    """What the examples of a module say that is not so. Each imports what it needs, as a reader would."""
    said: list[str] = []
    for test in doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(module), module, globs={}):
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=said.append)
    return "".join(said)
