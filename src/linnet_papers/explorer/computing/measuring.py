"""One claim measured on demand, in a process of its own: one at a time, with a time limit, and it can be canceled."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from linnet._workers import command, environment

LIMIT_SECONDS = 300.0  # after which a measurement is ended: the page is for a look, `linnet verify` for the rest
STARTING_SECONDS = 4.0  # until the process has read its code
UNKNOWN_SECONDS = 10.0  # that a claim without a record is taken to need
UNDER_WAY, DONE, FAILED, CANCELED = "under way", "done", "failed", "canceled"


@dataclass(frozen=True)
class Progress:
    """How a measurement stands: `state`, seconds passed, the share of the usual time, and the outcome or the reason.

    `outcome` is the claim's entry of `linnet verify --json`; `panels.measuring` shows some of its fields.
    """

    claim: str
    state: str
    seconds: float = 0.0
    share: float = 0.0
    outcome: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""


class ClaimRunner:
    """Runs `linnet verify --quick NAME --json -` for one claim at a time; another has to wait for its end.

    A thread waits for each process. What is under way and what has ended is read and changed under the lock.
    """

    def __init__(self, limit_seconds: float = LIMIT_SECONDS) -> None:
        self.limit_seconds = limit_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None  # under way
        self._claim, self._began = "", 0.0
        self._ended: dict[str, Progress] = {}  # by claim
        atexit.register(self.cancel)

    def start(self, name: str) -> Progress:
        """Begin to measure the claim `name`; refuse names that are no claim, and a second one at a time."""
        from linnet_papers.reproduction import registry

        if not isinstance(name, str) or name not in registry.claims():
            raise ValueError(
                f"`claim` must be the name of a claim, as `linnet list` shows them: got {str(name)[:80]!r}."
            )
        with self._lock:
            if self._process is not None:
                raise ValueError(f"{self._claim} is being measured: one claim at a time. Wait for it, or cancel it.")
            self._process = subprocess.Popen(
                self._command(name),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=os.name == "posix",  # whatever it starts is ended with it
            )
            self._claim, self._began = name, time.monotonic()
            threading.Thread(target=self._wait_for, args=(self._process,), name="linnet-claim", daemon=True).start()
            return self._current_progress()

    def progress(self, name: str) -> Progress | None:
        """Return how the claim's measurement stands, or None if it was never asked for."""
        with self._lock:
            under_way = self._process is not None and self._claim == name
            return self._current_progress() if under_way else self._ended.get(name)

    def cancel(self) -> None:
        """End what is under way, if anything is."""
        with self._lock:
            if self._process is not None:
                self._finish(self._process, CANCELED, "canceled before its end.", {})

    def _command(self, name: str) -> list[str]:
        """Return the command that measures a claim."""
        return command("verify", "--quick", name, "--json", "-")

    def _current_progress(self) -> Progress:
        """Return how far the measurement under way is, by the time it took before; the lock is held."""
        from linnet_papers.reproduction import record

        passed = time.monotonic() - self._began
        known = record.last_measured().get(self._claim)
        usual = STARTING_SECONDS + (known.seconds if known else UNKNOWN_SECONDS)
        return Progress(self._claim, UNDER_WAY, passed, min(passed / usual, 0.99))

    def _wait_for(self, process: subprocess.Popen[bytes]) -> None:
        """Wait for a process as long as it may take, and keep what it measured, or why it did not."""
        outcome: dict[str, object] = {}
        with process:  # closes what it writes to
            try:
                written, _ = process.communicate(timeout=self.limit_seconds)
                outcome = json.loads(written)[0]
                reason = str(outcome.get("error") or "")
            except subprocess.TimeoutExpired:
                reason = f"stopped after {self.limit_seconds:g} s, the limit here; `linnet verify` has none."
            except (ValueError, IndexError):
                reason = f"the process ended with status {process.returncode}."
            with self._lock:
                self._finish(process, FAILED if reason else DONE, reason, outcome)

    def _finish(self, process: subprocess.Popen[bytes], state: str, reason: str, outcome: Mapping[str, object]) -> None:
        """End a process and keep how it ended, unless that has happened; the lock is held."""
        if process is self._process:
            self._ended[self._claim] = replace(
                self._current_progress(), state=state, share=1.0, reason=reason, outcome=outcome
            )
            _kill(process)
            self._process = None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, and wait for it.

    It must lead a process group of its own (`start_new_session` in `start`), or others would be killed with it. Where
    there are no such groups (Windows), and where it has ended by itself, what it started lives on.
    """
    if os.name == "posix" and process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended just now; macOS: not permitted
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()  # whatever became of the group, so that the wait, with the runner's lock held, is short
    process.wait()
