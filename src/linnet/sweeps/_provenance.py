"""Where numbers come from: the attributes every stored result carries."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import json
import platform
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import linnet
from linnet.sweeps.configuration import Sweep, named_functions
from linnet.trajectories._dataset import provenance


def attributes(sweep: Sweep, *, executor: str, devices: Iterable[str]) -> dict[str, Any]:
    """Version, commit, configuration, seed, precision and machine, as plain strings and numbers."""
    return {
        "title": sweep.name,
        **provenance(),
        "configuration": json.dumps(sweep.plain(), sort_keys=True),
        "function_source": source(sweep.function, sweep.fixed, sweep.axes),
        "seed": sweep.seed,
        "dtype": sweep.dtype or "as the function has it",
        "device": "; ".join(sorted(devices)) or "none yet",
        "executor": executor,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def device() -> str:
    """What JAX computes on in this process, if it has been started; the processor's name otherwise."""
    jax = sys.modules.get("jax")
    if jax is None:
        return f"{platform.machine()} (without JAX)"
    first = jax.devices()[0]
    return f"{first.platform}: {first.device_kind}, JAX {jax.__version__}"


# What computes: a change anywhere here may change any number. What only reads, shows or asks is not among it.
ENGINE = (
    "_arguments",
    "_memory",
    "_workers",
    "inits",
    "observables",
    "precision",
    "problems",
    "_randomness",
    "reductions",
    "reproduction/cells",
    "reproduction/datasets",
    "reproduction/fits",
    "reproduction/plane",
    "reproduction/published",
    "sweeps",
    "theories",
    "trainers",
    "trajectories",
)
# Within a paper's folder, what looks at finished work: rewording it leaves that work valid.
READERS = ("claims", "statements", "__init__")


def source(function: str, *settings: object) -> str:
    """A fingerprint of all that can change what a cell function (`module:name`) computes; 'unknown' without a file.

    Functions that the settings name (`problem = "module:name"`) count as well, and so does every file of the user's own
    that a named module imports, at its top or inside its functions. What is imported by a name that is made while it
    runs, and data that it reads, cannot be seen from here.
    """
    modules = {name.partition(":")[0] for name in [function, *named_functions(settings)]}
    return fingerprint(function.partition(":")[0], modules)


def _own_files(modules: Iterable[str]) -> set[Path]:
    """The files of these modules and of all that they import, but for Python's, installed packages' and linnet's."""
    installed = [Path(path) for path in set(sysconfig.get_paths().values())] + [Path(linnet.__file__).parent]
    seen: set[str] = set()
    files: set[Path] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file_of(name)
        if path is None or any(path.is_relative_to(place) for place in installed):
            continue
        files.add(path)
        waiting += [name.rpartition(".")[0], *_imported_names(name, path)]
    return files


def _file_of(module: str) -> Path | None:
    """The Python file of a module, imported or not; None for what has none, and for Python's own."""
    top = module.partition(".")[0]
    if not top or top in sys.stdlib_module_names:
        return None
    place = getattr(sys.modules.get(module), "__file__", None)
    if module not in sys.modules and (top == module or _file_of(top) is not None):
        with contextlib.suppress(Exception):  # `from module import name`: the name of something that is no module
            spec = importlib.util.find_spec(module)
            place = spec.origin if spec else None
    return Path(place) if place and place.endswith(".py") else None


def _imported_names(module: str, path: Path) -> Iterator[str]:
    """What a file imports, at its top or inside its functions: a number that is imported by name has no module."""
    for value in list(vars(sys.modules.get(module, object)).values()):  # by `importlib`, say
        yield value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
    with contextlib.suppress(SyntaxError, ValueError):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                package = module if path.name == "__init__.py" else module.rpartition(".")[0]
                above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
                base = ".".join(filter(None, [*above, node.module or ""]))
                yield from (base, *(f"{base}.{alias.name}" for alias in node.names))


def fingerprint(module: str, others: Iterable[str] = ()) -> str:
    """A digest of linnet's version, of the files that compute, of the files beside `module`, and of the user's own
    files that `others` and their imports are.

    Beside a module of a paper lies the paper's folder, but for what only reads results; beside one of another package,
    that package; beside a script, nothing.
    """
    try:
        own = Path(importlib.import_module(module).__file__ or "")
    except (ImportError, AttributeError):
        return "unknown"
    if not own.is_file():
        return "unknown"
    for other in others:
        with contextlib.suppress(Exception):  # a name that cannot be imported is refused where it is used
            importlib.import_module(other)
    return _digest(_engine(), {own, *_beside(module, own), *_own_files({module, *others})})


@cache
def _engine() -> str:
    """A digest of what computes in linnet; its files do not change under a running process, those of users may."""
    home = Path(linnet.__file__).parent
    return _digest(linnet.__version__, {path for name in ENGINE for path in _sources(home / name)})


def _digest(start: str, files: set[Path]) -> str:
    digest = hashlib.blake2b(start.encode(), digest_size=6)
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources(place: Path) -> list[Path]:
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def _beside(module: str, own: Path) -> list[Path]:
    """The files of the paper or package that `module` belongs to, but for those that only read its results."""
    parts = module.split(".")
    depth = 3 if parts[:2] == ["linnet", "papers"] else 1
    if len(parts) <= depth:  # a script, or a module on its own; linnet's own files are counted already
        return []
    folder = own.parents[len(parts) - depth - 1] if own.name != "__init__.py" else own.parents[len(parts) - depth]
    return [path for path in _sources(folder) if path.relative_to(folder).parts[0].removesuffix(".py") not in READERS]
