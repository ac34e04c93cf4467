"""Dask workers: real ones, in processes of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import distributed
import numpy as np
import pytest
import xarray as xr
from distributed.comm import CommClosedError

from linnet import sweeps
from linnet.sweeps import executors

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
    axes = {"x": [0.0, 1.0, 2.0, 3.0]}
    sweep = make(function="sample_cells:precision", axes=axes, seeds=1, block=1, dtype="float64")
    process = start(sweep, tmp_path / "store", workers=2)
    completed(process)
    dataset = xr.open_zarr(tmp_path / "store").load()
    assert (dataset["bytes"] == 8).all()
    assert (dataset["asked"] == 8).all()
    np.testing.assert_allclose(dataset["difference"], 1e-12, rtol=1e-3)
    assert (dataset["threads"] == 1).all()
    assert process.pid not in dataset["process"].values


def test_without_a_precision_jax_is_left_alone(make, start, tmp_path):
    # The control of the test above: what workers do when nobody tells them.
    sweep = make(function="sample_cells:precision", axes={"x": [0.0]}, dtype=None)
    completed(start(sweep, tmp_path / "store", workers=1))
    dataset = xr.open_zarr(tmp_path / "store")
    assert (dataset["bytes"] == 4).all()
    assert (dataset["difference"] == 0).all()


def test_workers_give_the_results_of_this_process(make, start, assert_same, tmp_path):
    completed(start(make(), tmp_path / "store", workers=2))
    assert_same(sweeps.run(make(), tmp_path / "store"), sweeps.run(make()))


def test_a_block_that_kills_its_workers_is_a_failure_of_its_cells(make, start, tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")  # the second death decides, not the fourth
    sweep = make(function="sample_cells:dies", axes={"x": [0, 1, 2, 3]}, seeds=1, block=1)
    completed(start(sweep, tmp_path / "store", workers=1))
    dataset = sweeps.run(sweep, tmp_path / "store", throw=False)
    assert dataset["cell_status"].values.tolist() == [1, 2, 1, 1]
    assert dataset["value"].sel(x=[0, 2, 3]).values.tolist() == [0.0, 2.0, 3.0]
    assert "KilledWorker: every worker that took this block died" in sweeps.complete(sweep, tmp_path / "store").example


class SlowCluster:
    """A cluster one of whose workers does not end in Dask's time."""

    def __enter__(self):
        return self

    def __exit__(self, *error):
        raise TimeoutError("Dask's own")


def test_workers_that_are_slow_to_end_do_not_fail_a_sweep_that_is_complete():
    with executors._closing(SlowCluster()):
        ended = True
    assert ended


def test_an_error_of_a_sweep_is_told_though_workers_are_slow_to_end():
    with pytest.raises(TimeoutError, match="of the sweep"), executors._closing(SlowCluster()):
        raise TimeoutError("of the sweep")


def test_a_worker_that_dask_gives_up_is_replaced(make, start, tmp_path, monkeypatch):
    monkeypatch.setenv("DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT", "1s")
    fixed = {"marker": str(tmp_path / "left")}
    sweep = make(function="sample_cells:leaves", axes={"x": [0, 1]}, seeds=1, block=1, fixed=fixed)
    completed(start(sweep, tmp_path / "store", workers=1))
    assert (tmp_path / "left").exists()
    assert xr.open_zarr(tmp_path / "store")["value"].values.tolist() == [0.0, 1.0]


def test_a_fault_on_a_worker_is_told_as_here(make, start, tmp_path):
    process = start(make(function="sample_cells:faulty"), tmp_path / "store", workers=1)
    assert "CellFunctionError: `sample_cells:faulty` raised KeyError: 'missing'" in process.communicate(timeout=60)[1]


