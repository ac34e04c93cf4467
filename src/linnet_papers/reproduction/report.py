"""The report: one page that holds every picture with its caption, checks, parameters, seed and command, and every
claim.

The page is whole in itself: pictures are inside it, its one script only filters claims and unfolds what is linked, and
its policy forbids the browser every request.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from linnet import _page as page
from linnet_papers.reproduction import report_claims, show
from linnet_papers.reproduction.measurement import Claim
from linnet_papers.reproduction.measurement import Result as ClaimResult
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.registry import papers
from linnet_papers.reproduction.result import DATA_FILE, PICTURE_FORMATS, Result

PAGE = "index.html"
Measured = tuple[Claim, ClaimResult]


@dataclass(frozen=True)
class FigureFailure:
    """A figure that could not be made, and why."""

    name: str
    paper: str
    title: str
    command: str
    reason: str


def write(
    out: Path,
    results: Sequence[Result],
    failures: Sequence[FigureFailure] = (),
    claims: Sequence[Measured] = (),
    missing: str = "",
) -> Path:
    """Write the page into `out`, whole or not at all; return its path. `missing` says which claims are not on it."""
    return page.write(out / PAGE, build(results, failures, out, claims, missing))


def build(
    results: Sequence[Result],
    failures: Sequence[FigureFailure],
    out: Path,
    claims: Sequence[Measured] = (),
    missing: str = "",
) -> str:
    """Return the page as text; `out` is the folder it will lie in, from which the files beside it are linked."""
    made: list[Result | FigureFailure] = [*results, *failures]
    named = {m.paper for m in made} | {claim.paper for claim, _ in claims}
    order = {name: index for index, name in enumerate(sorted(named, key=_paper_position))}
    made.sort(key=lambda item: (order[item.paper], item.name))
    sections = "".join(
        _paper_section(name, [m for m in made if m.paper == name], [one for one in claims if one[0].paper == name], out)
        for name in order
    )
    header = f"""<h1>How linear networks learn</h1>
<p>The papers' figures, reproduced: by training the networks they show, or by the formula where the paper draws a
formula. Each comes with what was measured in it, above all the distance between training and theory.</p>
{_summary(results, failures, claims, missing)}
{_contents(made)}"""
    title = "linnet: the papers' figures, reproduced"
    main = report_claims.filters([result for _, result in claims]) + sections
    return page.document(title, header=header, main=main, footer=_provenance(results), script=report_claims.script())


def _paper_position(paper: str) -> int:
    """Return where a paper stands in the order; one that is not known comes last."""
    order = list(papers())
    return order.index(paper) if paper in order else len(order)


def _summary(
    results: Sequence[Result], failures: Sequence[FigureFailure], claims: Sequence[Measured], missing: str
) -> str:
    """Write the tiles at the top of the page: what was made, within which limits, in what time."""
    checks = [check for result in results for check in result.checks]
    judged = [row for row in checks if row.limit is not None]
    good = sum(row.met for row in judged)
    panels = sum(max(len(result.panels), 1) for result in results)
    tiles = {
        "figures made": f"{len(results)} of {len(results) + len(failures)}",
        "panels": str(panels),
        "checks within their limits": f"{good} of {len(judged)}",
        "time to make them": _duration(sum(result.seconds for result in results)),
    }
    if claims:
        tiles["claims as expected"] = f"{sum(result.as_expected for _, result in claims)} of {len(claims)}"
    size = (
        "Quick settings: the same code on smaller problems."
        if any(r.quick for r in results)
        else "The papers' settings."
    )
    bad = [f"{_link(f)} could not be made" for f in failures]
    bad += [f"{_link(r)}: {len(r.failed)} of {len(r.checks)} checks beyond the limit" for r in results if r.failed]
    bad += [f'claim <a href="#{escape(one.name)}">{escape(one.name)}</a>' for _, one in claims if not one.as_expected]
    bad += [escape(missing.rstrip("."))] * bool(missing)
    alarm = f'<p class="bad"><b>Not as it should be:</b> {"; ".join(bad)}.</p>' if bad else ""
    words = (
        "Each measured number stands beside its limit, with the reason for that limit; a number that is not judged has "
        "none, because nothing was claimed of it, or a paper claims something else."
    )
    return f'{page.tiles(tiles)}\n<p class="soft">{size} {words}</p>\n{alarm}'


def _contents(made: Iterable[Result | FigureFailure]) -> str:
    """Write the list of figures, each with a link."""
    links = "".join(f"<li>{_card(item)}</li>" for item in made)
    return f'<nav aria-label="Figures"><ul>{links}</ul></nav>'


def _card(item: Result | FigureFailure) -> str:
    """Write a figure of the list: a small picture, what it shows, its name."""
    small = page.thumbnail((item.folder / "figure.png").read_bytes()) if isinstance(item, Result) else "not made"
    inside = f'<span class="small">{small}</span>{escape(item.title)} <span class="name">{escape(item.name)}</span>'
    return f'<a href="#{escape(item.name)}"{_alarm_class(item)}>{inside}</a>'


def _paper_section(name: str, made: Iterable[Result | FigureFailure], claims: Sequence[Measured], out: Path) -> str:
    """Write the part of one paper: its figures, then its claims."""
    paper = papers().get(name, Paper(name=name, title=name, authors=""))
    cards = "".join(_figure_section(item, out) if isinstance(item, Result) else _failure_section(item) for item in made)
    judged = report_claims.answers(paper, [result for _, result in claims]) + report_claims.table(claims)
    return f"""<details class="paper" open><summary><h2>{escape(paper.title)}</h2></summary>
