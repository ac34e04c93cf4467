"""The links of docs/explorer.md: each names a page, and a state that the page takes."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from linnet_papers.explorer import controls
from linnet_papers.explorer.pages import PAGES

TEXT = (Path(__file__).parents[3] / "docs" / "explorer.md").read_text(encoding="utf-8")
LINKS = sorted(set(re.findall(r"http://127\.0\.0\.1:8050(/[^)`\s]+)", TEXT)))
BY_NAME = {page.name: page for page in PAGES}


@pytest.mark.parametrize("link", LINKS)
def test_a_link_is_a_state_of_its_page(link):
    address = urlsplit(link)
    page = BY_NAME[address.path.strip("/")]
    query = controls.query_fields(address.query)
    frozen = query.pop("frozen", None)
    state = controls.parse(page.controls, query)
    assert controls.parse(page.controls, controls.query_string(page.controls, state)) == state
    assert bool(query) == (state != controls.defaults(page.controls))  # no link sets what is so already
    if frozen is not None:
        controls.parse(page.controls, frozen)


def test_every_page_is_described_with_its_picture():
    for page in PAGES:
        assert f"## {page.title}\n\n![The page {page.title}](images/explorer/{page.name}.png)" in TEXT
    assert len(LINKS) > 20
