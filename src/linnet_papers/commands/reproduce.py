"""`linnet reproduce`: every figure, and one page that shows them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from linnet._blas_threads import ONE_BLAS_THREAD
from linnet._files import check_writable
from linnet._workers import ONE_THREAD, environment_restored
from linnet.cli import terminal
from linnet.cli.options import Fresh, Quick
from linnet_papers.commands import batch
from linnet_papers.commands.run import OUT
from linnet_papers.reproduction import registry, report, verdicts
from linnet_papers.reproduction.measurement import Result
from linnet_papers.reproduction.report import FigureFailure
from linnet_papers.reproduction.request import FigureRequest
from linnet_papers.reproduction.result import Result as FigureResult


def reproduce(
    quick: Quick = False,
    out: Annotated[Path, typer.Option(help="Folder for the results and the report.")] = OUT,
    fresh: Fresh = False,
    claims: Annotated[bool, typer.Option("--claims/--no-claims", help="Whether to measure the claims too.")] = True,
) -> None:
    """Make every figure and measure every claim of the papers, and write one report."""
    requests = [FigureRequest.from_figure(figure, quick=quick) for figure in registry.figures().values()]
    check_writable(out)
    with (
        one_thread() if quick else nullcontext(),
        verdicts.measuring(out, quick=quick, fresh=fresh) if claims else nullcontext() as measuring,
    ):
        results, failed = batch.run(requests, out, fresh=fresh)
        measured, missing = ([], "") if measuring is None else _await_claims(measuring)
    known = registry.claims()
    page = report.write(
        out, results, failed, [(known[one.name], one) for one in measured if one.name in known], missing
    )
    for line in _verdict(results, failed, measured):
        terminal.echo(line, bold=True)
    terminal.echo(f"The report is at {page.resolve().as_uri() if terminal.interactive() else page}", bold=True)
    alarms = [one.name for one in measured if not one.as_expected]
    wrong = [
        batch.describe_failures(results, failed),
        missing,
        f"claims not as expected: {', '.join(alarms)}" if alarms else "",
    ]
    if any(wrong):
        raise RuntimeError("; ".join(filter(None, wrong)))


def _verdict(results: list[FigureResult], failed: list[FigureFailure], measured: list[Result]) -> list[str]:
    """Say whether all checks of the figures are within their limits, and all claims as published."""
    beyond = [result.name for result in results if result.failed]
    figures = f"{len(results)} of {len(results) + len(failed)} figures were made"
    within = (
        "a check is beyond its limit in " + ", ".join(beyond) if beyond else "all their checks are within their limits"
    )
    lines = [f"{figures}, and {within}."]
    if measured:
        as_published = sum(one.as_expected for one in measured)
        lines.append(f"{as_published} of {len(measured)} claims have the published verdict.")
    return lines


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the block to one thread of BLAS and of XLA, where XLA has not started yet.

    Quick figures are small: the threads of one wait for each other, and take the cores from the claims' processes.
    """
    with environment_restored(ONE_THREAD), ONE_BLAS_THREAD:
        yield


def _await_claims(measuring: verdicts.Verdicts) -> tuple[list[Result], str]:
    """Wait for the claims and print their verdicts; return a sentence on those that are missing."""
    if not measuring.reused:
        terminal.echo("measuring the claims ...")
    missing = ""
    try:
        measured = measuring.results()
    except verdicts.MissingClaimsError as reason:  # the figures are made all the same
        measured, missing = reason.results, str(reason)
    counts = Counter(one.verdict for one in measured)
    summary = ", ".join(f"{verdict} {number}" for verdict, number in counts.most_common())
    terminal.echo(f"{len(measured)} claims{' (measured before)' if measuring.reused else ''}: {summary}", bold=True)
    return measured, missing
