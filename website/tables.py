"""Claims, coverage and errata as tables that the reader filters by words, by paper and by verdict."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from pathlib import Path

from markdown.extensions.toc import slugify

from linnet_papers.commands.docs import coverage_sentence
from linnet_papers.reproduction import Claim, Statement, claims, figures, papers
from linnet_papers.reproduction.show import html_text
from website.mathematics import mathml
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
    for paper in papers().values():
        page = pages / "claims" / f"{paper.name}.md"
        if page.exists():
            page.write_text(_of_paper(page.read_text(encoding="utf-8")), encoding="utf-8")
    for name in ("claims.md", "coverage.md", "figures.md", "tables.md", *(f"claims/{name}.md" for name in papers())):
        if not (pages / name).exists():
            continue
        text = (pages / name).read_text(encoding="utf-8")
        for paper in papers().values():
            text = re.sub(rf"^(#+) {re.escape(paper.title)}$", rf"\1 {heading(paper)}", text, flags=re.MULTILINE)
        (pages / name).write_text(text, encoding="utf-8")


def _claims(text: str) -> str:
    """A row for each claim in place of the list of verdicts, below the answers."""
    head, _, rest = text.partition("| verdict | claims |")
    answers = rest[rest.index("\n## ") :] if "\n## " in rest else ""
    for paper in papers().values():
        answers = answers.replace(f"\n### {paper.authors}\n", f"\n### {heading(paper)}\n")
    answers = _answers(answers)
    rows = {name: [_claim(claim) for claim in claims().values() if claim.paper == name] for name in papers()}
    return f"{head}{answers}\n## All claims\n\n{_filtered(('where', 'what it says', 'verdict', 'claim'), rows)}\n"


def _answers(text: str) -> str:
    """A heading for each theorem in place of a row, in the words in which one asks and searches for it."""
    paper = ""

    def headed(found: re.Match[str]) -> str:
        theorem, answer, rests = (cell.strip() for cell in found[1].split(" | "))
        return f"#### {theorem}, of {paper}\n\n{answer}\n\n<small>{rests}</small>\n"

    lines = []
    for line in text.splitlines():
        if line.startswith("### "):
            named = re.match(r"### Paper (\d+)", line)
            paper = f"paper {named[1]}" if named else "our own results"
        if line.startswith(("| theorem |", "|---")):
            continue
        lines.append(re.sub(r"^\| (.+) \|$", headed, line))
    return "\n".join(lines)


def _of_paper(text: str) -> str:
    """The claims of a paper: headings in the words in which one asks, and searches; verdicts that the eye finds."""
    text = re.sub(r"^### ([\w.-]+): (.+)$", _headed, text, flags=re.MULTILINE)
    return re.sub(r"^- \*\*Verdict:\*\* ([a-z ]+)(.*`linnet verify ([\w.-]+)`)$", _badge, text, flags=re.MULTILINE)


def _headed(found: re.Match[str]) -> str:
    """The statement and its paper; our own results by their names."""
    name, where = found.groups()
    paper = paper_words(claims()[name].paper)
    return f"### {where}, {paper} {{ #{name} }}" if paper else f"### {name} {{ #{name} }}"


def _badge(found: re.Match[str]) -> str:
    claim = claims()[found[3]]
    rest = found[2].replace("errata.md", f"errata.md#{_errata_place(claim.paper)}")
    return f'- <span class="verdict {claim.expected.name.lower()}">{escape(claim.expected)}</span>{rest}'


def mathematical(text: str) -> str:
    """A sentence as HTML, with its formulas drawn."""
    return html_text(text, lambda tex: mathml(tex, "inline"))


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
        mathematical(claim.says),
        f'<span class="verdict {kind}">{escape(claim.expected)}</span>',
        f'<a href="claims/{claim.paper}.html#{escape(claim.name)}"><code>{escape(claim.name)}</code></a>',
    )


def _row(paper: str, verdict: str, where: str, *cells: str) -> str:
    """A row that the filter can choose by paper and verdict; `cells` are HTML."""
    named = escape(label(paper))
    inside = "".join(f"<td>{cell}</td>" for cell in (f"{escape(where)}<br><small>paper {named}</small>", *cells))
    return f'<tr data-paper="{named}" data-verdict="{escape(verdict)}">{inside}</tr>\n'


def _coverage(text: str) -> str:
    """One table for all papers; names of claims, figures and tables lead to where they are described."""
    rows, counts = {}, ""
    for paper in papers().values():
        rows[paper.name] = list(map(partial(_statement, paper.name), paper.statements))
        if paper.statements:
            counts += f"- {heading(paper)}: {coverage_sentence(paper.statements)}\n"
    head = text[: text.index("\n## ")]
    return f"{head}\n{counts}\n{_filtered(('where', 'what it says', 'checked by'), rows)}"


def _statement(paper: str, statement: Statement) -> str:
    by = ", ".join(_checked(f"{paper}-{name}") for name in statement.checked)
    state = "checked" if statement.checked else "not checked"
    told = by or f"not checked: {mathematical(statement.reason)}"
    return _row(paper, state, statement.where, mathematical(statement.text), told)


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
