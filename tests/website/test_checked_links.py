"""The checker of links finds what is broken, and the built site has nothing broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from website import links

pytestmark = pytest.mark.site


def test_what_is_broken_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here"></h1><a href="b.html#there">good</a><a href="#here">good</a><a '
        'href="https://elsewhere.org">good</a>'
        '<a href="b.html#gone">bad</a><a href="c.html">bad</a><img src="https://elsewhere.org/x.png"><img src="x.png">',
        encoding="utf-8",
    )
    (tmp_path / "b.html").write_text('<p id="there"></p>', encoding="utf-8")
    assert links.broken(tmp_path) == [
        "a.html: fetches https://elsewhere.org/x.png",
        "a.html: b.html#gone has no such place",
        "a.html: c.html is not there",
        "a.html: x.png is not there",
    ]


def test_the_site_has_no_broken_link_and_fetches_nothing(built: Path) -> None:
    assert len(list(built.rglob("*.html"))) > 50
    assert links.broken(built) == []
