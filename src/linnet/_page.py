"""Pages that are whole in themselves: pictures inside, at most one script, and a policy that forbids every request."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from linnet._files import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def document(title: str, *, header: str, main: str, footer: str, script: str = "") -> str:
    """A page in linnet's style from the inner HTML of its parts; the policy admits the one `script` by its hash."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    scripts = f"; script-src 'sha256-{digest}'" if script else ""
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'{scripts}"
    program = f"<script>{script}</script>\n" if script else ""
    style = files("linnet").joinpath("page.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<header>
{header}
</header>
<main>
{main}</main>
<footer class="soft">
{footer}
</footer>
{program}</body>
</html>
"""


def image(png: bytes, about: str) -> tuple[str, str]:
    """A picture inside the page; a wide one has a hint that it scrolls sideways on a narrow screen."""
    width, height = (int.from_bytes(png[at : at + 4], "big") for at in (16, 20))  # as PNG's header has them
    least = round(0.42 * width)
    size = f'width="{width // 2}" height="{height // 2}" style="min-width: {least}px"'
    hint = '<p class="hint">The picture scrolls sideways.</p>\n' * (least > 340)
    source = f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
    return f'<img {size} alt="{escape(about)}" src="{source}">', hint


def thumbnail(png: bytes) -> str:
    """A small copy of a picture inside the page, for lists in which its title stands next to it."""
    from PIL import Image

    held = BytesIO()
    with Image.open(BytesIO(png)) as whole:
        small = whole.convert("RGB")
    small.thumbnail((320, 200))
    small.save(held, format="PNG")
    source = f"data:image/png;base64,{base64.b64encode(held.getvalue()).decode('ascii')}"
    return f'<img width="{small.width // 2}" height="{small.height // 2}" alt="" src="{source}">'


def drawn(figure: Figure) -> bytes:
    """A figure as PNG."""
    held = BytesIO()
    figure.savefig(held, format="png", metadata={"Software": None})
    return held.getvalue()


def tiles(values: Mapping[str, str]) -> str:
    """Numbers at the top of a page, each under its name."""
    inside = "".join(f"<div><dt>{escape(term)}</dt><dd>{escape(text)}</dd></div>" for term, text in values.items())
    return f'<dl class="tiles">{inside}</dl>'


def table(rows: Sequence[Iterable[str]]) -> str:
    """A table of cells of text, whose first row names the columns."""
    tags = ["th", *["td"] * (len(rows) - 1)]
    cells = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for row, tag in zip(rows, tags, strict=True))
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def setting_row(name: str, text: str) -> str:
    """One row of a table of settings."""
    return f'<tr><th scope="row">{escape(name)}</th><td>{escape(text)}</td></tr>'


def write(path: Path, text: str) -> Path:
    """Writes a page, whole or not at all, and returns where it is."""
    write_whole(path, text)
    return path
