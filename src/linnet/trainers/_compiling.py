"""How the trainers' programs are compiled: quickly, as most of them run for less time than it takes to make them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax

from linnet._workers import cores
from linnet.precision import devices

Options = dict[str, str | bool]

# An XLA that does not know an option would refuse it, so later versions of JAX go without until they were tried. Other
# devices do not read them.
_TRIED = jax.__version_info__ < (0, 11)
# XLA cuts a program into parts that threads compile side by side; with one thread that takes a quarter longer.
ONE_PART_COMPILATION: Options = {"xla_cpu_parallel_codegen_split_count": "1"} if _TRIED and cores() == 1 else {}
# XLA's newer way to write the loops of a CPU program takes twice as long as the older one for a descent, a third longer
# for a flow; the steps take as long.
QUICK_COMPILATION: Options = {"xla_cpu_use_fusion_emitters": False, **ONE_PART_COMPILATION} if _TRIED else {}
# Most of the time of compiling a generator of random numbers goes into optimizing it, for a tenth of its steps' time.
_LIGHT_COMPILATION: Options = {**QUICK_COMPILATION, "xla_backend_optimization_level": "1"} if _TRIED else {}


class JitByPlatform:
    """A function that is compiled by `jax.jit` with some compiler options on a CPU, and with others elsewhere.

    JAX's default device at the time of the call decides: that of `precision.computing`, or of `jax.default_device`.
    """

    def __init__(self, function: Callable[..., Any], *, on_cpu: Options, elsewhere: Options, **options: Any) -> None:
        self.on_cpu = jax.jit(function, compiler_options=on_cpu, **options)
        self.elsewhere = jax.jit(function, compiler_options=elsewhere, **options)

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        chosen = self.on_cpu if devices()[0].platform == "cpu" else self.elsewhere
        return chosen(*arguments, **named)


# For functions that draw random numbers.
jit_drawing = partial(JitByPlatform, on_cpu=_LIGHT_COMPILATION, elsewhere=QUICK_COMPILATION)
