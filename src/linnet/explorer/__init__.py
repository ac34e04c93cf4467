"""The page `linnet explore`: formulas and trained networks under sliders, on this machine only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet import _extras as extras

if TYPE_CHECKING:
    from dash import Dash

__all__ = ["create_app", "serve"]


def create_app() -> Dash:
    """Return the explorer as a Dash application; `create_app().server` is its WSGI application."""
    extras.need("dash", "the explorer")
    from linnet.explorer.application import create_app as create

    return create()


def serve(host: str = "127.0.0.1", port: int = 8050, open_browser: bool = True) -> None:
    """Serve the explorer until it is interrupted, on this machine alone unless `host` says otherwise."""
    extras.need("dash", "the explorer")
    from linnet.explorer.serving import serve as run

    run(host, port, open_browser)
