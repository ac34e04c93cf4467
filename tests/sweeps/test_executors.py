"""Workers: processes of this machine, any executor of Python's, and Dask's."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy as np
import pytest

from linnet import sweeps
from linnet._workers import interrupts_later

DASK = [sys.executable, "-m", "dask"]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
LOOPBACK = ["--host", "127.0.0.1", "--no-dashboard"]


def completed(process: subprocess.Popen[str]) -> None:
    try:
        said = process.communicate(timeout=300)[1]
    finally:
        process.kill()
    assert process.returncode == 0, said


def test_workers_of_this_machine_compute_in_float64_on_one_thread_each(make, start, tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.delenv("NPROC", raising=False)
    axes = {"x": [0.0, 1.0, 2.0, 3.0]}
    sweep = make(function="sample_cells:precision", axes=axes, seeds=1, block=1, dtype="float64")
    process = start(sweep, tmp_path / "store", workers=2)
    completed(process)
    dataset = sweeps.open(tmp_path / "store")
    assert (dataset["bytes"] == 8).all()
    assert (dataset["asked"] == 8).all()
    np.testing.assert_allclose(dataset["difference"], 1e-12, rtol=1e-3)
    assert (dataset["threads"] == 1).all()
    assert process.pid not in dataset["process"].values


@pytest.mark.slow
def test_without_a_precision_jax_is_left_alone(make, start, tmp_path):
    # The control of the test above: what workers do when nobody asks for a precision.
    sweep = make(function="sample_cells:precision", axes={"x": [0.0]}, dtype=None)
    completed(start(sweep, tmp_path / "store", workers=1))
    dataset = sweeps.open(tmp_path / "store")
    assert (dataset["bytes"] == 4).all()
    assert (dataset["difference"] == 0).all()


@pytest.mark.slow
def test_a_block_that_kills_its_workers_is_the_only_one_given_up(make, start, tmp_path):
    sweep = make(function="sample_cells:dies", axes={"x": [0, 1, 2, 3]}, seeds=1, block=1)
    said = start(sweep, tmp_path / "store", workers=1).communicate(timeout=120)[1]
    assert "ExecutorError: 1 blocks lost their workers 3 times" in said and "the first from x=1 on. All others" in said
    assert sweeps.open(tmp_path / "store")["cell_status"].values.tolist() == [1, 0, 1, 1]


def test_a_fault_on_a_worker_is_told_as_here(make, start, tmp_path):
    process = start(make(function="sample_cells:faulty"), tmp_path / "store", workers=1)
    assert "CellFunctionError: `sample_cells:faulty` raised KeyError: 'missing'" in process.communicate(timeout=60)[1]


@pytest.mark.slow
def test_a_script_without_the_guard_is_told(make, tmp_path):
    script = tmp_path / "script.py"
    call = f"sweeps.run(sweeps.Sweep(**{make().plain()}), {str(tmp_path / 'store')!r}, workers=1)"
    script.write_text(f"from linnet import sweeps\n{call}\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert "ExecutorError: workers die as they start. Is the work of the script under `if __name__" in done.stderr


def test_a_thread_pool_is_an_executor_too(make, tmp_path, contents):
    sweeps.run(make(), tmp_path / "here")
    with ThreadPoolExecutor(3) as pool:
        sweeps.run(make(), tmp_path / "threads", executor=pool)
    assert contents(tmp_path / "threads") == contents(tmp_path / "here")


class Losing(Executor):
    """An executor that loses the first call, or all."""

    def __init__(self, losses: int, error: Exception) -> None:
        self.losses, self.error, self.calls = losses, error, 0

    def submit(self, call, /, *arguments, **keywords):
        self.calls += 1
        future: Future = Future()
        if self.calls <= self.losses:
            future.set_exception(self.error)
        else:
            future.set_result(call(*arguments, **keywords))
        return future


def test_calls_that_an_executor_loses_are_made_again(make, assert_same):
    losing = Losing(2, RuntimeError("a machine has gone"))
    assert_same(sweeps.run(make(), executor=losing), sweeps.run(make()))
    assert losing.calls == 12


def test_an_executor_that_breaks_ends_the_sweep_with_what_is_finished(make, tmp_path):
    with pytest.raises(sweeps.ExecutorError, match=r"the executor is broken. Finished cells are intact: start another"):
        sweeps.run(make(), tmp_path / "store", executor=Losing(3, BrokenProcessPool()))
    assert sweeps.status(tmp_path / "store").done > 0
    with pytest.raises(sweeps.ExecutorError, match=r"10 blocks lost their workers 3 times.*RuntimeError\('gone'\)"):
        sweeps.run(make(), executor=Losing(10**6, RuntimeError("gone")))


def test_a_worker_with_other_code_is_refused(make, monkeypatch):
    from linnet.sweeps import _task

    monkeypatch.setattr(_task, "_code_here", lambda *_: {"linnet": "another"})
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(sweeps.SweepError, match=r"the code of a worker on .* differs from the code of this process"),
    ):
        sweeps.run(make(), executor=pool)


def test_impossible_workers_are_refused(make):
    with ThreadPoolExecutor(1) as pool, pytest.raises(ValueError, match="`workers` and `executor` exclude each other"):
        sweeps.run(make(), workers=2, executor=pool)
    with pytest.raises(ValueError, match=r"`workers` must be .*got -1"):
        sweeps.run(make(), workers=-1)
    with pytest.raises(ValueError, match=r"`executor` must be a concurrent.futures.Executor, such as .*got 'tcp:"):
        sweeps.run(make(), executor="tcp://127.0.0.1:9")
    with pytest.raises(ValueError, match="`workers` = 1000000 processes would take"):
        sweeps.run(make(), workers=10**6)
    with pytest.raises(ValueError, match=r"`part` must be \(i, n\).*got \(0, 3\)"):
        sweeps.run(make(), part=(0, 3))


def test_a_function_that_ends_the_program_is_a_fault_of_the_function(make):
    with pytest.raises(sweeps.CellFunctionError, match=r"`sample_cells:ends` raised SystemExit: 3\. That is a fault"):
        sweeps.run(make(function="sample_cells:ends"))


def test_an_interrupt_while_workers_start_is_raised_when_they_are_there():
    before = signal.getsignal(signal.SIGINT)
    reached = []

    def start() -> None:
        with interrupts_later():
            os.kill(os.getpid(), signal.SIGINT)
            command = [sys.executable, "-c", "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))"]
            reached.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    with pytest.raises(KeyboardInterrupt):
        start()
    assert "SIGINT" in reached[0]  # what is started meanwhile does not see it
    assert signal.getsignal(signal.SIGINT) is before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    with interrupts_later():
        pass


def test_a_terminal_that_closes_leaves_the_resource_tracker():
    """SIGHUP goes to every process of a terminal: without its tracker, Python warns of it and prints tracebacks."""
    code = """
