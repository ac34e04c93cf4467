"""Run on a small disk, mounted at the folder given: fills it up, then makes it read-only, then large enough."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from linnet import sweeps


def say(text: object) -> None:
    sys.stdout.write(f"{text}\n")


disk = Path(sys.argv[1])
store = disk / "store"
sweep = sweeps.Sweep(
    name="draws", function="sample_cells:draws", axes={"x": list(range(64)), "y": list(range(64))}, block=32, dtype=None
)
whole = sweeps.run(sweep)
try:
    sweeps.run(sweep, store)
except sweeps.StoreError as error:
    say(error)
found = sweeps.open(store).load()
done = found["cell_status"] == 1
right = np.array_equal(found["path"].values[done], whole["path"].values[done]) and not [*store.glob("*.partial")]
good = right and 0 < done.sum() < done.size
say("some cells finished, all of them right, no draft left" if good else f"{right} {int(done.sum())}")
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
try:
    sweeps.run(sweep, store)
except sweeps.StoreError as error:
    say(error)
subprocess.run(["mount", "-o", "remount,rw,size=64m", str(disk)], check=True)
before = {file.name: file.stat().st_mtime_ns for file in store.iterdir()}
again = sweeps.run(sweep, store).load()
equal = all(again[name].values.tobytes() == whole[name].values.tobytes() for name in whole.data_vars)
kept = all((store / name).stat().st_mtime_ns == changed for name, changed in before.items())
subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
read = sweeps.run(sweep, store)  # a finished store can be read where nothing can be written
equal = equal and all(read[name].values.tobytes() == whole[name].values.tobytes() for name in whole.data_vars)
say("resumed without recomputing, equal to an uninterrupted sweep" if equal and kept else f"{equal} {kept}")
