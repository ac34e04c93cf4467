"""Which floating-point numbers and which device a computation uses, without touching JAX's global configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import jax
import numpy as np

DTYPES = {"float64": np.float64, "float32": np.float32}


def resolve(dtype: object = None) -> np.dtype:
    """The NumPy dtype asked for: float64 unless `dtype` says float32."""
    if dtype is None:
        return np.dtype(np.float64)
    try:
        resolved = np.dtype(dtype)  # type: ignore[call-overload]
    except TypeError:
        resolved = None
    if resolved is None or resolved.name not in DTYPES:
        raise ValueError(f"`dtype` must be 'float64' or 'float32': got {dtype!r}.")
    return resolved


def devices(name: str | None = None) -> list[Any]:
    """The JAX devices of a kind ("cpu", "gpu", "tpu") on this machine; without a name, JAX's default ones."""
    if name is None:
        chosen = jax.config.values["jax_default_device"]
        return jax.local_devices() if chosen is None or isinstance(chosen, str) else [chosen]
    try:
        return jax.local_devices(backend=str(name))
    except RuntimeError:
        found = sorted({device.platform for device in jax.devices()})
        raise ValueError(
            f"`device` must be one that JAX finds here ({', '.join(found)}): got {name!r}. "
            "For a GPU, install the matching JAX build (`pip install 'jax[cuda12]'`)."
        ) from None


def cores() -> int:
    """The cores this process may use, counted as XLA counts them: `NPROC`, or those the system lets it run on."""
    told = os.environ.get("NPROC", "")
    if told.isdigit() and int(told) > 0:
        return int(told)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def device_name() -> str:
    """The device that JAX computes on here, in words."""
    return str(next(iter(jax.numpy.zeros(()).devices())).device_kind)


@contextmanager
def computing(dtype: object = None, device: str | None = None, *, tf32: bool = False) -> Iterator[np.dtype]:
    """Everything JAX does inside the block is done in `dtype` on `device`; outside, nothing has changed.

    64-bit types are switched on for this thread only, and float32 products are true float32 products. With `tf32`
    accelerators that have it shorten the factors of float32 products to 10 bits of mantissa, several times as fast.
    """
    resolved = resolve(dtype)
    place = nullcontext() if device is None else jax.default_device(devices(device)[0])
    # Settings of the importing program that would change numbers or raise inside.
    usual = jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"), jax.threefry_partitionable(True)
    with (
        jax.enable_x64(True),
        jax.default_matmul_precision("tensorfloat32" if tf32 else "highest"),
        place,
        usual[0],
        usual[1],
        usual[2],
    ):
        yield resolved


@contextmanager
def compilation_cache(folder: str | Path) -> Iterator[Path]:
    """What JAX compiles inside the block is kept in `folder`, and found there by later processes instead of compiled.

    Off unless asked for: the setting is JAX's own and holds for the whole process, so it is put back at the end.
    """
    from jax.experimental.compilation_cache import compilation_cache as cache

    path = Path(folder)
    wanted: dict[str, object] = {
        "jax_enable_compilation_cache": True,
        "jax_compilation_cache_dir": str(path),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: jax.config.values[name] for name in wanted}
    _configure(wanted)
    cache.reset_cache()  # JAX reads the folder once
    try:
        yield path
    finally:
        _configure(before)
        cache.reset_cache()


def _configure(values: dict[str, object]) -> None:
    for name, value in values.items():
        jax.config.update(name, value)
