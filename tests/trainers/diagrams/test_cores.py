"""Runs trained on the cores of a CPU: against a plain loop, against slots, in any order, and what may go wrong."""

import os
import signal
import subprocess
import sys
import threading
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
from linnet.trainers.diagrams import _cores, _numpy_run, _runs
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


@pytest.fixture
def by_processes(monkeypatch):
    """Runs are trained by processes, however little there is to do."""
    monkeypatch.setattr(_cores, "PROCESS_START_SECONDS", -1e9)


def test_processes_find_the_same_bits(by_processes):
    here, there = diagram(slots=1), diagram((5, 4, 3, 2, 1, 0), slots=2)
    assert "2 at a time on cpu:0 in processes of their own" in there.plan and "processes" not in here.plan
    for name in NUMBERS:
        assert getattr(here, name)[::-1].tobytes() == getattr(there, name).tobytes(), name


def test_an_error_in_a_process_is_raised_by_this_one(by_processes):
    run = pair(5, 5)
    huge = replace(run, weights=ln.Weights(1e200 * run.weights.first, 1e200 * run.weights.second))
    with pytest.raises(ValueError, match="`product` must be finite: 25 of 25 entries are NaN or infinite"):
        carried([huge, huge], slots=2)


SCRIPT = """
import os
import signal
import threading
import linnet as ln
from linnet.trainers.diagrams import _cores
from paired import Pair, paired_descent

print("once", flush=True)
_cores.PROCESS_START_SECONDS = -1e9
task = ln.Problem.from_target([[1.0, 0.0], [0.0, 1.0]], truth=[[1.0, 0.0], [0.0, 0.0]])
start = ln.inits.balanced(0.1 * task.cross)

def make(run):
    if run == 4:  # the second has ended, the others never do
        threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    return Pair(task, start, 0.1, 0.1 if run == 1 else 1e-12)

try:
    paired_descent(make, [2] * 9, in_dim=2, out_dim=2, steps=10**12, stop=1e-3, slots=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_scripts_run_once_and_processes_end_with_an_interrupt():
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        stdout=subprocess.PIPE,
        text=True,
        timeout=300,  # as long as a process has the other end of the pipe, this waits
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout.split() == ["once", "interrupted"] and done.returncode == 0


def test_work_is_shared_out_by_its_length():
    def chosen(dim, grid, most, *, fixed=False):
        hidden = np.minimum(np.repeat(dim ** np.linspace(0, 2.8, grid), grid), 2 * dim) + dim
        return _cores._division_of_labor(6 * dim**2 * hidden, 300, most, fixed=fixed)

    # As measured on 2 and on 16 cores.
    assert chosen(20, 9, 2) == (1, False) and chosen(50, 9, 16) == (1, False)
    assert chosen(100, 7, 2) == (2, False) and chosen(200, 9, 2) == (2, False)
    assert chosen(200, 35, 2) == (2, True) and chosen(200, 35, 16) == (16, True)
    assert chosen(200, 35, 1) == (1, False) and chosen(20, 7, 3, fixed=True) == (3, False)


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


@pytest.mark.parametrize("start_seconds", [1e9, pytest.param(-1e9, marks=pytest.mark.slow)])
def test_rules_of_ones_own_serve_threads_and_processes(monkeypatch, start_seconds):
    monkeypatch.setattr(_cores, "PROCESS_START_SECONDS", start_seconds)
    run = pair(5, 5, std=0.1)
    found = carried([run, run], steps=400, stop=Own(), slots=2)
    assert ("in processes of their own" in found.plan) == (start_seconds < 0)
    alone = ln.gradient_descent(run.problem, run.weights, learning_rate=run.learning_rate, steps=400, stop=Own())
    assert found.reason[0] == alone.status.reason == "enough" and found.steps[0] == alone.status.steps


def test_an_interrupt_and_an_error_end_all_threads():
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

    def interrupted():
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    for third, expected in ((broken, ValueError), (interrupted, KeyboardInterrupt)):
        with pytest.raises(expected, match="are broken" if third is broken else r"^$"):
            paired_descent(make(third), [5] * 9, in_dim=5, out_dim=5, steps=10**12, stop=1e-9, slots=2)


def test_no_more_runs_at_once_than_memory_has_room_for(monkeypatch):
    monkeypatch.setattr(_cores, "available", lambda: 1000)
    assert "4 runs, 1 at a time on" in carried([pair(5, 5, key=key) for key in range(4)], slots=2).plan


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
        _cores.ONE_BLAS_THREAD.__enter__()  # two callers that do not leave in the order in which they came
        _cores.ONE_BLAS_THREAD.__enter__()
        _cores.ONE_BLAS_THREAD.__exit__()
        assert threads() == {1}
        _cores.ONE_BLAS_THREAD.__exit__()
        assert threads() == before
