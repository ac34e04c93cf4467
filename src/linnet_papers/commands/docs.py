"""`linnet docs`: writes the pages of figures, tables, claims and coverage from the registry, for developers.

The website finds papers by their titles in headings of the pages of figures and tables (website/claims.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from linnet.cli import terminal
from linnet.sweeps.grid import Grid
from linnet_papers.reproduction import pages as written
from linnet_papers.reproduction import registry
from linnet_papers.reproduction.figure import Figure
from linnet_papers.reproduction.measurement import Claim, Trial
from linnet_papers.reproduction.table import Table

Listed = TypeVar("Listed", Figure, Table)
_NOTE = "<!-- Written by `linnet docs` from the registry; do not edit by hand. -->"


def docs(
    folder: Annotated[Path, typer.Option(help="Where the pages lie.")] = Path("docs"),
) -> None:
    """Write the lists of figures, tables and claims from the registries."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        terminal.echo(str(folder / name))


def pages() -> dict[str, str]:
    """Write all pages of the registry; return their texts by file name.

    They are committed in docs/, and tests/cli/test_docs.py compares: run `linnet docs` after changes here or of claims.
    """
    return {
        "figures.md": figures_page(registry.figures().values()),
        "tables.md": tables_page(registry.tables().values()),
        "coverage.md": f"{_NOTE}\n{written.coverage_page(registry.papers().values())}",
        **_claim_pages(list(registry.claims().values())),
    }


def _claim_pages(known: list[Claim]) -> dict[str, str]:
    """Write the page of all claims, and one for each paper that has some."""
    pages = {"claims.md": f"{_NOTE}\n{written.claims_page(known, registry.papers().values())}"}
    for paper in registry.papers().values():
        if own := [claim for claim in known if claim.paper == paper.name]:
            pages[f"{written.FOLDER}/{paper.name}.md"] = f"{_NOTE}\n{written.paper_page(paper, own)}"
    return pages


def figures_page(known: Iterable[Figure]) -> str:
    """Write the page of all figures: what each shows, its panels, its settings and the commands that make it."""
    known = list(known)
    panels = sum(max(len(figure.panels), 1) for figure in known)
    start = f"""{_NOTE}
# Settings of the figures

{len(known)} figures with {panels} panels. `linnet reproduce` makes all of them and one page that shows them;
`linnet run NAME` makes one, and a letter after the name one panel of it. `--quick` is the same code on a smaller
problem, `--set field=value` changes a setting.
"""
    return start + _sections_by_paper(known, _figure_entry)


def tables_page(known: Iterable[Table]) -> str:
    """Write the page of all tables: the grid of each and the command that computes it."""
    known = list(known)
    start = f"""{_NOTE}
# Tables

{len(known)} grids of trained networks, each a sweep ([sweeps.md](sweeps.md)): it is stored as it is computed, can be
killed and resumed, and runs on as many cores or machines as there are. At its end the table is printed, what was
measured beside what the theory says. The claims of `linnet verify` read the same cells; `linnet verify --store DIR`
keeps them.

    linnet run NAME

`--quick` is the same on a smaller grid, `--seed` another draw. In Python, `linnet_papers.reproduction.tables()[NAME]`
has `.results(trial)` and `.text(results)`.
"""
    return start + _sections_by_paper(known, _table_entry)


def _sections_by_paper(known: list[Listed], describe: Callable[[Listed], str]) -> str:
    """Write a section for each paper, with what `describe` writes for each of its figures or tables."""
    text = ""
    for paper in registry.papers().values():
        mine = [item for item in known if item.paper == paper.name]
        if mine:
            text += f"\n## {paper.title}\n\n{paper.authors}: {paper.subject}.\n" + "".join(map(describe, mine))
    return text


def _figure_entry(figure: Figure) -> str:
    """Write the entry of one figure."""
    letters = f" (panels {', '.join(figure.panels)})" if figure.panels else ""
    usual, quick = figure.configure().model_dump(mode="json"), figure.configure(quick=True).model_dump(mode="json")
    rows = "".join(
        f"| `{name}` | {_value_text(value)} | {_value_text(quick[name]) if quick[name] != value else ''} |\n"
        for name, value in usual.items()
    )
    options = "".join(f"`--{name.replace('_', '-')}` chooses {words}.\n\n" for name, words in figure.options.items())
    return f"""
### {figure.name}{letters}

**{figure.title}.** {figure.caption}

    linnet run {figure.name} --quick

{options}| setting | default | quick |
|---|---|---|
{rows}"""


def _table_entry(table: Table) -> str:
    """Write the entry of one table."""
    whole, quick = table.sweep(Trial()), table.sweep(Trial(quick=True))
    lists = [{**sweep.axes, **({"seed": range(sweep.seeds)} if sweep.seeds > 1 else {})} for sweep in (whole, quick)]
    rows = "".join(
        f"| `{name}` | {_axis_text(values)} | "
        f"{_axis_text(lists[1][name]) if lists[1].get(name, values) != values else ''} |\n"
        for name, values in lists[0].items()
    )
    counts = [Grid.of(sweep) for sweep in (whole, quick)]
    return f"""
### {table.name}

**{table.title}.** {counts[0].cells} cells in {counts[0].blocks} blocks; {counts[1].cells} in quick mode.
{table.note}

    linnet run {table.name}

| axis | values | quick |
|---|---|---|
{rows}"""


def _axis_text(values: Sequence[object]) -> str:
    """Write the values of an axis; where there are many, their number, the first and the last."""
    if len(values) > 12:
        return f"{len(values)} from {_value_text(values[0])} to {_value_text(values[-1])}"
    return ", ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in values)


def _value_text(value: object) -> str:
    """Write a value, or several with commas, for a cell of a Markdown table."""
    text = ", ".join(map(_value_text, value)) if isinstance(value, (list, tuple)) else str(value)
    return text.replace("|", "\\|")
