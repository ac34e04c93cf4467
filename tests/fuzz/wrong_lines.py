"""Wrong command lines, made from what the commands declare of themselves: none has to be written down for a new one.

Each must be answered in one line with the right exit status. Every option
of every command is given what it does not take, every setting of every figure too; names are misspelled, options
doubled, left out or invented, files missing, empty, folders or of another kind.
"""

from __future__ import annotations

import contextlib
import enum
import inspect
import io
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints
from unittest.mock import patch

from typer.models import ArgumentInfo

from linnet.cli.main import build_app, main
from linnet_papers.reproduction import registry

NO_NUMBER = ("many", "", "1e", "0x10", "--", "1,2", "[", "½")
NO_WHOLE = (*NO_NUMBER, "1.5", "nan", "inf", "1e400", "-99999999999")
ADAPTER = '{"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"]}'


@dataclass(frozen=True)
class Line:
    """One wrong command line, and the statuses that are right for it."""

    words: tuple[str, ...]
    statuses: tuple[int, ...] = (2,)


@dataclass(frozen=True)
class Answer:
    """What came of it."""

    status: int
    out: str
    err: str

    def fault(self, line: Line) -> str:
        """What is wrong with the answer; empty if nothing."""
        lines = self.err.splitlines()
        if self.status not in line.statuses:
            return f"status {self.status} instead of {' or '.join(map(str, line.statuses))}"
        if len(lines) != 1 or not lines[0].startswith("linnet: "):
            return f"{len(lines)} lines"
        told = lines[0].lower()
        inside = ("traceback", "linnet_traceback", "object has no attribute", "nonetype", "list index", "warning:")
        return next((f"{part!r} in the line" for part in inside if part in told), "")


class ComputedError(Exception):
    """A wrong call got as far as computing."""


def lines(folder: Path) -> Iterator[Line]:
    """All of them; `folder` holds the files they name."""
    files = _files(folder)
    yield from (Line(("lst",)), Line(("--versoin",)), Line(("",)), Line(("run", "--out")), Line(("-x",)))
    commands = _commands()
    for name, command in commands.items():
        yield from _of_options(name, command, files)
    yield from _of_names(commands)
    yield from _of_settings()
    yield from _of_files(files)


@dataclass(frozen=True)
class Option:
    """An option as its command declares it: its name, its type (without None), its least value; `needed` arguments."""

    name: str
    kind: Any
    least: float | None
    argument: bool = False
    needed: bool = False


def _commands() -> dict[str, list[Option]]:
    """Every command with its options, from the signature of its function."""
    found = {}
    for command in build_app().registered_commands:
        function = command.callback
        assert function is not None
        hints = get_type_hints(function, include_extras=True)
        options = []
        for name, parameter in inspect.signature(function).parameters.items():
            kind, declared = get_args(hints[name])[:2]
            kind = next((part for part in get_args(kind) if part is not type(None)), kind) if _optional(kind) else kind
            words = [word for word in declared.param_decls or () if word.startswith("--")]
            option = words[0].split("/")[0] if words else "--" + name.replace("_", "-")
            argument = isinstance(declared, ArgumentInfo)
            needed = argument and parameter.default is inspect.Parameter.empty
            options.append(Option(option, kind, declared.min, argument, needed))
        found[command.name or function.__name__.replace("_", "-")] = options
    return found


def _optional(kind: Any) -> bool:
    return type(None) in get_args(kind)


def _arguments(name: str, files: dict[str, str]) -> tuple[str, ...]:
    """What a command needs so that only what is tried is wrong."""
    known = {
        "run": (next(iter(registry.figures())),),
        "sweep": (files["sweep"], "--store", files["new"]),
        "lora": (files["adapter"],),
        "diagnose": (files["table"], "--out", files["new"]),
        "new-paper": ("mine", "--out", files["new"]),
        "docs": ("--folder", files["new"]),
        "verify": (next(iter(registry.claims())),),
    }
    return known.get(name, ())


def _of_options(name: str, options: list[Option], files: dict[str, str]) -> Iterator[Line]:
    start = (name, *_arguments(name, files))
    yield Line((*start, "--nonsense"))
    yield Line((*start, "--nonsense=1"))
    yield Line((*start, "-Q"))
    for option in options:
        if option.argument:
            if option.needed:
                yield Line((name,))
            continue
        if option.kind is bool:
            yield Line((*start, f"{option.name}=maybe"))
            yield Line((*start, f"{option.name[:-1]}x{option.name[-1]}"))
            continue
        yield Line((*start, option.name))  # without a value
        wrong = {int: NO_WHOLE, float: NO_NUMBER}.get(option.kind, ())
        least = () if option.least is None else (str(int(option.least) - 1),)
        for value in (*wrong, *least):
            yield Line((*start, f"{option.name}={value}"))


