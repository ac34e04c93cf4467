"""Draws docs/images/explorer/links/*.webp: for every link of docs/explorer.md the picture that the explorer would give.

    python -m website.draw_links

Needs the extras `explorer` and `browser`, and a Chromium.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "explorer.md"
PICTURES = ROOT / "docs" / "images" / "explorer" / "links"
# The picture that a link is about, where it is not the page's first one: by what the link sets.
ABOUT = {"cell": "cell_losses", "ratio": "test_error"}
ABOUT_DEPTH = {"dim": "diagram"}


def links(text: str) -> list[str]:
    """The paths, with their queries, of all links to the explorer in a text, each once."""
    return list(dict.fromkeys(re.findall(r"\(http://127\.0\.0\.1:8050(/[^)\s]*)\)", text)))


def name(link: str) -> str:
    """The file of a link's picture, without its ending: the page, and a short hash of what is set.

    >>> name("/train")
    'train'
    >>> name("/train?width=10") != name("/train?width=20")
    True
    """
    path = urlsplit(link).path.strip("/")
    query = urlsplit(link).query
    return f"{path}-{blake2b(query.encode(), digest_size=3).hexdigest()}" if query else path


def main() -> None:
    """Draw every picture that is missing, and remove those of no link."""
    from linnet_papers.explorer.pages import PAGES
    from website.draw_explorer import explorer_tab, thumbnail, wait

    wanted = {name(link): link for link in links(PAGE.read_text(encoding="utf-8"))}
    PICTURES.mkdir(parents=True, exist_ok=True)
    for old in PICTURES.glob("*.webp"):
        if old.stem not in wanted:
            old.unlink()
    first = {page.name: page.first_view.name for page in PAGES}
    with explorer_tab() as (tab, address):
        for stem, link in wanted.items():
            if (PICTURES / f"{stem}.webp").exists():
                continue
            path, fields = urlsplit(link).path.strip("/"), parse_qs(urlsplit(link).query)
            about = ABOUT | (ABOUT_DEPTH if path == "depth" else {})
            view = next((about[field] for field in fields if field in about), first[path])
            tab.goto(f"{address}{link}")
            wait(tab, [f"{path}-view-{view}"])
            thumbnail(tab, f"{path}-view-{view}").save(PICTURES / f"{stem}.webp", quality=75, method=6)


if __name__ == "__main__":
    main()
