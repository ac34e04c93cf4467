"""Claims, coverage and errata as tables that the reader filters by words, by paper and by verdict."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from markdown.extensions.toc import slugify

from linnet_papers.reproduction import Claim, Paper, Statement, claims, figures, pages, papers
from linnet_papers.reproduction.rows import Verdict
from linnet_papers.reproduction.show import html_text
from website.mathematics import mathml
from website.papers import heading, label, paper_words

ROOT = Path(__file__).parents[1]
# The filter finds a row; a list of all headings beside the table would only take its room.
_WIDE = "---\nhide:\n  - toc\n---\n\n"
FILTER = '<div class="filter" data-rows="{rows}" markdown="0"></div>'


def write(folder: Path) -> None:
    """Write the pages of claims, coverage and errata; headings say which paper is which."""
    (folder / "claims.md").write_text(_WIDE + _claims(), encoding="utf-8")
    (folder / "coverage.md").write_text(_WIDE + _coverage(), encoding="utf-8")
    look = pages.Look(heading, _claim_heading, _badge, lambda paper: f"../errata.md#{_errata_place(paper.name)}")
    for paper in papers().values():
        text = pages.paper_page(paper, paper.claims, look)
        (folder / "claims" / f"{paper.name}.md").write_text(text, encoding="utf-8")
    errata = (folder / "errata.md").read_text(encoding="utf-8")
    (folder / "errata.md").write_text(_errata(errata), encoding="utf-8")
    for name in ("figures.md", "tables.md"):
        if (folder / name).exists():
            text = (folder / name).read_text(encoding="utf-8")
            for paper in papers().values():
                text = re.sub(rf"^(#+) {re.escape(paper.title)}$", rf"\1 {heading(paper)}", text, flags=re.MULTILINE)
            (folder / name).write_text(text, encoding="utf-8")


def _claims() -> str:
    """The page of all claims: a heading for each theorem, in the words in which one asks, and a row for each claim."""
    known = list(claims().values())
    verdicts = {claim.name: claim.expected for claim in known}
    text = pages.claims_head(known, papers().values()) + "\n## Is it true?\n"
    for paper in papers().values():
        if cells := pages.answer_cells(paper, verdicts):
            text += f"\n### {heading(paper)}\n"
        of = paper_words(paper.name).partition(" (")[0] or "our own results"
        for theorem, answer, rests in cells:
            text += f"\n#### {theorem}, of {of}\n\n{answer}\n\n<small>{rests}</small>\n"
    rows = {paper.name: [_claim_row(claim) for claim in paper.claims] for paper in papers().values()}
    return f"{text}\n## All claims\n\n{_filtered(('where', 'what it says', 'verdict', 'claim'), rows)}\n"


def _claim_heading(claim: Claim) -> str:
    """The statement and its paper; our own results by their names."""
    paper = paper_words(claim.paper)
    return f"{claim.where}, {paper} {{ #{claim.name} }}" if paper else f"{claim.name} {{ #{claim.name} }}"


def _badge(claim: Claim) -> str:
    """A verdict that the eye finds."""
    return f'<span class="verdict {claim.expected.name.lower()}">{escape(claim.expected)}</span>'


def mathematical(text: str) -> str:
    """A sentence as HTML, with its formulas drawn."""
    return html_text(text, lambda tex: mathml(tex, "inline"))


def _errata_place(paper: str) -> str:
    """The place of the paper's section on the page of errata; its beginning where there is none."""
    text = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    named = re.search(rf"^## ({paper} .*)$", text, flags=re.MULTILINE | re.IGNORECASE)
    return slugify(named[1] if named else text.partition("# ")[2].partition("\n")[0], "-")


def _claim_row(claim: Claim) -> str:
    link = f'<a href="claims/{claim.paper}.html#{escape(claim.name)}"><code>{escape(claim.name)}</code></a>'
    return _row(claim.paper, claim.expected, claim.where, mathematical(claim.says), _badge(claim), link)


def _row(paper: str, verdict: Verdict | str, where: str, *cells: str) -> str:
    """A row that the filter can choose by paper and verdict; `cells` are HTML."""
    named = escape(label(paper))
    inside = "".join(f"<td>{cell}</td>" for cell in (f"{escape(where)}<br><small>paper {named}</small>", *cells))
    return f'<tr data-paper="{named}" data-verdict="{escape(verdict)}">{inside}</tr>\n'


def _coverage() -> str:
    """One table for all papers; names of claims and figures lead to where they are described."""
    listed = [paper for paper in papers().values() if paper.statements]
    counts = "".join(f"- {heading(paper)}: {pages.coverage_sentence(paper.statements)}\n" for paper in listed)
    rows = {paper.name: [_statement_row(paper, one) for one in paper.statements] for paper in listed}
    return f"{pages.COVERAGE}\n{counts}\n{_filtered(('where', 'what it says', 'checked by'), rows)}"


def _statement_row(paper: Paper, statement: Statement) -> str:
    by = ", ".join(_checked(f"{paper.name}-{name}") for name in statement.checked)
    state = "checked" if statement.checked else "not checked"
    told = by or f"not checked: {mathematical(statement.reason)}"
    return _row(paper.name, state, statement.where, mathematical(statement.text), told)


def _checked(name: str) -> str:
    """A link to the claim, the figure or the table of this name."""
    if name in claims():
        page = f"claims/{claims()[name].paper}.html#{name}"
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
        return (
            "[" + ", ".join(f"[`{n}`](claims/{known[n].paper}.md#{n})" if n in known else f"`{n}`" for n in names) + "]"
        )

    text = re.sub(r"\[`[\w.-]+`(?:, `[\w.-]+`)*\](?!\()", linked, text)
    title, _, rest = text.partition("\n\n")
    start = rest.index("\n## ")
    return f"{title}\n\n{rest[:start]}\n\n{FILTER.format(rows='li')}\n{rest[start:]}"


def _filtered(titles: tuple[str, ...], rows: dict[str, list[str]]) -> str:
    """A folded table for each paper, below a place for the filter, which a script fills in: it unfolds what fits."""
    head = "".join(f"<th>{title}</th>" for title in titles)
    text = FILTER.format(rows="tr")
    for name, own in rows.items():
        if own:
            summary = f"<summary>{escape(heading(papers()[name]))} ({len(own)})</summary>"
            table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(own)}</tbody></table>"
            text += f'\n\n<details class="filtered" markdown="0">{summary}\n{table}\n</details>\n'
    return text
