"""`linnet reproduce`: every figure, and one page that shows them all."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linnet.cli import batch, terminal
from linnet.cli.run import OUT
from linnet.reproduction import registry, report
from linnet.reproduction.job import Job


def reproduce(
    quick: Annotated[bool, typer.Option("--quick", help="The same code on smaller configurations.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for the results and the page.")] = OUT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what is finished.")] = False,
) -> None:
    """Make every figure of the papers, and one page with the pictures and their checks."""
    jobs = [Job.of(figure, quick=quick) for figure in registry.figures().values()]
    batch.prepare(out)
    results, failed = batch.run(jobs, out, fresh=fresh)
    page = report.write(out, results, failed)
    terminal.say(f"The report is at {page.resolve().as_uri() if terminal.interactive() else page}", bold=True)
    if wrong := batch.verdict(results, failed):
        terminal.fail(wrong)
