"""Claims, coverage and errata as tables that the reader filters by words, by paper and by verdict."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from markdown.extensions.toc import slugify

from linnet.reproduction import Claim, claims, figures, papers, record
from website.papers import heading, label, paper_words

ROOT = Path(__file__).parents[1]
# The filter finds a row; a list of all headings beside the table would only take its room.
_WIDE = "---\nhide:\n  - toc\n---\n\n"
FILTER = '<div class="filter" data-rows="{rows}" markdown="0"></div>'


def write(pages: Path) -> None:
    """Put the tables at the head of the pages, which keep all they had; headings say which paper is which."""
    for name, change in {"claims.md": _claims, "coverage.md": _coverage, "errata.md": _errata}.items():
        text = (pages / name).read_text(encoding="utf-8")
        wide = "" if name == "errata.md" else _WIDE
        (pages / name).write_text(wide + change(text), encoding="utf-8")
    for name in ("claims.md", "coverage.md", "figures.md", "tables.md"):
        text = (pages / name).read_text(encoding="utf-8")
        for paper in papers().values():
            text = text.replace(f"\n## {paper.title}\n", f"\n## {heading(paper)}\n")
        (pages / name).write_text(text, encoding="utf-8")


def _claims(text: str) -> str:
    """A row for each claim in place of the list of verdicts; the sections below say all about each."""
    head, _, rest = text.partition("| verdict | claims |")
    sections = rest[rest.index("\n## ") :]
    sections = re.sub(r"^### ([\w.-]+): (.+)$", r"### \1: \2 { #\1 }", sections, flags=re.MULTILINE)
    pattern = r"^### (?P<name>[\w.-]+): [^\n]*\n\n.*?\n\n(?P<list>- .*?)\n- \*\*Verdict:\*\* (?P<verdict>[^\n]*)$"
    sections = re.sub(pattern, _section, sections, flags=re.MULTILINE | re.DOTALL)
    sections = re.sub(r"^### ([\w.-]+): (.+) \{ #", _headed, sections, flags=re.MULTILINE)
    rows = "".join(map(_claim, claims().values()))
    return f"{head}{_filtered(('where', 'what it says', 'verdict', 'claim'), rows)}\n{sections}"


def _headed(found: re.Match[str]) -> str:
    """The heading in the words in which one asks, and searches: the statement and its paper; our own by their names."""
    name, where = found.groups()
    paper = paper_words(claims()[name].paper)
    return f"### {where}, {paper} {{ #" if paper else f"### {name} {{ #"


def _section(found: re.Match[str]) -> str:
    """The section of a claim: its verdict first, then on what it rests, and what was measured last."""
    claim, whole = claims()[found["name"]], found[0]
    verdict = found["verdict"].replace("errata.md", f"errata.md#{_errata_place(claim.paper)}")
    badge = f'<span class="verdict {claim.expected.name.lower()}">{escape(claim.expected)}</span>'
    head = whole[: found.start("list") - found.start()]
    rest = verdict.removeprefix(claim.expected).removeprefix(",")
    told = f"{head}{badge}{rest}: `linnet verify {claim.name}`\n\n{found['list']}"
    measured = record.found().get(claim.name)
    if measured is None:
        return told
    text = re.sub(r"([*_$<|\\`])", r"\\\1", " ".join(measured.measured.split()))
    return f"{told}\n- **Measured** (quick setting): {text}"


def _errata_place(paper: str) -> str:
    """The place of the paper's section on the page of errata; its beginning where there is none."""
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    named = re.search(rf"^## ({paper} .*)$", text, flags=re.MULTILINE | re.IGNORECASE)
    return slugify(named[1] if named else text.partition("# ")[2].partition("\n")[0], "-")


def _claim(claim: Claim) -> str:
    kind = claim.expected.name.lower()
    return _row(
        claim.paper,
        claim.expected,
        claim.where,
        escape(claim.says),
        f'<span class="verdict {kind}">{escape(claim.expected)}</span>',
        f'<a href="#{escape(claim.name)}"><code>{escape(claim.name)}</code></a>',
    )


def _row(paper: str, verdict: str, where: str, *cells: str) -> str:
    """A row that the filter can choose by paper and verdict; `cells` are HTML."""
    named = escape(label(paper))
    inside = "".join(f"<td>{cell}</td>" for cell in (f"{escape(where)}<br><small>paper {named}</small>", *cells))
    return f'<tr data-paper="{named}" data-verdict="{escape(verdict)}">{inside}</tr>\n'


def _coverage(text: str) -> str:
    """One table for all papers; names of claims, figures and tables lead to where they are described."""
    rows = counts = ""
    for paper in papers().values():
        for statement in paper.statements:
            by = ", ".join(_checked(f"{paper.name}-{name}") for name in statement.checked)
            state = "checked" if statement.checked else "not checked"
            told = by or f"not checked: {escape(statement.reason)}"
            rows += _row(paper.name, state, statement.where, escape(statement.text), told)
        if paper.statements:
            checked = sum(bool(statement.checked) for statement in paper.statements)
            counts += f"- {heading(paper)}: {checked} of {len(paper.statements)} statements are checked\n"
    head = text[: text.index("\n## ")]
    return f"{head}\n{counts}\n{_filtered(('where', 'what it says', 'checked by'), rows)}"


def _checked(name: str) -> str:
    """A link to the claim, the figure or the table of this name."""
    if name in claims():
        page = f"claims.html#{name}"
    elif name in figures():
        page = f"gallery.html#{name}"
    else:
        page = f"tables.html#{slugify(name, '-')}"
    return f'<a href="{page}"><code>{escape(name)}</code></a>'


def _errata(text: str) -> str:
    """The errata keep their form, which is a text; the filter hides entries, and claims' names lead to the claims."""
    known = claims()

    def linked(found: re.Match[str]) -> str:
        names = re.findall(r"`([\w.-]+)`", found[0])
        return "[" + ", ".join(f"[`{n}`](claims.md#{n})" if n in known else f"`{n}`" for n in names) + "]"

    text = re.sub(r"\[`[\w.-]+`(?:, `[\w.-]+`)*\](?!\()", linked, text)
    title, _, rest = text.partition("\n\n")
    start = rest.index("\n## ")
    return f"{title}\n\n{rest[:start]}\n\n{FILTER.format(rows='li')}\n{rest[start:]}"


def _filtered(titles: tuple[str, ...], rows: str) -> str:
    """A table below a place for the filter, which a script fills in: without it, the table is simply whole."""
    head = "".join(f"<th>{title}</th>" for title in titles)
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>"
    return f'{FILTER.format(rows="tr")}\n\n<div class="filtered" markdown="0">\n{table}\n</div>\n'
