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
from linnet_papers.reproduction.request import FigureRequest


def reproduce(
    quick: Quick = False,
    out: Annotated[Path, typer.Option(help="Folder for the results and the page.")] = OUT,
    fresh: Fresh = False,
    claims: Annotated[
        bool, typer.Option("--claims/--no-claims", help="Measure the claims too, beside the figures.")
    ] = True,
) -> None:
    """Make every figure of the papers, measure every claim, and write one page that shows them all."""
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
    terminal.echo(f"The report is at {page.resolve().as_uri() if terminal.interactive() else page}", bold=True)
    alarms = [one.name for one in measured if not one.as_expected]
    wrong = [
        batch.describe_failures(results, failed),
        missing,
        f"claims not as expected: {', '.join(alarms)}" if alarms else "",
    ]
    if any(wrong):
        raise RuntimeError("; ".join(filter(None, wrong)))


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
