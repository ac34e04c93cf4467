"""Runs carried by a process of their own, which has Python's lock to itself.

Crews that are threads of one process wait for one another between their products, the more the more cores there are.
The process is started by a command line: children of `multiprocessing` would run the script of the user again. What it
is to do comes through its standard input, pickled, and what came of it goes back through its standard output. It ends
with the process that started it; between two diagrams, as between two blocks of a sweep, it is kept for a while.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from linnet.trainers.blas import ONE_BLAS_THREAD
from linnet.trainers.crew import Course, Start, carry

BYTES = 250 * 2**20  # what the process itself takes, most of it JAX
KEPT = 20.0  # seconds for which an idle process waits for more
PATIENCE = 10.0  # seconds for a process to end that has closed its pipes
LIBRARIES = ("OPENBLAS", "OMP", "MKL", "BLIS")  # each starts threads when it is loaded, unless told otherwise


class Lost(Exception):
    """The process has ended before its run; the text says how."""


class CrewProcess:
    """Another process that carries runs, one at a time; `follow` tells it how."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            **{f"{library}_NUM_THREADS": "1" for library in LIBRARIES},
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {__name__} import work; work()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=os.name == "posix",  # Ctrl-C is heard by this process, which ends the others
        )

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def follow(self, course: bytes) -> None:
        """Waits until the process knows the pickled `Course`; `Lost` where it cannot, as with a rule of a script."""
        self._ask(course)

    def carry(self, start: Start) -> tuple[dict[str, Any], int]:
        """As `crew.carry`, and with the same errors."""
        answer = self._ask(pickle.dumps(start))
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def end(self) -> None:
        """Ends the process, whatever it is doing; who waits for it is told that it is lost."""
        self._process.kill()

    def close(self) -> None:
        """Ends the process and waits for its end."""
        self.end()
        with contextlib.suppress(OSError):
            self._process.communicate()

    def _ask(self, question: bytes) -> Any:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(question)
            self._process.stdin.flush()
            return pickle.load(self._process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            raise Lost(f"a process that carried runs ended with status {self._status()}") from None

    def _status(self) -> int:
        """How the process ended, which it may be about to do: its pipes are closed before it is gone."""
        try:
            return self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.end()
            return self._process.wait()


class _Idle:
    """Processes without a run, each kept for some seconds; none outlives the interpreter."""

    def __init__(self) -> None:
        self._processes: dict[CrewProcess, threading.Timer]
        self._forget()
        atexit.register(self.dismiss)
        if hasattr(os, "register_at_fork"):  # a copy of this process has no business with their pipes
            os.register_at_fork(after_in_child=self._forget)

    def __len__(self) -> int:
        return len(self._processes)

    def take(self) -> CrewProcess | None:
        """One that waits, or None."""
        with self._lock:
            while self._processes:
                process, alarm = self._processes.popitem()
                alarm.cancel()
                if not process.ended:
                    return process
                process.close()
            return None

    def keep(self, process: CrewProcess) -> None:
        alarm = threading.Timer(KEPT, self._leave, [process])
        alarm.daemon = True
        with self._lock:
            self._processes[process] = alarm
        alarm.start()

    def dismiss(self) -> None:
        """Ends all of them."""
        while (process := self.take()) is not None:
            process.close()

    def _forget(self) -> None:
        self._processes, self._lock = {}, threading.Lock()

    def _leave(self, process: CrewProcess) -> None:
        with self._lock:
            kept = self._processes.get(process)
            if kept is not threading.current_thread():  # it was taken since, and perhaps put back
                return
            del self._processes[process]
        process.close()


IDLE = _Idle()


def work() -> None:
    """What the process does: it carries each start that comes by the course that came last."""
    asked, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a rule prints must not come between two answers
    questions: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked, questions), daemon=True).start()
    course: Any = None
    with ONE_BLAS_THREAD:
        while True:
            answer: Any = None
            question = questions.get()
            if isinstance(question, Course):
                course = question
            else:
                try:
                    answer = carry(question, course)
                except BaseException as error:
                    answer = _sent(error)
            told.write(pickle.dumps(answer))
            told.flush()


def _listen(asked: IO[bytes], questions: queue.SimpleQueue[Any]) -> None:
    """Reads ahead, so that the process ends with the one that asks, even in the middle of a run."""
    try:
        while True:
            questions.put(pickle.load(asked))
    except EOFError:
        os._exit(0)
    except BaseException:  # who asks is told by the status, and goes on without this process
        os._exit(1)


def _sent(error: BaseException) -> BaseException:
    """The error, or one with its text where it does not survive the way."""
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
