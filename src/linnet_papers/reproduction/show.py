"""What a reader sees of a claim: its words, and its rows as a table; in a terminal, in Markdown and in HTML.

The cells of the table are made once, by `cells`. What differs is how a formula and a table are written.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Sequence
from html import escape

from linnet_papers.reproduction.formulas import plain, plain_formula, with_formulas
from linnet_papers.reproduction.measurement import Claim, Result
from linnet_papers.reproduction.record import Recorded
from linnet_papers.reproduction.rows import FACT, SUMMARY, Row, Verdict

COLUMNS = 100  # of a terminal, at most
MOST_VALUES, MOST_CHARACTERS = 8, 100  # of a row whose values are shown one by one
ROLES = {
    "given": "to be tried at all",
    "printed": "as printed",
    "both": "printed and corrected",
    "corrected": "with the correction",
    "refutes": "to be refuted",
}
PLURAL = {
    Verdict.HOLDS: "hold",
    Verdict.CORRECTED: "hold with the correction",
    Verdict.REFUTED: "are refuted",
    Verdict.OUTSIDE: "tried outside the assumptions",
}
HEADINGS = ("quantity", "measured", "limit", "met", "why this limit")


def cells(row: Row) -> tuple[str, str, str, str, str]:
    """Return the cells of one row, under `HEADINGS`."""
    if row.limit is None:
        return row.quantity, values_text(row), "", "", row.note
    return row.quantity, values_text(row), str(row.limit), "yes" if row.met else "no", row.limit.because


def values_text(row: Row) -> str:
    """Return the values of a row: each with its error and label, or the one that decides and the range of all."""
    row = row.rounded()
    if not row.values:
        return "none"

    def entry(place: int) -> str:
        error = f" ± {row.errors[place]:.2g}" if row.errors else ""
        return f"{row.values[place]:.10g}{error}" + (f" ({row.labels[place]})" if row.labels else "")

    if len(row.values) <= MOST_VALUES:
        text = ", ".join(map(entry, range(len(row.values))))
        if len(text) <= MOST_CHARACTERS:
            return text
    spread = f"{min(row.values):.10g} to {max(row.values):.10g}, {len(row.values)} values"
    return f"{entry(row.worst)}; {spread}" if row.limit else spread


def row_text(row: Row) -> str:
    """Return one row as plain text in a line: quantity, values, limit and its reason."""
    quantity, measured, limit, met, why = map(plain, cells(row))
    if not row.values:
        return quantity
    judgement = f", {'' if met == 'yes' else 'not '}{limit}" if limit else ""
    return f"{quantity}: {measured}{judgement}{f' ({why})' if why else ''}"


def judged(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Return the rows that decide something, by what they decide, in words."""
    listed = list(rows)
    groups = [(words, [row for row in listed if row.decides == role]) for role, words in ROLES.items()]
    return [(words, group) for words, group in groups if group]


