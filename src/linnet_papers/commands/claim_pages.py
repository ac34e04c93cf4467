"""The pages of the claims: one that answers "is it true?", and one for each paper with all that was measured.

The website takes these pages apart by their headings, table heads and "- **Verdict:**" (website/tables.py): change both
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from linnet_papers.reproduction import record, show
from linnet_papers.reproduction.measurement import Claim
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.rows import Verdict

FOLDER = "claims"
OWN = "own"  # the name of our own results, which stand behind the papers


def pages(known: Sequence[Claim], papers: Iterable[Paper], note: str) -> dict[str, str]:
    """Write the overview and a page for each paper with claims; return them by file name, `note` first on each."""
    mine = [(paper, [claim for claim in known if claim.paper == paper.name]) for paper in papers]
    mine = [(paper, own) for paper, own in mine if own]
    pages = {"claims.md": _overview_page(known, mine, note)}
    return pages | {f"{FOLDER}/{paper.name}.md": _paper_page(paper, own, note) for paper, own in mine}


def _overview_page(known: Sequence[Claim], mine: Sequence[tuple[Paper, Sequence[Claim]]], note: str) -> str:
    """Write the page of all papers: counts of verdicts, claims that do not simply hold, a line for every theorem."""
    listed = "".join(
        f"- {_paper_number(place, paper)}[{paper.title}]({FOLDER}/{paper.name}.md): {show.verdict_counts(own)}\n"
        for place, (paper, own) in enumerate(mine, 1)
    )
    text = f"""{note}
# Claims

{len(known)} claims: {show.verdict_counts(known)}.
`linnet verify` measures all of them anew, `linnet verify NAME` one, `--quick` on smaller settings: it prints the
numbers, and fails where a verdict differs from the one given here. What is wrong in print, what is right, and how it
was found stands in [errata.md](errata.md). The claims of each paper, with what was measured, the limits and why each
limit is this one:

{listed}
| verdict | claims |
|---|---|
{_verdict_rows(known)}"""
    verdicts = {claim.name: claim.expected for claim in known}
    answered = "".join(_answer_lines(paper, verdicts) for paper, _ in mine)
    return text + (f"\n## Is it true?\n{answered}" if answered else "")


def _paper_number(place: int, paper: Paper) -> str:
    """Write "Paper 4 (Tu): " before the title of the fourth paper; our own results have no number."""
    return f"Paper {place} ({paper.name.capitalize()}): " if paper.name != OWN else ""


def _verdict_rows(known: Sequence[Claim]) -> str:
    """Write a row for each verdict but "holds", with links to the claims that have it."""
    names = {verdict: [_claim_link(c.name, c.paper) for c in known if c.expected == verdict] for verdict in Verdict}
    rows = ((verdict, claims) for verdict, claims in names.items() if verdict != Verdict.HOLDS and claims)
    return "".join(f"| {verdict} | {', '.join(claims)} |\n" for verdict, claims in rows)


def _claim_link(name: str, paper: str) -> str:
    """Write a link to a claim."""
    return f"[`{name}`]({FOLDER}/{paper}.md#{name})"


def _answer_lines(paper: Paper, verdicts: Mapping[str, Verdict]) -> str:
    """Write a table with a row for each theorem of the paper: is it true, and by which claims; empty if it has none."""
    lines = ""
    for one in paper.answers:
        names = [f"{paper.name}-{short}" for short in one.claims]
        if all(name in verdicts for name in names):
            rests = ", ".join(f"{_claim_link(name, paper.name)} ({verdicts[name]})" for name in names)
            words = (show.markdown_text(text) for text in (one.theorem, one.answer))
            lines += f"| {' | '.join(words)} | {rests} |\n"
    head = f"\n### {paper.authors}\n\n| theorem | is it true? | claims |\n|---|---|---|\n"
    return head + lines if lines else ""


def _paper_page(paper: Paper, own: Sequence[Claim], note: str) -> str:
    """Write the page of one paper."""
    known = record.read(paper.record)
    measured = f" Measured at quick settings; all in one run on {known.all}." if known.all else ""
    return f"""{note}
# {paper.title}

{paper.authors}: {paper.subject}. {len(own)} claims: {show.verdict_counts(own)}.{measured} [All papers](../claims.md).
{"".join(show.markdown(claim, known.claims.get(claim.name), "../errata.md") for claim in own)}"""
