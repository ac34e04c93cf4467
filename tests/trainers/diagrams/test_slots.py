"""Runs that take each other's places: the same results whatever the order, little waste, all devices, too little
memory."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers.diagrams import _slots, independent_runs


def runs(count=11, seed=0):
    """Networks that end at very different steps."""
    made = []
    for index in range(count):
        problem = ln.problems.low_rank_plus_noise(5, rank=1, noise_std=0.1, key=[seed, index])
        start = ln.inits.gaussian(key=index, in_dim=5, out_dim=5, width=4, stds=0.3)
        made.append(independent_runs.IndependentRun(ln.reduce(problem, start), 0.002 * (1 + index % 4) ** 2, 700))
    return made


def ends(done):
    return [(run.taken, run.ended, run.weights.first.tobytes(), run.weights.second.tobytes()) for run in done]


def test_every_run_is_plain_descent_to_its_own_end():
    done = runs()
    independent_runs.train_independent_runs(done, slots=3, stop=0.5, dtype=None)
    assert len({run.taken for run in done}) > 6
    for run in done:
        reduction = run.reduction
        alone = ln.gradient_descent(
            reduction.full_problem, reduction.full_weights, learning_rate=run.rate, steps=700, stop=0.5
        )
        assert (run.taken, run.ended) == (alone.status.steps, alone.status.reason)
        assert_allclose(run.weights.first, alone.reduced.first[-1], rtol=1e-9, atol=1e-12)


def test_bits_do_not_depend_on_the_order():
    straight, turned = runs(), runs()[::-1]
    independent_runs.train_independent_runs(straight, slots=3, stop=0.5, dtype=None)
    independent_runs.train_independent_runs(turned, slots=3, stop=0.5, dtype=None)
    assert ends(straight) == ends(turned[::-1])


def outcome(made, **options):
    kind = independent_runs._run_kind(0.5)
    run_dtype = np.dtype(np.float64)

    def specs(chosen):
        loads = [independent_runs._run_spec(made[index], run_dtype) for index in chosen]
        return {name: np.stack([load[name] for load in loads]) for name in loads[0]}

    return _slots.train_in_slots(kind, specs, [run.steps for run in made], shared={}, **options)


def test_little_is_computed_that_nobody_needs():
    made = runs(40)
    found = outcome(made, slots=4)
    assert found.needed == (found.results["step"] + (found.results["code"] > 0)).sum()
    assert found.needed <= found.executed <= 1.3 * found.needed
    whole = outcome(made, slots=40)  # everybody waits for the last one
    assert whole.executed > 1.5 * whole.needed
    first = outcome(made, slots=8, expected=found.results["step"])
    last = outcome(made, slots=8, expected=-found.results["step"])
    assert first.executed < last.executed


def test_slots_that_do_not_fit_become_fewer(monkeypatch):
    expected = outcome(runs(), slots=2)
    advance, asked = _slots._step_slots, []

    def small(shared, slot, state, enough, *, kind):
        asked.append(len(slot["rate"]))
        if len(slot["rate"]) > 2:
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory while trying to allocate")
        return advance(shared, slot, state, enough, kind=kind)

    monkeypatch.setattr(_slots, "_step_slots", small)
    with pytest.warns(UserWarning, match="runs at once do not fit on .*: going on with"):
        found = outcome(runs(), slots=8)
    assert asked[:3] == [8, 4, 2]
    for name, value in expected.results.items():
        assert value.tobytes() == found.results[name].tobytes(), name


def test_slots_are_planned_by_the_memory_there_is(monkeypatch):
    plenty = outcome(runs(), slots=8)
    assert "11 runs, 8 at a time on" in plenty.summary
    monkeypatch.setattr(_slots, "available", lambda: 1000)
    little = outcome(runs(), slots=8)
    assert "11 runs, 1 at a time on" in little.summary and "GiB free" in little.summary
    assert_allclose(little.results["first"], plenty.results["first"], rtol=1e-9, atol=1e-12)


def test_other_errors_are_not_hidden(monkeypatch):
    def broken(*arguments, **options):
        raise jax.errors.JaxRuntimeError("INTERNAL: broken")

    monkeypatch.setattr(_slots, "_step_slots", broken)
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"):
        outcome(runs(), slots=8)


TWO_DEVICES = """
import jax, threading
import test_slots
from linnet.trainers.diagrams import _slots
assert len(jax.devices()) == 2
used, meeting = set(), threading.Barrier(2)  # neither device goes on before both have runs, however fast it is
advance = _slots._step_slots
def watched(shared, slot, state, enough, *, kind):
    if not slot["rate"].devices() <= used:
        used.update(slot["rate"].devices())
        meeting.wait(300)
    return advance(shared, slot, state, enough, kind=kind)
_slots._step_slots = watched
found = test_slots.outcome(test_slots.runs(40), slots=4)
print(len(used), found.results["step"].tolist(), found.results["first"].tobytes().hex()[:4000])
"""


def test_two_devices_share_the_runs():
    here = Path(__file__).parent
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PYTHONPATH": f"{here}:{':'.join(sys.path)}"}
    told = subprocess.run(
        [sys.executable, "-c", TWO_DEVICES], capture_output=True, text=True, env={**os.environ, **flags}, check=True
    )
    alone = outcome(runs(40), slots=4)
    used, steps = told.stdout.split(" ", 1)[0], told.stdout.split("[")[1].split("]")[0]
    assert used == "2"
    assert [int(step) for step in steps.split(",")] == alone.results["step"].tolist()
    assert told.stdout.split("] ")[1].strip() == alone.results["first"].tobytes().hex()[:4000]
