"""Train runs in another process, which has a GIL of its own.

Threads of one process wait for one another between their products, the more the more cores there are. The process is
started by a command line: children of `multiprocessing` would run the script of the user again. What it is to do comes
through its standard input, and its result comes back through its standard output, as arrays and JSON: neither
side runs what the other one sends. Any error ends it. It ends with the process that started it, too; between two
diagrams, as between two blocks of a sweep, it is kept a while.
"""

from __future__ import annotations

import atexit
import io
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from linnet._workers import ENVIRONMENT
from linnet.trainers import stopping
from linnet.trainers.diagrams._diagram import DiagramSettings, RunStart
from linnet.trainers.diagrams._numpy_run import train

MESSAGE_MARK = b"LNET"  # begins every message: what else is written to a pipe is not taken for one
# The rules that can be sent, besides `stopping.FirstOf` of them; runs with another rule stay in their process.
RULE_KINDS = {
    kind.__name__: kind for kind in (stopping.LossBelow, stopping.Stalled, stopping.TestLossRising, stopping.Never)
}
PlainRule = dict[str, Any] | list["PlainRule"]  # a stopping rule as JSON has it
IDLE_SECONDS = 20.0  # for which an idle process waits for more
EXIT_TIMEOUT_SECONDS = 10.0  # for a process to end that has closed its pipes


class WorkerLostError(Exception):
    """The process has ended before its run; the text says how."""


