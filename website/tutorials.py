"""Tutorials are Python scripts in cells; the site shows each cell, what it printed and what it drew, as run just now.

A script reads as in other tools (`# %%` begins code, `# %% [markdown]` a text in comments), and can be run by itself.
The value of a cell's last line is shown, if it is not None; a matplotlib figure becomes a picture, whose caption is
what stands behind `# %%`. A cell that fails ends the build.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_MARK = re.compile(r"^# %%(?P<title>.*)$")


class CellError(RuntimeError):
    """A cell of a tutorial that failed, with its line and what went wrong."""


@dataclass(frozen=True)
class Cell:
    """A part of a tutorial: text or code, the line it begins at, and the title behind its mark."""

    kind: str
    source: str
    line: int
    title: str = ""


def cells(script: str) -> Iterator[Cell]:
    """The cells of a script, in order; what stands before the first mark is not shown."""
    kind, title, first, lines = "", "", 1, list[str]()
    for number, line in enumerate([*script.splitlines(), "# %%"], start=1):
        mark = _MARK.match(line)
        if not mark:
            lines.append(line)
            continue
        body = "\n".join(lines).strip("\n")
        if kind and body:
            yield Cell(kind, _text(body) if kind == "markdown" else body, first, title)
        words = mark["title"].strip()
        kind = "markdown" if words == "[markdown]" else "code"
        title, first, lines = ("" if kind == "markdown" else words), number + 1, []


def _text(body: str) -> str:
    """The words of a text cell, without the marks of comments."""
    return "\n".join(re.sub(r"^# ?", "", line) for line in body.splitlines())


def page(script: Path, folder: Path) -> str:
    """The page of a tutorial, as Markdown: its cells are run here, its pictures go into `folder`."""
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(script)}
    parts, pictures = [], 0
    for cell in cells(script.read_text(encoding="utf-8")):
        if cell.kind == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        printed, value = run(cell, space, script.name)
        if _is_picture(value):
            pictures += 1
            name = f"{script.stem}-{pictures}.png"
            value.savefig(folder / name, dpi=200)
            width, height = (round(100 * inches) for inches in value.get_size_inches())
            caption = cell.title or "What the lines above draw"
            picture = f'![{caption}]({name}){{ width="{width}" height="{height}" }}'
            parts.append(picture + (f"\n\n*{cell.title}*" if cell.title else ""))
        elif value is not None:
            printed += f"{value!r}\n"
        if printed:
            parts.insert(len(parts) - _is_picture(value), f'```text title="printed"\n{printed.rstrip()}\n```')
    source = f"*This page is the script [{script.name}]({script.name}), run when the site was built.*"
    return "\n\n".join([parts[0], source, *parts[1:]]) + "\n"


def run(cell: Cell, space: dict[str, Any], name: str) -> tuple[str, Any]:
    """Run a cell: what it printed, and the value of its last line if that is an expression."""
    tree = ast.parse(cell.source, filename=name)
    ast.increment_lineno(tree, cell.line - 1)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, name, "exec"), space)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    except Exception as error:
        raise CellError(f"{name}, the cell at line {cell.line}:\n{traceback.format_exc()}") from error
    return printed.getvalue(), value


def _is_picture(value: object) -> bool:
    return type(value).__module__.startswith("matplotlib") and hasattr(value, "savefig")


def write(scripts: Path, target: Path, *, workers: int) -> None:
    """Run every script in a process and a folder of its own, and put its page and its pictures into `target`."""
    target.mkdir(parents=True, exist_ok=True)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    root = Path(__file__).parents[1]
    paths = [str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | threads | {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "MPLBACKEND": "agg"}

    def made(script: Path) -> str:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "website.tutorials", str(script), str(target)]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        return "" if done.returncode == 0 else f"{script.name} failed:\n{done.stderr}"

    with ThreadPoolExecutor(workers) as pool:
        failures = [text for text in pool.map(made, sorted(scripts.glob("*.py"))) if text]
    if failures:
        sys.exit("\n".join(failures))


def main() -> None:
    """Run one script: `python -m website.tutorials SCRIPT FOLDER`."""
    script, folder = Path(sys.argv[1]), Path(sys.argv[2])
    text = page(script, folder)
    (folder / f"{script.stem}.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
