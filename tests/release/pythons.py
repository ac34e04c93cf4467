"""Which of the Pythons that linnet names in its metadata this machine has.

`python pythons.py` prints a line `3.12 /path/to/python3.12` for each that was found, and says on the error stream which
were found and which were not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def supported() -> list[str]:
    """The versions among the classifiers: "3.11", ..."""
    classifiers = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["classifiers"]
    named = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line) for line in classifiers)
    return [match[1] for match in named if match]


def candidates(version: str) -> Iterator[Path]:
    """Where a Python of this version may lie: on the path, or where pyenv and uv keep those that are not on it."""
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)
    uv = Path(os.environ.get("UV_PYTHON_INSTALL_DIR", Path.home() / ".local" / "share" / "uv" / "python"))
    yield from sorted(uv.glob(f"cpython-{version}.*/bin/python{version}"), reverse=True)


def runs(python: Path, version: str) -> bool:
    """Whether it starts, as a shim of pyenv without a chosen version does not, and is the version it is called."""
    words = [str(python), "-c", "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"]
    asked = subprocess.run(words, capture_output=True, text=True)
    return asked.returncode == 0 and asked.stdout.strip() == version


if __name__ == "__main__":
    for version in supported():
        found = next((python for python in candidates(version) if runs(python, version)), None)
        sys.stderr.write(f"Python {version}: {found or 'not found, skipped'}\n")
        if found:
            sys.stdout.write(f"{version} {found}\n")
