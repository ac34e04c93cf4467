"""Links of the built pages: every one leads to a file of the site, and to a place in it that is there."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_ATTRIBUTES = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}


@dataclass
class Page(HTMLParser):
    """What a page points to, and the places in it that can be pointed to."""

    text: str
    targets: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the names and the links of a tag."""
        found = dict(attrs)
        self.places |= {value for name in ("id", "name") if (value := found.get(name))}
        target = found.get(_ATTRIBUTES.get(tag, ""))
        if target:
            self.targets.append(target)
            fetched = tag in ("img", "script", "source") or (
                tag == "link" and "canonical" not in (found.get("rel") or "")
            )
            if fetched:
                self.loaded.append(target)


def broken(html: Path) -> list[str]:
    """One line for each link that leads nowhere, and for each thing that a page would fetch from another host."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(html.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        here = path.relative_to(html.resolve())
        wrong += [f"{here}: fetches {target}" for target in page.loaded if urlsplit(target).netloc]
        for target in dict.fromkeys(page.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            to = to / "index.html" if to.is_dir() else to
            if not to.exists():
                wrong.append(f"{here}: {target} is not there")
            elif parts.fragment.startswith("/"):
                continue  # a view of the live pages
            elif parts.fragment and to in pages and unquote(parts.fragment) not in pages[to].places:
                wrong.append(f"{here}: {target} has no such place")
    return wrong
