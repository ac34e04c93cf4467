"""`linnet docs`: writes the pages of figures, tables, claims and coverage from the registry, for developers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from linnet.cli import terminal
from linnet.reproduction import record, registry
from linnet.reproduction.figure import Figure
from linnet.reproduction.paper import Paper
from linnet.reproduction.table import Table
from linnet.reproduction.verification import Claim, Trial, Verdict
from linnet.sweeps._grid import Grid

_NOTE = "<!-- Written by `linnet docs` from the registry; do not edit by hand. -->"

_PLURAL = {
    Verdict.HOLDS: "hold",
    Verdict.CORRECTED: "hold with the correction",
    Verdict.REFUTED: "are refuted",
    Verdict.OUTSIDE: "tried outside the assumptions",
}


_ROLES = {"given": "Tried if", "holds": "Holds if", "corrected": "Corrected if", "refuted": "Refuted if"}


def docs(folder: Annotated[Path, typer.Option(help="Where the pages lie.")] = Path("docs")) -> None:
    """Write the lists of figures, tables and claims from the registries."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
        terminal.say(str(folder / name))


def pages() -> dict[str, str]:
    """The generated pages by file name."""
    return {
        "figures.md": figures_page(registry.figures().values()),
        "tables.md": tables_page(registry.tables().values()),
        "claims.md": claims_page(registry.claims().values(), record.shares(), registry.papers().values()),
        "coverage.md": coverage_page(registry.papers().values()),
    }


def figures_page(known: Iterable[Figure]) -> str:
    """Every figure: what it shows, its panels, its settings and the commands that make it."""
    known = list(known)
    panels = sum(max(len(figure.panels), 1) for figure in known)
    start = f"""{_NOTE}
# Figures

{len(known)} figures with {panels} panels. `linnet reproduce` makes all of them and one page that shows them;
`linnet run NAME` makes one, and a letter after the name one panel of it. `--quick` is the same code on a smaller
problem, `--set field=value` changes a setting.
"""
    return start + _by_paper(known, _figure)


def tables_page(known: Iterable[Table]) -> str:
    """Every table: its grid and the command that computes it."""
    known = list(known)
    start = f"""{_NOTE}
# Tables

{len(known)} grids of trained networks, each a sweep ([sweeps.md](sweeps.md)): it is stored as it is computed, can be
killed and resumed, and runs on as many cores or machines as there are. At its end the table is printed, what was
measured beside what the theory says. The claims of `linnet verify` read the same cells; `linnet verify --store DIR`
keeps them.

    linnet sweep NAME --store table.zarr --resume --workers 4

`--quick` is the same on a smaller grid, `--seed` another draw. In Python, `linnet.reproduction.tables()[NAME]` has
`.results(trial)` and `.text(results)`.
"""
    return start + _by_paper(known, _table)


def claims_page(known: Iterable[Claim], kept: Mapping[str, record.Share], papers: Iterable[Paper] = ()) -> str:
    """Every claim: the sentence, its assumptions, how it is tried, and the verdict of a sound linnet."""
    known = list(known)
    count = {verdict: sum(claim.expected == verdict for claim in known) for verdict in {c.expected for c in known}}
    told = ", ".join(f"{count[verdict]} {_PLURAL[verdict]}" for verdict in sorted(count, key=lambda v: -count[v]))
    start = f"""{_NOTE}
# Claims

{len(known)} claims: {told}.
`linnet verify` measures all of them, `linnet verify NAME` one, `--quick` on smaller settings. The verdict below is what
a sound linnet finds; `linnet verify` measures it anew, prints the figures, and fails where another comes out.
What is wrong in print, what is right, and how it was found stands in [errata.md](errata.md).

| verdict | claims |
|---|---|
{_verdicts(known)}"""
    answers = _answers(papers, {claim.name: claim.expected for claim in known})
    return start + answers + _by_paper(known, lambda claim: _claim(claim, kept.get(claim.name)))


def _answers(papers: Iterable[Paper], verdicts: Mapping[str, Verdict]) -> str:
    """One line for each theorem that several claims share, with the verdicts it rests on."""
    lines = [
        f"| {paper.authors}, {_value(one.theorem)} | {_value(one.answer)} | "
        + ", ".join(f"`{name}` ({verdicts[name]})" for name in (f"{paper.name}-{short}" for short in one.claims))
        + " |\n"
        for paper in papers
        for one in paper.answers
        if all(f"{paper.name}-{short}" in verdicts for short in one.claims)
    ]
    return "\n## Is it true?\n\n| theorem | answer | claims |\n|---|---|---|\n" + "".join(lines) if lines else ""


