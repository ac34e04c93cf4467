"""Random numbers from an explicit key: an integer seed or a JAX key, the same draw on every machine and device."""

from __future__ import annotations

from typing import Any

import numpy as np

Key = Any


def words(key: Key, name: str = "key") -> list[int]:
    """The key as a list of non-negative integers, the entropy of `generator`; `name` is what the caller calls it."""
    if isinstance(key, bool) or key is None:
        raise ValueError(f"`{name}` must be an integer seed or a JAX key: got {key!r}.")
    if isinstance(key, (int, np.integer)):
        if key < 0:
            raise ValueError(f"`{name}` must be a non-negative seed: got {key}.")
        return [int(key)]
    if type(key).__module__.split(".")[0] in ("jax", "jaxlib"):
        import jax

        if jax.dtypes.issubdtype(key.dtype, jax.dtypes.prng_key):
            key = jax.random.key_data(key)
    if isinstance(key, list) and key and all(isinstance(word, int) and word >= 0 for word in key):
        return list(key)  # words of such a key, of any size
    array = np.asarray(key)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "ui":
        raise ValueError(
            f"`{name}` must be an integer seed or a JAX key: got {type(key).__name__} of shape {array.shape}."
        )
    return [int(word) for word in array]


def generator(key: Key, *path: int) -> np.random.Generator:
    """A NumPy generator for `key`; `path` names independent streams below it, as in `generator(key, 1)`."""
    return np.random.default_rng(np.random.SeedSequence(words(key), spawn_key=path))


def jax_key(key: Key) -> Any:
    """A typed JAX key for `key`, for random numbers drawn inside compiled loops."""
    import jax

    return jax.random.wrap_key_data(jax.numpy.asarray(key_data(key), dtype=jax.numpy.uint32), impl="threefry2x32")


def key_data(key: Key) -> np.ndarray:
    """The two words of `jax_key(key)`, for keys that are wrapped inside compiled code."""
    return np.random.SeedSequence(words(key)).generate_state(2, np.uint32)
