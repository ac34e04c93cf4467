"""`linnet verify`: every claim with what was claimed, what was measured and the verdict."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self

import typer

import linnet
from linnet import _progress as progress
from linnet._files import check_writable, write_whole
from linnet.cli import failures, terminal
from linnet.cli.options import Quick, Seed
from linnet_papers.reproduction import parallel, record, registry, show
from linnet_papers.reproduction.data_folder import use_data_folder
from linnet_papers.reproduction.measurement import Claim, Result, Trial, measure
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.registry import select_claims
from linnet_papers.reproduction.rows import Verdict

_COLUMN_WIDTHS = [5, terminal.NAME_WIDTH, 25]  # of mark, claim and verdict
_SHOWN_WHOLE = 10  # claims that are printed with all of their rows; of more, a line each
_MANY_CLAIMS = 40  # claims, from which on starting processes is worth its seconds
MIN_SHARE = 0.95  # of the seeds, 19 of 20: one odd draw in twenty is what limits with honest error bars may have


def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME...]", help="Claims, the start of their names, or a package's folder; all if none."
        ),
    ] = None,
    quick: Quick = False,
    to_json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON; - is standard output.")
    ] = None,
    to_record: Annotated[
        bool, typer.Option("--record", help="Record the results in the paper's folder: pages are rendered from it.")
    ] = False,
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
        typer.Option("--store", metavar="DIR", help="Keep the grids behind the claims there, and go on from there."),
    ] = None,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", metavar="DIR", help="Local copy of CIFAR-10, for the claims about it."),
    ] = None,
) -> None:
    """Measure every claim of the papers: claimed, measured, verdict."""
    with failures.as_wrong_call():
        chosen = select_claims(names or ())
    if workers and any(Path(name).is_dir() for name in names or ()):
        raise typer.BadParameter("--workers know only papers that are installed: no folder.")
    _check_options(to_json, seeds, workers, store, seed if to_record else None)
    if data_dir is not None:
        if to_record:
            raise typer.BadParameter("--record takes what every reader can measure: no --data-dir.")
        use_data_folder(data_dir)
    trials = [Trial(quick=quick, seed=one) for one in range(seed or 0, (seed or 0) + (seeds or 1))]
    kept = _Kept(to_json, _papers_of(chosen) if to_record else [], chosen, len(trials) * len(chosen), quick, store)
    processes = _process_count(chosen, workers, store) if seeds is None else workers or 0
    piped = to_json == Path("-")
    with (
        kept,
        nullcontext() if store is None else linnet.sweeps.keeping(store),  # no cells that other code has trained
        progress.bar("claims", kept.total, unit="claims", hosts=True) as advance,
    ):
        by_name = {claim.name: claim for claim in chosen}
        for trial, result in _measured(chosen, trials, processes):
            kept.add(trial, result, several=seeds is not None)
            if seeds is None and not piped:
                _print_result(by_name[result.name], result, whole=len(chosen) <= _SHOWN_WHOLE)
            advance(1)
    results = [kept.results[claim.name] for claim in chosen]
    if seeds is None:
        _end(results, piped)
    else:
        _end_of_seeds(results, trials, piped, kept.examples)


def _check_options(
    to_json: Path | None, seeds: int | None, workers: int | None, store: Path | None, recorded_seed: int | None
) -> None:
    """Refuse options that exclude each other, and places that cannot be written to; make the folders of those."""
    if store is not None and workers:
        raise typer.BadParameter("--store keeps grids from this process alone: no --workers.")
    if seeds is not None and store is not None:
        raise typer.BadParameter("--seeds keeps no grids: no --store.")
    if recorded_seed:
        raise typer.BadParameter("--record takes the rows of seed 0: no --seed.")
    if to_json is not None and to_json != Path("-"):
        if to_json.is_dir():
            raise failures.WrongCallError(f"--json takes a file: {str(to_json)!r} is a folder.")
        check_writable(to_json.parent)
    if store is not None:
        check_writable(store)


def _papers_of(chosen: Sequence[Claim]) -> list[Paper]:
    """Return the papers of claims; refuse one whose record cannot be written."""
    papers = [paper for name, paper in registry.papers().items() if any(claim.paper == name for claim in chosen)]
    for paper in papers:
        if paper.record is None:
            raise failures.WrongCallError(f"the paper {paper.name!r} lists no statements, beside which a record lies.")
        check_writable(paper.record.parent)
    return papers


def _measured(chosen: Sequence[Claim], trials: Sequence[Trial], processes: int) -> Iterator[tuple[Trial, Result]]:
    """Measure claims at every seed, here or in several `processes` (0 for here), and yield the results."""
    if processes:
        work = [batch for trial in trials for batch in parallel.batches(chosen, trial)]
        yield from parallel.results(work, processes)
        return
    for trial in trials:
        for claim in chosen:
            yield trial, measure(claim, trial)


def _process_count(chosen: list[Claim], requested: int | None, store: Path | None) -> int:
    """Return the number of processes requested; by default one per core for many claims of several papers, else 0."""
    if requested is not None or store is not None:
        return requested or 0
    papers = {claim.paper for claim in chosen}
    return min(os.cpu_count() or 1, len(papers)) if len(papers) > 1 and len(chosen) >= _MANY_CLAIMS else 0


class _Kept:
    """Results by the name of their claim, in a JSON file and in the records of the papers, which are written anew as
    results come: a kill loses none.

    As a context, it writes them when the block ends, however that ends.
    """

    def __init__(
        self,
        file: Path | None,
        papers: Sequence[Paper],
        chosen: Sequence[Claim],
        total: int,
        quick: bool,
        store: Path | None,
    ) -> None:
        self.results: dict[str, Result] = {}
        self._lines: dict[str, str] = {}  # the results as JSON
        self.examples: dict[str, str] = {}  # of an unexpected verdict over seeds
        self.total, self._count = total, 0  # measurements: several for a claim at several seeds
        self._file, self._papers, self._quick = file, papers, quick
        self._order = [claim.name for claim in chosen]
        self._more = "" if store is None else f"; trained cells are in {store}, and the same command goes on from there"
        self._next = 0.0  # when files are written again: a fifth of the time at most goes into writing

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, reason: object, traceback: object) -> None:
        self.write()
        if isinstance(reason, KeyboardInterrupt):
            place = f"; they are in {self._file}" if self._count and self._file is not None else ""
            reason.args = (f"interrupted after {self._count} of {self.total} claims{place}{self._more}",)

    def add(self, trial: Trial, result: Result, *, several: bool) -> None:
        """Add the result of a claim; of several seeds the rows of the first are kept, and every verdict is counted."""
        if several:
            if not result.as_expected:
                self.examples.setdefault(result.name, f"seed {trial.seed}: {_why(result)}")
            first = self.results.get(result.name, result)
            verdicts = Counter(first.verdicts) + Counter([result.verdict])
            result = replace(first, verdicts=dict(sorted(verdicts.items())))
        self.results[result.name] = result
        self._lines[result.name] = json.dumps(result.to_json(), allow_nan=False)
        self._count += 1
        began = time.monotonic()
        if (self._papers or self._file not in (None, Path("-"))) and began >= self._next:
            self.write(settled=False)
            self._next = began + 5 * (time.monotonic() - began)

    def write(self, *, settled: bool = True) -> None:
        """Write all results there are, in the order of the claims, to records, file or standard output."""
        found = {name: self.results[name] for name in self._order if name in self.results}
        for paper in self._papers:
            record.merge(paper, found, quick=self._quick)
        text = "[\n{}\n]".format(",\n".join(self._lines[name] for name in found))
        if self._file == Path("-"):
            self._file = None  # once
            terminal.write(text if found else "[]")
        elif self._file is not None:
            write_whole(self._file, (text if found else "[]") + "\n", settled=settled)


def _why(result: Result) -> str:
    """Return why the verdict of a claim is what it is, in a line."""
    missed = [f"{row.quantity}: {show.values_text(row)}, not {row.limit}" for row in result.rows if not row.met]
    return result.error or show.plain("; ".join(missed)) or result.verdict


def _print_result(claim: Claim, result: Result, *, whole: bool) -> None:
    """Print one claim: with all of its rows, or in one line if it is one of many and as expected."""
    color = terminal.GOOD if result.as_expected else terminal.BAD
    if whole or not result.as_expected:
        first, *rest = show.terminal(claim, result, _cite(claim)).split("\n")
        terminal.echo(first, color, bold=True)
        terminal.write("\n".join(rest) + "\n")
    else:
        terminal.echo_row(["ok", claim.name, result.verdict], _COLUMN_WIDTHS, show.line(claim, result), color, cut=True)


def _cite(claim: Claim) -> str:
    """Return the paper of a claim in short: "Varre et al. 2023, "."""
    paper = next((paper for paper in registry.papers_of([claim.paper]) if paper.name == claim.paper), None)
    if paper is None or paper.year is None:
        return ""
    return f"{paper.authors.split(',')[0].split(' and ')[0]} et al. {paper.year}, "


def _end(results: Sequence[Result], piped: bool) -> None:
    """Print the count of every verdict and the claims that do not simply hold; fail if one is not as expected."""
    names: dict[str, list[str]] = {}
    for result in results:
        names.setdefault(result.verdict, []).append(result.name)
    names = dict(sorted(names.items(), key=lambda item: -len(item[1])))
    counts = ", ".join(f"{len(claims)} {verdict}" for verdict, claims in names.items())
    wrong = [result.name for result in results if not result.as_expected]
    if not piped:
        for verdict, claims in names.items() if len(results) > _SHOWN_WHOLE else ():
            if verdict != Verdict.HOLDS:
                terminal.echo_row([f"{verdict}:"], [terminal.NAME_WIDTH], ", ".join(claims))
        number = f"{len(results)} claims" if len(results) > 1 else "1 claim"
        same = "" if wrong else " Every verdict is the published one."
        terminal.echo(f"{number} in {sum(one.seconds for one in results):.1f} s: {counts}.{same}", bold=True)
    if wrong:
        raise RuntimeError(f"{len(wrong)} of {len(results)} claims not as expected: {', '.join(wrong)}")


def _end_of_seeds(results: Sequence[Result], trials: Sequence[Trial], piped: bool, examples: dict[str, str]) -> None:
    """Print how often each verdict came out; fail if a claim keeps its verdict too seldom."""
    wrong = [one.name for one in results if one.verdicts.get(str(one.expected), 0) < MIN_SHARE * len(trials)]
    for one in results if not piped else ():
        counts = ", ".join(f"{verdict} {count}" for verdict, count in Counter(one.verdicts).most_common())
        mark, color = ("ALARM", terminal.BAD) if one.name in wrong else ("ok", terminal.GOOD)
        example = f"; {examples[one.name]}" if one.name in wrong else ""
        terminal.echo_row([mark, one.name], _COLUMN_WIDTHS[:2], f"{counts}{example}", color)
    if wrong:
        least = f"{MIN_SHARE:.0%} of {len(trials)} seeds"
        raise RuntimeError(
            f"{len(wrong)} of {len(results)} claims keep their verdict in less than {least}: {', '.join(wrong)}"
        )
    if not piped:
        which = f" ({trials[0].seed} to {trials[-1].seed})" if trials[0].seed else ""
        terminal.echo(f"{len(results)} claims keep their verdicts over {len(trials)} seeds{which}.", bold=True)
