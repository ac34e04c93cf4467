"""Runs carried by the cores of a CPU: against a plain loop, against slots, in any order, and what may go wrong."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_info, threadpool_limits

import linnet as ln
from linnet.trainers import gaussian_diagram, stopping
from linnet.trainers.diagrams import _numpy_run, _runs, _worker_process, _workers
from paired import Pair, paired_descent

TESTS = Path(__file__).parents[2]
NUMBERS = ("min_test_loss", "best_step", "steps", "stable_rank", "largest_distance", "loss")


def pair(outputs, inputs, *, width=4, std=0.3, key=0, rate=0.02):
    draw = np.random.default_rng(key).standard_normal
    truth = 2 * draw((outputs, 1)) @ draw((1, inputs))
    problem = ln.Problem.from_target(truth + 0.5 * draw((outputs, inputs)), truth=truth)
    start = ln.inits.gaussian(key=key, in_dim=inputs, out_dim=outputs, width=width, stds=std)
    return Pair(problem, start, width * std**2, rate)


def carried(made, *, steps=60, **options):
    outputs, inputs = made[0].problem.cross.shape
    widths = [run.weights.width for run in made]
    return paired_descent(lambda i: made[i], widths, in_dim=inputs, out_dim=outputs, steps=steps, **options)


def plain(run, steps, sequential=False):
    """Both networks written out: least test loss and its step, last loss, largest distance."""
    goal, truth, g = run.problem.cross, run.problem.truth, run.threshold
    networks = [[run.weights.first, run.weights.second]]
    A, turned = run.weights.product, goal.shape[0] < goal.shape[1]
    A = A.T if turned else A
    strong = scipy.linalg.sqrtm(g * np.eye(A.shape[1]) + scipy.linalg.sqrtm(A.T @ A + g**2 * np.eye(A.shape[1])))
    weak = A @ np.linalg.inv(strong)
    networks.append([weak.T, strong.T] if turned else [strong, weak])
    tests, distances = [], []
    for step in range(steps + 1):
        products = [second @ first for first, second in networks]
        tests.append(0.5 * ((products[0] - truth) ** 2).sum())
        distances.append(((products[0] - products[1]) ** 2).sum())
        if step == steps:
            return min(tests), np.argmin(tests), 0.5 * ((goal - products[0]) ** 2).sum(), max(distances)
        for index, (layers, product) in enumerate(zip(networks, products, strict=True)):
            first, second = layers
            moved = first + run.learning_rate * second.T @ (goal - product)
            seen = moved if sequential and index == 0 else first
            layers[:] = moved, second + run.learning_rate * (goal - product) @ seen.T


@pytest.mark.parametrize("shape", [(5, 5), (7, 4), (4, 7)])
@pytest.mark.parametrize("update", ["simultaneous", "sequential"])
def test_it_is_the_plain_loop(shape, update):
    run = pair(*shape)
    found = carried([run], update=update)
    told = [found.min_test_loss[0], found.best_step[0], found.loss[0], found.largest_distance[0]]
    assert_allclose(told, plain(run, 60, update == "sequential"), rtol=1e-9)
    other = plain(run, 60, update != "sequential")  # the control: layers that do not see what they should
    assert abs(told[0] / other[0] - 1) > 1e-4 and abs(told[3] / other[3] - 1) > 1e-4


RUNS = [(1, 1e-2), (12, 1e-2), (40, 1e-2), (5000, 1e-3), (10**9, 1e-8), (3, 1e-7)]


def diagram(order=(0, 1, 2, 3, 4, 5), **options):
    problem = ln.problems.low_rank_plus_noise(12, rank=2, key=3)
    widths, variances = zip(*(RUNS[i] for i in order), strict=True)
    size = np.maximum(np.linalg.norm(problem.truth, 2), np.array(variances) * np.array(widths, dtype=float))
    rule = stopping.first_of(stopping.TestLossRising(3), stopping.LossBelow(7.2e-2), stopping.Stalled(6e-3, fallen=20))
    return gaussian_diagram(
        [problem],
        keys=[[8, i] for i in order],
        widths=widths,
        variances=variances,
        learning_rates=0.02 / size,
        **{"steps": 300, "stop": rule} | options,
    )


@pytest.mark.parametrize(
    ("dtype", "update", "rtol"), [("float64", "simultaneous", 1e-10), ("float32", "sequential", 2e-4)]
)
def test_slots_find_the_same(monkeypatch, dtype, update, rtol):
    here = diagram(dtype=dtype, update=update)
    monkeypatch.setattr(_runs, "on_cpu", lambda device: False)
    there = diagram(dtype=dtype, update=update)
    assert here.plan != there.plan
    assert here.reason.tolist() == there.reason.tolist() and len(set(here.reason)) > 1
    assert here.executed == here.needed == there.needed < there.executed
    for name in NUMBERS:
        assert_allclose(getattr(here, name), getattr(there, name), rtol=rtol, err_msg=name)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_run_that_stops_at_its_last_step_needs_no_more_than_its_steps(monkeypatch, compiled):
    monkeypatch.setattr(_runs, "on_cpu", lambda device: not compiled)
    run = pair(5, 5)
    half = 0.25 * ((run.problem.cross - run.weights.product) ** 2).sum()
    free = carried([run], stop=half)
    bound = carried([run], stop=half, steps=int(free.steps[0]))
    assert free.reason[0] == bound.reason[0] == "loss below threshold" and free.steps[0] == bound.steps[0] > 0
    assert (
        free.needed == free.steps[0] + 1 and bound.needed == bound.steps[0]
    )  # where more are allowed it is judged in one
    if not compiled:
        assert free.executed == free.needed and bound.executed == bound.needed


def test_bits_depend_on_nothing_but_the_run(monkeypatch):
    straight, seen, look = diagram(), set(), _numpy_run._Network.evaluate
    meeting = threading.Barrier(3)  # none goes on before all have begun, however fast it is

    def watched(network, target):
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            meeting.wait(300)
        look(network, target)

    monkeypatch.setattr(_numpy_run._Network, "evaluate", watched)
    turned = diagram((5, 4, 3, 2, 1, 0), slots=3)
    assert len(seen) == 3 and "6 runs, 3 at a time on" in turned.plan
    for name in NUMBERS:
        assert getattr(straight, name)[::-1].tobytes() == getattr(turned, name).tobytes(), name


@pytest.fixture(autouse=True)
def none_idle():
    """Which workers there are depends on the processes that other tests have left."""
    _worker_process.IDLE_PROCESSES.close_all()


@pytest.fixture
def begun(monkeypatch):
    """Workers have processes of their own, however little there is to do: those that were begun."""
    processes = []

    class Noted(_worker_process.WorkerProcess):
        def __init__(self):
            super().__init__()
            processes.append(self)

    monkeypatch.setattr(_workers, "PROCESS_START_SECONDS", -1e9)
    monkeypatch.setattr(_workers, "WorkerProcess", Noted)
    monkeypatch.setattr(_worker_process, "IDLE_SECONDS", 600.0)
    yield processes
    _worker_process.IDLE_PROCESSES.close_all()
    assert all(process._process.returncode is not None for process in processes)  # waited for: none is left behind


def same_bits(one, other):
    assert one.reason.tolist() == other.reason.tolist() and one.executed == other.executed
    for name in NUMBERS:
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes(), name


def test_processes_find_the_same_bits(monkeypatch, begun):
    here = diagram(slots=1, dtype="float32")
    assert not begun
    monkeypatch.delattr(_workers, "train")  # the way to carry runs in this process
    there = diagram(slots=2, dtype="float32")
    assert len(begun) == 2 and "6 runs, 2 at a time on cpu:0 in processes of their own" in there.plan
    same_bits(here, there)


def test_processes_are_kept_for_the_next_diagram(monkeypatch, begun):
    monkeypatch.delattr(_workers, "train")
    first, second = diagram(slots=2), diagram(slots=2, dtype="float32")  # by other settings
    assert len(begun) == 2 and not any(process.ended for process in begun)
    begun[0].kill()  # as somebody does who needs its memory
    begun[0]._process.wait()
    same_bits(first, diagram(slots=2))
    assert len(begun) == 3 and first.min_test_loss.tobytes() != second.min_test_loss.tobytes()
    monkeypatch.setattr(_worker_process, "IDLE_SECONDS", 0.0)
    diagram(slots=2)
    for process in begun:
        process._process.wait(120)
    assert len(begun) == 3 and len(_worker_process.IDLE_PROCESSES) == 0


@pytest.mark.parametrize("way", ["killed", "rubbish"])
def test_a_worker_whose_process_fails_goes_on(monkeypatch, begun, way):
    here, failed = diagram(slots=1), list[object]()

    def watched(process, start, train=_worker_process.WorkerProcess.train):
        if not failed:
            failed.append(process)
            if way == "killed":
                process.kill()
            else:
                process._process.stdin.write(b"rubbish")
        return train(process, start)

    monkeypatch.setattr(_worker_process.WorkerProcess, "train", watched)
    status = {"killed": "-9", "rubbish": "0"}[way]
    with pytest.warns(UserWarning, match=f"^a process that carried runs ended with status {status}: going on without"):
        found = diagram(slots=2)
    same_bits(here, found)
    assert len(begun) == 2 and [process.ended for process in begun] == [process in failed for process in begun]


@pytest.mark.parametrize("lacking", ["an interpreter", "the same linnet", "an answer"])
def test_without_processes_there_are_no_more_threads_than_pay(monkeypatch, begun, caplog, tmp_path, lacking):
    here, seen = diagram(slots=1), set()

    def watched(start, settings, *, canceled):
        seen.add(threading.get_ident())
        return _numpy_run.train(start, settings, canceled=canceled)

    monkeypatch.setattr(_workers, "train", watched)
    monkeypatch.setattr(_workers, "cores", lambda: 2)
    if lacking == "an interpreter":
        monkeypatch.setattr(sys, "executable", "/nowhere/python")
    elif lacking == "the same linnet":
        monkeypatch.setattr(_worker_process, "__file__", __file__)
    else:  # as where Python is set up to greet its user
        (tmp_path / "sitecustomize.py").write_text("print('Loading configuration', flush=True)")
        monkeypatch.syspath_prepend(tmp_path)
    with caplog.at_level(logging.INFO, "linnet.workers"):
        there = diagram()
    same_bits(here, there)
    assert "2 at a time" in there.plan and caplog.text.count("runs are carried by threads: ") == 2
    assert len(seen) == 1 and len(_worker_process.IDLE_PROCESSES) == 0  # one thread is fastest, with so small a network


def test_rules_of_others_are_judged_in_this_process(begun):
    class Inside(stopping.LossBelow):
        """A rule of a script or a notebook, of which other processes have no copy, or an older one."""

    expected = diagram(slots=1, stop=stopping.LossBelow(20.0))
    for rule in (Inside(20.0), stopping.first_of(stopping.LossBelow(1e-9), Inside(20.0))):
        found = diagram(slots=2, stop=rule)
        assert not begun and "2 at a time on cpu:0: " in found.plan
        assert found.min_test_loss.tobytes() == expected.min_test_loss.tobytes()
    diagram(slots=2, stop=stopping.first_of(stopping.LossBelow(1e-9), stopping.LossBelow(20.0)))
    assert len(begun) == 2


def test_an_error_in_a_process_is_raised_by_this_one(begun):
    run = pair(5, 5)
    huge = replace(run, weights=ln.Weights(1e200 * run.weights.first, 1e200 * run.weights.second))
    with (
        pytest.warns(UserWarning, match="ended with status 1: going on without it"),
        pytest.raises(ValueError, match="`product` must be finite: 25 of 25 entries are NaN or infinite"),
    ):
        carried([huge, huge], slots=2)
    assert len(begun) == 2


class Short:
    """A pipe whose reader runs out of memory in the middle of an answer."""

    def __init__(self, pipe):
        self.pipe = pipe

    def __getattr__(self, name):
        return getattr(self.pipe, name)

    def read(self, *size):
        self.pipe.read(3)
        raise MemoryError

    readline = readinto = read


def test_half_an_answer_is_not_taken_for_the_next(monkeypatch, begun):
    made = [pair(5, 5, key=key) for key in range(4)]
    expected, failed = carried(made, slots=1), list[object]()

    def watched(process, start, train=_worker_process.WorkerProcess.train):
        if not failed:
            failed.append(process)
            process._process.stdout = Short(process._process.stdout)
        return train(process, start)

    monkeypatch.setattr(_worker_process.WorkerProcess, "train", watched)
    with pytest.warns(UserWarning, match=r"gave no answer \(MemoryError\): going on without it\."):
        found = carried(made, slots=2)
    assert found.min_test_loss.tobytes() == expected.min_test_loss.tobytes()
    assert [process.ended for process in begun] == [process in failed for process in begun]


SCRIPT = """
import os, signal
import linnet as ln
from linnet.trainers.diagrams import _workers
from paired import Pair, paired_descent