class WorkerProcess:
    """Another process that trains runs, one at a time, with the settings that `configure` sends."""

    def __init__(self) -> None:
        path = os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **ENVIRONMENT, "PYTHONPATH": path},
            # Ctrl-C is for this process, which ends the others; the first is read by POSIX, the second by Windows.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    @property
    def ended(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def configure(self, settings: DiagramSettings) -> None:
        """Send the settings of the next runs, and wait until the process has them."""
        plain = {"update": settings.update, "steps": settings.steps, "dtype": settings.dtype.name}
        message: dict[str, ArrayLike] = {"settings": json.dumps({"rule": _rule_to_json(settings.rule), **plain})}
        if settings.schedule is not None:
            message["schedule"] = settings.schedule
        self._request(message)

    def train(self, start: RunStart) -> tuple[dict[str, Any], int]:
        """Train a run by `_numpy_run.train` in the process, with the settings of the last `configure`;
        `WorkerLostError` where that fails, for any reason."""
        result = {name: value[()] for name, value in self._request(vars(start)).items()}
        return result, int(result.pop("executed"))

    def kill(self) -> None:
        """End the process, whatever it is doing; waiting callers get `WorkerLostError`."""
        self._process.kill()

    def close(self) -> None:
        """End the process and wait for its end."""
        self.kill()
        self._process.communicate()

    def _request(self, message: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
        """Send a message and return the answer; `WorkerLostError` where there is none."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            _send(self._process.stdin, message)
            return _receive(self._process.stdout)
        except (OSError, EOFError):
            raise WorkerLostError(f"a process that carried runs ended with status {self._exit_status()}") from None
        except Exception as error:
            self.close()  # half a reply may be left in the pipe: it is of no more use
            raise WorkerLostError(f"a process that carried runs gave no answer ({type(error).__name__})") from error

    def _exit_status(self) -> int:
        """Return the exit status, once the process has ended; one that outlives its pipes for too long is killed."""
        try:
            return self._process.wait(EXIT_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()


class _IdleProcesses:
    """Processes without a run, each kept for some seconds; none outlives the interpreter."""

    def __init__(self) -> None:
        self._processes: dict[WorkerProcess, threading.Timer]
        self._forget()
        atexit.register(self.close_all)
        if hasattr(os, "register_at_fork"):  # a forked child must not use their pipes
            os.register_at_fork(after_in_child=self._forget)

    def __len__(self) -> int:
        return len(self._processes)

    def take(self) -> WorkerProcess | None:
        """Return an idle process, or None."""
        with self._lock:
            while self._processes:
                process, alarm = self._processes.popitem()
                alarm.cancel()
                if not process.ended:
                    return process
                process.close()
            return None

    def keep(self, process: WorkerProcess) -> None:
        """Keep an idle process for the next caller."""
        alarm = threading.Timer(IDLE_SECONDS, self._expire, [process])
        alarm.daemon = True
        with self._lock:
            try:
                alarm.start()
                self._processes[process] = alarm
            except RuntimeError:  # no more threads
                process.close()

    def close_all(self) -> None:
        """End all idle processes."""
        while (process := self.take()) is not None:
            process.close()

    def _expire(self, process: WorkerProcess) -> None:
        """End a process that has been idle for too long, unless it was taken meanwhile."""
        with self._lock:
            if self._processes.get(process) is not threading.current_thread():  # it was taken, and perhaps put back
                return
            del self._processes[process]
        process.close()

    def _forget(self) -> None:
        """Forget all processes: after a fork they are the parent's."""
        self._processes, self._lock = {}, threading.Lock()


IDLE_PROCESSES = _IdleProcesses()


def serve() -> None:
    """Run the main loop of the process: train from each start it receives, with the settings received last.

    Every message gets an answer: nothing for settings, what is kept of a run for a start.
    """
    if not Path(sys.argv[1]).samefile(__file__):  # by a relative entry of `sys.path`, say: not the parent's linnet
        sys.exit(1)
    requests: queue.SimpleQueue[dict[str, np.ndarray]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, requests), daemon=True).start()
    try:
        while True:
            request = requests.get()
            reply: dict[str, ArrayLike] = {}
            if "settings" in request:
                settings = _read_settings(request)
            else:
                arrays = {name: request[name] for name in ("first", "second", "target", "truth")}
                start = RunStart(**arrays, rate=float(request["rate"]), threshold=float(request["threshold"]))
                reply, executed = train(start, settings)
                reply["executed"] = executed
            _send(sys.stdout.buffer, reply)
    finally:
        os._exit(1)  # the parent carries the run itself, and shows what is wrong with it


def _listen(pipe: IO[bytes], requests: queue.SimpleQueue[dict[str, np.ndarray]]) -> None:
    """Put messages into the queue as they come; end the process with its parent, even in the middle of a run."""
    try:
        while True:
            requests.put(_receive(pipe))
    finally:
        os._exit(0)


def _read_settings(message: Mapping[str, np.ndarray]) -> DiagramSettings:
    """Read the settings of the next runs from a message of `WorkerProcess.configure`."""
    plain = json.loads(str(message["settings"]))
    plain |= {"rule": _rule_from_json(plain["rule"]), "dtype": np.dtype(plain["dtype"])}
    return DiagramSettings(**plain, schedule=message.get("schedule"))


def can_be_sent(rule: stopping.Rule) -> bool:
    """Return whether a process knows the rule, and those it is made of: not a subclass, or one of a notebook."""
    if type(rule) is stopping.FirstOf:
        return all(map(can_be_sent, rule.rules))
    return type(rule) in RULE_KINDS.values()


def _rule_to_json(rule: stopping.Rule) -> PlainRule:
    """Return a rule that `can_be_sent`: one of `RULE_KINDS` as a dictionary, `FirstOf` as the list of its rules."""
    if isinstance(rule, stopping.FirstOf):
        return [_rule_to_json(each) for each in rule.rules]
    return {"kind": type(rule).__name__, **asdict(rule)}  # type: ignore[call-overload]


def _rule_from_json(plain: PlainRule) -> stopping.Rule:
    """Return the stopping rule that `_rule_to_json` has written."""
    if isinstance(plain, list):
        return stopping.first_of(*map(_rule_from_json, plain))
    fields = {name: value for name, value in plain.items() if name != "kind"}
    return RULE_KINDS[plain["kind"]](**{**fields, "reasons": tuple(plain["reasons"])})


def _send(pipe: IO[bytes], values: Mapping[str, ArrayLike]) -> None:
    """Write arrays, numbers or text to a pipe as one message for `_receive`."""
    body = io.BytesIO()
    np.savez(body, **values)  # type: ignore[arg-type]  # no name is that of an option
    pipe.write(MESSAGE_MARK + len(body.getvalue()).to_bytes(8, "little") + body.getvalue())
    pipe.flush()


def _receive(pipe: IO[bytes]) -> dict[str, np.ndarray]:
    """Read one message from a pipe: `MESSAGE_MARK`, its length in 8 bytes, arrays. `EOFError` where the pipe ends."""
    head = pipe.read(len(MESSAGE_MARK) + 8)
    if len(head) < len(MESSAGE_MARK) + 8:
        raise EOFError
    if not head.startswith(MESSAGE_MARK):
        raise ValueError("this is not a message of linnet")
    length = int.from_bytes(head[len(MESSAGE_MARK) :], "little")
    body = pipe.read(length)
    if len(body) < length:
        raise EOFError
    with np.load(io.BytesIO(body), allow_pickle=False) as values:
        return dict(values)
