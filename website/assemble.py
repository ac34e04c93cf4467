"""The folder from which the site is built: the pages of docs/, those of the project, and the generated ones."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from linnet import live
from website import claims, command_line, gallery, reference, tutorials

ROOT = Path(__file__).parents[1]
# Pages of the project that lie beside docs/: their names in the site, in small letters as the others are.
PROJECT = {"ARCHITECTURE.md": "architecture.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}

# Pages of the repository call each other by their files; a reader of the site knows them by their titles.
TITLES = {
    file.name: file.read_text(encoding="utf-8").partition("# ")[2].partition("\n")[0]
    for file in (ROOT / "docs").glob("*.md")
}


def assemble(folder: Path, *, workers: int, reuse: bool = False) -> Path:
    """Lay out everything that zensical reads in `folder`, anew, and return the file of its configuration.

    With `reuse` the tutorials stay as they were run the last time, for whoever works on the pages around them.
    """
    pages, done = folder / "pages", folder.with_name("tutorials-as-run")
    if not reuse:
        shutil.rmtree(done, ignore_errors=True)
        tutorials.write(ROOT / "docs" / "tutorials", done, workers=workers)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", pages, ignore=shutil.ignore_patterns("gallery", "*.json", "draw_*", "__pycache__"))
    shutil.copytree(ROOT / "website" / "assets", pages / "assets")
    shutil.copytree(ROOT / "website" / "overrides", folder / "overrides")
    for name, copy in PROJECT.items():
        (pages / copy).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    shutil.copytree(done, pages / "tutorials", dirs_exist_ok=True)
    gallery.write(ROOT / "docs" / "gallery", pages)
    live.write(pages / "live")
    claims.write(pages)
    entries = reference.pages(ROOT / "src", pages)
    command_line.write(pages / "reference" / "command_line.md")
    for page in pages.rglob("*.md"):
        place = page.relative_to(pages)
        page.write_text(local(page.read_text(encoding="utf-8"), place), encoding="utf-8")
    return _configuration(folder, entries)


def local(text: str, page: Path) -> str:
    """The text with links to the project's own pages turned to their copies, and links to its other files to words.

    A page of the repository may point to a script or a folder; in the site, which has neither, its name is code.
    """

    def turned(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if re.match(r"[a-z]+:|#|mailto:", target):
            return found[0]
        path, _, anchor = target.partition("#")
        name = Path(path).name
        up = "../" * (len(page.parts) - 1)
        if name in PROJECT and path.removeprefix("../" * 9).lstrip("./") == name:
            return f"[{words}]({up}{PROJECT[name]}{'#' + anchor if anchor else ''})"
        if words == path and path.endswith(".md") and path in TITLES:
            return f"[{TITLES[path]}]({target})"
        inside = path.removeprefix("../").removeprefix("docs/") if not page.parent.parts else path
        if path.startswith(("docs/", "../docs/")):
            return f"[{words}]({up}{inside}{'#' + anchor if anchor else ''})"
        if re.match(r"(\.\./)*(examples|src|tests|benchmarks|website|README\.md|LICENSE|CITATION)", path):
            return words if words.startswith("`") else f"`{words}`"
        return found[0]

    return re.sub(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)", turned, text)


def _configuration(folder: Path, entries: list[dict[str, str]]) -> Path:
    """A copy of the configuration with the pages of the reference in its navigation, and paths of this machine."""
    text = (ROOT / "website" / "zensical.toml").read_text(encoding="utf-8")
    listed = ", ".join(f"{{ {json.dumps(title)} = {json.dumps(page)} }}" for e in entries for title, page in e.items())
    text = text.replace('"REFERENCE"', listed).replace('"SOURCE"', json.dumps(str(ROOT / "src")))
    (folder / "zensical.toml").write_text(text, encoding="utf-8")
    return folder / "zensical.toml"
