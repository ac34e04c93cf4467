"""The verdicts of all claims, measured in a process beside the figures, and kept until the code changes."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import linnet
from linnet._files import write_whole
from linnet.reproduction.registry import claims, papers

FILE = "claims.json"


@dataclass(frozen=True)
class ClaimRow:
    """One claim and what was measured, as the report page shows it."""

    name: str
    paper: str
    where: str
    says: str
    requirement: str
    expected: str
    verdict: str
    measured: str
    as_expected: bool

    @classmethod
    def of(cls, outcome: Mapping[str, Any]) -> ClaimRow:
        """From one object of `linnet verify --json`."""
        verdict = outcome["verdict"] or "no verdict"
        measured = outcome["measured"] or outcome["error"] or ""
        rest = {f.name: outcome[f.name] for f in fields(cls) if f.name not in ("verdict", "measured")}
        return cls(verdict=verdict, measured=measured, **rest)


class MissingClaimsError(RuntimeError):
    """The process that measures the claims ended before all were measured; `rows` are those that were."""

    def __init__(self, said: str, rows: Sequence[ClaimRow] = ()) -> None:
        super().__init__(said)
        self.rows = list(rows)


class Verdicts:
    """Verdicts under way: `rows()` waits for them."""

    def __init__(self, out: Path, *, quick: bool, fresh: bool = False) -> None:
        self._file = out / (f"quick-{FILE}" if quick else FILE)
        self._draft = self._file.with_name(f"{self._file.name}.measuring")
        self._key = fingerprint(quick)
        self._rows = None if fresh else self._kept()
        self._process: subprocess.Popen[str] | None = None
        if self._rows is None:
            words = [
                sys.executable,
                "-m",
                "linnet",
                "verify",
                *(["--quick"] if quick else []),
                "--json",
                str(self._draft),
            ]
            # it ends with this process, however that ends (`linnet.cli.interrupts`)
            environment = {**os.environ, "LINNET_ENDS_WITH": str(os.getpid())}
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env=environment,
            )

    @property
    def reused(self) -> bool:
        """Whether an earlier run had measured them with the same code."""
        return self._process is None

    def rows(self) -> list[ClaimRow]:
        """Waits until all are measured."""
        if self._rows is None:
            assert self._process is not None
            _, said = self._process.communicate()
            why = " ".join((said or "").split()[-40:]) or "the process ended early"
            try:
                outcomes = json.loads(self._draft.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                raise MissingClaimsError(f"the claims could not be measured: {why}") from None
            self._draft.unlink()
            rows = [ClaimRow.of(outcome) for outcome in outcomes]
            missing = claims().keys() - {row.name for row in rows} if self._process.returncode else ()
            if missing:  # not kept: the next run measures all
                raise MissingClaimsError(f"{len(missing)} claims were not measured: {why}", rows)
            write_whole(self._file, json.dumps({"key": self._key, "outcomes": outcomes}, indent=1) + "\n")
            self._rows = rows
        return self._rows

    def stop(self) -> None:
        """Ends the measuring, if it is still going on."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.communicate()  # waits, and closes the pipe
        self._draft.unlink(missing_ok=True)

    def _kept(self) -> list[ClaimRow] | None:
        try:
            stored = json.loads(self._file.read_text(encoding="utf-8"))
            return [ClaimRow.of(outcome) for outcome in stored["outcomes"]] if stored["key"] == self._key else None
        except (OSError, ValueError, KeyError, TypeError):  # absent, damaged or of another version: measure again
            return None


@contextmanager
def measuring(out: Path, *, quick: bool, fresh: bool = False) -> Iterator[Verdicts]:
    """Starts measuring every claim; whatever happens in the block, the process is gone after it."""
    verdicts = Verdicts(out, quick=quick, fresh=fresh)
    try:
        yield verdicts
    finally:
        verdicts.stop()


def fingerprint(quick: bool) -> str:
    """A digest of all of linnet's code and of the claims there are: verdicts are reused only where it is the same."""
    digest = hashlib.blake2b(f"{linnet.__version__} {quick}".encode(), digest_size=12)
    for path in sorted(Path(linnet.__file__).parent.rglob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    for paper in papers().values():
        modules = {claim.measure.__module__ for claim in paper.claims}
        for name in sorted(modules):
            source = getattr(sys.modules.get(name), "__file__", None)
            digest.update(name.encode() + (Path(source).read_bytes() if source else b""))
    return digest.hexdigest()