def test_a_scheduler_with_two_workers_survives_the_death_of_one(make, start, assert_same, tmp_path, wait_for):
    log, gate, file, store = (tmp_path / name for name in ("log", "gate", "scheduler.json", "store"))
    log.touch()
    gate.touch()
    axes = {"x": list(range(20)), "y": [0, 1]}
    sweep = make(axes=axes, fixed={"log": str(log), "gate": str(gate), "free": 2})
    scheduler = [*DASK, "scheduler", *LOOPBACK, "--port", "0", "--scheduler-file", str(file)]
    worker = [*DASK, "worker", *LOOPBACK, "--no-nanny", "--nthreads", "1", "--scheduler-file", str(file)]
    processes: list[subprocess.Popen] = [subprocess.Popen(scheduler, **QUIET)]
    try:
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        victim, survivor = (subprocess.Popen(worker, **QUIET) for _ in range(2))
        running = start(sweep, store, scheduler=json.loads(file.read_text())["address"])
        processes += [victim, survivor, running]
        wait_for(
            lambda: (owners(log).count(victim.pid) > 1 and survivor.pid in owners(log)) or running.poll() is not None
        )
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        begun = len(owners(log))
        gate.unlink()
        completed(running)
        assert begun < 20
        assert set(owners(log)[begun:]) == {survivor.pid}
        assert sweeps.complete(sweep, store).computed == 0
        assert_same(sweeps.run(sweep, store), sweeps.run(make(axes=axes)))
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("status", ["canceled", "finished"])
def test_a_scheduler_that_dies_before_a_result_is_fetched_is_told_so(status, monkeypatch):
    """Not as a fault of the workers, which may be as they should."""

    def fetch(*_):
        raise CommClosedError("in <TCP (closed) ConnectionPool.gather>")

    task, client, grid, future = Mock(function="sample_cells:compute", fixed={}), Mock(), Mock(), Mock(status=status)
    client.submit.return_value = future
    monkeypatch.setattr(distributed, "as_completed", Mock())
    monkeypatch.setattr(executors, "_completed_futures", lambda *_: [future])
    monkeypatch.setattr(executors, "_fetch", fetch)
    with pytest.raises(sweeps.ExecutorError, match="the connection to the Dask scheduler was lost"):
        list(executors._gather(client, task, grid, ["job"], 1.0))


def owners(log: Path) -> list[int]:
    """The process of every block begun, in order."""
    return [int(line.split()[0]) for line in log.read_text().splitlines()]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "inproc://127.0.0.1/1/1", "tls://127.0.0.1:9"])
def test_an_address_without_a_scheduler_is_told_in_one_line(make, start, tmp_path, monkeypatch, address):
    # A client that is still open at exit would wait for twice this time, and end in a traceback.
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "1s" if address.startswith("tcp") else "100s")
    process = start(make(), tmp_path / "store", scheduler=address)
    said = process.communicate(timeout=60)[1]
    assert said.startswith(f"ExecutorError: no Dask scheduler answers at {address}: ")
    assert said.count("\n") == 1
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nonsense", "missing port number"),
        ("127.0.0.1:port", "invalid literal for int"),
        ("nothing://127.0.0.1:9", "unknown address scheme 'nothing'"),
        ("tcp://127.0.0.1:99999", "a host and a port from 1 to 65535 are needed"),
    ],
)
def test_what_is_not_an_address_is_refused_before_a_store_is_made(make, tmp_path, address, reason):
    with pytest.raises(sweeps.ExecutorError, match=rf"'{address}' is not the address of a Dask scheduler: {reason}"):
        sweeps.run(make(), tmp_path / "store", scheduler=address)
    assert not (tmp_path / "store").exists()


