"""As Python: a script of the very functions that a page computes with, called with the values that it shows."""

from __future__ import annotations

import ast
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

COMPUTING = "linnet_papers.explorer.computing"
STANDS_FOR_LINNET = f"{COMPUTING}.padding"  # its trainers have the names of linnet's own, and their results
LINE_LENGTH = 100

Calls = Mapping[str, tuple[Callable[..., object], Mapping[str, object]]]


def script(calls: Calls) -> str:
    """Write a script that calls functions of `computing` and prints what they return.

    **Arguments:** `calls` are pairs (function, keyword arguments) by the name that the script gives to the result.

    **Example:**

        >>> from linnet_papers.explorer.computing.phase_diagram import widths_of
        >>> print(script({"data": (widths_of, {"dim": 10, "exponents": (0, 1)})}).splitlines()[-2])
        data = widths_of(dim=10, exponents=(0, 1))
    """
    source = source_of(tuple(function for function, _ in calls.values()))
    lines = [
        f"{name} = {call_text(function.__name__, given)}\nprint({name})" for name, (function, given) in calls.items()
    ]
    return "\n".join([source, *lines, ""])


def call_text(name: str, arguments: Mapping[str, object], *before: str) -> str:
    """Write a call, broken into lines where it is long; `before` are the texts of further arguments."""
    given = [*before, *(f"{key}={value!r}" for key, value in arguments.items())]
    line = f"{name}({', '.join(given)})"
    return line if len(line) <= LINE_LENGTH else f"{name}(\n    " + ",\n    ".join(given) + ",\n)"


@cache
def source_of(functions: tuple[Callable[..., object], ...]) -> str:
    """Return the source of these functions, of all of `computing` that they use, and their imports."""
    collector = SourceCollector()
    for function in functions:
        collector.add(function.__module__, function.__name__)
    imports = sorted(collector.imports, key=lambda line: ("linnet" in line, line))
    # functions last: a sort leaves the others in their order, each after those that it uses
    in_order = sorted(collector.statements.items(), key=lambda pair: isinstance(pair[0], ast.FunctionDef))
    texts = [
        f"\n\n{text}\n" if isinstance(statement, (ast.ClassDef, ast.FunctionDef)) else text
        for statement, text in in_order
    ]
    return "\n".join(["from __future__ import annotations", "", *imports, "", *texts, ""])


@dataclass
class SourceCollector:
    """Definitions of the modules of `computing`, each after those that it uses."""

    imports: set[str] = field(default_factory=set)
    statements: dict[ast.stmt, str] = field(default_factory=dict)  # with their texts
    homes: dict[str, str] = field(default_factory=dict)  # by name: the module that defines it

    def add(self, module: str, name: str) -> None:
        """Take the definition of `name` in `module`, and what it needs, unless they are there."""
        names = _top_level_names(module)
        if name not in names:
            return  # a local name, a builtin, or one that only annotations use
        home, what = names[name]
        if isinstance(what, str):  # imported
            if home.startswith(COMPUTING) and home != STANDS_FOR_LINNET:
                self.add(home, name)
            else:
                self.imports.add(what)
            return
        if name in self.homes:
            if self.homes[name] != module:
                raise ValueError(f"{name} is defined in {self.homes[name]} and {module}: a script can have only one.")
            return
        self.homes[name] = module
        for node in ast.walk(what):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id != name:
                self.add(module, node.id)
        self.statements[what] = _statement_text(module, what)


_PARSING = threading.Lock()  # Python 3.11 may fail with a SystemError where two threads parse at once


@cache
def _top_level_names(module: str) -> dict[str, tuple[str, ast.stmt | str]]:
    """Return what a module binds at its top: each name with its module and its statement, or with its import.

    What is bound inside of an `if` is not seen, and `from ... import ... as ...` is not understood: modules of
    `computing` do without.
    """
    bound: dict[str, tuple[str, ast.stmt | str]] = {}
    with _PARSING:
        statements = ast.parse(_module_source(module)).body
    for statement in statements:
        if isinstance(statement, ast.Import):
            for one in statement.names:
                alias = f" as {one.asname}" if one.asname else ""
                bound[one.asname or one.name] = (one.name, f"import {one.name}{alias}")
        elif isinstance(statement, ast.ImportFrom) and statement.module != "__future__":
            home = statement.module or ""
            public = "linnet" if home == STANDS_FOR_LINNET else home
            bound |= {one.name: (home, f"from {public} import {one.name}") for one in statement.names}
        else:
            bound |= dict.fromkeys(_bound_names(statement), (module, statement))
    return bound


def _bound_names(statement: ast.stmt) -> list[str]:
    """Return the names that a function, a class or an assignment binds; of other statements none."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]


def _statement_text(module: str, statement: ast.stmt) -> str:
    """Return the lines of a statement, with decorators and comments."""
    first = min([statement.lineno, *(one.lineno for one in getattr(statement, "decorator_list", ()))])
    return "\n".join(_module_source(module).splitlines()[first - 1 : statement.end_lineno])


@cache
def _module_source(module: str) -> str:
    """Return the source of a module, imported by its name."""
    return inspect.getsource(import_module(module))
