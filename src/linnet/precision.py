"""Which floating-point numbers and which device a computation uses, without touching JAX's global configuration."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

from linnet._arguments import flag, path_of

__all__ = ["compilation_cache", "computing"]

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
        platforms = sorted({device.platform for device in jax.devices()})
        raise ValueError(
            f"`device` must be one that JAX finds here ({', '.join(platforms)}): got {name!r}. "
            "For a GPU, install the matching JAX build (`pip install 'jax[cuda12]'`)."
        ) from None


@cache
def _check_backend() -> None:
    """Refuse an environment in which JAX finds nothing to compute on; its own error says nothing."""
    try:
        jax.local_devices()
    except (AssertionError, RuntimeError) as reason:
        asked = os.environ.get("JAX_PLATFORMS", "")
        raise RuntimeError(
            f"JAX finds no device to compute on{f' (JAX_PLATFORMS={asked!r})' if asked else ''}: unset JAX_PLATFORMS, "
            f"or set it to 'cpu'. {' '.join(str(reason).split())[:200]}".rstrip()
        ) from None


def device_name() -> str:
    """The device that JAX computes on here, in words."""
    return str(next(iter(jax.numpy.zeros(()).devices())).device_kind)


def computing(
    dtype: object = None, device: str | None = None, *, tf32: bool = False
) -> AbstractContextManager[np.dtype]:
    """Do everything that JAX does inside the block in `dtype` on `device`; outside, nothing changes.

    It is for your own JAX code. Trainers have the arguments `dtype` and `device`; inside the block they still compute
    in float64 unless they get another `dtype`.

    64-bit types are switched on for this thread only, and float32 products are true float32 products.

    **Arguments:**

    - `dtype`: float64 by default, or `"float32"`
    - `device`: `"cpu"` or `"gpu"`; the default is the device that JAX prefers
    - `tf32`: whether accelerators that can may shorten the factors of float32 products to 10 bits of mantissa, which is
      several times as fast

    **Returns** a context manager, whose value is the NumPy dtype.

    **Example:**

        >>> import jax.numpy as jnp
        >>> from linnet.precision import computing
        >>> with computing("float32", "cpu") as dtype:
        ...     jnp.ones(3, dtype).sum().dtype.name
        'float32'
    """
    _check_backend()
    place = None if device is None else devices(device)[0]
    return _computing(resolve(dtype), place, flag("tf32", tf32))


@contextmanager
def _computing(dtype: np.dtype, place: Any, tf32: bool) -> Iterator[np.dtype]:
    """Set JAX's precision and device for the block, and undo what the importing program has changed."""
    # Settings of the importing program that would change numbers or raise inside.
    usual = jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"), jax.threefry_partitionable(True)
    with (
        jax.enable_x64(True),
        jax.default_matmul_precision("tensorfloat32" if tf32 else "highest"),
        nullcontext() if place is None else jax.default_device(place),
        usual[0],
        usual[1],
        usual[2],
    ):
        yield dtype


def compilation_cache(folder: str | Path) -> AbstractContextManager[Path]:
    """Keep what JAX compiles inside the block in `folder`, where later processes find it instead of compiling.

    The setting is JAX's own and holds for the whole process while the block runs; afterwards it is what it was.

    **Arguments:**

    - `folder`: folder of the compiled programs; it is made if it does not exist

    **Returns** a context manager, whose value is the folder.

    **Example:**

        >>> from tempfile import TemporaryDirectory
        >>> from linnet.precision import compilation_cache
        >>> with TemporaryDirectory() as folder, compilation_cache(folder) as kept:
        ...     kept.is_dir()
        True
    """
    return _compilation_cache(path_of("folder", folder))


@contextmanager
def _compilation_cache(path: Path) -> Iterator[Path]:
    """Point JAX's compilation cache at a folder for the block."""
    from jax.experimental.compilation_cache import compilation_cache as cache

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
    """Set values of JAX's configuration."""
    for name, value in values.items():
        jax.config.update(name, value)
