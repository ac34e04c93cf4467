"""Whole diagrams: hundreds of networks of many widths and variances, each next to the narrow network that predicts it.

Read from the top: each file uses those below it.

- `gaussian_starts`: `gaussian_diagram`, the entry. It describes every run by a few numbers (key, width, variance,
  learning rate) and says how to draw its initialization, in compiled code and in NumPy.
- `_runs`: chooses where runs are trained, and returns `DiagramRuns`.
- on a CPU, run by run:
  `_cores` (one run to a core, by threads if the work is short and by processes if it is long),
  `_numpy_run` (one run: NumPy and BLAS, of one thread, in arrays that are allocated once),
  `_diagram` (what they are given: the settings, and the start of each run);
- on other devices, batch by batch:
  `_slots` (a compiled batch of one size; the next run takes the slot of one that has ended; all devices take from one
  queue), `_narrow_network` (the network of the self-consistent dynamics), `_largest_value` (stable ranks inside
  compiled code);
- for both: `_paired_step` (objective, test loss, record and step of a run; of these a CPU takes the record alone, and
  has the others in NumPy).
- `independent_runs`: networks of one shape, each on its own problem, in slots; the cells of `linnet.sweeps`.

The loop is the loop of all trainers (`linnet.trainers._loop`): it judges states, and stopping rules are the same. A
run's bits depend on nothing but the run. `docs/trained_diagrams.md` has the times.
"""

from linnet.trainers.diagrams._runs import DiagramRuns
from linnet.trainers.diagrams.gaussian_starts import gaussian_diagram

__all__ = ["DiagramRuns", "gaussian_diagram"]
