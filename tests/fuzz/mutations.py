"""What is put in the place of a valid argument: wrong numbers, shapes and types, and other forms of the same
numbers."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

import linnet as ln
from fuzz.examples import materials as m

INFINITE, MASKED, WRONG, SAME, ODD = "infinite", "masked", "wrong type", "same numbers", "odd"


@dataclass(frozen=True)
class Mutation:
    """A value in the place of a valid one. `kind` says which rules hold for it; `same` is what it should equal."""

    label: str
    kind: str
    value: Any
    same: Any = None


class Nothing:
    """An object that is no number and has no methods of one."""

    def __repr__(self) -> str:
        return "<nothing>"


def mutations(value: Any) -> Iterator[Mutation]:
    """All that is tried in the place of `value`."""
    if isinstance(value, (bool, np.bool_)):
        yield from _others("a", 2, None, np.array([True, False]))
    elif isinstance(value, (int, float, np.number)):
        yield from _numbers(value)
    elif isinstance(value, str):
        yield from _others("", "nonsense", "`quoted`", None, 3, b"bytes", ["std"], Nothing())
    elif isinstance(value, (list, tuple, np.ndarray)) and _is_numeric(value):
        yield from _arrays(np.asarray(value))
    elif isinstance(value, ln.Weights):
        yield from _weights(value)
    elif isinstance(value, ln.Problem):
        yield from _problems(value)
    elif type(value).__module__.startswith(("torch", "fuzz.examples.torch_models")):
        from fuzz.tensors import torch_mutations

        yield from torch_mutations(value)
    elif isinstance(value, dict):
        yield from _others(None, "a", 3, [], {"nonsense": 1}, {1: 2}, dict.fromkeys(value, "a"))
        yield from _others(*({**value, key: bad} for key in value for bad in (float("nan"), None)))
    elif isinstance(value, (list, tuple)):
        yield from _others(None, "a", 3, [], [None], ["a"], [Nothing()], {"a": 1}, np.ones(2), [*value, None])
    else:
        yield from _others(None, "a", 3, [], {}, np.ones((2, 2)), Nothing(), m.run(), m.weights(), m.data_problem())


def _is_numeric(value: Any) -> bool:
    try:
        return np.asarray(value).dtype.kind in "fiub" and np.asarray(value).size > 0
    except ValueError:
        return False


def _others(*values: Any) -> Iterator[Mutation]:
    for value in values:
        yield Mutation(_label(value), ODD, value)


def _wrong() -> Iterator[Mutation]:
    """What is no real number, in any place of one."""
    for value in ("a", "1.0", {}, {"a": 1}, Nothing(), 1j, b"1", len, [None], ["a"], m.run(), m.weights()):
        yield Mutation(_label(value), WRONG, value)
    yield Mutation("None", ODD, None)


def _numbers(value: Any) -> Iterator[Mutation]:
    whole = isinstance(value, (int, np.integer))
    for bad in (float("nan"), float("inf"), -float("inf"), np.float32("nan")):
        yield Mutation(repr(bad), INFINITE, bad)
    sizes: list[Any] = [0, -1, 1, 2.5, 1e-3, 1e3, 1e150, 1e300, -1e300, 1e-150, 1e-300, 5e-324]
    sizes += [10**19, 2**63, -(10**19)]
    for size in [*sizes, 10**400, True, value * 1e-8, value * 1e8, -value]:
        yield Mutation(_label(size), ODD, size)
    yield from _wrong()
    for shape in ([], [value], [value, value], [[value, value]], np.zeros((0, 3))):
        yield Mutation(_label(shape), ODD, shape)
    yield Mutation("masked", MASKED, np.ma.masked)
    yield Mutation("masked array", MASKED, np.ma.array(value, mask=True))
    forms: list[Callable[[Any], Any]] = [np.float64, np.float32, np.asarray, Fraction, Decimal, _jax, _jax_zero_d]
    forms += [int, np.int32] if whole or float(value).is_integer() else [np.float16]
    for form in forms:
        yield Mutation(f"{form.__name__}({value})", SAME, form(value), _exactly(form, value))


def _exactly(form: Callable[[Any], Any], value: Any) -> Any:
    exact = float(form(value))
    return int(exact) if isinstance(value, (int, np.integer)) and exact.is_integer() else exact


def _jax(value: Any) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(value)


def _jax_zero_d(value: Any) -> Any:
    import jax.numpy as jnp

    return jnp.float32(value)


def _arrays(value: np.ndarray) -> Iterator[Mutation]:
    numbers = value.astype(np.float64)
    yield from _spoiled(numbers)
    yield from _shapes(numbers)
    for size in (0.0, -1.0, 1e-8, 1e8, 1e150, 1e-150, 1e300, 1e-300):
        yield Mutation(f"times {size:g}", ODD, numbers * size)
    mixed = numbers.copy()
    mixed.flat[0] = 1e200
    yield Mutation("one of 1e200", ODD, mixed)
    yield Mutation("subnormal", ODD, np.full_like(numbers, 5e-324))
    yield Mutation("largest", ODD, np.full_like(numbers, np.finfo(float).max))
    yield Mutation("ones", ODD, np.ones_like(numbers))
    yield Mutation("reversed", ODD, numbers[::-1].copy())
    yield Mutation("one number", ODD, float(numbers.flat[0]))
    yield from _wrong()
    yield Mutation("text", WRONG, value.astype(str))
    yield Mutation("complex", WRONG, value.astype(complex) + 1j)
    yield Mutation("objects", WRONG, np.full(value.shape, Nothing(), dtype=object))
    yield Mutation("dates", WRONG, np.zeros(value.shape, dtype="datetime64[D]"))
    yield Mutation("ragged", WRONG, [[1.0], [1.0, 2.0]])
    yield from _masks(numbers)
    yield from _forms(value)


def _spoiled(numbers: np.ndarray) -> Iterator[Mutation]:
    for bad in (np.nan, np.inf, -np.inf):
        spoiled = numbers.copy()
        spoiled.flat[-1] = bad
        yield Mutation(f"one {bad}", INFINITE, spoiled)
        yield Mutation(f"all {bad}", INFINITE, np.full_like(numbers, bad))


def _shapes(numbers: np.ndarray) -> Iterator[Mutation]:
    yield Mutation("an axis more", ODD, numbers[None])
    yield Mutation("an axis last", ODD, numbers[..., None])
    yield Mutation("two axes more", ODD, numbers[None, None])
    yield Mutation("an axis less", ODD, numbers[0])
    yield Mutation("empty", ODD, numbers[:0])
    yield Mutation("no columns", ODD, numbers[..., :0])
    yield Mutation("a row more", ODD, np.concatenate([numbers, numbers[:1]]))
    yield Mutation("a column more", ODD, np.concatenate([numbers, numbers[..., :1]], axis=-1))
    yield Mutation("a row less", ODD, numbers[:-1])
    yield Mutation("turned", ODD, numbers.T)
    yield Mutation("nothing", ODD, [])


def _masks(numbers: np.ndarray) -> Iterator[Mutation]:
    one = np.zeros(numbers.shape, dtype=bool)
    one.flat[0] = True
    yield Mutation("one masked", MASKED, np.ma.array(numbers, mask=one))
    yield Mutation("all masked", MASKED, np.ma.array(numbers, mask=True))
    yield Mutation("masked rows in a list", MASKED, list(np.ma.array(np.atleast_2d(numbers), mask=np.atleast_2d(one))))


def _forms(value: np.ndarray) -> Iterator[Mutation]:
    import jax.numpy as jnp

    numbers = value.astype(np.float64)
    spread = np.empty((*numbers.shape, 2))
    spread[..., 0] = numbers
    fixed = numbers.copy()
    fixed.setflags(write=False)
    forms = {
        "list": numbers.tolist(),
        "tuple": tuple(numbers.tolist()),
        "float32": numbers.astype(np.float32),
        "float16": numbers.astype(np.float16),
        "big-endian": numbers.astype(">f8"),
        "Fortran order": np.asfortranarray(numbers),
        "not contiguous": spread[..., 0],
        "read-only": fixed,
        "JAX": jnp.asarray(numbers),
        "Fractions": np.vectorize(Fraction, otypes=[object])(numbers),
        "memory view": memoryview(np.ascontiguousarray(numbers)),
        "no mask": np.ma.array(numbers),
        "longdouble": numbers.astype(np.longdouble),
    }
    if numbers.ndim <= 2 and importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        forms["pandas"] = (pd.Series if numbers.ndim == 1 else pd.DataFrame)(numbers)
    if np.array_equal(numbers, np.rint(numbers)):
        forms |= {"integers": numbers.astype(np.int64), "int8": numbers.astype(np.int8)}
    for label, form in forms.items():
        exact = np.asarray(form, dtype=np.float64)
        yield Mutation(label, SAME, form, exact.astype(value.dtype) if value.dtype.kind in "iu" else exact)


def _weights(value: Any) -> Iterator[Mutation]:
    layers, first, last = value.layers, value.first, value.last

    def changed(**others: np.ndarray) -> Any:
        return ln.Weights(others.get("first", first), *layers[1:-1], others.get("last", last))

    yield from _others(None, "a", 3, 1j, {}, first, layers, Nothing(), m.run(), m.data_problem(), [value, value])
    for size in (0.0, 1e-8, 1e8, 1e100, 1e150, 1e-150, 1e160):
        yield Mutation(f"weights times {size:g}", ODD, ln.Weights(*(layer * size for layer in layers)))
    yield Mutation("an input more", ODD, changed(first=np.concatenate([first, first[..., :1]], axis=-1)))
    yield Mutation("an output more", ODD, changed(last=np.concatenate([last, last[..., :1, :]], axis=-2)))
    yield Mutation("a batch", ODD, ln.Weights(*(np.stack([layer] * 2) for layer in layers)))
    yield Mutation("a batch of batches", ODD, ln.Weights(*(np.stack([layer] * 2)[None] for layer in layers)))
    if len(layers) == 2:
        yield Mutation("one hidden unit", ODD, ln.Weights(first[..., :1, :], last[..., :1]))
    yield Mutation("computed, NaN", INFINITE, ln.Weights.computed(first * np.nan, *layers[1:]))
    single = ln.Weights.computed(*(layer.astype(np.float32) for layer in layers))
    yield Mutation("computed in float32", SAME, single, ln.Weights(*single.layers))


def _problems(value: Any) -> Iterator[Mutation]:
    yield from _others(None, "a", 3, {}, m.X, (m.X, m.Y), Nothing(), m.run(), m.weights(), [value])
    d, k = value.in_dim, value.out_dim
    X, Y = m.array(7, d), m.array(7, k, seed=1)
    for size in (0.0, 1e-8, 1e8, 1e100, 1e150, 1e-150, 1e160):
        yield Mutation(f"inputs times {size:g}", ODD, ln.Problem.from_data(size * X, Y))
        yield Mutation(
            f"targets times {size:g}", ODD, ln.Problem.from_target(size * m.array(k, d), truth=m.array(k, d))
        )
    yield Mutation("an input more", ODD, ln.Problem.from_data(m.array(7, d + 1), Y))
    yield Mutation("an output more", ODD, ln.Problem.from_data(X, m.array(7, k + 1)))
    yield Mutation("fewer samples than inputs", ODD, ln.Problem.from_data(X[:1], Y[:1]))
    yield Mutation("a batch", ODD, ln.Problem.from_target(m.array(2, k, d)))
    yield Mutation("moments", ODD, ln.Problem.from_moments(np.eye(d), m.array(k, d)))
    yield Mutation("a cost", ODD, ln.problems.matrix_completion(m.array(k, d), np.ones((k, d))))


def _label(value: Any) -> str:
    if isinstance(value, int) and abs(value) >= 10**19:
        return f"{'-' if value < 0 else ''}10^{len(str(abs(value))) - 1}"
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    text = f"{type(value).__name__} {value!r}"
    return text if len(text) < 40 else type(value).__name__
