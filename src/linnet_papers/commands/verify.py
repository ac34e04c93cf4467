"""`linnet verify`: every claim with what was claimed, what was measured and the verdict."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Self

import typer

import linnet
from linnet import _progress as progress
from linnet._files import check_writable, write_whole
from linnet.cli import failures, terminal
from linnet.cli.options import Quick, Seed
from linnet_papers.reproduction import parallel, stability
from linnet_papers.reproduction.declaration import Claim, Trial, Verdict
from linnet_papers.reproduction.registry import select_claims
from linnet_papers.reproduction.verification import Outcome, verdict_and_text
from linnet_papers.reproduction.verification import verify as measure

_COLUMN_WIDTHS = [5, terminal.NAME_WIDTH, 25]  # of mark, claim and verdict
_TABLE_COLUMNS = 110  # of a terminal, from which on there is room for a table
_MANY_CLAIMS = 40  # claims, from which on starting processes is worth its seconds


def verify(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Claims, or the start of their names; all if none.")
    ] = None,
    quick: Quick = False,
    to_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the outcomes as JSON; - is standard output.")
    ] = None,
    seed: Seed = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="N", min=1, help="Repeat at N seeds, from A on; show each verdict's share."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", min=0, help="On N processes (one a core for whole papers; 0 for none)."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="Keep the tables behind the claims there, and go on from there."),
    ] = None,
) -> None:
    """Measure every claim of the papers: claimed, measured, verdict."""
    with failures.as_wrong_call():
        chosen = select_claims(names or ())
    _check_options(to_json, seeds, workers, store)
    if seeds is not None:
        return _survey_seeds(chosen, range(seed or 0, (seed or 0) + seeds), workers or 0, quick, to_json)
    trial = Trial(quick=quick, seed=seed or 0)
    outcomes = _measure_and_print(chosen, trial, _process_count(chosen, workers, store), store, to_json)
    if to_json != Path("-"):
        _print_summary(outcomes)
    wrong = [outcome.claim.name for outcome in outcomes if not outcome.as_expected]
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(outcomes)} claims not as expected: {', '.join(wrong)}")


def _check_options(to_json: Path | None, seeds: int | None, workers: int | None, store: Path | None) -> None:
    """Refuse options that exclude each other, and places that cannot be written to; make the folders of those."""
    if store is not None and workers:
        raise typer.BadParameter("--store keeps tables from this process alone: no --workers.")
    if seeds is not None and store is not None:
        raise typer.BadParameter("--seeds keeps no tables: no --store.")
    if to_json is not None and to_json != Path("-"):
        if to_json.is_dir():
            raise failures.WrongCallError(f"--json takes a file: {str(to_json)!r} is a folder.")
        check_writable(to_json.parent)
    if store is not None:
        check_writable(store)


def _measure_and_print(
    chosen: list[Claim], trial: Trial, processes: int, store: Path | None, to_json: Path | None
) -> list[Outcome]:
    """Measure claims, here or in several `processes` (0 for here), and return the outcomes in the order they come.

    Each is printed when it comes, unless JSON goes to standard output, and kept for `to_json`.
    """
    piped = to_json == Path("-")
    table = terminal.interactive() and terminal.width() >= _TABLE_COLUMNS
    if table and not piped:
        terminal.echo_row(["", "claim, number", "verdict, time"], _COLUMN_WIDTHS, "required, measured")
    outcomes: list[Outcome] = []
    kept = "" if store is None else f"; trained cells are in {store}, and the same command goes on from there"
    with (
        _Results(to_json, chosen, len(chosen), kept) as results,
        nullcontext() if store is None else linnet.sweeps.keeping(store),  # no cells that other code has trained
        progress.bar("claims", len(chosen), hosts=True) as advance,
    ):

        def report(outcome: Outcome) -> None:
            """Keep an outcome and print it."""
            outcomes.append(outcome)
            results.add(outcome.claim.name, outcome.to_json())
            if not piped:
                _print_outcome(outcome, table)
            advance(1)

        if processes:
            for _, outcome in parallel.outcomes(chosen, parallel.batches(chosen, trial, processes), processes):
                report(outcome)
        else:
            measure(chosen, trial, report)
    return outcomes


def _process_count(chosen: list[Claim], requested: int | None, store: Path | None) -> int:
    """Return the number of processes requested; by default one per core for many claims of several papers, else 0."""
    if requested is not None or store is not None:
        return requested or 0
    papers = {claim.paper for claim in chosen}
    return min(os.cpu_count() or 1, len(papers)) if len(papers) > 1 and len(chosen) >= _MANY_CLAIMS else 0


def _survey_seeds(chosen: list[Claim], seeds: range, workers: int, quick: bool, to_json: Path | None) -> None:
    """Measure every claim at several seeds, and print how often each verdict comes out."""
    total = len(seeds) * len(chosen)
    with _Results(to_json, chosen, total) as results, progress.bar("claims", total, unit="claims") as advance:

        def record(row: stability.Stability) -> None:
            """Keep the verdicts of a claim at the seeds so far."""
            results.add(row.claim.name, row.to_json())
            advance(1)

        rows = stability.survey(chosen, seeds=seeds, quick=quick, workers=workers, report=record)
    for row in rows if to_json != Path("-") else ():
        counts = ", ".join(f"{verdict} {count}" for verdict, count in row.verdicts.most_common())
        mark, color = ("ok", terminal.GOOD) if row.stable else ("ALARM", terminal.BAD)
        example = "" if row.stable else f"; {row.example}"
        terminal.echo_row([mark, row.claim.name], _COLUMN_WIDTHS[:2], f"{counts}{example}", color)
    wrong = [row.claim.name for row in rows if not row.stable]
    if wrong:
        least = f"{stability.MIN_SHARE:.0%} of {len(seeds)} seeds"
        raise RuntimeError(
            f"{len(wrong)} of {len(rows)} claims keep their verdict in less than {least}: {', '.join(wrong)}"
        )
    if to_json != Path("-"):
        terminal.echo(f"{len(rows)} claims keep their verdicts over {_seeds_text(seeds)}.", bold=True)


def _seeds_text(seeds: range) -> str:
    """Say how many seeds there are, and which where they do not begin at 0."""
    which = f" ({seeds[0]} to {seeds[-1]})" if seeds[0] else ""
    return f"{len(seeds)} seeds{which}"


class _Results:
    """Results by the name of their claim, in a JSON file that is written anew as they come: a kill loses none.

    As a context, it writes them when the block ends, however that ends.
    """

    def __init__(self, file: Path | None, chosen: Sequence[Claim], total: int, more: str = "") -> None:
        self._count, self._total, self._more = 0, total, more  # measurements: several for a claim at several seeds
        self._file, self._texts = file, {claim.name: "" for claim in chosen}
        self._next = 0.0  # when it is written again: a fifth of the time at most goes into writing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, reason: object, traceback: object) -> None:
        self.write()
        if isinstance(reason, KeyboardInterrupt):
            place = f"; they are in {self._file}" if self._count and self._file is not None else ""
            reason.args = (f"interrupted after {self._count} of {self._total} claims{place}{self._more}",)

    def add(self, name: str, values: dict[str, object]) -> None:
        """Add the result of a claim, or replace its earlier one; write the file, but not at every result."""
        self._texts[name] = json.dumps(values, indent=1, allow_nan=False)
        self._count += 1
        began = time.monotonic()
        if self._file not in (None, Path("-")) and began >= self._next:
            self.write(settled=False)
            self._next = began + 5 * (time.monotonic() - began)

    def write(self, *, settled: bool = True) -> None:
        """Write all results there are, in the order of the claims, to the file or once to standard output."""
        text = "[\n{}\n]".format(",\n".join(filter(None, self._texts.values()))) if self._count else "[]"
        if self._file == Path("-"):
            self._file = None  # once
            terminal.write(text)
        elif self._file is not None:
            write_whole(self._file, text + "\n", settled=settled)


def _print_outcome(outcome: Outcome, table: bool) -> None:
    """Print one claim: two lines of a table on a wide terminal, three lines on a narrow one, one line elsewhere."""
    claim, (verdict, measured) = outcome.claim, verdict_and_text(outcome)
    if not outcome.as_expected:
        measured += f" (expected: {claim.expected})"
    mark, color = ("ok", terminal.GOOD) if outcome.as_expected else ("ALARM", terminal.BAD)
    seconds = f"{outcome.seconds:.1f} s"
    if table:
        terminal.echo_row([mark, claim.name, verdict], _COLUMN_WIDTHS, f"required: {claim.requirement}", color)
        terminal.echo_row(["", claim.where, seconds], _COLUMN_WIDTHS, f"measured: {measured}", color)
    elif terminal.interactive():
        terminal.echo_row([mark], [5], f"{claim.name}: {verdict} [{claim.where}, {seconds}]", color)
        terminal.echo_row(["  required"], [10], claim.requirement)
        terminal.echo_row(["  measured"], [10], measured)
    else:
        text = f"required: {claim.requirement}; measured: {measured} [{claim.where}, {seconds}]"
        terminal.echo_row([mark, claim.name, verdict], _COLUMN_WIDTHS, text, color)


def _print_summary(outcomes: list[Outcome]) -> None:
    """Print the count of every verdict, and the claims that do not simply hold."""
    names: dict[str, list[str]] = {}
    for outcome in outcomes:
        names.setdefault(verdict_and_text(outcome)[0], []).append(outcome.claim.name)
    names = dict(sorted(names.items(), key=lambda item: -len(item[1])))
    counts = ", ".join(f"{verdict} {len(claims)}" for verdict, claims in names.items())
    for verdict, claims in names.items():
        if verdict != Verdict.HOLDS:
            terminal.echo_row([f"{verdict}:"], [terminal.NAME_WIDTH], ", ".join(claims))
    terminal.echo(f"{len(outcomes)} claims in {sum(o.seconds for o in outcomes):.1f} s: {counts}.", bold=True)
