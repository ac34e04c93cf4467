"""`linnet verify`: every claim with what was claimed, what was measured and the verdict."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from linnet import progress
from linnet.claims.registry import Outcome, Trial, select
from linnet.claims.registry import verify as measure
from linnet.cli import failures, terminal
from linnet.experiments.runner import writable

_WIDTHS = [5, 26, 25]


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Claims, or the start of their names; all if none.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The same measurements on smaller settings.")] = False,
    to_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the outcomes as JSON; - is standard output.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.", min=0)] = 0,
) -> None:
    """Measure every claim of the four papers: claimed, measured, verdict."""
    try:
        chosen = select(names or ())
    except ValueError as reason:
        raise failures.WrongCallError(str(reason)) from None
    piped = to_json == Path("-")
    if to_json is not None and not piped:
        writable(to_json.parent)
    if terminal.interactive() and not piped:
        terminal.row(["", "claim, number", "verdict, time"], _WIDTHS, "claimed, measured")
    outcomes: list[Outcome] = []
    try:
        with progress.bar("claims", len(chosen), hosts=True) as advance:

            def tell(outcome: Outcome) -> None:
                outcomes.append(outcome)
                if not piped:
                    _row(outcome)
                advance(1)

            measure(chosen, Trial(quick=quick, seed=seed), tell)
    finally:  # interrupted or not, what was measured is kept
        text = json.dumps([outcome.to_json() for outcome in outcomes], indent=1, allow_nan=False)
        if piped:
            typer.echo(text)
        elif to_json is not None:
            part = to_json.with_name(to_json.name + ".part")
            part.write_text(text + "\n", encoding="utf-8")
            part.replace(to_json)
    if not piped:
        terminal.say(_summary(outcomes), bold=True)
    wrong = [outcome.claim.name for outcome in outcomes if not outcome.as_expected]
    if wrong:
        terminal.fail(f"{len(wrong)} of {len(outcomes)} claims not as expected: {', '.join(wrong)}")


def _row(outcome: Outcome) -> None:
    claim, measurement = outcome.claim, outcome.measurement
    verdict = str(measurement.verdict) if measurement else "no verdict"
    found = measurement.measured if measurement else outcome.error or ""
    if not outcome.as_expected:
        found += f" (expected: {claim.expected})"
    mark, colour = ("ok", terminal.GOOD) if outcome.as_expected else ("ALARM", terminal.BAD)
    seconds = f"{outcome.seconds:.1f} s"
    if terminal.interactive():
        terminal.row([mark, claim.name, verdict], _WIDTHS, f"claimed:  {claim.claimed}", colour)
        terminal.row(["", claim.number, seconds], _WIDTHS, f"measured: {found}", colour)
    else:
        terminal.row([mark, claim.name, verdict], _WIDTHS, f"{found} [{claim.number}, {seconds}]", colour)


def _summary(outcomes: list[Outcome]) -> str:
    verdicts = Counter(str(o.measurement.verdict) if o.measurement else "no verdict" for o in outcomes)
    told = ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common())
    return f"{len(outcomes)} claims in {sum(o.seconds for o in outcomes):.1f} s: {told}."