<p class="soft">{escape(paper.authors)}</p>
{cards}{judged}</details>
"""


def _figure_section(result: Result, out: Path) -> str:
    """Write a figure: the picture, its checks, its settings and the command."""
    folder = result.folder.relative_to(out).as_posix()
    picture, hint = page.image((result.folder / "figure.png").read_bytes(), result.title)
    links = [f'<a href="{escape(folder)}/figure.{kind}">{kind.upper()}</a>' for kind in PICTURE_FORMATS]
    links.append(f'<a href="{escape(folder)}/{DATA_FILE}">dataset (netCDF)</a>')
    rows = [("seed", result.seed), *((k, v) for k, v in result.settings.items() if k != "seed")]
    rows += [("precision", result.dtype), ("device", result.device), ("made in", _duration(result.seconds))]
    return f"""<article id="{escape(result.name)}">
{_heading(result)}
<figure>
<div class="picture" tabindex="0" role="group" aria-label="Picture of {escape(result.name)}">
<a href="{escape(folder)}/figure.svg">{picture}</a>
</div>
{hint}<figcaption>{escape(result.caption)}</figcaption>
</figure>
<h4>Measured</h4>
{show.html_table(result.checks)}
<h4>To make just this one (seed {result.seed})</h4>
{_command(result.command)}
<details><summary>Parameters</summary><table>{"".join(_row(term, value) for term, value in rows)}</table></details>
<p class="files">{" · ".join(links)}</p>
</article>
"""


def _failure_section(failure: FigureFailure) -> str:
    """Write why a figure was not made, and how to try it alone."""
    return f"""<article id="{escape(failure.name)}">
{_heading(failure)}
<p class="bad"><b>Not made:</b> {escape(failure.reason)}</p>
<h4>To try it alone</h4>
{_command(failure.command)}
</article>
"""


def _heading(item: Result | FigureFailure) -> str:
    """Write the title and the name of a figure."""
    return f'<header><h3>{escape(item.title)}</h3><div class="name">{escape(item.name)}</div></header>'


def _command(command: str) -> str:
    """Write a command as code."""
    return f"<pre><code>{escape(command)}</code></pre>"


def _row(term: str, value: object) -> str:
    """Write one row of a table of settings."""
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return page.setting_row(term, text)


def _link(item: Result | FigureFailure) -> str:
    """Write a link to a figure on the page."""
    return f'<a href="#{escape(item.name)}"{_alarm_class(item)}>{escape(item.name)}</a>'


def _alarm_class(item: Result | FigureFailure) -> str:
    """Return the class that marks a figure that failed."""
    return ' class="bad"' if isinstance(item, FigureFailure) or item.failed else ""


def _provenance(results: Sequence[Result]) -> str:
    """Write with which version, commit and device the figures were made."""
    versions = sorted({f"linnet {r.version}, commit {_short_commit(r.commit)}, {r.device}" for r in results})
    made = "".join(f"<p>Made with {escape(version)}.</p>" for version in versions)
    return f"{made}\n<p><code>linnet verify NAME</code> measures a claim again.</p>"


def _short_commit(commit: str) -> str:
    """Return twelve digits of a commit, and whether files differed from it."""
    digits, *rest = commit.split("-")
    return "-".join([digits[:12], *rest])


def _duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
