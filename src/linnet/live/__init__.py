"""The live pages: linear networks that are trained in a browser, next to the formulas that predict them.

`app/` holds HTML, CSS and ES modules, `data/` what Python computed for them (`python -m website.live_data`). `page`
joins all of it into one file that asks for nothing else: browsers load neither modules nor workers from a folder.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from pathlib import Path, PurePosixPath

from linnet._files import write_whole

NUMBERS = "numbers/worker.js"  # what runs in the worker, with all that it imports
DATA = ("tasks", "maps", "depth")
APPLICATION = "view/app.js"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?:async )?(?:const|function|class) (\w+)", re.MULTILINE)


def write(folder: Path) -> Path:
    """Write the pages into a folder and return the file to open, which works without a server."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "index.html", page())
    return folder / "index.html"


@cache
def page() -> str:
    """Return the application as one page of HTML: style, script, worker and data inside."""
    root = files("linnet.live")
    style = (root / "app" / "live.css").read_text(encoding="utf-8")
    html = (root / "app" / "index.html").read_text(encoding="utf-8")
    return html.replace("STYLE", style).replace("SCRIPT", script().replace("</script", r"<\/script"))


@cache
def script() -> str:
    """Return the modules as one classic script; the text of `numbers` is that of the worker too."""
    root = files("linnet.live")
    data = {name: json.loads((root / "data" / f"{name}.json").read_text(encoding="utf-8")) for name in DATA}
    numbers = _in_order(NUMBERS)
    rest = [name for name in _in_order(APPLICATION) if name not in numbers]
    return (
        f"function linnetNumbers() {{\n{_joined(numbers)}return modules;\n}}\n"
        f"globalThis.linnetData = {json.dumps(data, separators=(',', ':'))};\n"
        f'globalThis.linnetWorker = `(${{linnetNumbers}})()["{NUMBERS}"].listen(self);`;\n'
        f"globalThis.linnet = (() => {{\nconst numbers = linnetNumbers();\n"
        f"{_joined(rest, start='numbers')}return modules;\n}})();\n"
    )


def _joined(names: list[str], start: str = "{}") -> str:
    """Return modules one after the other, each a function that keeps what it exports in `modules`."""
    return f"const modules = {start};\n" + "".join(_as_function(name) for name in names)


def _as_function(name: str) -> str:
    """Return a module as a call that leaves its exports in `modules` by its name."""
    text = _read(name)
    exports = ", ".join(_EXPORT.findall(text))

    def taken(found: re.Match[str]) -> str:
        target = _target(name, found[2])
        missing = {part.split()[0] for part in found[1].split(",")} - set(_EXPORT.findall(_read(target)))
        if missing:
            raise ValueError(f"{name} imports {', '.join(missing)}, which {target} does not export line by line.")
        return f"const {{{found[1].replace(' as ', ': ')}}} = modules[{json.dumps(target)}];\n"

    body = re.sub(r"^export (?!\{)", "", _IMPORT.sub(taken, text), flags=re.MULTILINE).replace("export {};\n", "")
    return f"modules[{json.dumps(name)}] = (() => {{\n{body}return {{ {exports} }};\n}})();\n"


def _in_order(name: str) -> list[str]:
    """Return a module and all that it imports, each after what it needs."""
    order: list[str] = []

    def visit(one: str) -> None:
        for found in _IMPORT.finditer(_read(one)):
            target = _target(one, found[2])
            if target not in order:
                visit(target)
        if one not in order:
            order.append(one)

    visit(name)
    return order


def _target(name: str, path: str) -> str:
    """Return the module that a relative path names in another one."""
    parts: list[str] = []
    for part in (PurePosixPath(name).parent / path).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


@cache
def _read(name: str) -> str:
    return files("linnet.live").joinpath("app", *name.split("/")).read_text(encoding="utf-8")
