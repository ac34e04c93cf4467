"""The verdicts of all claims, measured in a process beside the figures, and kept until the code changes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import linnet
from linnet._files import write_whole
from linnet._workers import command, environment
from linnet.reproduction.registry import claims, papers
from linnet.reproduction.verification import NO_VERDICT

OUTCOMES_FILE = "claims.json"


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
        verdict = outcome["verdict"] or NO_VERDICT
        measured = outcome["measured"] or outcome["error"] or ""
        rest = {f.name: outcome[f.name] for f in fields(cls) if f.name not in ("verdict", "measured")}
        return cls(verdict=verdict, measured=measured, **rest)


class MissingClaimsError(RuntimeError):
    """The process that measures the claims ended before all were measured; `rows` are those that were."""

    def __init__(self, said: str, rows: Sequence[ClaimRow] = ()) -> None:
        super().__init__(said)
        self.rows = list(rows)


class Verdicts:
    """Verdicts under way: `rows()` waits for them. What an earlier run measured with the same code is not measured
    again, even where that run was interrupted or killed."""

    def __init__(self, out: Path, *, quick: bool, fresh: bool = False) -> None:
        self._file = out / (f"quick-{OUTCOMES_FILE}" if quick else OUTCOMES_FILE)
        self._key = fingerprint(quick)
        self._draft = self._file.with_name(f"{self._file.name}.{self._key[:8]}.measuring")  # where the process writes
        self._outcomes = {} if fresh else self._read_kept() | self._read_measured()
        self._process: subprocess.Popen[str] | None = None
        self._said: str | None = None  # what the process has said, once it has ended
        missing = [name for name in claims() if name not in self._outcomes]
        if not self._outcomes or missing:
            self._keep()
            some = missing if self._outcomes else []  # without names, `verify` measures all
            words = ["verify", *(["--quick"] if quick else []), *some, "--json", str(self._draft)]
            self._process = subprocess.Popen(
                command(*words),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(),
            )

    @property
    def reused(self) -> bool:
        """Whether an earlier run had measured them with the same code."""
        return self._process is None

    def rows(self) -> list[ClaimRow]:
        """Waits until all are measured."""
        if self._process is not None:
            if self._said is None:
                self._said = self._process.communicate()[1] or ""
            self._keep()
            missing = claims().keys() - self._outcomes.keys() if self._process.returncode else ()
            if missing or not self._outcomes:
                why = " ".join(self._said.split()[-40:]) or "the process ended early"
                which = f"{len(missing)} claims were not" if self._outcomes else "the claims could not be"
                raise MissingClaimsError(f"{which} measured: {why}", self._rows())
        return self._rows()

    def stop(self) -> None:
        """Ends the measuring, if it is still going on; what it measured is kept."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.communicate()  # waits, and closes the pipe
        self._keep()

    def _rows(self) -> list[ClaimRow]:
        """Return all outcomes as rows of the page."""
        return [ClaimRow.of(outcome) for outcome in self._outcomes.values()]

    def _keep(self) -> None:
        """Moves what the process has measured to the file that lasts."""
        self._outcomes |= self._read_measured()
        if self._draft.exists():
            kept = [outcome for outcome in self._outcomes.values() if outcome["verdict"]]  # others are tried again
            write_whole(self._file, json.dumps({"key": self._key, "outcomes": kept}, indent=1) + "\n")
            self._draft.unlink(missing_ok=True)

    def _read_kept(self) -> dict[str, Any]:
        """Read the outcomes that an earlier run kept; none where they are of other code."""
        stored = _read(self._file)
        same = isinstance(stored, dict) and stored.get("key") == self._key
        return _by_name(stored.get("outcomes")) if same else {}

    def _read_measured(self) -> dict[str, Any]:
        """Read the outcomes that the process has written so far."""
        return _by_name(_read(self._draft))


def _read(file: Path) -> Any:
    """Read a file of outcomes; None where it is absent or damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # absent or damaged: measure again
        return None


def _by_name(outcomes: object) -> dict[str, Any]:
    """Outcomes that are whole, by the names of their claims."""
    whole = {}
    for outcome in outcomes if isinstance(outcomes, list) else ():
        with suppress(KeyError, TypeError):
            whole[ClaimRow.of(outcome).name] = outcome
    return whole


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
