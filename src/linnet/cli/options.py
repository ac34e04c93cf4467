"""Options that several commands have, declared once."""

from __future__ import annotations

from typing import Annotated

import typer

Quick = Annotated[bool, typer.Option("--quick", help="The same code on smaller settings.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run again what is finished.")]
Seed = Annotated[int | None, typer.Option("--seed", metavar="A", help="Seed of all random numbers.", min=0)]
