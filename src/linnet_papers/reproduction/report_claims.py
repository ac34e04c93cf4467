"""The claims on the report page: a table for each paper, and a filter that needs no server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from linnet_papers.reproduction import show
from linnet_papers.reproduction.measurement import Claim, Result
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.rows import Verdict

_CLASSES = {str(verdict): verdict.name.lower() for verdict in Verdict}


def script() -> str:
    """The page's only script: it hides the rows that the filter leaves out, unfolds what is linked, and asks
    for nothing.
    """
    return files("linnet_papers.reproduction").joinpath("report.js").read_text(encoding="utf-8")


def filters(results: Sequence[Result]) -> str:
    """Write buttons for the verdicts and a field to search in."""
    if not results:
        return ""
    counts = Counter(result.verdict for result in results)
    buttons = [f'<button type="button" data-kind="" aria-pressed="true">all {len(results)}</button>']
    for verdict, number in counts.most_common():
        buttons.append(
            f'<button type="button" data-kind="{_verdict_class(verdict)}" aria-pressed="false">{escape(verdict)} '
            f"{number}</button>"
        )
    alarms = sum(not result.as_expected for result in results)
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


def answers(paper: Paper, results: Sequence[Result]) -> str:
    """Write one line for each theorem of the paper: whether it is true, and the claims that say so."""
    known = {result.name for result in results}
    lines = ""
    for one in paper.answers:
        names = [name for name in (f"{paper.name}-{short}" for short in one.claims) if name in known]
        links = ", ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in names)
        if names:
            lines += (
                f"<dt>{show.html_text(one.theorem)}</dt><dd>{show.html_text(one.answer)} <small>{links}</small></dd>"
            )
    if not lines:
        return ""
    return f"""<details class="answers"><summary>Is it true? One line for each theorem</summary>
<dl>{lines}</dl>
</details>
"""


def table(known: Sequence[tuple[Claim, Result]]) -> str:
    """Write the claims of one paper: sentence, verdict, and the table of what was measured."""
    if not known:
        return ""
    body = "".join(_entry(claim, result) for claim, result in known)
    return f"""<details class="claims"><summary><h3>{len(known)} claims, measured</h3></summary>
<div class="rows" role="list">{body}</div>
</details>
"""


def _entry(claim: Claim, result: Result) -> str:
    """Write one claim: verdict, sentence, what is right, and its rows."""
    alarm = "" if result.as_expected else f' <b class="bad">expected: {escape(str(claim.expected))}</b>'
    verdict = _verdict_class(result.verdict)
    kinds = verdict + ("" if result.as_expected else " alarm")
    said = {claim.name: claim.where, "assumes": claim.assumes, "tried": claim.tried}
    said |= {"right is": claim.correction} if claim.correction else {}
    said |= {"in short": " ".join(show.summaries(result.rows))} if show.summaries(result.rows) else {}
    said |= {"error": result.error} if result.error else {}
    words = "".join(f"<dt>{escape(head)}</dt><dd>{show.html_text(text)}</dd>" for head, text in said.items())
    return f"""<div class="claim" role="listitem" id="{escape(claim.name)}" data-kinds="{kinds}">
<p class="sentence"><b class="verdict {verdict}">{escape(result.verdict)}</b>{alarm} {show.html_text(claim.says)}</p>
<dl>{words}</dl>
{show.html_table(result.rows)}
</div>
"""


def _verdict_class(verdict: str) -> str:
    """Return the class that colors a verdict."""
    return _CLASSES.get(verdict, "none")
