"""Cell functions of the tests: importable by name in other processes, and without JAX where it is not the point."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import numpy as np

import linnet as ln

CALLS = itertools.count()  # of this process, where a gate is


def draws(points, seeds, log="", pause=0.0, gate="", free=0):
    """Random numbers from each cell's seed. Every call adds a line to `log`: the process and the first cell.

    As long as the file `gate` is there, a process computes `free` blocks and waits in the next one, for ten minutes: it
    does not finish, however fast it is and however late its end is asked for.
    """
    if log:
        first = ",".join(str(values[0]) for values in points.values())
        line = f"{os.getpid()} {first}\n".encode()
        descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(descriptor, line)
        os.close(descriptor)
    if gate and next(CALLS) >= free:
        until = time.monotonic() + 600
        while Path(gate).exists() and time.monotonic() < until:
            time.sleep(0.01)
    time.sleep(pause)
    samples = np.array([np.random.default_rng(seed).normal(size=3) for seed in seeds])
    value = samples[:, 0] + sum(np.asarray(column, dtype=float) for column in points.values())
    value[samples[:, 1] > 1.0] = np.nan  # NaN is a result like any other
    return {"value": value, "path": (("time",), samples), "count": (100 * value > 0).astype(np.int32)}


def picky(points, seeds, allow="", log=""):
    """Refuses the cells with x = 2 unless the file `allow` exists; says of each cell how often it was called, and adds
    the values of x to `log`."""
    if log:
        with Path(log).open("a") as file:
            file.write(f"{sorted(set(points['x'].tolist()))}\n")
    if (points["x"] == 2).any() and not (allow and Path(allow).exists()):
        raise ArithmeticError("two is not to be had")
    return {"value": points["x"] * 1.5, "length": np.full(len(seeds), len(seeds))}


def stubborn(points, seeds):
    """Refuses every cell."""
    raise ArithmeticError("never")


def faulty(points, seeds):
    """A mistake in the code."""
    return {"value": points["missing"]}


def wrong(points, seeds, kind):
    """Results that are not a block of cells."""
    size = len(seeds)
    if kind == "scalar":
        return {"value": 1.0}
    if kind == "name":
        return {"a/b": np.zeros(size)}
    if kind == "memory":
        raise MemoryError("3 TB")
    if kind == "text":
        return {"value": np.array(["a"] * size)}
    if kind == "array":
        return np.zeros(size)
    if kind == "dims":
        return {"value": (("time", "mode"), np.zeros((size, 3)))}
    if kind == "status":
        return {"cell_status": np.zeros(size)}
    if kind == "coordinate":
        return {"x": np.zeros(size)}
    return {"value": np.zeros((size, 1 + int(points["x"][0])))}  # another shape in every block


def wide(points, seeds, length):
    """Cells of many numbers."""
    return {"value": points["x"][:, None] + np.zeros(length)}


def grows(points, seeds, length):
    """Variables whose shape depends on the process that computes them."""
    return {"value": np.zeros((len(seeds), length))}


def precision(points, seeds, dtype=None):
    """What JAX computes in here, on how many threads of XLA, and whether 1 + 1e-12 can be told from 1."""
    import jax.numpy as jnp

    ones = jnp.ones((4, 64, 64))
    product = (ones @ ones).block_until_ready()
    names = [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
    return {
        "bytes": np.full(len(seeds), product.dtype.itemsize),
        "difference": np.asarray(jnp.asarray(points["x"]) * 0 + 1.0 + 1e-12) - 1.0,
        "threads": np.full(len(seeds), sum("XLAEigen" in name for name in names)),
        "process": np.full(len(seeds), os.getpid()),
        "asked": np.full(len(seeds), {"float64": 8, "float32": 4}.get(dtype, 0)),
    }


def dies(points, seeds):
    """Takes its worker with it for x = 1."""
    if (points["x"] == 1).any():
        os._exit(1)
    return {"value": points["x"] * 1.0}


def my_table(rows=12, tilt=1.0):
    """A problem that a sweep knows by its name in Python."""
    random = np.random.default_rng(rows)
    X = random.standard_normal((rows, 3)) * np.array([tilt, 1.0, 1.0])
    Y = X @ random.standard_normal((3, 2))
    return ln.Problem.from_data(X[:8], Y[:8]).with_validation(X[8:], Y[8:])


def ends(points, seeds):
    """Code that was a script once."""
    raise SystemExit(3)
