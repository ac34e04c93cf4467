"""Make figures one after the other, report each when it is finished, and continue after those that fail."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from linnet import _progress as progress
from linnet.cli import failures, terminal
from linnet_papers.reproduction import runner, show
from linnet_papers.reproduction.report import FigureFailure
from linnet_papers.reproduction.request import FigureRequest
from linnet_papers.reproduction.result import Result

_WORDS = {True: ("within", terminal.GOOD), False: ("BEYOND", terminal.BAD), None: ("measured", terminal.SOFT)}


def run(
    requests: Sequence[FigureRequest], out: Path, *, fresh: bool = False
) -> tuple[list[Result], list[FigureFailure]]:
    """Make every figure and print it; return the results and the failures, which do not stop the others."""
    results: list[Result] = []
    failed: list[FigureFailure] = []
    with progress.bar("figures", len(requests) if len(requests) > 1 else 0, hosts=True) as advance:
        for number, request in enumerate(requests, start=1):
            where = f"[{number}/{len(requests)}] " if len(requests) > 1 else ""
            advance(0, title=request.name)
            try:
                results.append(runner.make(request, out, fresh=fresh))
            except Exception as reason:  # one figure that fails must not take the others with it
                figure = request.figure
                why = failures.cause_with_settings(reason, request.changes)
                failed.append(FigureFailure(request.name, figure.paper, figure.title, request.command, why))
                if len(requests) > 1:
                    terminal.echo(f"{where}{request.name}: not made: {why}", terminal.BAD)
            else:
                _print_result(results[-1], where)
            advance(1)
    return results, failed


def describe_failures(results: Sequence[Result], failed: Sequence[FigureFailure]) -> str:
    """Name the figures that failed or exceed a limit, in one line; empty if there are none."""
    parts = [f"{failure.name} was not made ({failure.reason})" for failure in failed]
    beyond = [result.name for result in results if result.failed]
    parts += [f"a check is beyond its limit in {', '.join(beyond)}"] * bool(beyond)
    return "; ".join(parts)


def _print_result(result: Result, where: str) -> None:
    """Print a figure: its name, its checks, and where the picture is."""
    time = "finished before" if result.reused else f"{result.seconds:.1f} s"
    size = " (quick)" * result.quick
    terminal.echo(f"{where}{result.name}{size}: {result.title}, {time}", bold=True)
    for row in result.failed if result.reused else result.checks:  # what was printed before is not printed again
        word, color = _WORDS[row.met if row.limit is not None else None]
        terminal.echo_row([word], [8], show.row_text(row), color)
    terminal.echo_row(["picture"], [8], str(result.folder / "figure.png"))