def coverage_page(papers: Iterable[Paper]) -> str:
    """Every statement of each paper, and where it is checked."""
    text = f"""{_NOTE}
# Coverage

Every equation, lemma, theorem, figure and remark of the papers that says something about numbers, and where it is
checked: by a claim of [claims.md](claims.md), by the checks of a figure of [figures.md](figures.md), by a table of
[tables.md](tables.md); or why nothing here can check it.
"""
    for paper in papers:
        if not paper.statements:
            continue
        checked = sum(bool(statement.checked) for statement in paper.statements)
        text += f"\n## {paper.title}\n\n{checked} of {len(paper.statements)} statements are checked.\n\n"
        text += "| where | what it says | checked by |\n|---|---|---|\n"
        for statement in paper.statements:
            by = ", ".join(f"`{paper.name}-{name}`" for name in statement.checked) or f"not checked: {statement.reason}"
            text += f"| {_value(statement.where)} | {_value(statement.text)} | {by} |\n"
    return text


def _verdicts(known: list[Claim]) -> str:
    """A row for each verdict but "holds", with the names that have it."""
    names = {verdict: [f"`{c.name}`" for c in known if c.expected == verdict] for verdict in Verdict}
    rows = ((verdict, found) for verdict, found in names.items() if verdict != Verdict.HOLDS and found)
    return "".join(f"| {verdict} | {', '.join(found)} |\n" for verdict, found in rows)


def _by_paper(known: list[Any], describe: Callable[[Any], str]) -> str:
    text = ""
    for paper in registry.papers().values():
        mine = [item for item in known if item.paper == paper.name]
        if mine:
            text += f"\n## {paper.title}\n\n{paper.authors}: {paper.subject}.\n" + "".join(map(describe, mine))
    return text


def _figure(figure: Figure) -> str:
    letters = f" (panels {', '.join(figure.panels)})" if figure.panels else ""
    usual, quick = figure.configure().model_dump(mode="json"), figure.configure(quick=True).model_dump(mode="json")
    rows = "".join(
        f"| `{name}` | {_value(usual[name])} | {_value(quick[name]) if quick[name] != usual[name] else ''} |\n"
        for name in usual
    )
    options = "".join(f"`--{name}` chooses {words}.\n\n" for name, words in figure.options.items())
    return f"""
### {figure.name}{letters}

**{figure.title}.** {figure.caption}

    linnet run {figure.name} --quick

{options}| setting | default | quick |
|---|---|---|
{rows}"""


def _table(table: Table) -> str:
    whole, quick = table.sweep(Trial()), table.sweep(Trial(quick=True))
    lists = [{**sweep.axes, **({"seed": range(sweep.seeds)} if sweep.seeds > 1 else {})} for sweep in (whole, quick)]
    rows = "".join(
        f"| `{name}` | {_values(values)} | {_values(lists[1][name]) if lists[1].get(name, values) != values else ''} "
        "|\n"
        for name, values in lists[0].items()
    )
    counts = [Grid.of(sweep) for sweep in (whole, quick)]
    return f"""
### {table.name}

**{table.title}.** {counts[0].cells} cells in {counts[0].blocks} blocks; {counts[1].cells} in quick mode.
{table.note}

    linnet sweep {table.name} --store {table.name}.zarr

| axis | values | quick |
|---|---|---|
{rows}"""


def _values(values: Any) -> str:
    """The values of an axis; where there are many, how many and which."""
    if len(values) > 12:
        return f"{len(values)} from {_value(values[0])} to {_value(values[-1])}"
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)


def _claim(claim: Claim, kept: record.Share | None) -> str:
    seeds = f", in {kept}" if kept else ""
    limits = "".join(f"- **{_ROLES[role]}:** {leaf.requirement}, as {leaf.because}\n" for role, leaf in claim.limits())
    return f"""
### {claim.name}: {claim.where}

{claim.says}

- **Assumes:** {claim.assumes}
- **Tried:** {claim.tried}
{limits}- **Verdict:** {claim.expected}{seeds}{"" if claim.expected == Verdict.HOLDS else " ([errata](errata.md))"}
"""


def _value(value: Any) -> str:
    text = ", ".join(map(_value, value)) if isinstance(value, (list, tuple)) else str(value)
    return text.replace("|", "\\|")
