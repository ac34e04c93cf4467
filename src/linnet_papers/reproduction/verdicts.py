"""The verdicts of all claims, measured in a process beside the figures, and kept until the code changes."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import linnet
from linnet._files import write_whole
from linnet._workers import command, environment
from linnet_papers.reproduction.measurement import Result
from linnet_papers.reproduction.registry import claims, papers

OUTCOMES_FILE = "claims.json"
SUFFIXES = (".py", ".csv", ".json", ".toml", ".npy", ".npz", ".txt")  # of files that can change a number


class MissingClaimsError(RuntimeError):
    """The process that measures the claims ended before all were measured; `results` are of those that were."""

    def __init__(self, said: str, results: Sequence[Result] = ()) -> None:
        super().__init__(said)
        self.results = list(results)


class Verdicts:
    """Verdicts that another process is measuring: `results()` waits for them.

    What an earlier run measured with the same code is not measured again, even where it was interrupted or killed.
    """

    def __init__(self, out: Path, *, quick: bool, fresh: bool = False) -> None:
        self._file = out / (f"quick-{OUTCOMES_FILE}" if quick else OUTCOMES_FILE)
        self._key = fingerprint(quick)
        self._draft = self._file.with_name(f"{self._file.name}.{self._key[:8]}.measuring")  # where the process writes
        self._outcomes = {} if fresh else self._read_kept() | self._read_measured()
        self._process: subprocess.Popen[str] | None = None
        self._said: str | None = None  # what the process has said, once it has ended
        missing = [name for name in claims() if name not in self._outcomes]
        if not self._outcomes or missing:
            self._store_measured()
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

    def results(self) -> list[Result]:
        """Wait until all are measured, and return them; raise `MissingClaimsError` where some could not be."""
        if self._process is not None:
            if self._said is None:
                self._said = self._process.communicate()[1] or ""
            self._store_measured()
            missing = claims().keys() - self._outcomes.keys() if self._process.returncode else ()
            if missing or not self._outcomes:
                why = " ".join(self._said.split()[-40:]) or "the process ended early"
                which = f"{len(missing)} claims were not" if self._outcomes else "the claims could not be"
                raise MissingClaimsError(f"{which} measured: {why}", self._read_results())
        return self._read_results()

    def stop(self) -> None:
        """End the measuring, if it is still going on; what it measured is kept."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.communicate()  # waits, and closes the pipe
        self._store_measured()

    def _read_results(self) -> list[Result]:
        """Return all outcomes as results, in the order of the claims."""
        order = {name: place for place, name in enumerate(claims())}
        found = [Result.from_json(outcome) for outcome in self._outcomes.values()]
        return sorted(found, key=lambda result: order.get(result.name, len(order)))

    def _store_measured(self) -> None:
        """Move what the process has measured to the file that lasts."""
        self._outcomes |= self._read_measured()
        if self._draft.exists():
            kept = [
                outcome for outcome in self._outcomes.values() if not outcome.get("error")
            ]  # others are tried again
            write_whole(self._file, json.dumps({"key": self._key, "outcomes": kept}, indent=1) + "\n")
            self._draft.unlink(missing_ok=True)

    def _read_kept(self) -> dict[str, Any]:
        """Read the outcomes that an earlier run kept; none where they are of other code."""
        stored = _read_json(self._file)
        same = isinstance(stored, dict) and stored.get("key") == self._key
        return _whole_outcomes(stored.get("outcomes")) if same else {}

    def _read_measured(self) -> dict[str, Any]:
        """Read the outcomes that the process has written so far."""
        return _whole_outcomes(_read_json(self._draft))


def _read_json(file: Path) -> Any:
    """Read a file of outcomes; None where it is absent or damaged."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # absent or damaged: measure again
        return None


def _whole_outcomes(outcomes: object) -> dict[str, Any]:
    """Return the outcomes that are whole, by the names of their claims."""
    whole = {}
    for outcome in outcomes if isinstance(outcomes, list) else ():
        with suppress(KeyError, TypeError, ValueError):
            whole[Result.from_json(outcome).name] = outcome
    return whole


@contextmanager
def measuring(out: Path, *, quick: bool, fresh: bool = False) -> Iterator[Verdicts]:
    """Start measuring every claim; whatever happens in the block, the process is gone after it."""
    verdicts = Verdicts(out, quick=quick, fresh=fresh)
    try:
        yield verdicts
    finally:
        verdicts.stop()


def fingerprint(quick: bool) -> str:
    """Return a digest of linnet's code and of the packages of all papers; verdicts are reused where it is the same.

    Of a package every file counts that can change a number: a claim may read a formula, a table or a setting from any.
    """
    digest = hashlib.blake2b(f"{linnet.__version__} {quick}".encode(), digest_size=12)
    modules = {claim.measure.__module__ for paper in papers().values() for claim in paper.claims}
    for top in sorted({"linnet", "linnet_papers", *(name.partition(".")[0] for name in modules)}):
        for folder in map(Path, getattr(sys.modules.get(top), "__path__", ())):
            for path in sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES):
                digest.update(f"{top}/{path.relative_to(folder)}\0".encode() + path.read_bytes() + b"\0")
    for name in sorted(modules):  # one that is no package's
        source = getattr(sys.modules.get(name), "__file__", None)
        digest.update(name.encode() + (Path(source).read_bytes() if source else b""))
    return digest.hexdigest()
