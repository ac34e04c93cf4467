"""The pages of claims and of coverage, in Markdown: those of the repository, and those of the website.

The website has other headings, badges for verdicts and tables that a reader filters: `Look` holds what differs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from linnet_papers.reproduction import record, show
from linnet_papers.reproduction.measurement import Claim
from linnet_papers.reproduction.paper import Answer, Paper, Statement
from linnet_papers.reproduction.rows import Verdict

FOLDER = "claims"
OWN = "own"  # the name of our own results, which stand behind the papers


@dataclass(frozen=True)
class Look:
    """What differs between the pages of the repository and those of the website.

    **Attributes:**

    - `paper`: heading of a section about a paper
    - `claim`: heading of the entry of a claim
    - `verdict`: its verdict
    - `errata`: the address of a paper's errata, from a page of claims
    """

    paper: Callable[[Paper], str] = lambda paper: paper.title
    claim: Callable[[Claim], str] = lambda claim: f"{claim.name}: {claim.where}"
    verdict: Callable[[Claim], str] = lambda claim: f"**Verdict:** {claim.expected}"
    errata: Callable[[Paper], str] = lambda paper: "../errata.md"


REPOSITORY = Look()


def claims_page(known: Sequence[Claim], papers: Iterable[Paper]) -> str:
    """Write the page of all papers: counts of verdicts, claims that do not simply hold, a line for every theorem."""
    papers = list(papers)
    verdicts = {claim.name: claim.expected for claim in known}
    answered = "".join(_answers_of(paper, verdicts) for paper in papers)
    rows = f"| verdict | claims |\n|---|---|\n{_verdict_rows(known)}"
    return f"{claims_head(known, papers)}\n{rows}" + (f"\n## Is it true?\n{answered}" if answered else "")


def claims_head(known: Sequence[Claim], papers: Iterable[Paper]) -> str:
    """Write how the page of all claims begins: how many have which verdict, and the page of each paper."""
    listed = ""
    for place, paper in enumerate(papers, 1):
        own = [claim for claim in known if claim.paper == paper.name]
        number = f"Paper {place} ({paper.name.capitalize()}): " if paper.name != OWN else ""
        listed += f"- {number}[{paper.title}]({FOLDER}/{paper.name}.md): {show.verdict_counts(own)}\n" if own else ""
    return f"""# Claims

{len(known)} claims: {show.verdict_counts(known)}.
`linnet verify` measures all of them anew, `linnet verify NAME` one, `--quick` on smaller settings: it prints the
numbers, and fails where a verdict differs from the one given here. What is wrong in print, what is right, and how it
was found stands in [errata.md](errata.md). The claims of each paper, with what was measured, the limits and why each
limit is this one:

{listed}"""


def _verdict_rows(known: Sequence[Claim]) -> str:
    """Write a row for each verdict but "holds", with links to the claims that have it."""
    names = {verdict: [_claim_link(c.name, c.paper) for c in known if c.expected == verdict] for verdict in Verdict}
    rows = ((verdict, claims) for verdict, claims in names.items() if verdict != Verdict.HOLDS and claims)
    return "".join(f"| {verdict} | {', '.join(claims)} |\n" for verdict, claims in rows)


def _claim_link(name: str, paper: str) -> str:
    """Write a link to a claim."""
    return f"[`{name}`]({FOLDER}/{paper}.md#{name})"


def answer_cells(paper: Paper, verdicts: Mapping[str, Verdict]) -> list[tuple[str, str, str]]:
    """Return theorem, answer and claims of each theorem of a paper whose claims are all there."""

    def named(answer: Answer) -> list[str]:
        return [f"{paper.name}-{short}" for short in answer.claims]

    return [
        (
            show.markdown_text(one.theorem),
            show.markdown_text(one.answer),
            ", ".join(f"{_claim_link(name, paper.name)} ({verdicts[name]})" for name in named(one)),
        )
        for one in paper.answers
        if all(name in verdicts for name in named(one))
    ]


def _answers_of(paper: Paper, verdicts: Mapping[str, Verdict]) -> str:
    """Write a table with a row for each theorem of the paper: is it true, and by which claims; empty if it has none."""
    lines = "".join(f"| {' | '.join(cells)} |\n" for cells in answer_cells(paper, verdicts))
    return f"\n### {paper.authors}\n\n| theorem | is it true? | claims |\n|---|---|---|\n{lines}" if lines else ""


def paper_page(paper: Paper, own: Sequence[Claim], look: Look = REPOSITORY) -> str:
    """Write the page of one paper: every claim with its verdict and its rows."""
    known = record.read(paper.record)
    measured = f" Measured at quick settings; all in one run on {known.all}." if known.all else ""
    entries = (
        show.markdown(
            claim,
            known.claims.get(claim.name),
            heading=look.claim(claim),
            verdict=look.verdict(claim),
            errata=look.errata(paper),
        )
        for claim in own
    )
    return f"""# {look.paper(paper)}

{paper.authors}: {paper.subject}. {len(own)} claims: {show.verdict_counts(own)}.{measured} [All papers](../claims.md).
{"".join(entries)}"""


COVERAGE = """# Coverage

Every equation, lemma, theorem, figure and remark of the papers that says something about numbers, and where it is
checked: by a claim of [claims.md](claims.md), by the checks of a figure of [figures.md](figures.md); or why nothing
here can check it.
"""


def coverage_page(papers: Iterable[Paper]) -> str:
    """Write the page of all statements of each paper, and where each is checked."""
    text = COVERAGE
    for paper in papers:
        if paper.statements:
            text += f"\n## {paper.title}\n\n{coverage_sentence(paper.statements)}\n\n"
            text += "| where | what it says | checked by |\n|---|---|---|\n"
            text += "".join(f"| {' | '.join(_statement_cells(paper, one))} |\n" for one in paper.statements)
    return text


def _statement_cells(paper: Paper, statement: Statement) -> tuple[str, str, str]:
    """Return where a statement stands, what it says, and what checks it."""
    by = ", ".join(f"`{paper.name}-{name}`" for name in statement.checked)
    by = by or f"not checked: {show.markdown_text(statement.reason)}"
    return statement.where.replace("|", "\\|"), show.markdown_text(statement.text), by


def coverage_sentence(statements: Sequence[Statement]) -> str:
    """Say how many of the statements are checked, and what fraction that is of those that can be."""
    checkable, checked = sum(row.checkable for row in statements), sum(bool(row.checked) for row in statements)
    rest = len(statements) - checkable
    also = f"; {rest} more are definitions, outlooks and the like" if rest else ""
    return f"{checked} of {checkable} statements that can be checked are ({checked / checkable:.1%}){also}."
