"""The page `linnet explore`: formulas and trained networks under sliders, on this machine only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet import _extras as extras
from linnet_papers.explorer.serving import serve

if TYPE_CHECKING:
    from dash import Dash

__all__ = ["create_app", "serve"]


def create_app() -> Dash:
    """Return the explorer as a Dash application; `create_app().server` is its WSGI application."""
    extras.need("dash", "the explorer")
    from linnet_papers.explorer.application import create_app as create

    return create()
