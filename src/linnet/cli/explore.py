"""`linnet explore`: the live pages, on which networks are trained in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linnet.cli import failures, terminal


def explore(
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write the pages to, instead of serving them; they open without a server."),
    ] = None,
    port: Annotated[int, typer.Option(help="Port of this machine; 0 takes a free one.", min=0, max=65535)] = 8050,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Train networks in your browser, next to the formulas that predict them."""
    from linnet.live import write
    from linnet.live.serving import serve

    if out is not None:
        terminal.echo(f"open {write(out)} in a browser")
        return
    with failures.if_interrupted(lambda: "interrupted; the pages are no longer served"):
        serve(port, browser)
