"""Faults that were found by hand once, drawn at random: modules that change between two runs of a sweep, starts of any
sign and scale, files with rows of unequal length."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import mpmath as mp
import numpy as np

ROOT = Path(__file__).parents[2]
DIGITS = 1e-9  # to which a mode agrees with its exact value, and with itself begun again

# How the module `cells` gets a number from another file, and what that file is called.
WAYS = {
    "import helper": ("helper.py", "import helper", "helper.SIZE"),
    "a number by name": ("helper.py", "from helper import SIZE", "SIZE"),
    "a function by name": ("helper.py", "from helper import size", "size()"),
    "everything": ("helper.py", "from helper import *", "SIZE"),
    "a module of a package": ("package/inner.py", "from package import inner", "inner.SIZE"),
    "a module by its path": ("package/inner.py", "import package.inner", "package.inner.SIZE"),
    "a package that hands on": ("package/inner.py", "from package import SIZE", "SIZE"),
    "a helper of a helper": ("helper.py", "from between import SIZE", "SIZE"),
    "inside the function": ("helper.py", "", "inside()"),
    "by importlib": ("helper.py", "import importlib", "importlib.import_module('helper').SIZE"),
    "a file of data": ("numbers.txt", "from pathlib import Path", "size_in(Path(__file__).with_name('numbers.txt'))"),
}
CELLS = """
import numpy as np
{imports}
def inside():
    from helper import SIZE
    return SIZE
def size_in(file):
    return file.read_text().split()[2]
def cell(points, seeds):
    return {{"value": np.full(len(seeds), float({expression}))}}
"""
RUN = """
import sys, warnings
from linnet import sweeps
warnings.simplefilter("ignore")
sweep = sweeps.Sweep(name="own", function="cells:cell", axes={"x": [1, 2]}, dtype=None)
try:
    sweeps.run(sweep, sys.argv[1])
except sweeps.ChangedError:
    print("changed")
else:
    print(sweeps.status(sys.argv[1]).done)