def _of_names(commands: dict[str, list[Option]]) -> Iterator[Line]:
    figures, claims, tables = registry.figures(), registry.claims(), registry.tables()
    for name in figures:
        yield Line(("run", name[:-1] + "0"))
        yield Line(("run", name.upper()))
        yield Line(("run", f"{name}z"))
        yield Line(("run", name, f"{name} "))
        yield Line(("sweep", name, "--store", "x"))
        yield Line(("run", name, "--set", "nonsense=1"))
        yield Line(("run", name, "--set", "seed"))
        yield Line(("run", name, "--set", "=3"))
        yield Line(("run", name, "--set", "seed=-1"))
        for option in ("data", "path", "seeds"):
            if option not in figures[name].settings.model_fields:
                yield Line(("run", name, f"--{option}", "3"))
    for name in list(claims)[::7]:
        yield Line(("verify", f"{name}-not"))
        if name not in figures and name not in tables:
            yield Line(("run", name))
    for name in list(tables)[::3]:
        yield Line(("run", f"{name}-not"))
        yield Line(("sweep", name, "--store", "x", "--retry-failed"))
    for name in ("figure", "papers", "FIGURES", "3"):
        yield Line(("list", name))
    for name in ("Mine", "9x", "", "a b", "a/b", "watanabe", "é", "-"):
        yield Line(("new-paper", name, "--out", "x"))
    for name in commands:
        yield Line((name + "s",))
        yield Line((name.upper(),))


def _of_settings() -> Iterator[Line]:
    for name, figure in registry.figures().items():
        for field, info in figure.settings.model_fields.items():
            for value in _wrong_values(info.annotation):
                yield Line(("run", name, "--quick", "--set", f"{field}={value}"))


def _wrong_values(kind: Any) -> tuple[str, ...]:
    options = get_args(kind)
    if get_origin(kind) is Literal:
        return ("nonsense", "3")
    if type(None) in options:
        kind = next(option for option in options if option is not type(None))
        kind = get_args(kind)[0] if get_origin(kind) not in (None, tuple) and get_args(kind) else kind
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return ("nonsense",)
    if kind is bool:
        return ("perhaps", "7")
    if kind is int:
        return ("many", "1.5", "1e30", "-3", "[1]")
    if kind is float:
        return ("fast", "NaN", "Infinity", "[1]", "{}")
    if get_origin(kind) is tuple:
        return ("words,here", "3", "NaN,1")
    return ("[1]",)


def _files(folder: Path) -> dict[str, str]:
    content = {
        "table": ("table.csv", "a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 5}\n" for i in range(30))),
        "adapter": ("adapter_config.json", ADAPTER),
        "sweep": ("sweep.toml", 'name = "a"\nfunction = "no_such_module:f"\n[axes]\nx = [1]\n'),
        "empty": ("empty.csv", ""),
        "text": ("text.csv", "hello\n"),
        "words": ("words.csv", "a,b\nx,y\nz,w\n"),
        "gaps": ("gaps.csv", "a,b\n1,2\n,3\n4,5\n"),
        "one": ("one.csv", "a,b\n1,2\n"),
        "json": ("broken.json", "{"),
        "list": ("list.json", "[]"),
        "toml": ("broken.toml", "name = "),
        "huge": (
            "huge.toml",
            'name = "a"\nfunction = "math:sin"\n[axes]\nx = { start = 0, stop = 1, count = 1000000000 }\n',
        ),
        "field": ("field.toml", 'name = "a"\nfunction = "math:sin"\nnonsense = 1\n[axes]\nx = [1]\n'),
        "binary": ("binary.npy", "\x00\x01\x02"),
        "kind": ("table.xyz", "a,b\n1,2\n"),
    }
    made = {}
    for key, (name, text) in content.items():
        (folder / name).write_text(text, encoding="utf-8")
        made[key] = str(folder / name)
    (folder / "folder").mkdir(exist_ok=True)
    return {**made, "folder": str(folder / "folder"), "missing": str(folder / "missing"), "new": str(folder / "new")}


