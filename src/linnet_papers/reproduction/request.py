"""One figure as it was asked for: its panels, its settings, the folder it belongs in and the command that makes it."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import linnet
from linnet.sweeps import provenance
from linnet_papers.reproduction.figure import Figure, Settings

CHUNK_BYTES = 1 << 20
# What draws and stores a figure, beside what computes it and the paper's own folder.
_MAKERS = (
    "linnet/style.py",
    "linnet_papers/reproduction/datafile.py",
    "linnet_papers/reproduction/figure.py",
    "linnet_papers/reproduction/runner.py",
    "linnet_papers/reproduction/saving.py",
)


@dataclass(frozen=True)
class FigureRequest:
    """One figure as it was asked for: `changes` are the settings given by hand, `seed` among them."""

    figure: Figure
    panels: tuple[str, ...]
    settings: Settings
    quick: bool
    changes: Mapping[str, Any]

    @classmethod
    def from_figure(
        cls, figure: Figure, *, panels: tuple[str, ...] | None = None, quick: bool = False, **changes: object
    ) -> FigureRequest:
        """Return a request with the paper's settings, or the quick ones, and `changes` on top."""
        chosen = figure.panels if panels is None else panels
        return cls(figure, chosen, figure.configure(quick=quick, **changes), quick, changes)

    @property
    def name(self) -> str:
        """The figure's name, with the letters of its panels unless all are there."""
        return self.figure.name + ("" if self.panels == self.figure.panels else "".join(self.panels))

    @property
    def folder_name(self) -> str:
        """The name of its folder: runs with other settings never overwrite each other."""
        rest = {key: value for key, value in self.changes.items() if key != "seed"}
        parts = [self.name, "quick" * self.quick, f"seed{self.settings.seed}" * ("seed" in self.changes)]
        return "-".join(part for part in [*parts, _digest_of_values(rest)[:6] * bool(rest)] if part)

    @property
    def key(self) -> str:
        """What must agree for finished work to be reused: configuration, code and the files of a data set."""
        configuration = self.settings.model_dump(mode="json")
        parts = [self.figure.name, self.panels, configuration, _fingerprint(self.figure)]
        folder = configuration.get("data_dir")
        return _digest_of_values([*parts, *([_digest_of_folder(Path(folder))] if folder else [])])

    @property
    def command(self) -> str:
        """The command line that makes just this."""
        words = ["linnet", "run", self.name] + ["--quick"] * self.quick
        for name, value in self.settings.model_dump(mode="json").items():
            if name in self.changes:
                words += ["--seed", str(value)] if name == "seed" else ["--set", f"{name}={_command_line_text(value)}"]
        return shlex.join(words)


def _fingerprint(figure: Figure) -> str:
    """Return a digest of every source file that has a part in making this figure."""
    digest = hashlib.blake2b(provenance.fingerprint(figure.compute.__module__).encode(), digest_size=6)
    home = Path(linnet.__file__).parents[1]
    for name in _MAKERS:
        digest.update((home / name).read_bytes())
    return digest.hexdigest()


def _digest_of_folder(folder: Path) -> str:
    """Return a digest of all files in a folder of data: their names and what they hold."""
    digest = hashlib.blake2b(digest_size=12)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    digest.update(chunk)
    return digest.hexdigest()


def _digest_of_values(content: object) -> str:
    """Return a digest of plain values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def _command_line_text(value: object) -> str:
    """Return a setting as the command line takes it."""
    return value if isinstance(value, str) else json.dumps(value)
