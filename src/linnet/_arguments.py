"""Checks of what users pass in: each message names the requirement, the received value and the remedy."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import math
import numbers
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

Given = ParamSpec("Given")
Result = TypeVar("Result")


def real_array(
    name: str, value: object, *, ndim: int | tuple[int, ...] | None = None, finite: bool = True
) -> np.ndarray:
    """`value` as a float64 array (float32 stays float32 only in the trainers), finite and of the wanted rank."""
    no_mask(name, value)
    if getattr(value, "requires_grad", False) is True:
        raise ValueError(f"`{name}` must not require gradients, which linnet does not pass on: `.detach()` it.")
    try:
        array = np.asarray(without_own_types(value))
        kind = array.dtype.kind
        if kind == "O" and all(isinstance(entry, numbers.Real) for entry in array.flat):
            array = array.astype(np.float64)
            kind = "f"
        if kind not in "fiubc":
            raise TypeError
        array = array if kind == "c" else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"`{name}` must be an array of real numbers: got {type(value).__name__}{_what_is_wrong(value)}."
        ) from None
    if kind == "c":
        raise ValueError(f"`{name}` must be an array of real numbers: got complex numbers, which linnet does not have.")
    wanted = (ndim,) if isinstance(ndim, int) else ndim
    if wanted is not None and array.ndim not in wanted:
        axes = " or ".join(str(n) for n in wanted)
        raise ValueError(f"`{name}` must have {axes} axes: got shape {array.shape}.")
    if array.size == 0:
        raise ValueError(f"`{name}` is empty: got shape {array.shape}.")
    if finite and not np.isfinite(array).all():
        bad = int(array.size - np.isfinite(array).sum())
        raise ValueError(f"`{name}` must be finite: {bad} of {array.size} entries are NaN or infinite.")
    return array


def without_own_types(value: Any) -> Any:
    """Return pandas data with extension types, or a PyTorch tensor, in a form that NumPy takes."""
    module = type(value).__module__.partition(".")[0]
    if module == "pandas" and hasattr(value, "to_numpy"):
        kinds = list(value.dtypes) if hasattr(value, "columns") else [value.dtype]
        if any(not isinstance(kind, np.dtype) for kind in kinds):  # nullable, or Arrow's
            return value.to_numpy(dtype=np.float64, na_value=np.nan)
    if module == "torch" and "bfloat16" in str(getattr(value, "dtype", "")):
        return value.double().cpu().numpy()  # NumPy has no such type
    return value


def _what_is_wrong(value: object) -> str:
    """Say which entry of an array is no number, or that its rows differ in length; empty if that is not the matter."""
    try:
        array = np.asarray(value)
    except ValueError:
        return " with rows of different lengths"
    except Exception:  # a foreign type may raise anything
        return ""
    if array.dtype.kind == "O":
        for place, entry in np.ndenumerate(array):
            if not isinstance(entry, numbers.Real):
                return f" with {shown(entry)} at {place}"
    return f" of {array.dtype}" if array.dtype.kind not in "fiubcO" else ""


def one_or_each(name: str, value: object, number: int | None, each: str, hint: str = "") -> np.ndarray:
    """One number, or as many as there are of `each`."""
    array = real_array(name, value, ndim=(0, 1))
    if array.ndim and len(array) != number:
        raise ValueError(f"`{name}` must be one number or one for each of the {each}: got {len(array)}.{hint}")
    return array


def no_mask(name: str, value: object) -> None:
    """A mask says that numbers are missing; NumPy would hand over what lies beneath it as if it were data."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    hidden = sum(int(np.ma.count_masked(part)) for part in parts if isinstance(part, np.ma.MaskedArray))
    if hidden:
        raise ValueError(
            f"`{name}` must not be masked: {hidden} of its entries are. Fill them, or leave their rows or columns out."
        )


def symmetric(name: str, value: object, *, ndim: int | tuple[int, ...] = 2) -> np.ndarray:
    """A symmetric matrix (side, side), or a stack of them; exactly so, where it was to rounding."""
    matrix = real_array(name, value, ndim=ndim)
    if matrix.shape[-2] != matrix.shape[-1]:
        raise ValueError(f"`{name}` must be a square matrix: got shape {matrix.shape}.")
    largest, transposed = float(np.abs(matrix).max()), np.swapaxes(matrix, -1, -2)
    apart = float(np.abs(matrix / 2 - transposed / 2).max())  # half of each: their difference may overflow
    if apart > 1e-10 * largest / 2:
        raise ValueError(f"`{name}` must be symmetric: entries differ by up to {2 * apart:.3g}.")
    return matrix / 2 + transposed / 2


def layers(**arrays: object) -> tuple[np.ndarray, np.ndarray]:
    """The two layers of a network, (..., hidden, input) and (..., output, hidden), by the names they were given."""
    (one, first), (two, second) = ((name, real_array(name, value)) for name, value in arrays.items())
    if (
        first.ndim < 2
        or second.ndim < 2
        or first.shape[-2] != second.shape[-1]
        or first.shape[:-2] != second.shape[:-2]
    ):
        raise ValueError(
            f"`{one}` must be (..., hidden, input) and `{two}` (..., output, hidden): got shapes {first.shape} and "
            f"{second.shape}."
        )
    return first, second