def facts(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that decide nothing, but for the summary."""
    return [row for row in rows if row.decides == FACT]


def summaries(rows: Iterable[Row]) -> list[str]:
    """Return the sentences that sum up the rows."""
    return [row.quantity for row in rows if row.decides == SUMMARY]


def region_text(claim: Claim) -> str:
    """Return the region of a claim in words; empty if it has none."""
    return ", ".join(f"{name.replace('_', ' ')} {ends}" for name, ends in claim.region.items())


def outcome_text(claim: Claim, result: Result) -> str:
    """Return the verdict as a sentence, with what is right where that is something else than what is printed."""
    if result.error:
        return f"None, as measuring broke down: {result.error}"
    right = f": {claim.correction}" if claim.correction and result.verdict == Verdict.CORRECTED else ""
    alarm = "" if result.as_expected else f" Expected: {result.expected}."
    return f"{result.verdict.capitalize()}{right}.{alarm}".replace("..", ".")


# In a terminal


def terminal(claim: Claim, result: Result, cite: str = "") -> str:
    """Return one claim for a terminal, in at most 100 columns: the verdict, the sentence, the table, the reasons."""
    lines = [f"{claim.name}: {result.verdict}" + ("" if result.as_expected else f" (expected: {result.expected})"), ""]
    lines += _paragraph("Paper", f"{cite}{claim.where}: {claim.says}")
    lines += _paragraph("Assumes", claim.assumes) if claim.assumes != "none" else []
    lines += _paragraph("Measured", claim.tried)
    lines += _paragraph("Region", region_text(claim)) if claim.region else []
    groups = judged(result.rows)
    for words, group in groups:
        head = "quantity" if len(groups) == 1 and words == ROLES["printed"] else f"{words}:"
        lines += ["", *_table([(head, *HEADINGS[1:4]), *(tuple(map(plain, cells(row)[:4])) for row in group)])]
    also = [
        f"{row.quantity}, {values_text(row)}" + (f" ({row.note})" if row.note else "") for row in facts(result.rows)
    ]
    if also:
        lines += ["", *_wrapped(f"also measured, not judged: {'; '.join(also)}", 2)]
    lines.append("")
    for sentence in summaries(result.rows):
        lines += _paragraph("In short", sentence)
    lines += _paragraph("Verdict", outcome_text(claim, result))
    for words, limits in _reasons(group for _, group in groups):
        lines += _paragraph(words, limits)
    return "\n".join(lines)


def line(claim: Claim, result: Result) -> str:
    """Return one claim in a line: the row that decides, or why there is none."""
    missed = [row for row in result.rows if not row.met]
    rows = missed or [row for _, group in judged(result.rows) for row in group]
    judgements = [f"{row.quantity}: {values_text(row)}, {'' if row.met else 'not '}{row.limit}" for row in rows[:1]]
    return f"{plain(result.error or judgements[0])} [{claim.where}, {result.seconds:.1f} s]"


def _reasons(groups: Iterable[list[Row]]) -> list[tuple[str, str]]:
    """Return each reason once, with the limits that it stands for."""
    by_reason: dict[str, list[str]] = {}
    for group in groups:
        for row in group:
            assert row.limit is not None
            limits = by_reason.setdefault(row.limit.because, [])
            limits += [str(row.limit)] if str(row.limit) not in limits else []
    only = len(by_reason) == 1
    return [("Limit", because if only else f"{', '.join(limits)}: {because}") for because, limits in by_reason.items()]


def _paragraph(head: str, text: str) -> list[str]:
    """Return a text with its heading before it, wrapped."""
    return textwrap.wrap(
        f"{head:<10}{plain(text)}", COLUMNS, subsequent_indent=" " * 10, break_on_hyphens=False, break_long_words=True
    )


def _wrapped(text: str, indent: int) -> list[str]:
    """Return a text wrapped and indented."""
    return textwrap.wrap(
        plain(text), COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * indent, break_on_hyphens=False
    )


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows of quantity, measured, limit and met, each cell wrapped in its column."""
    limit = min(max(len(row[2]) for row in rows), 22)
    measured = min(max(len(row[1]) for row in rows), 30)
    widths = (COLUMNS - 2 - 3 - 9 - limit - measured, measured, limit, 3)
    lines = []
    for row in rows:
        wrapped = [
            textwrap.wrap(cell, width, break_on_hyphens=False) or [""] for cell, width in zip(row, widths, strict=True)
        ]
        for place in range(max(map(len, wrapped))):
            parts = [
                (column[place] if place < len(column) else "").ljust(width)
                for column, width in zip(wrapped, widths, strict=True)
            ]
            lines.append(("  " + "   ".join(parts)).rstrip())
    return lines


# In Markdown


def markdown_text(text: str) -> str:
    """Return a text for Markdown: formulas stay TeX, and nothing else is taken for a mark."""

    def words(part: str) -> str:
        pieces = re.split(r"(`[^`]*`)", part)
        return "".join(p if p.startswith("`") else re.sub(r"([*_<|\\])", r"\\\1", p) for p in pieces)

    def formula(tex: str) -> str:
        tex = re.sub(r"(?<!\\)\|", r"\\vert ", tex)  # in a table it would end the cell
        tex = re.sub(r" ?(?<!\\)< ?", r" \\lt ", tex)  # not the beginning of a tag
        tex = re.sub(r" ?(?<!\\)> ?", r" \\gt ", tex)
        return f"${tex}$"

    return with_formulas(text, formula, words)


def markdown(claim: Claim, recorded: Recorded | None, *, heading: str, verdict: str, errata: str) -> str:
    """Return the entry of one claim in Markdown: the sentence, the verdict, the table; assumptions are folded."""
    result = recorded.result if recorded is not None else Result(claim.name, claim.expected)
    kept = _seeds_text(result)
    erratum = f" ([errata]({errata}))" if claim.expected != Verdict.HOLDS else ""
    full = "" if recorded is None or recorded.full is None else f"; at full settings {recorded.full.verdict}"
    told = [f"- {verdict}{kept}{full}{erratum}: `linnet verify {claim.name}`"]
    told += [f"- **Right is:** {markdown_text(claim.correction)}"] if claim.correction else []
    told += [f"- **In short:** {markdown_text(sentence)}" for sentence in summaries(result.rows)]
    rest = [f"- **Assumes:** {markdown_text(claim.assumes)}", f"- **Tried:** {markdown_text(claim.tried)}"]
    rest += [f"- **Region:** {region_text(claim)}"] if claim.region else []
    return "\n".join(
        [
            "",
            f"### {heading}",
            "",
            markdown_text(claim.says),
            "",
            *told,
            "",
            *_markdown_table(result.rows),
            '<details markdown="1"><summary>Assumptions and settings</summary>',
            "",
            *rest,
            "",
            "</details>",
            "",
        ]
    )


def _markdown_table(rows: Sequence[Row]) -> list[str]:
    """Return the rows as a table of Markdown; none if nothing was measured."""
    groups = judged(rows)
    several = len(groups) > 1
    lines = [[*([words] * several), *cells(row)] for words, group in groups for row in group] + [
        [*(["not judged"] * several), *cells(row)] for row in facts(rows)
    ]
    if not lines:
        return []
    head = [*(["decides"] * several), *HEADINGS]
    body = [[markdown_text(cell) for cell in one] for one in lines]
    return ["| " + " | ".join(one) + " |" for one in (head, ["---"] * len(head), *body)] + [""]


def _seeds_text(result: Result) -> str:
    """Return at how many seeds the verdict was the published one; empty if that was not measured."""
    seeds = sum(result.verdicts.values())
    return f", at {result.verdicts.get(str(result.expected), 0)} of {seeds} seeds" if seeds else ""


# In HTML


def html_table(rows: Sequence[Row], formula: Callable[[str], str] = lambda tex: escape(plain_formula(tex))) -> str:
    """Return the rows as a table of HTML; `formula` writes TeX."""
    groups = judged(rows)
    lines = [(words, row) for words, group in groups for row in group] + [("not judged", row) for row in facts(rows)]
    if not lines:
        return ""
    several = len(groups) > 1
    head = "".join(f"<th>{one}</th>" for one in ([*(["decides"] * several), *HEADINGS]))
    body = ""
    for words, row in lines:
        cellular = [*([words] * several), *cells(row)]
        kind = ' class="missed"' if not row.met else ""
        body += f"<tr{kind}>" + "".join(f"<td>{with_formulas(c, formula, escape)}</td>" for c in cellular) + "</tr>\n"
    return f'<div class="measured"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>'


def html_text(text: str, formula: Callable[[str], str] = lambda tex: escape(plain_formula(tex))) -> str:
    """Return a text as HTML; `formula` writes TeX."""
    return with_formulas(text, formula, escape)


def verdict_counts(known: Iterable[Claim]) -> str:
    """Return how many claims have each verdict."""
    verdicts = [claim.expected for claim in known]
    return ", ".join(f"{verdicts.count(one)} {words}" for one, words in PLURAL.items() if one in verdicts)
