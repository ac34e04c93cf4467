"""One claim measured on demand, in a process of its own: one at a time, with a time limit, and it can be cancelled."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field, replace
from typing import Any

from linnet._workers import command, environment

LIMIT_SECONDS = 300.0
STARTING_SECONDS = 4.0  # seconds until the process has read its code
UNDER_WAY, DONE, FAILED, CANCELLED = "under way", "done", "failed", "cancelled"


@dataclass(frozen=True)
class Progress:
    """How a measurement stands: `state`, seconds passed, the share of the usual time, and the outcome or the reason."""

    claim: str
    state: str
    seconds: float = 0.0
    share: float = 0.0
    outcome: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


class ClaimRunner:
    """Runs `linnet verify --quick NAME --json -` for one claim at a time; another has to wait for its end."""

    def __init__(self, limit: float = LIMIT_SECONDS) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._claim, self._began = "", 0.0
        self._last: dict[str, Progress] = {}

    def start(self, name: str) -> Progress:
        """Begin to measure the claim `name`; refuse names that are no claim, and a second one at a time."""
        from linnet.reproduction import registry

        if not isinstance(name, str) or name not in registry.claims():
            raise ValueError(
                f"`claim` must be the name of a claim, as `linnet list` shows them: got {str(name)[:80]!r}."
            )
        with self._lock:
            self._check_process()
            if self._process is not None:
                raise ValueError(f"{self._claim} is being measured: one claim at a time. Wait for it, or cancel it.")
            self._output = tempfile.TemporaryFile()  # noqa: SIM115 (closed when the measurement ends)
            self._process = subprocess.Popen(
                self._command(name),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.DEVNULL,
                env=environment(),
                start_new_session=os.name == "posix",  # whatever it starts is ended with it
            )
            self._claim, self._began = name, time.monotonic()
            atexit.register(self.cancel)
            alarm = threading.Timer(self.limit + 0.1, self.progress, [name])  # nobody may ask until then
            alarm.daemon = True
            alarm.start()
            return self._current_progress()

    def progress(self, name: str) -> Progress | None:
        """Return how the claim's measurement stands, or None if it was never asked for."""
        with self._lock:
            self._check_process()
            under_way = self._process is not None and self._claim == name
            return self._current_progress() if under_way else self._last.get(name)

    def cancel(self) -> None:
        """End what is under way, if anything is."""
        with self._lock:
            self._check_process()
            if self._process is not None:
                self._finish(CANCELLED, "cancelled before its end.")

    def _command(self, name: str) -> list[str]:
        """Return the command that measures a claim."""
        return command("verify", "--quick", name, "--json", "-")

    def _current_progress(self) -> Progress:
        """Return how far the measurement under way is, by the time it took before."""
        from linnet.reproduction import record

        passed = time.monotonic() - self._began
        known = record.last_measured().get(self._claim)
        usual = STARTING_SECONDS + (known.seconds if known else 10.0)
        return Progress(self._claim, UNDER_WAY, passed, min(passed / usual, 0.99))

    def _check_process(self) -> None:
        """Note that the process has ended, or end it when its time is over."""
        if self._process is None:
            return
        if self._process.poll() is not None:
            self._finish(DONE, "")
        elif time.monotonic() - self._began > self.limit:
            self._finish(FAILED, f"stopped after {self.limit:g} s, the limit here; `linnet verify` has none.")

    def _finish(self, state: str, reason: str) -> None:
        """End the process, and keep what it measured, or why it did not."""
        assert self._process is not None
        ended = replace(self._current_progress(), state=state, reason=reason, share=1.0)
        _kill(self._process)
        with self._output as output:
            output.seek(0)
            written = output.read()
        if state == DONE:
            try:
                ended = replace(ended, outcome=json.loads(written)[0])
                reason = str(ended.outcome.get("error") or "")
            except (ValueError, IndexError):
                reason = f"the process ended with status {self._process.returncode}."
            ended = replace(ended, state=FAILED if reason else DONE, reason=reason)
        self._last[self._claim] = ended
        self._process = None
        atexit.unregister(self.cancel)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, and wait for it."""
    if process.poll() is None:
        if os.name == "posix":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
