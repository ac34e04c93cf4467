"""How the trainers' programs are compiled: quickly, as most of them run for less time than it takes to make them."""

from __future__ import annotations

import jax

# XLA's newer way to write the loops of a CPU program takes twice as long as the older one for a descent, a third longer
# for a flow; the steps take as long. An XLA that does not know the option would refuse it, so later versions of JAX go
# without until they were tried. Other devices do not read it.
TRIED = (0, 11)
QUICKLY: dict[str, str | bool] = {"xla_cpu_use_fusion_emitters": False} if jax.__version_info__ < TRIED else {}
