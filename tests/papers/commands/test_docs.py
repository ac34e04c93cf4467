"""The generated pages of the documentation are those of the registries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from linnet_papers.commands import docs

FOLDER = Path(__file__).parents[3] / "docs"


PAGES = ["figures.md", "tables.md", "coverage.md", "claims.md"]
PAGES += [f"claims/{paper}.md" for paper in ("watanabe", "varre", "huang", "tu", "own")]


def test_these_are_all_pages() -> None:
    assert sorted(docs.pages()) == sorted(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_current(name: str) -> None:
    current = (FOLDER / name).read_text(encoding="utf-8")
    assert current == docs.pages()[name], f"docs/{name} is not what the registry says: run `linnet docs`"


def test_the_command_writes_them(linnet: Any, toys: Any, tmp_path: Path) -> None:
    assert linnet("docs", "--folder", tmp_path).status == 0
    claims = (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert "3 claims: 2 hold, 1 are refuted" in claims
    assert "| refuted | [`tu-other`](claims/tu.md#tu-other) |" in claims
    assert "### tu-other: Eq. (1)" in (tmp_path / "claims" / "tu.md").read_text(encoding="utf-8")
    figures = (tmp_path / "figures.md").read_text(encoding="utf-8")
    assert "### watanabe-fig1 (panels a, b)" in figures
    assert "| `points` | 50 | 9 |" in figures and "| `scales` | 1.0, 2.0 |  |" in figures
