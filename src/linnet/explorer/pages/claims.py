"""The page *Claims*: every verdict with its sentence, its numbers and its record; any of them measured on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.explorer.computing import claims as computing
from linnet.explorer.controls import Control, State
from linnet.explorer.page import Page, View
from linnet.explorer.panels.measuring import register
from linnet.explorer.pictures import claims as pictures

if TYPE_CHECKING:
    import xarray as xr

CONTROLS = (
    Control("paper", "Paper", "Claims of one paper, or of all.", computing.ALL, "choice", choices=computing.papers()),
    Control("verdict", "Verdict", "What the measurement says.", computing.ALL, "choice", choices=computing.VERDICTS),
    Control(
        "words",
        "Words",
        "All of them must occur: in the name, the number, the sentence, its assumptions, or what was measured.",
        "",
        "text",
    ),
    Control(
        "sheet",
        "Sheet of the list",
        f"The list has {pictures.SHOWN} claims on each sheet.",
        1,
        "whole",
        low=1,
        high=20,
        step=1,
        computes=False,
    ),
    Control(
        "claim",
        "Claim",
        "The name of the claim to look at; a click in the list sets it. The first one if empty.",
        "",
        "text",
        computes=False,
    ),
)


def compute(paper: str, verdict: str, words: str) -> xr.Dataset:
    """The claims that are asked for (see `computing.claims.chosen`)."""
    return computing.chosen(paper, verdict, words)


def script(state: State) -> str:
    """Python that finds the same claims, and measures the one that is looked at."""
    asked = ", ".join(f"{name}={state[name]!r}" for name in ("paper", "verdict", "words"))
    lines = [
        "from linnet.explorer.computing.claims import chosen",
        "from linnet.reproduction import Trial, claims",
        "",
        f"data = chosen({asked})",
        'counts = data["verdict"].to_series().value_counts()',
        "print(counts)",
    ]
    if state["claim"]:
        lines += [f"measured = claims()[{state['claim']!r}].measurement(Trial(quick=True))", "print(measured)"]
    return "\n".join([*lines, ""])


PAGE = Page(
    name="claims",
    title="Claims",
    introduction=(
        "What the papers say in words and formulas, measured on trained networks: what holds, what holds with a "
        "correction, what is refuted, and what was tried outside its assumptions.",
        "The verdicts shown are those of the record; any claim can be measured again, here or by its command.",
    ),
    controls=CONTROLS,
    compute=compute,
    views=(
        View(
            "counts",
            "Verdicts of each paper",
            pictures.counts,
            "Of the claims that the filter leaves; a click on a paper chooses it.",
            height=260,
            wide=True,
            click={"paper": "y"},
        ),
        View("claim", "The claim", pictures.one, kind="html", wide=True),
        View("list", "All that the filter leaves", pictures.listed, kind="html", wide=True),
    ),
    script=script,
    register=register,
)
