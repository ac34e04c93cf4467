"""`linnet sweep`: a grid of runs, described in TOML, kept in a store that can be resumed."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import linnet
from linnet import _extras as extras
from linnet.cli import failures, terminal

if TYPE_CHECKING:
    from linnet.sweeps import Sweep

FIRST_WORKER_SECONDS = 60  # to wait for the first worker of a scheduler


def sweep(
    store: Annotated[Path, typer.Option("--store", metavar="DIR", help="Folder for the results.")],
    config: Annotated[
        str | None,
        typer.Argument(metavar="[CONFIG]", help="TOML file of the sweep; without it, show the progress of the store."),
    ] = None,
    part: Annotated[
        str, typer.Option("--part", metavar="I/N", help="Part to compute, the I-th of N; for job arrays.")
    ] = "1/1",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an existing store; finished cells are not recomputed.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --resume: compute failed cells again.")
    ] = False,
    changed_code: Annotated[
        bool, typer.Option("--changed-code", help="With --resume: continue although the code has changed.")
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            "--workers", metavar="N", min=0, help="Number of processes on this machine; 0 computes in this process."
        ),
    ] = 0,
    scheduler: Annotated[
        str | None,
        typer.Option("--scheduler", metavar="ADDRESS", help="Address of a Dask scheduler, whose workers compute."),
    ] = None,
    code: Annotated[
        list[str] | None,
        typer.Option("--code", metavar="MODULE", help="Module whose functions the file may call; may be repeated."),
    ] = None,
) -> None:
    """Run a grid of cells and store the results, or show the progress of a store."""
    from linnet.sweeps.running import fill

    if workers and scheduler is not None:
        raise typer.BadParameter("--workers and --scheduler exclude each other.")
    if (retry_failed or changed_code) and not resume:
        raise typer.BadParameter("--retry-failed and --changed-code continue a store: they need --resume.")
    if config is not None:
        described = _load(config, code or [])
        line = f"interrupted; finished cells are in {store}: continue with --resume"
        with (
            failures.if_interrupted(lambda: line),
            nullcontext() if scheduler is None else _dask(scheduler) as executor,
        ):
            fill(
                described,
                store,
                resume=resume,
                retry_failed=retry_failed,
                changed_code=changed_code,
                part=_part(part),
                workers=workers,
                executor=executor,
            )
    found = linnet.sweeps.status(store)
    if found.failed:
        raise RuntimeError(f"{found}; compute failed cells again with --resume --retry-failed")
    terminal.echo(f"{found}; results in {store}")


def _load(config: str, code: list[str]) -> Sweep:
    """Return the sweep of a file. If it may name custom functions, their modules may be next to it."""
    path = Path(config)
    if not path.is_file() and path.name == config and not path.suffix:
        raise failures.WrongCallError(f"there is no file {config!r}. Figures and tables of papers: `linnet run NAME`.")
    if code:  # only then: a file next to the grid could stand in for a package that is not installed
        sys.path.append(str(path.resolve().parent))
    return linnet.sweeps.load(path, code=code)


def _part(text: str) -> tuple[int, int]:
    """Return a part, as 3/40, in numbers."""
    with suppress(ValueError):
        number, parts = (int(word) for word in text.split("/"))
        if 1 <= number <= parts:
            return number, parts
    raise typer.BadParameter(f"--part takes I/N with I from 1 to N, such as 3/40: got {text!r}.")


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    """Connect to a Dask scheduler, and yield its workers as an executor, as soon as there is one."""
    distributed = extras.need("distributed", "--scheduler")
    for name in ("distributed", "distributed.client"):  # failures are raised: Dask's own log is for its authors
        logging.getLogger(name).setLevel(logging.CRITICAL)
    client = distributed.Client.__new__(distributed.Client)
    try:
        # In two steps, as a client that cannot start must be closed here: at exit it would wait for its dead thread.
        client.__init__(address, set_as_default=False)
        client.wait_for_workers(1, timeout=FIRST_WORKER_SECONDS)
    except Exception as error:  # of the address, of the network, of TLS, or of Dask
        with suppress(Exception):
            client.close(timeout=3)
        raise linnet.sweeps.ExecutorError(
            f"no Dask scheduler with a worker answers at {address}: {error}. Start them with `dask scheduler` and "
            "`dask worker`, or correct the address, which looks like tcp://10.0.0.1:8786."
        ) from error
    with client:
        yield client.get_executor(pure=False)
