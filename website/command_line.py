"""The page of the command line: what `linnet COMMAND --help` prints, for every command."""

from __future__ import annotations

from pathlib import Path

import typer
from typer.main import get_command

from linnet.cli.main import build_app

_START = """# The command line

`linnet` without arguments lists its commands; `linnet COMMAND --help` prints what stands here. A failure is one line,
and the exit status says what happened: 0 all is well, 1 not, 2 a wrong call, 130 interrupted.

"""


def write(file: Path) -> None:
    """Write the page."""
    group = get_command(build_app())
    text = _START
    with typer.Context(group, info_name="linnet") as context:
        for name in group.list_commands(context):  # type: ignore[attr-defined]
            command = group.get_command(context, name)  # type: ignore[attr-defined]
            if command.hidden:
                continue
            with typer.Context(command, info_name=name, parent=context, terminal_width=96, max_content_width=96) as own:
                text += f"## linnet {name}\n\n```text\n{command.get_help(own).rstrip()}\n```\n\n"
    file.write_text(text, encoding="utf-8")
