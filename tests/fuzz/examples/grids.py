"""Sweeps and pictures."""

from __future__ import annotations

from typing import Any

import linnet as ln
from fuzz.examples import example, instance
from fuzz.examples import materials as m

S = "sweeps."


@m.made
def sweep() -> Any:
    return ln.sweeps.Sweep(name="toy", function="toys:cells", axes={"rate": [1.0, 2.0]}, fixed={"stops_at": 9.0})


def finished() -> Any:
    folder = m.folder() / "finished"
    ln.sweeps.run(sweep(), folder)
    return folder


@m.made
def toml() -> Any:
    path = m.folder() / "sweep.toml"
    path.write_text('name = "toy"\nfunction = "toys:cells"\n[axes]\nrate = [1.0, 2.0]\n[fixed]\nstops_at = 9.0\n')
    return str(path)


STORE = m.made(lambda: m.folder() / "store")
FINISHED = m.made(lambda: finished())
instance(S + "Range", m.made(lambda: ln.sweeps.Range(start=1.0, stop=2.0, count=3)))
instance(S + "Status", m.made(lambda: ln.sweeps.Status("toy", 1, 1)), received=True)
instance(S + "Sweep", sweep)
example(S + "Range", start=1.0, stop=8.0, count=4, spacing="log")
example(
    S + "Sweep",
    name="toy",
    function="toys:cells",
    axes={"rate": [1.0, 2.0]},
    seeds=1,
    seed=0,
    fixed={"stops_at": 9.0},
    nan=("fixed",),
    record=["end"],
    block=1,
    dtype="float64",
)
example(S + "open", store=FINISHED)
example(S + "status", store=FINISHED)
example(S + "run", sweep=sweep, store=STORE, slow=True)
example(S + "keeping", call=lambda folder: ln.sweeps.keeping(folder).__enter__(), folder=STORE)
example(S + "load", path=toml, code=["toys"], names=("name", "function", "axes"))

example("precision.compilation_cache", folder="compiled")
example("precision.computing", dtype="float32", device="cpu", tf32=False)
example("style.column", width=1.0, ratio=0.75)
example("style.shades", count=3)
example("style.subplots", rows=1, columns=2, size=(3.0, 2.0), slow=True)
example("style.subscript", index=3)
