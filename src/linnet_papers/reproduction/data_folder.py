"""The folder with data that cannot be shipped, given by a user: `linnet verify --data-dir`.

It is kept in the environment, so that the processes which measure claims know it too.
"""

from __future__ import annotations

import os
from pathlib import Path

_VARIABLE = "LINNET_DATA_DIR"


def use_data_folder(folder: Path) -> None:
    """Let claims read their data in this folder."""
    os.environ[_VARIABLE] = str(folder.resolve())


def data_folder() -> str:
    """Return the folder that a user has given, empty if none."""
    return os.environ.get(_VARIABLE, "")