def test_impossible_executors_are_refused(make):
    with pytest.raises(ValueError, match="`workers` and `scheduler` exclude each other"):
        sweeps.run(make(), workers=2, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(ValueError, match="`workers` must not be negative: got -1"):
        sweeps.run(make(), workers=-1)


def test_an_interrupt_while_workers_start_is_raised_when_they_are_there():
    from linnet.sweeps.executors import interrupts_later

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


def test_a_function_that_ends_the_program_is_a_fault_of_the_function(make):
    with pytest.raises(sweeps.CellFunctionError, match=r"`sample_cells:ends` raised SystemExit: 3\. That is a fault"):
        sweeps.run(make(function="sample_cells:ends"))


def test_a_scheduler_without_workers_is_waited_for_a_stated_time(make):
    import distributed

    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address="127.0.0.1:0") as cluster,
        pytest.raises(sweeps.ExecutorError, match=r"has had no worker for 0\.2 seconds. Start one with `dask worker"),
    ):
        sweeps.run(make(), scheduler=cluster.scheduler_address, wait=0.2)


def test_workers_that_do_not_start_in_time_are_told_in_a_sentence(make, monkeypatch):
    asked = []

    def late(**options):
        asked.append(options)
        raise TimeoutError

    monkeypatch.setattr(distributed, "LocalCluster", late)
    with pytest.raises(sweeps.ExecutorError, match=r"2 workers could not be started in Dask's time: this machine may"):
        sweeps.run(make(), workers=2)
    # what `test_somebody_without_the_keys_of_the_run_is_not_let_in` tries with real workers
    assert asked[0]["protocol"] == "tls" and asked[0]["security"].require_encryption


def test_more_workers_than_memory_holds_are_refused(make):
    with pytest.raises(ValueError, match="`workers` = 1000000 processes would take"):
        sweeps.run(make(), workers=10**6)


@pytest.mark.slow
def test_somebody_without_the_keys_of_the_run_is_not_let_in(make, start, tmp_path):
    """Local workers have a port on the loopback, which every user of the machine can reach."""
    sweep = make(function="sample_cells:visited", axes={"x": [0]}, seeds=1, block=1)
    completed(start(sweep, tmp_path / "store", workers=1))
    dataset = xr.open_zarr(tmp_path / "store").load()
    assert dataset["cell_status"].values.tolist() == [1] and dataset["sealed"] == 1 and dataset["entered"] == 0


@pytest.mark.slow
def test_the_loss_of_the_last_worker_is_told_within_seconds(make, start, tmp_path, wait_for):
    log, gate, file = (tmp_path / name for name in ("log", "gate", "scheduler.json"))
    log.touch()
    gate.touch()
    sweep = make(fixed={"log": str(log), "gate": str(gate), "free": 1})
    scheduler = [*DASK, "scheduler", *LOOPBACK, "--port", "0", "--scheduler-file", str(file)]
    worker = [*DASK, "worker", *LOOPBACK, "--no-nanny", "--nthreads", "1", "--scheduler-file", str(file)]
    processes: list[subprocess.Popen] = [subprocess.Popen(scheduler, **QUIET)]
    try:
        wait_for(lambda: file.exists() and file.read_text().rstrip().endswith("}"))
        processes.append(subprocess.Popen(worker, **QUIET))
        processes.append(start(sweep, tmp_path / "store", scheduler=json.loads(file.read_text())["address"], wait=8))
        wait_for(lambda: len(owners(log)) > 1 or processes[2].poll() is not None)
        processes[1].send_signal(signal.SIGKILL)
        said = processes[2].communicate(timeout=60)[1]
        assert "has no worker any more: waiting 8 s for one" in said
        assert "ExecutorError: the Dask scheduler has had no worker for 8 seconds. Finished cells are intact" in said
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_a_terminal_that_closes_leaves_the_resource_tracker():
    """SIGHUP goes to every process of a terminal: without its tracker, Python warns of it and prints tracebacks."""
    code = """
import os, signal, time
from multiprocessing import resource_tracker
from linnet.sweeps.executors import interrupts_later

with interrupts_later():
    tracker = resource_tracker._resource_tracker
os.kill(tracker._pid, signal.SIGHUP)
time.sleep(0.5)
print(tracker._check_alive())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
