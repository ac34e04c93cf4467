"""The claims on the report page: a table for each paper, and a filter that needs no server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from linnet_papers.reproduction.declaration import Verdict
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.verdicts import ClaimRow

_CLASSES = {str(verdict): verdict.name.lower() for verdict in Verdict}


def script() -> str:
    """The page's only script: it hides the rows that the filter leaves out, unfolds what is linked, and asks
    for nothing.
    """
    return files("linnet_papers.reproduction").joinpath("report.js").read_text(encoding="utf-8")


def filters(rows: Sequence[ClaimRow]) -> str:
    """Write buttons for the verdicts and a field to search in."""
    if not rows:
        return ""
    counts = Counter(row.verdict for row in rows)
    buttons = [f'<button type="button" data-kind="" aria-pressed="true">all {len(rows)}</button>']
    for verdict, number in counts.most_common():
        buttons.append(
            f'<button type="button" data-kind="{_verdict_class(verdict)}" aria-pressed="false">{escape(verdict)} '
            f"{number}</button>"
        )
    alarms = sum(not row.as_expected for row in rows)
    if alarms:
        buttons.append(
            f'<button type="button" data-kind="alarm" aria-pressed="false">not as expected {alarms}</button>'
        )
    return f"""<section id="claims" class="filter" aria-label="Filter of the claims" hidden>
<h2>Claims</h2>
<p class="soft">What the papers say in words and formulas, measured. Tables are folded below each paper's figures.</p>
<div class="buttons" role="group" aria-label="Verdict">{"".join(buttons)}</div>
<p><label>Search <input type="search" id="search" placeholder="Theorem 2, kernel, eq27 ..."></label>
<output id="shown" class="soft"></output></p>
</section>
"""


def answers(paper: Paper, rows: Sequence[ClaimRow]) -> str:
    """Write one line for each theorem of the paper: whether it is true, and the claims that say so."""
    known = {row.name for row in rows}
    lines = ""
    for one in paper.answers:
        names = [name for name in (f"{paper.name}-{short}" for short in one.claims) if name in known]
        links = ", ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in names)
        if names:
            lines += f"<dt>{escape(one.theorem)}</dt><dd>{escape(one.answer)} <small>{links}</small></dd>"
    if not lines:
        return ""
    return f"""<details class="answers"><summary>Is it true? One line for each theorem</summary>
<dl>{lines}</dl>
</details>
"""


def table(rows: Sequence[ClaimRow]) -> str:
    """Write the claims of one paper: sentence, requirement, measured, verdict."""
    if not rows:
        return ""
    body = "".join(map(_row, rows))
    return f"""<details class="claims"><summary><h3>{len(rows)} claims, measured</h3></summary>
<div class="rows" role="list">{body}</div>
</details>
"""


def _row(row: ClaimRow) -> str:
    """Write one claim: verdict, sentence, what is required and what was measured."""
    alarm = "" if row.as_expected else f' <b class="bad">expected: {escape(row.expected)}</b>'
    verdict = _verdict_class(row.verdict)
    kinds = verdict + ("" if row.as_expected else " alarm")
    return f"""<div class="claim" role="listitem" id="{escape(row.name)}" data-kinds="{kinds}">
<p class="sentence"><b class="verdict {verdict}">{escape(row.verdict)}</b>{alarm} {escape(row.says)}</p>
<dl><dt>{escape(row.name)}</dt><dd>{escape(row.where)}</dd>
<dt>required</dt><dd>{escape(row.requirement)}</dd>
<dt>measured</dt><dd>{escape(row.measured)}</dd></dl>
</div>
"""


def _verdict_class(verdict: str) -> str:
    """Return the class that colors a verdict."""
    return _CLASSES.get(verdict, "none")