def _of_files(files: dict[str, str]) -> Iterator[Line]:
    either = (1, 2)
    options: tuple[str, ...]
    for key in ("empty", "text", "words", "gaps", "one", "binary", "kind", "folder", "missing", "json"):
        yield Line(("diagnose", files[key], "--out", files["new"]), either)
    for target in ("z", "9", "a,a", ",", "a,b,y"):
        yield Line(("diagnose", files["table"], "--target", target, "--out", files["new"]), either)
    for options in (
        ("--init", "warm"),
        ("--init", "1,x"),
        ("--init", "-1,1"),
        ("--init-scale", "-1"),
        ("--init-scale", "nan"),
        ("--lr", "fast"),
        ("--lr", "-1"),
        ("--lr", "nan"),
        ("--preprocess", "big"),
        ("--missing", "guess"),
        ("--folds", "1000"),
        ("--drop", "z"),
        ("--drop", "a,b,y"),
    ):
        yield Line(("diagnose", files["table"], *options, "--out", files["new"]), either)
    for key in ("json", "list", "folder", "missing", "table", "empty"):
        yield Line(("lora", files[key]), either)
    for options in (
        ("--optimizer", "lion"),
        ("--lr", "-1"),
        ("--lr", "nan"),
        ("--lora-plus-ratio", "0"),
        ("--weight-decay", "-1"),
        ("--momentum", "2"),
        ("--max-grad-norm", "-1"),
        ("--in-dim", "0"),
        ("--out-dim", "-3"),
        ("--alpha", "nan"),
    ):
        yield Line(("lora", files["adapter"], *options), either)
    yield Line(("sweep", files["sweep"], "--store", files["new"], "--code", "no_such_module"), either)
    for key in ("sweep", "toml", "huge", "field", "folder", "missing", "table", "json"):
        yield Line(("sweep", files[key], "--store", files["new"]), either)
    table = next(iter(registry.tables()))
    for options in (
        ("--workers", "1", "--scheduler", "tcp://127.0.0.1:1"),
        ("--scheduler", "nonsense"),
        ("--scheduler", "tcp://127.0.0.1:99999"),
        ("--retry-failed",),
        ("--workers", "1000000"),
        ("--wait", "-1"),
        ("--seed", "-1"),
    ):
        yield Line(("sweep", table, "--quick", "--store", files["new"], *options), either)
    claim = next(iter(registry.claims()))
    for options in (
        ("--json", files["folder"]),
        ("--json", f"{files['table']}/x.json"),
        ("--store", files["table"]),
        ("--store", files["new"], "--workers", "2"),
        ("--seeds", "2", "--store", files["new"]),
    ):
        yield Line(("verify", claim, "--quick", *options), either)
    for name in registry.figures():
        yield Line(("run", name, "--quick", "--out", files["table"]), either)
        yield Line(("run", name, "--quick", "--out", f"{files['table']}/deeper"), either)
    yield Line(("reproduce", "--out", files["table"]), either)
    yield Line(("docs", "--folder", files["table"]), either)
    yield Line(("new-paper", "mine", "--out", files["table"]), either)
    yield Line(("explore", "--port", "99999"))


def answer(line: Line) -> Answer:
    """Runs one line in this process; nothing that it might compute is computed."""
    out, err = io.StringIO(), io.StringIO()
    status = 0
    path = list(sys.path)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), warnings.catch_warnings():
        warnings.simplefilter("always")
        try:
            main(list(line.words))
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0
    sys.path[:] = path
    return Answer(status, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def nothing_computed() -> Iterator[None]:
    """Figures, claims and sweeps that are reached all the same say so instead of computing."""

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise ComputedError("a wrong call was computed")

    places = (
        "linnet_papers.reproduction.runner.make",
        "linnet_papers.commands.verify.measure",
        "linnet_papers.reproduction.verdicts.Verdicts",
        "linnet.sweeps._task.Task.__call__",
        "linnet.live.serving.serve",
    )
    with contextlib.ExitStack() as stack:
        for place in places:
            stack.enter_context(patch(place, refuse))
        yield


def faults(folder: Path, every: int = 1) -> tuple[int, list[str]]:
    """How many lines were tried, and what is wrong with the answers to some."""
    found, tried = [], 0
    before = Path.cwd()
    os.chdir(folder)
    try:
        with nothing_computed():
            for line in list(lines(folder))[::every]:
                tried += 1
                given = answer(line)
                if fault := given.fault(line):
                    found.append(f"linnet {' '.join(map(repr, line.words))}: {fault}\n    {given.err.strip()[-300:]}")
    finally:
        os.chdir(before)
    return tried, found
