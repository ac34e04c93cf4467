"""How the trainers' programs are compiled: quickly, as most of them run for less time than it takes to make them."""

from __future__ import annotations

import jax

from linnet._workers import cores

Options = dict[str, str | bool]

# An XLA that does not know an option would refuse it, so later versions of JAX go without until they were tried. Other
# devices do not read them.
_TRIED = jax.__version_info__ < (0, 11)
# XLA cuts a program into parts that threads compile side by side; with one thread that takes a quarter longer.
WHOLE: Options = {"xla_cpu_parallel_codegen_split_count": "1"} if _TRIED and cores() == 1 else {}
# XLA's newer way to write the loops of a CPU program takes twice as long as the older one for a descent, a third longer
# for a flow; the steps take as long. Not so those of `function_flow`, which take twice as long by the older way.
QUICK_COMPILATION: Options = {"xla_cpu_use_fusion_emitters": False, **WHOLE} if _TRIED else {}
