"""A finished figure: what `result.json` holds, written last so that it marks finished work."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from linnet._files import write_whole
from linnet_papers.reproduction.request import FigureRequest
from linnet_papers.reproduction.rows import Row
from linnet_papers.reproduction.saving import PICTURE_FORMATS

DATA_FILE, RESULT_FILE = "data.nc", "result.json"
_NOT_STORED = ("folder", "reused")


@dataclass(frozen=True)
class Result:
    """A figure with its settings, its measured checks and where it comes from; `reused` if an earlier run made it."""

    name: str
    paper: str
    title: str
    caption: str
    panels: tuple[str, ...]
    quick: bool
    settings: dict[str, Any]
    seed: int
    checks: tuple[Row, ...]
    command: str
    seconds: float
    version: str
    commit: str
    dtype: str
    device: str
    key: str
    folder: Path
    reused: bool = False

    @classmethod
    def from_request(cls, request: FigureRequest, folder: Path, **measured: Any) -> Result:
        """Return the result of a request; `measured` is what only the run itself knows."""
        figure = request.figure
        return cls(
            name=request.name,
            paper=figure.paper,
            title=figure.title,
            caption=figure.caption,
            panels=request.panels,
            quick=request.quick,
            seed=request.settings.seed,
            command=request.command,
            key=request.key,
            folder=folder,
            **measured,
        )

    @property
    def failed(self) -> list[Row]:
        """The rows that are on the wrong side of their limit."""
        return [row for row in self.checks if not row.met]


def store(result: Result) -> None:
    """Write `result.json` whole or not at all, with a digest of every file that belongs to it."""
    content = {key: value for key, value in asdict(result).items() if key not in _NOT_STORED}
    content["checks"] = [row.to_json() for row in result.checks]
    content["files"] = {name: _digest_of_file(result.folder / name) for name in _file_names()}
    write_whole(result.folder / RESULT_FILE, json.dumps(content, indent=1, allow_nan=False) + "\n")


def find_finished(request: FigureRequest, out: Path) -> Result | None:
    """Return the result of an earlier run of this request, None where there is none to reuse.

    Its configuration and code must be the same, and its files whole: not missing, truncated or changed since.
    """
    folder = out / request.folder_name
    try:
        stored = json.loads((folder / RESULT_FILE).read_text(encoding="utf-8"))
        if stored["key"] != request.key or stored["files"] != {
            name: _digest_of_file(folder / name) for name in _file_names()
        }:
            return None
        stored["checks"] = tuple(map(Row.from_json, stored["checks"]))
        stored["panels"] = tuple(stored["panels"])
        kept = {f.name: stored[f.name] for f in fields(Result) if f.name not in _NOT_STORED}
    except (OSError, ValueError, KeyError, TypeError):  # absent, half-written or of another version: run again
        return None
    return Result(**kept, folder=folder, reused=True)


def _digest_of_file(path: Path) -> str:
    """Return the digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _file_names() -> list[str]:
    """List the files that a finished figure has."""
    return [DATA_FILE, *(f"figure.{kind}" for kind in PICTURE_FORMATS)]
