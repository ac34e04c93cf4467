"""What computed a result: the code that can change it, by digests, and the device."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.metadata
import importlib.util
import json
import platform
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import linnet
from linnet.sweeps._names import named_functions, texts


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
    "sweeps",
    "theories",
    "trainers",
    "trajectories",
)
# Within a paper's folder, what looks at finished work: rewording it leaves that work valid.
READERS = ("claims", "statements", "paper", "__init__")
MAX_NAME_CHARACTERS = 250  # of a file's name; longer literals are text


def code(function: str, *settings: object) -> dict[str, str]:
    """Everything that can be seen to change what a cell function (`module:name`) computes, part by part.

    These are the versions of Python and of the libraries, what computes in linnet, and the files of the user's own.
    Functions that the settings name (`problem = "module:name"`) count as well, and so does every file that a named
    module imports, at its top or inside its functions, and every data file that the settings or those files name by a
    literal string. Names that are made while it runs cannot be seen from here. The modules have been imported before.
    """
    versions = {name: _version(name) for name in ("numpy", "jax", "jaxlib")}
    named = (name.partition(":")[0] for name in [function, *named_functions(settings)])
    modules = [name for name in named if name in sys.modules]  # others were not allowed: nothing of theirs is looked at
    return {"python": platform.python_version(), **versions, **_files(modules[0], modules, texts(settings))}


def fingerprint(module: str) -> str:
    """A digest of linnet's version and of all files that can change what a module, imported before, computes."""
    return hashlib.blake2b(json.dumps(_files(module, [module], [])).encode(), digest_size=6).hexdigest()


def _files(module: str, others: Iterable[str], data: Iterable[str]) -> dict[str, str]:
    """Digests of linnet's engine, of the files next to `module`, and of the user's files by their names.

    Next to a module of a paper lies the paper's folder, but for what only reads results; next to one of another
    package, that package; next to a script, nothing.
    """
    parts = {"linnet": f"{linnet.__version__} {_engine_digest()}"}
    own = getattr(sys.modules.get(module), "__file__", None)
    if own and not module.startswith("linnet.") and Path(own).is_file():
        package, beside = _files_of_package(module, Path(own))
        parts |= {package: _digest_of_files("", {Path(own), *beside})} if beside else {}
    files = _own_files([module, *others])
    files |= _named_data(files, data)
    for name in sorted({path.name for path in files}):
        parts[name] = _digest_of_files("", {path for path in files if path.name == name})
    return parts


def _version(package: str) -> str:
    """The version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _own_files(modules: Iterable[str]) -> set[Path]:
    """The files of these modules and of all that they import, but for Python's, installed packages' and linnet's."""
    seen: set[str] = set()
    files: set[Path] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file_of(name)
        if path is None or _is_installed(path):
            continue
        files.add(path)
        waiting += [name.rpartition(".")[0], *_imported_names(name, path)]
    return files


def _is_installed(path: Path) -> bool:
    """Whether a file is linnet's, Python's or a package's that was installed, for this Python or from elsewhere."""
    home = Path(linnet.__file__).parent
    places = [*sysconfig.get_paths().values(), str(home), str(home.with_name("linnet_papers"))]
    named = not {"site-packages", "dist-packages"}.isdisjoint(path.parts)
    return named or any(path.is_relative_to(place) for place in places)


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
    if not isinstance(place, str) or not place.endswith(".py"):
        return None
    return Path(place) if Path(place).is_file() else None  # modules made at run time may name a file that is not there


def _imported_names(module: str, path: Path) -> Iterator[str]:
    """Imports of a file, at its top or inside its functions: a number that is imported by name has no module."""
    for value in list(vars(sys.modules.get(module, object)).values()):
        yield value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in _syntax_nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute_module_name("." * node.level + (node.module or ""), package)
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (
                _absolute_module_name(name, package) for name in texts([getattr(a, "value", None) for a in node.args])
            )


def _absolute_module_name(name: str, package: str) -> str:
    """The full name of a module that is imported inside `package`, by a relative name or not."""
    bare = name.lstrip(".")
    level, parts = len(name) - len(bare), package.split(".")
    return ".".join(filter(None, [*parts[: len(parts) - level + 1], bare])) if level else name


def _named_data(files: Iterable[Path], names: Iterable[str]) -> set[Path]:
    """The data files of these `names`, and those that Python files name by a literal, next to them or in this
    folder."""
    named = [(path.parent, texts([getattr(node, "value", None) for node in _syntax_nodes(path)])) for path in files]
    return {
        place
        for folder, literals in [(Path(), names), *named]
        for name in literals
        for place in (folder / name, Path(name))
        if place.suffix not in ("", ".py") and len(name) < MAX_NAME_CHARACTERS and "\0" not in name and place.is_file()
    }


def _syntax_nodes(path: Path) -> Iterator[ast.AST]:
    """The syntax tree of a Python file; empty where it has errors."""
    with contextlib.suppress(SyntaxError, ValueError):
        yield from ast.walk(ast.parse(path.read_bytes()))


@cache
def _engine_digest() -> str:
    """A digest of the code that computes in linnet; its files do not change during a process, files of users may."""
    home = Path(linnet.__file__).parent
    return _digest_of_files(linnet.__version__, {path for name in ENGINE for path in _python_files(home / name)})


def _digest_of_files(start: str, files: set[Path]) -> str:
    """Return a digest of a text and of the names and contents of files."""
    digest = hashlib.blake2b(start.encode(), digest_size=6)
    for path in sorted(files):
        with path.open("rb") as file:
            digest.update(path.name.encode() + b"\0" + hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()


def _python_files(place: Path) -> list[Path]:
    """List the Python files of a module or a folder."""
    return sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def _files_of_package(module: str, own: Path) -> tuple[str, list[Path]]:
    """The paper or package that `module` belongs to, and its files, but for those that only read its results."""
    parts = module.split(".")
    common = getattr(sys.modules.get(parts[0]), "SHARED_BY_PAPERS", ())  # of a package with a folder for each paper
    depth = 2 if common else 1
    package = ".".join(parts[:depth])
    if len(parts) <= depth:  # a script, or a module on its own
        return package, []
    folder = own.parents[len(parts) - depth - (own.name != "__init__.py")]
    shared = [path for name in common for path in _python_files(folder.parent / name)]
    own_files = [
        path for path in _python_files(folder) if path.relative_to(folder).parts[0].removesuffix(".py") not in READERS
    ]
    return package, shared + own_files
