"""Writes the package of a new paper: one figure, one claim and their tests, installable and green as it is."""

from __future__ import annotations

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from linnet._files import whole_folder, write_whole

TEMPLATE_ENDING = ".template"


def write(name: str, out: Path) -> Path:
    """Write the package `linnet-NAME` into the folder NAME below `out`, and return that folder.

    **Arguments:** `name` is the paper's name on the command line: lower-case letters and digits, a letter first.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise ValueError(
            f"`name` must be lower-case letters and digits, a letter first: got {name!r}. "
            "It becomes a part of the names on the command line and of a Python package."
        )
    folder = Path(out) / name
    if folder.exists():
        raise ValueError(f"the folder {str(folder)!r} is there already: choose another name, or another folder.")
    with whole_folder(folder):
        for parts, template in _templates(files("linnet_papers.reproduction").joinpath("template")):
            place = folder.joinpath(*(f"linnet_{name}" if part == "package" else part for part in parts))
            place.parent.mkdir(parents=True, exist_ok=True)
            text = Template(template.read_text(encoding="utf-8")).safe_substitute(name=name)
            write_whole(place.with_name(place.name.removesuffix(TEMPLATE_ENDING)), text, settled=False)
    return folder


def _templates(folder: Traversable, parts: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Traversable]]:
    """List the files of the template with their paths, folder by folder."""
    templates = []
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            templates += _templates(entry, (*parts, entry.name))
        elif entry.name.endswith(TEMPLATE_ENDING):
            templates.append(((*parts, entry.name), entry))
    return templates
