"""A process that is forked after JAX was used cannot compute: it says so, where it would hang."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

import linnet as ln

FORKED = """
import multiprocessing, warnings
import linnet as ln
warnings.simplefilter("ignore")  # JAX has one about forks
problem = ln.Problem.from_target([[2.0, 0.0], [0.0, 0.5]])
start = ln.Weights([[0.1, 0.2]], [[0.1], [0.3]])

def trained(_):
    try:
        return float(ln.gradient_flow(problem, start, times=[0.0, 1.0]).loss[-1])
    except RuntimeError as reason:
        return str(reason)

BEFORE
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.map_async(trained, [0]).get(timeout=20)[0])
"""


def said(before: str) -> str:
    """What a forked child answers to a call of a trainer, after the parent did `before`."""
    source = str(Path(ln.__file__).parents[1])
    command = [sys.executable, "-c", FORKED.replace("BEFORE", before)]
    ended = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": source}, capture_output=True, text=True, timeout=40
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


pytestmark = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")


@pytest.mark.parametrize(
    "before",
    [
        "ln.gradient_descent(problem, start, learning_rate=0.1, steps=2)",
        pytest.param("import jax; jax.numpy.ones(2) + 1", marks=pytest.mark.slow),
    ],
)
def test_a_child_forked_after_computing_is_refused(before: str) -> None:
    answer = said(before)
    assert "forked after JAX was used" in answer and "spawn" in answer


@pytest.mark.slow
def test_a_child_forked_before_computing_trains() -> None:
    assert 0 < float(said("import linnet.trainers.flow")) < 3
