"""`linnet explore`: the page on which formulas and trained networks follow sliders."""

from __future__ import annotations

from typing import Annotated

import typer

from linnet.cli import failures


def explore(
    port: Annotated[int, typer.Option(help="Port of this machine.", min=0, max=65535)] = 8050,
    host: Annotated[str, typer.Option(help="Address to listen on; others than this machine's own are open.")] = (
        "127.0.0.1"
    ),
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
) -> None:
    """Open the explorer: training, phase diagram, the papers' dynamics, claims and your own data, live."""
    from linnet_papers.explorer import serve

    with failures.if_interrupted(lambda: "interrupted; the explorer has ended"):
        serve(host, port, browser)