"""


def changed_modules(number: int, seed: int = 0) -> list[str]:
    """Sweeps that are resumed after a file which they read through others has changed, or has not; those that do not
    say it, and those that say it for nothing."""
    chance, found = random.Random(seed), []
    for i in range(number):
        way = list(WAYS)[i % len(WAYS)]
        file, imports, expression = WAYS[way]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "package").mkdir()
            (folder / "package" / "__init__.py").write_text("from .inner import SIZE\n")
            (folder / "package" / "inner.py").write_text("SIZE = 0\n")
            (folder / "helper.py").write_text("SIZE = 0\n")
            (folder / "between.py").write_text("from helper import SIZE\n")
            (folder / file).write_text("SIZE = 1.33\ndef size():\n    return SIZE\n")
            (folder / "cells.py").write_text(CELLS.format(imports=imports, expression=expression))
            place = {**os.environ, "PYTHONPATH": os.pathsep.join([name, str(ROOT / "src")]), "JAX_PLATFORMS": "cpu"}
            said = []
            changes = chance.random() < 0.7
            for content in (None, "SIZE = 5.63\ndef size():\n    return SIZE\n" if changes else None):
                if content:
                    (folder / file).write_text(content)
                command = [sys.executable, "-c", RUN, str(folder / "store")]
                done = subprocess.run(command, env=place, capture_output=True, text=True, timeout=300)
                said.append(done.stdout.strip() or done.stderr[-300:])
            if said != ["2", "changed" if changes else "2"]:
                found.append(f"{way}, {'changed' if changes else 'as before'}: {said}")
    return found


def starts(number: int, seed: int = 0) -> list[str]:
    """Modes from starts of both signs, sizes from 1e-12 to 1e3 and thresholds from 1e-18 to 10: they must agree with
    arithmetic of many digits, and a run that is begun again on its way must go on as it would have."""
    from linnet.theories import lazy_active

    rng, found = np.random.default_rng(seed), []
    for _ in range(number):
        target, start = 10 ** rng.uniform(-2, 2), rng.choice([-1, 1]) * 10 ** rng.uniform(-12, 3)
        threshold = 10 ** rng.uniform(-18, 1)
        # The time it takes from a start of the opposite sign through zero to the target, give or take.
        moves = (np.arcsinh(abs(start) / threshold) + np.arcsinh(target / threshold)) / np.hypot(target, threshold) / 2
        early, late = rng.uniform(0, 1, 2) * moves
        setting = f"target {target:.3g}, start {start:.3g}, threshold {threshold:.3g}, times {early:.4g} + {late:.4g}"
        with np.errstate(all="ignore"):
            whole = lazy_active.aligned_modes([target], [start], threshold, [early, early + late])[:, 0]
            again = lazy_active.aligned_modes([target], [whole[0]], threshold, [late])[0, 0]
        exact = exact_mode(target, start, threshold, early + late)
        # Flows of a mode contract in asinh(state/threshold): the rounding of the state in between is not magnified.
        away = max(abs(again - whole[1]), abs(whole[1] - exact))
        if not away <= DIGITS * max(target, abs(exact)):
            found.append(f"{setting}: {whole[1]!r}, begun again {again!r}, exactly {exact!r}")
    return found


def exact_mode(target: float, start: float, threshold: float, time: float) -> float:
    """One mode with so many digits that differences may cancel: e^(Ft) of the 2 x 2 matrix F = (g, b; b, -g)."""
    with mp.workdps(120):
        goal, first, g = mp.mpf(target), mp.mpf(start), mp.mpf(threshold)
        rate = mp.hypot(goal, g)
        grown, shrunk = mp.exp(rate * time), mp.exp(-rate * time)
        layers = mp.matrix([mp.sqrt(mp.hypot(first, g) + g), 0])
        layers[1] = first / layers[0]
        field = mp.matrix([[g, goal], [goal, -g]]) / rate
        ahead, behind = (mp.eye(2) + field) / 2 * layers, (mp.eye(2) - field) / 2 * layers
        moved = grown * ahead + shrunk * behind
        spent = (ahead.T * ahead)[0] * (grown**2 - 1) + (behind.T * behind)[0] * (1 - shrunk**2)
        return float(moved[0] * moved[1] / (1 + spent / (2 * rate)))


def ragged_files(number: int, seed: int = 0) -> list[str]:
    """Tables with a field too many or too few, blank lines, quotes, headers of numbers: read right, or refused in a
    line; never with the numbers of one column under the name of another."""
    from linnet.forecasts import read

    chance, found = random.Random(seed), []
    names = ["a", "b", "c", "y"]
    for _ in range(number):
        rows = [[f"{10 ** (i + 1) + j * 1.5}" for i in range(4)] for j in range(12)]  # a column is known by its size
        header = list(names)
        said = []
        # Each in a row of its own: nobody can tell that a row which lost one field and got another is wrong.
        for line in chance.sample(range(12), chance.randrange(1, 3)):
            kind = chance.choice(list(SPOILING))
            SPOILING[kind](chance, header, rows, line)
            said.append(f"{kind} at {line}")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "table.csv"
            ends = chance.choice(["\n", "\r\n"])
            file.write_text(ends.join(",".join(row) for row in [header, *rows]) + ends, newline="")
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    table = read(file, missing="drop")
            except ValueError as reason:
                if "\n" in str(reason).strip() or not str(reason):
                    found.append(f"{said}: unclear: {reason}")
                continue
            except Exception as reason:
                found.append(f"{said}: {type(reason).__name__}: {reason}")
                continue
            columns = dict(zip(table.input_names, table.inputs.T, strict=True))
            columns |= dict(zip(table.output_names, table.outputs.T, strict=True))
            for name, values in columns.items():
                power = names.index(name) + 1 if name in names else None
                if power is not None and not (np.abs(values - 10**power) < 100).all():
                    found.append(f"{said}: {name} has {values[:3].tolist()}")
    return found


def _longer(chance: random.Random, header: list[str], rows: list[list[str]], line: int) -> None:
    rows[line].insert(chance.randrange(5), "7")


def _all_longer(chance: random.Random, header: list[str], rows: list[list[str]], line: int) -> None:
    for row in rows:
        row.insert(0, "7")


def _shorter(chance: random.Random, header: list[str], rows: list[list[str]], line: int) -> None:
    rows[line].pop() if rows[line] else None


def _blank(chance: random.Random, header: list[str], rows: list[list[str]], line: int) -> None:
    rows.insert(line, [])


def _quoted(chance: random.Random, header: list[str], rows: list[list[str]], line: int) -> None:
    rows[line][0] = f'"{rows[line][0]}"' if rows[line] else ""


def _header_shorter(chance: random.Random, header: list[str], rows: list[list[str]], line: int) -> None:
    header.pop(0)


SPOILING: dict[str, Callable[[random.Random, list[str], list[list[str]], int], None]] = {
    "a field more": _longer,
    "a field more in all": _all_longer,
    "a field less": _shorter,
    "a blank line": _blank,
    "quotes": _quoted,
    "a name less": _header_shorter,
}
