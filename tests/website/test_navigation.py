"""The navigation names every page of docs/ once."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.site
ROOT = Path(__file__).parents[2]


def named(entries: Any) -> Iterator[str]:
    """The pages of a navigation, however deep they stand."""
    if isinstance(entries, str):
        yield entries
    else:
        for entry in entries:
            for inside in [entry] if isinstance(entry, str) else entry.values():
                yield from named(inside)


def test_every_page_is_named_once() -> None:
    settings = tomllib.loads((ROOT / "website" / "zensical.toml").read_text(encoding="utf-8"))
    pages = list(named(settings["project"]["nav"]))
    assert sorted(pages) == sorted(set(pages))
    written = {str(file.relative_to(ROOT / "docs")) for file in (ROOT / "docs").rglob("*.md")}
    assert written <= set(pages)