def broadcast(**arrays: np.ndarray) -> list[np.ndarray]:
    """The arrays in one shape, refused where they have none in common."""
    try:
        return list(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        names = ", ".join(f"`{name}`" for name in arrays)
        shapes = ", ".join(str(array.shape) for array in arrays.values())
        raise ValueError(f"{names} must have one shape, or shapes that broadcast: got {shapes}.") from None


def samples(X: object, Y: object) -> tuple[np.ndarray, np.ndarray]:
    """Rows of inputs and of outputs, `X` (n, d) and `Y` (n, k) or (n,), the same number of each."""
    inputs, outputs = real_array("X", X, ndim=2), real_array("Y", Y, ndim=(1, 2))
    if len(inputs) != len(outputs):
        raise ValueError(f"`X` and `Y` must have the same number of rows: got {len(inputs)} and {len(outputs)}.")
    return inputs, outputs[:, None] if outputs.ndim == 1 else outputs


def matrix_shape(name: str, value: Any) -> tuple[int, int]:
    """Return the shape of a matrix, (rows, columns)."""
    one_axis = value.ndim == 1 if isinstance(value, np.ndarray) else isinstance(value, (tuple, list))
    if not one_axis or len(value) != 2:
        raise ValueError(f"`{name}` must be the two sides of a matrix, (rows, columns): got {shown(value)}.")
    return count(name, value[0]), count(name, value[1])


def flag(name: str, value: object) -> bool:
    """True or False, and nothing that merely counts as one of them."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"`{name}` must be True or False: got {shown(value)}.")
    return bool(value)


def of_kind(name: str, value: object, kind: type[Result], made_by: str) -> Result:
    """An object of linnet's own, or a message that says how to get one."""
    if not isinstance(value, kind):
        raise ValueError(f"`{name}` must be a linnet {kind.__name__}, made by {made_by}: got {type(value).__name__}.")
    return value


def path_of(name: str, value: object) -> Path:
    """A file or folder, by its name or as a `Path`."""
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise ValueError(f"`{name}` must be the name of a file or folder: got {shown(value)}.")
    return Path(os.fspath(value))


def shown(value: object) -> str:
    """A wrong value in a message: as it is where it is short, else what it is."""
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"a whole number of {len(str(abs(value)))} digits" if abs(value) < 10**4000 else "a huge whole number"
    if type(value).__module__.startswith("linnet"):
        return type(value).__name__
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else type(value).__name__


def same_shape(**arrays: np.ndarray) -> None:
    """Refuses arrays of different shapes, which would otherwise be broadcast against each other."""
    if len({array.shape for array in arrays.values()}) > 1:
        names = " and ".join(f"`{name}`" for name in arrays)
        raise ValueError(f"{names} must have one shape: got {' and '.join(str(a.shape) for a in arrays.values())}.")


def whole_steps(name: str, value: object, *, most: int = 10**15) -> np.ndarray:
    """Numbers of steps to report at: one axis, whole, non-negative, strictly increasing."""
    steps = times_array(name, value)
    if (steps != np.round(steps)).any():
        raise ValueError(f"`{name}` must be whole numbers of steps: got {steps[steps != np.round(steps)][0]:g}.")
    if steps[-1] > most:
        raise ValueError(f"`{name}` must be at most {most:.0e}: got {steps[-1]:g}.")
    return steps


def whole_numbers(name: str, value: object) -> np.ndarray:
    """Whole numbers as integers, such as positions: one axis."""
    numbers = np.atleast_1d(real_array(name, value, ndim=(0, 1)))
    wrong = (numbers != np.rint(numbers)) | (np.abs(numbers) >= 2**62)
    if wrong.any():
        raise ValueError(f"`{name}` must be whole numbers of less than 19 digits: got {numbers[wrong][0]:g}.")
    return numbers.astype(np.int64)


def none_negative(name: str, array: np.ndarray) -> np.ndarray:
    """Return an array whose entries are checked to be zero or above."""
    if (array < 0).any():
        raise ValueError(f"`{name}` must not be negative: the smallest is {array.min():.6g}.")
    return array


def relative_tolerance(name: str, value: object) -> float:
    """Return a tolerance that an integration in float64 can keep to."""
    checked = number(name, value)
    if not 1e-13 <= checked <= 1e-2:
        raise ValueError(f"`{name}` must lie between 1e-13 and 1e-2: got {checked}.")
    return checked


def positive(name: str, value: object) -> float:
    """A finite number above zero."""
    checked = number(name, value)
    if not checked > 0:
        raise ValueError(f"`{name}` must be positive: got {shown(value)}.")
    return checked


def non_negative(name: str, value: object) -> float:
    """A finite number, zero or above."""
    checked = number(name, value)
    if checked < 0:
        raise ValueError(f"`{name}` must not be negative: got {shown(value)}.")
    return checked


def count(name: str, value: Any, *, least: int = 1, most: int = 10**300) -> int:
    """A whole number of at least `least`, small enough to be a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        if kind in ("i", "u", "f") and np.ndim(value) == 0 and not np.ma.is_masked(value):
            value = value.item()  # type: ignore[union-attr]  # arrays of one number, NumPy's and JAX's
        if isinstance(value, int) and not isinstance(value, bool):
            pass
        elif isinstance(value, (float, np.floating)) and float(value).is_integer():
            value = int(value)
        else:
            raise ValueError(f"`{name}` must be a whole number: got {shown(value)}.")
    if value < least:
        raise ValueError(f"`{name}` must be at least {least}: got {shown(value)}.")
    if value > most:
        raise ValueError(f"`{name}` must be at most {float(most):.3g}: got {shown(value)}.")
    return int(value)


def times_array(name: str, value: object, *, finite: bool = True) -> np.ndarray:
    """Times to report at: one axis, non-negative, strictly increasing."""
    times = np.atleast_1d(real_array(name, value, ndim=(0, 1), finite=finite))
    if np.isnan(times).any() or times[0] < 0:
        raise ValueError(f"`{name}` must not be negative or NaN: the first is {times[0]}.")
    if (times[1:] <= times[:-1]).any():
        at = int(np.argmax(times[1:] <= times[:-1]))
        raise ValueError(
            f"`{name}` must be strictly increasing: entry {at + 1} ({times[at + 1]}) does not exceed entry {at} "
            f"({times[at]})."
        )
    return times


def number(name: str, value: Any) -> float:
    """A finite number; neither text nor a list is one, nor what is masked."""
    try:
        if isinstance(value, (str, bytes)) or np.ma.is_masked(value) or np.ndim(value) > 0:
            raise TypeError
        converted = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"`{name}` must be a number: got {shown(value)}.") from None
    if not np.isfinite(converted):
        raise ValueError(f"`{name}` must be finite: got {converted}.")
    return converted


class OutOfRangeError(ValueError):
    """A result that float64 cannot hold, of arguments that are numbers."""


def representable(function: Callable[Given, Result], *, whole: bool = True) -> Callable[Given, Result]:
    """Refuses arguments whose result lies beyond the range of float64, in place of infinities, NaN and warnings.

    For functions whose results are finite by their definition, of arguments that are checked one by one before.
    Functions that return NaN themselves call `refuse_infinite` on the parts that have none (`OutOfRangeError` is put
    into their words).
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        cause: Exception | None = None  # kept, to tell an error inside linnet from numbers out of range
        try:
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                result = function(*args, **kwargs)
            if not whole or _all_finite(result) or not _all_finite([*args, *kwargs.values()]):
                return result  # of a diverged run NaN stays NaN
        except (OverflowError, ZeroDivisionError) as error:  # Python's floats raise where NumPy's become infinite
            cause = error
        except OutOfRangeError as error:  # of a function below: said again in the words of the one that was called
            cause = error
        except np.linalg.LinAlgError as error:
            if "converge" not in str(error):  # the mark of a matrix with infinities, made of finite arguments
                raise
            cause = error
        given = signature.bind(*args, **kwargs).arguments
        listed = ", ".join(f"`{name}`" for name, value in given.items() if name != "self" and _has_size(value))
        raise OutOfRangeError(
            f"`{function.__name__}`{f' of {listed}' if listed else ''} is beyond the range of float64 (1e-308 to "
            "1e308). Give its arguments in other units, nearer to 1."
        ) from cause

    return checked


def partly_representable(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """`representable`, where the function itself says which parts of its result must be finite."""
    return representable(function, whole=False)


def refuse_infinite(*parts: object) -> None:
    """Parts of a result that must be finite; the message is that of `partly_representable`."""
    if not _all_finite(parts):
        raise OutOfRangeError("the result is beyond the range of float64.")


def _has_size(value: object) -> bool:
    """Whether an argument may be too large or too small: choices, such as names and truth values, are not."""
    return value is not None and not isinstance(value, (str, bool, np.bool_))


def _all_finite(value: object) -> bool:
    """Whether all numbers in a result are finite: of arrays, tuples, dictionaries and dataclasses."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind != "f" or bool(np.isfinite(value).all())
    if isinstance(value, np.floating):
        return bool(np.isfinite(value))
    if isinstance(value, dict):
        return all(map(_all_finite, value.values()))
    if isinstance(value, (tuple, list)):
        return all(map(_all_finite, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return all(_all_finite(getattr(value, field.name)) for field in dataclasses.fields(value))
    return True


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name (a figure, a claim, a field): the near ones, if there are any."""
    names = list(names)
    inside = [other for other in names if name and name in other]
    near = list(dict.fromkeys(difflib.get_close_matches(name, names, n=3) + inside))[:4]
    return f"; did you mean {', '.join(near)}?" if near else "."
