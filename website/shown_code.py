"""Code that the pages show: the blocks of a page run in order, in one namespace, and print what stands below them.

A fenced block `python` is run. If a block `text` follows it, that is what it printed; so it is for a block `bash` whose
lines are commands of linnet. A line `...` in the shown text leaves out any number of lines.

`python -m website.shown_code get_started` runs a page of docs/ and puts the pictures that it saves into docs/images.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Nothing but blank lines may stand between a block and what it prints.
PRINTS = ("python", "bash")


@dataclass(frozen=True)
class Block:
    """A block of code, the line of its page at which it begins, and what the page shows as its output."""

    language: str
    source: str
    line: int
    shown: str | None = None


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page that can be run, in order."""
    found = list(FENCE.finditer(text))
    listed = []
    for at, block in enumerate(found):
        if block[1] not in PRINTS:
            continue
        after = found[at + 1] if at + 1 < len(found) else None
        follows = after is not None and after[1] == "text" and not text[block.end() : after.start()].strip()
        shown = after[2] if follows and after else None
        listed.append(Block(block[1], block[2], text.count("\n", 0, block.start()) + 2, shown))
    return listed


def wrong(page: Path) -> Iterator[str]:
    """Run a page in the current folder: one line for each block that does not print what the page shows."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        place = f"{page.name}, line {block.line}"
        if block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * (block.line - 1) + block.source, str(page), "exec"), space)
            output = printed.getvalue()
        elif block.shown is not None:
            output = _commands(block.source)
        else:
            continue
        if block.shown is not None and not is_shown(output, block.shown):
            yield f"{place}: printed\n{output}\nand the page shows\n{block.shown}"


def is_shown(printed: str, shown: str) -> bool:
    """Return whether a page shows what was printed.

    >>> is_shown("one\\ntwo\\nthree\\n", "one\\n...\\n"), is_shown("one\\ntwo\\n", "one\\n")
    (True, False)
    """
    parts = [r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in shown.rstrip("\n").split("\n")]
    return re.fullmatch("".join(parts), printed.rstrip("\n") + "\n") is not None


def _commands(lines: str) -> str:
    """Return what commands of linnet print, one after the other."""
    output = ""
    for line in lines.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words and words[0] == "linnet":
            done = subprocess.run([sys.executable, "-m", "linnet", *words[1:]], capture_output=True, text=True)
            output += done.stdout + (done.stderr if done.returncode else "")
    return output


def main() -> None:
    """Run a page, report what it shows wrongly, and keep its pictures."""
    import matplotlib as mpl

    mpl.use("agg")
    mpl.rcParams["savefig.dpi"] = 160
    page = ROOT / "docs" / f"{sys.argv[1]}.md"
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        lines = list(wrong(page))
        for picture in sorted(Path(folder).glob("*.png")):
            shutil.copy(picture, ROOT / "docs" / "images" / picture.name)
    sys.exit("\n".join(lines))


if __name__ == "__main__":
    main()