import os, signal, time
from multiprocessing import resource_tracker
from linnet._workers import interrupts_later

with interrupts_later():
    tracker = resource_tracker._resource_tracker
os.kill(tracker._pid, signal.SIGHUP)
time.sleep(0.5)
print(tracker._check_alive())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def owners(log: Path) -> list[int]:
    """The process of every block begun, in order."""
    return [int(line.split()[0]) for line in log.read_text().splitlines()]


def test_a_dask_scheduler_with_two_workers_survives_the_death_of_one(make, tmp_path, wait_for, contents):
    """And when the scheduler is killed, too, the command ends in one line and the next one goes on."""
    log, gate, file, store, config = (tmp_path / name for name in ("log", "gate", "scheduler.json", "store", "s.toml"))
    log.touch()
    gate.touch()
    fixed = {"log": str(log), "gate": str(gate), "free": 2}
    sweep = make(axes={"x": list(range(20)), "y": [0, 1]}, fixed=fixed)
    config.write_text(
        f'name="draws"\nfunction="sample_cells:draws"\nseeds=2\nblock=4\ndtype="none"\n[axes]\nx={list(range(20))}\n'
        f"y=[0, 1]\n[fixed]\nlog={json.dumps(str(log))}\ngate={json.dumps(str(gate))}\nfree=2\n"
    )
    scheduler = [*DASK, "scheduler", *LOOPBACK, "--port", "0", "--scheduler-file", str(file)]
    worker = [*DASK, "worker", *LOOPBACK, "--no-nanny", "--nthreads", "1", "--scheduler-file", str(file)]
    command = [sys.executable, "-m", "linnet", "sweep", str(config), "--code", "sample_cells", "--store", str(store)]
    processes: list[subprocess.Popen] = [subprocess.Popen(scheduler, **QUIET)]
    try:
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        address = json.loads(file.read_text())["address"]
        victim, survivor = (subprocess.Popen(worker, **QUIET) for _ in range(2))
        running = subprocess.Popen([*command, "--scheduler", address], stdout=-1, stderr=-1, text=True)
        processes += [victim, survivor, running]
        wait_for(
            lambda: (owners(log).count(victim.pid) > 1 and survivor.pid in owners(log)) or running.poll() is not None
        )
        victim.kill()
        victim.wait()
        begun = len(owners(log))
        gate.unlink()
        assert running.communicate(timeout=120) == (f"draws: 80 of 80 cells done; results in {store}\n", "")
        assert begun < 20
        assert set(owners(log)[begun:]) == {survivor.pid}
        gate.touch()
        log.write_text("")
        again = subprocess.Popen(
            [*command[:-1], str(tmp_path / "cut"), "--scheduler", address], stdout=-1, stderr=-1, text=True
        )
        processes.append(again)
        wait_for(lambda: log.read_text() or again.poll() is not None)
        processes[0].kill()
        said = again.communicate(timeout=120)[1]
        assert again.returncode == 1 and said.count("\n") == 1 and "Finished cells are intact" in said, said
        gate.unlink()
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    sweeps.run(sweep, tmp_path / "whole")
    sweeps.run(sweep, tmp_path / "cut")
    assert contents(store) == contents(tmp_path / "whole") == contents(tmp_path / "cut")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "nothing://127.0.0.1:9", "tls://127.0.0.1:9"])
def test_an_address_without_a_scheduler_ends_the_command_in_one_line(tmp_path, address, monkeypatch):
    """As a process, to its very end: a client that is still open at exit would wait, and end in a traceback."""
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "500ms")
    config = tmp_path / "grid.toml"
    config.write_text('name="g"\nfunction="linnet.sweeps.cells:train"\n[axes]\nwidth=[10]\n')
    command = [sys.executable, "-m", "linnet", "sweep", str(config), "--store", str(tmp_path / "store")]
    done = subprocess.run([*command, "--scheduler", address], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"linnet: no Dask scheduler with a worker answers at {address}: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "store").exists()
