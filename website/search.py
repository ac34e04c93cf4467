"""The index of the search: members of a class are named after it, so that plain words find the pages about them."""

from __future__ import annotations

import json
import re
from pathlib import Path


def name_members(index: Path) -> None:
    """Rewrite the titles of members in the index: `depth` of `#linnet.inits.weights.Weights.depth` is `Weights.depth`.

    Who types "depth" wants the page about it: a title that is the very word would come before all others.
    """
    held = json.loads(index.read_text(encoding="utf-8"))
    for item in held["items"]:
        item["title"] = title(item["title"], item["location"])
    index.write_text(json.dumps(held, ensure_ascii=False), encoding="utf-8")


def title(words: str, location: str) -> str:
    """The title of an entry of the index.

    >>> title("depth <small>property</small>", "reference/linnet.inits.html#linnet.inits.weights.Weights.depth")
    'Weights.depth <small>property</small>'
    >>> title("Depth", "live.html#depth")
    'Depth'
    """
    member = re.search(r"#linnet\..*\.([A-Z]\w*\.\w+)$", location)
    if member is None:
        return words
    name = member[1].partition(".")[2]
    return words.replace(name, member[1], 1) if words.startswith(name) else words
