"""The gallery: every figure with its picture, what was measured in it, and the command that draws it.

`python -m website.gallery REPORT` takes the figures of a report (`linnet reproduce`) into docs/gallery, as small
pictures with their numbers; the site shows what lies there.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from linnet_papers.reproduction import Row, figures, papers
from linnet_papers.reproduction.figure import Figure
from linnet_papers.reproduction.show import row_text
from website.papers import figure_heading, heading

ROOT = Path(__file__).parents[1]
WIDTH = 1500  # pixels: twice what a page shows
THUMBNAIL_SIZE = (400, 250)  # pixels at most
QUALITY = 82
SIZES = {True: "quick settings", False: "the paper's settings"}
# What a picture's file says of it: all of a result but where it lies and which code it was.
KEPT = (
    "name",
    "paper",
    "panels",
    "quick",
    "settings",
    "seed",
    "checks",
    "command",
    "seconds",
    "version",
    "dtype",
    "device",
)


def take(report: Path, folder: Path) -> list[str]:
    """Put the figures of a report into `folder`; a picture at the paper's size is not replaced by a quick one."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    # Quick ones first: where a report has both, the one at the paper's size comes last and stays.
    for file in sorted(report.glob("*/result.json"), key=lambda file: (not file.parent.name.endswith("-quick"), file)):
        result = json.loads(file.read_text(encoding="utf-8"))
        name, numbers = result["name"], folder / f"{result['name']}.json"
        if result["quick"] and numbers.exists() and not json.loads(numbers.read_text(encoding="utf-8"))["quick"]:
            lines.append(f"{name}: kept, at the paper's size")
            continue
        with Image.open(file.parent / "figure.png") as whole:
            picture = whole.convert("RGB")
        if picture.width > WIDTH:
            picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
        picture.save(folder / f"{name}.webp", quality=QUALITY, method=6)
        kept = {key: result[key] for key in KEPT} | {"size": picture.size}
        numbers.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        lines.append(f"{name}: {SIZES[result['quick']]}")
    return lines


def write(folder: Path, pages: Path) -> None:
    """Write the page of the gallery and its pictures into `pages`; figures without a picture say how to draw one."""
    known = figures().values()
    made = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.json"))}
    target = pages / "images" / "gallery"
    target.mkdir(parents=True, exist_ok=True)
    for name in made:
        (target / f"{name}.webp").write_bytes((folder / f"{name}.webp").read_bytes())
        _thumbnail(folder / f"{name}.webp", target / f"{name}-small.webp")
    (pages / "gallery.md").write_text(page(known, made), encoding="utf-8")


def page(known: Iterable[Figure], made: dict[str, dict[str, Any]]) -> str:
    """The page as Markdown."""
    known = list(known)
    shown = [made[figure.name] for figure in known if figure.name in made]
    full = sum(not result["quick"] for result in shown)
    quick = len(shown) - full
    sizes = "at the paper's own settings"
    if quick:
        sizes = f"{full} {sizes}, {quick} at quick ones (each says which)"
    text = _START.format(figures=len(known), sizes=sizes) + _thumbnails(
        figure for figure in known if figure.name in made
    )
    for paper in papers().values():
        mine = [figure for figure in known if figure.paper == paper.name]
        if mine:
            text += f"\n## {heading(paper)}\n"
            text += "".join(_section(figure, made.get(figure.name)) for figure in mine)
    return text


def _thumbnails(shown: Iterable[Figure]) -> str:
    """All figures at a glance, each a link to its section."""
    links = "".join(
        f'<a href="#{figure.name}"><img src="images/gallery/{figure.name}-small.webp" alt="" width="320" height="200">'
        f"{escape(figure_heading(figure.paper, figure.name, figure.title))}</a>\n"
        for figure in shown
    )
    return f'\n<div class="thumbnails" markdown="0">\n{links}</div>\n'


def _thumbnail(picture: Path, small: Path) -> None:
    """Write a picture at the size of a thumbnail."""
    from PIL import Image

    with Image.open(picture) as whole:
        whole.thumbnail(THUMBNAIL_SIZE, Image.Resampling.LANCZOS)
        whole.save(small, quality=QUALITY, method=6)


def _section(figure: Figure, result: dict[str, Any] | None) -> str:
    heading = figure_heading(figure.paper, figure.name, figure.title)
    head = f"\n### {heading} {{ #{figure.name} }}\n\n**{figure.title}**\n\n{_commands(figure)}\n\n"
    if result is None:
        return f"{head}{figure.caption}\n"
    width, height = (pixels // 2 for pixels in result["size"])
    attributes = f'{{ width="{width}" height="{height}" loading=lazy }}'
    checks = "".join(map(_check, result["checks"]))
    made = f"in {_duration(result['seconds'])} on {result['device']}, linnet {result['version']}"
    settings = "; ".join(f"`{key}` {_value(value)}" for key, value in result["settings"].items() if key != "seed")
    picture = f"images/gallery/{figure.name}.webp"
    return f"""{head}[![{figure.title}]({picture}){attributes}]({picture})

{figure.caption}

Drawn at **{SIZES[result["quick"]]}** (seed {result["seed"]}) {made}.

{checks}
??? note "Settings of this picture"

    {settings or "none"}

    All settings and their defaults: [figures](figures.md).
"""


def _commands(figure: Figure) -> str:
    lines = [
        (f"linnet run {figure.name}", "at the paper's size"),
        (f"linnet run {figure.name} --quick", "the same code on a smaller problem"),
    ]
    if len(figure.panels) > 1:
        lines.append((f"linnet run {figure.name}{figure.panels[0]}", f"one panel of {', '.join(figure.panels)}"))
    longest = max(len(command) for command, _ in lines)
    return "```bash\n" + "".join(f"{command.ljust(longest)}    # {words}\n" for command, words in lines) + "```"


def _check(check: dict[str, Any]) -> str:
    if "text" in check:  # of a picture that was made before checks were rows
        passed, said = check["passed"], check["text"]
    else:
        row = Row.from_json(check)
        passed, said = row.met if row.limit is not None else None, row_text(row)
    word = {True: "within its limit", False: "**beyond its limit**", None: "measured"}[passed]
    text = said.replace("*", "\\*").replace("_", "\\_").replace("<", "&lt;").replace("|", "\\|").replace("$", "\\$")
    return f"- *{word}:* {text}\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_value, value)) if len(value) <= 8 else f"{len(value)} values"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} minutes"
        if seconds < 7200
        else f"{seconds / 3600:.1f} hours"
    )


_START = """# Figures

*What do the figures of the papers show when they are computed again?* This page has {figures} figures, of the papers
and our own, drawn {sizes}. Each has the command that redraws it and the measurements in it.
`linnet reproduce` draws all of them. Click a picture to enlarge it.
"""


def main() -> None:
    """Take the figures of a report into docs/gallery."""
    parser = argparse.ArgumentParser(prog="python -m website.gallery", description="Figures of a report, for the site.")
    parser.add_argument("report", type=Path, help="folder that `linnet reproduce --out` wrote")
    lines = take(parser.parse_args().report, ROOT / "docs" / "gallery")
    sys.stdout.write("\n".join(lines or ["the report has no finished figure"]) + "\n")


if __name__ == "__main__":
    main()
