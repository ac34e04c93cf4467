"""The page *Claims*: every verdict with its sentence, its numbers and its record; any of them measured on demand."""

from __future__ import annotations

from linnet.explorer import as_python
from linnet.explorer.computing import claims as computing
from linnet.explorer.controls import State, choice, text, whole
from linnet.explorer.page import Page, Part, View
from linnet.explorer.panels.measuring import register
from linnet.explorer.pictures import claims as pictures

PAPERS = {name: name if name == computing.ALL else computing.named(name) for name in computing.papers()}
CONTROLS = (
    choice("paper", "Paper", PAPERS, "Claims of one paper, or of all."),
    choice("verdict", "Verdict", computing.VERDICTS, "What the measurement says."),
    text(
        "words",
        "Words",
        "As a phrase (Theorem 2 of paper 4), or else each of them: in the number, the sentence, what was measured.",
    ),
    whole("sheet", "Page of the list", 1, (1, 20), f"A page has {pictures.SHOWN} claims.", computes=False),
    text("claim", "Claim", "The one to look at; a click in the list sets it. The first one if empty.", computes=False),
)


def script(state: State) -> str:
    """Python that finds the same claims, and measures the one that is looked at."""
    call = as_python.call("chosen", {name: state[name] for name in ("paper", "verdict", "words")})
    lines = ["from linnet.explorer.computing.claims import chosen", "", f"data = {call}"]
    lines.append('print(data["verdict"].to_series().value_counts())')
    if state["claim"]:
        lines[1:1] = ["from linnet.reproduction import Trial, claims"]
        lines += [f"measured = claims()[{state['claim']!r}].measurement(Trial(quick=True))", "print(measured)"]
    return "\n".join([*lines, ""])


PAGE = Page(
    name="claims",
    title="Claims",
    card="Is it true? Every theorem of four papers, measured; any of them again, here.",
    introduction=(
        "What the papers say in words and formulas, measured on trained networks: what holds, what holds with a "
        "correction, what is refuted, and what was tried outside its assumptions.",
        "The verdicts shown were measured before; any claim can be measured again, here or by its command.",
    ),
    controls=CONTROLS,
    compute=computing.chosen,
    views=(
        View(
            "counts",
            "Verdicts of each paper",
            pictures.counts,
            "Of the claims that are listed below; a click on a paper chooses it.",
            height=260,
            wide=True,
            click={"paper": "customdata"},
        ),
        View("claim", "The claim", pictures.one, kind="html", wide=True),
        View("list", "The list of claims", pictures.claim_list, kind="html", wide=True),
    ),
    more=(
        Part(
            "answers",
            computing.answers,
            (View("answers", "Is it true? One answer for each theorem", pictures.answers, kind="html", wide=True),),
            uses=("paper", "words"),
        ),
    ),
    own_script=script,
    register=register,
)
