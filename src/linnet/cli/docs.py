"""`linnet docs`: writes docs/figures.md and docs/claims.md from the registries (for those who work on linnet)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from linnet.claims import registry as claims
from linnet.claims.registry import Claim, Verdict
from linnet.cli import terminal
from linnet.experiments import registry as figures
from linnet.experiments.registry import Figure
from linnet.papers import PAPERS

_NOTE = "<!-- Written by `linnet docs` from the registry; do not edit by hand. -->"

_PLURAL = {
    Verdict.HOLDS: "hold",
    Verdict.CORRECTED: "hold with the correction",
    Verdict.REFUTED: "are refuted",
    Verdict.OUTSIDE: "are tried outside their assumptions",
}


def docs(folder: Annotated[Path, typer.Option(help="Where the pages lie.")] = Path("docs")) -> None:
    """Write the lists of figures and claims from the registries."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
        terminal.say(str(folder / name))


def pages() -> dict[str, str]:
    """The generated pages by file name."""
    return {"figures.md": figures_page(figures.figures().values()), "claims.md": claims_page(claims.claims().values())}


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


def claims_page(known: Iterable[Claim]) -> str:
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
    return start + _by_paper(known, _claim)


def _verdicts(known: list[Claim]) -> str:
    """A row for each verdict but "holds", with the names that have it."""
    names = {verdict: [f"`{c.name}`" for c in known if c.expected == verdict] for verdict in Verdict}
    rows = ((verdict, found) for verdict, found in names.items() if verdict != Verdict.HOLDS and found)
    return "".join(f"| {verdict} | {', '.join(found)} |\n" for verdict, found in rows)


def _by_paper(known: list[Any], describe: Callable[[Any], str]) -> str:
    text = ""
    for paper in PAPERS.values():
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

{options}| setting | paper | quick |
|---|---|---|
{rows}"""


def _claim(claim: Claim) -> str:
    return f"""
### {claim.name}: {claim.number}

{claim.sentence}

- **Assumes:** {claim.assumptions}
- **Tried:** {claim.setting}
- **Claimed:** {claim.claimed}
- **Verdict:** {claim.expected}{"" if claim.expected == Verdict.HOLDS else " ([errata](errata.md))"}
"""


def _value(value: Any) -> str:
    text = ", ".join(map(_value, value)) if isinstance(value, (list, tuple)) else str(value)
    return text.replace("|", "\\|")