print("once", flush=True)
_workers.PROCESS_START_SECONDS = -1e9
task = ln.Problem.from_target([[1.0, 0.0], [0.0, 1.0]], truth=[[1.0, 0.0], [0.0, 0.0]])
start = ln.inits.balanced(0.1 * task.cross)

class Noted(_workers.WorkerProcess):
    def __init__(self):
        super().__init__()
        os.write(1, f"{self._process.pid}\\n".encode())

def make(run):
    if run == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return Pair(task, start, 0.1, 0.1 if run == 1 else 1e-12)  # the second ends, the others never do

_workers.WorkerProcess = Noted
paired_descent(make, [2] * 9, in_dim=2, out_dim=2, steps=10**12, stop=1e-3, slots=3)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes as Linux shows them")
def test_scripts_run_once_and_processes_end_with_them(tmp_path):
    script = tmp_path / "script.py"  # without a guard: children of `multiprocessing` would run it again
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, timeout=300, check=False, env=with_tests_on_the_path()
    )
    once, *processes = done.stdout.split()
    assert once == "once" and len(processes) == 3 and done.returncode == -signal.SIGKILL, done.stderr
    until = time.monotonic() + 120
    while any(map(going, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(map(going, processes))


def with_tests_on_the_path():
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}


def going(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_there_are_as_many_workers_as_pay(monkeypatch):
    def chosen(dim, grid, most, room=(99, 99), fixed=False):
        hidden = np.minimum(np.repeat(dim ** np.linspace(0, 2.8, grid), grid), 2 * dim) + dim
        return _workers._threads_and_processes(
            6 * dim**2 * hidden, 300, most, _workers.WorkerCounts(*room), fixed=fixed
        )

    # As measured on 2 and on 16 cores.
    assert chosen(20, 9, 2) == chosen(50, 9, 16) == (1, 0)
    assert chosen(100, 7, 2) == chosen(200, 9, 2) == (2, 0)
    assert chosen(200, 35, 2) == (2, 2) and chosen(100, 7, 16) == (2, 16) and chosen(200, 35, 16) == (6, 16)
    assert chosen(200, 35, 1) == (1, 0) and chosen(20, 7, 3, fixed=True) == (3, 0)
    assert chosen(200, 35, 16, (40, 9)) == (6, 9) and chosen(200, 35, 16, (3, 1)) == (3, 0)
    assert chosen(200, 35, 16, (0, 0)) == (1, 0) and chosen(200, 35, 2000, (9999, 9999)) == (6, 1225)
    monkeypatch.setattr(_workers, "IDLE_PROCESSES", range(2))  # two that need not be started
    assert chosen(200, 9, 2) == (2, 2) and chosen(50, 9, 2) == (1, 2) and chosen(50, 9, 16) == (1, 0)


def test_sums_of_float32_runs_keep_their_digits():
    draw = np.random.default_rng(0).standard_normal
    truth, small = draw((200, 200)), (1e-9 * draw((200, 200))).astype(np.float32)
    test = _numpy_run._NumpyTruthLoss(truth)
    change = test.at({}, (small, None)) - test.at({}, (0 * small, None))
    exact = 0.5 * np.sum(small.astype(float) ** 2) - np.sum(small.astype(float) * truth)
    assert_allclose(change, exact, rtol=1e-3)  # 3e-7 of a loss of 2e4
    single = truth.astype(np.float32)
    rounded = 0.5 * float(np.sum((single - small).astype(float) ** 2) - np.sum(single.astype(float) ** 2))
    assert abs(rounded / exact - 1) > 0.1  # the control: subtracted in float32, however it is summed
    matrix = draw((200, 200)).astype(np.float32)
    assert_allclose(_numpy_run._sum_of_squares(matrix), np.sum(matrix.astype(float) ** 2), rtol=1e-8)
    assert abs(np.vdot(matrix, matrix) / np.sum(matrix.astype(float) ** 2) - 1) > 1e-8  # the control


@dataclass(frozen=True)
class Own:
    """A user's rule, written with jax.numpy for compiled loops."""

    reasons: tuple[str, ...] = ("enough",)
    needs_test: bool = False

    def start(self):
        return jnp.asarray(0)

    def update(self, state, step, loss, test_loss):
        state = state + jnp.where(loss < 20.0, 1, 0)
        return state, jnp.where(state > 4, 1, 0)


def test_rules_written_for_compiled_loops_serve_too():
    run = pair(5, 5, std=0.1)
    found = carried([run], steps=400, stop=Own())
    alone = ln.gradient_descent(run.problem, run.weights, learning_rate=run.learning_rate, steps=400, stop=Own())
    assert found.reason[0] == alone.status.reason == "enough" and found.steps[0] == alone.status.steps


@pytest.mark.parametrize("processes", [False, True])
def test_an_interrupt_and_an_error_end_all_workers(request, processes):
    begun = request.getfixturevalue("begun") if processes else []

    def broken():
        raise ValueError("`weights` are broken")

    always = pair(5, 5, rate=1e-9)
    done = ln.inits.balanced(always.problem.cross)

    def make(third):
        def start(index):
            if index == 2:
                third()
            return replace(always, weights=done) if index == 1 else always

        return start

    def interrupted():  # as Ctrl-C does, while the main thread waits for the workers
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    for third, expected in ((broken, ValueError), (interrupted, KeyboardInterrupt)):
        with pytest.raises(expected, match="are broken" if third is broken else r"^$"):
            paired_descent(make(third), [5] * 9, in_dim=5, out_dim=5, steps=10**12, stop=1e-9, slots=2)
    assert len(begun) == 4 * processes


def test_memory_is_planned_and_a_worker_that_finds_none_leaves(monkeypatch):
    made = [pair(5, 5, key=key) for key in range(4)]
    expected = carried(made)
    failed: list[int] = []

    def make(index):
        if not failed:
            failed.append(index)
            raise MemoryError
        return made[index]

    with pytest.warns(UserWarning, match=r"out of memory: going on with 1 runs at a time\."):
        found = paired_descent(make, [4] * 4, in_dim=5, out_dim=5, steps=60, slots=2)
    assert found.min_test_loss.tobytes() == expected.min_test_loss.tobytes()
    monkeypatch.setattr(_workers, "available", lambda: 1000)
    assert "4 runs, 1 at a time on" in carried(made, slots=2).plan
    failed.clear()
    with pytest.raises(MemoryError, match=r"^$"):
        paired_descent(make, [4] * 4, in_dim=5, out_dim=5, steps=60)


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    def threads():
        return {entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"}

    inside = []

    def make(index):
        inside.append(threads())
        return pair(5, 5)

    with threadpool_limits(2, user_api="blas"):
        before = threads()
        paired_descent(make, [4], in_dim=5, out_dim=5, steps=2)
        assert inside == [{1}] and threads() == before == {2}
        _workers.ONE_BLAS_THREAD.__enter__()  # two callers that do not leave in the order in which they came
        _workers.ONE_BLAS_THREAD.__enter__()
        _workers.ONE_BLAS_THREAD.__exit__()
        assert threads() == {1}
        _workers.ONE_BLAS_THREAD.__exit__()
        assert threads() == before
