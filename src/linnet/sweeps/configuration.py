"""Description of a sweep: a cell function, axes, seeds, fixed parameters and recorded variables, from Python or
TOML."""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from linnet._arguments import did_you_mean, no_mask, path_of, shown
from linnet._models import Model, sentence
from linnet.sweeps import _names as names
from linnet.sweeps.errors import ConfigurationError

MAX_VALUES = 10**6  # values of an axis, seeds
MAX_CELLS = 10**9  # of a grid, whose numbers are kept in memory
RESERVED = ("seed", "cell_status", "failures")


class Range(Model):
    """Evenly spaced values of an axis, both ends included.

    **Attributes:**

    - `start`: the first
    - `stop`: the last
    - `count`: number of values
    - `spacing`: `"linear"`, or `"log"` for even spacing of the logarithm

    **Example:**

        >>> from linnet.sweeps import Range
        >>> Range(start=1.0, stop=100.0, count=3, spacing="log").count
        3
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    refusal = ConfigurationError

    start: float
    stop: float
    count: int = Field(ge=1, le=MAX_VALUES)
    spacing: Literal["linear", "log"] = "linear"

    def __init__(self, **fields: object) -> None:
        super().__init__(**{name: _plain_value(name, value) for name, value in fields.items()})

    @model_validator(mode="after")
    def _check_ends(self) -> Range:
        """Refuse ends that are not finite, or not positive where the spacing is logarithmic."""
        if self.spacing == "log" and not (self.start > 0 and self.stop > 0):
            raise ValueError(
                f"`start` and `stop` of a logarithmic range must be positive: got {self.start}, {self.stop}"
            )
        if not (math.isfinite(self.start) and math.isfinite(self.stop)):
            raise ValueError(f"`start` and `stop` must be finite: got {self.start} and {self.stop}")
        return self

    def values(self) -> list[float]:
        """The values of the axis."""
        space = np.geomspace if self.spacing == "log" else np.linspace
        return [float(value) for value in space(self.start, self.stop, self.count)]


class Sweep(Model):
    """A grid of runs of one cell function.

    **Arguments:**

    - `name`: name of the sweep, shown in its store and its progress bar.
    - `function`: `"module:function"`, or a function of a module. It is called as `function(points, seeds, **fixed)` on
      one block of cells: `points[axis]` and `seeds` have one entry per cell, and every array it returns has the cells
      in front. A value may also be `(names of its further dimensions, array)`, and `failures` may map positions of
      cells that failed to the reasons. A parameter `dtype` receives `dtype`.
    - `axes`: the values of each axis, as a list or a `Range`.
    - `seeds`: cells per point of the grid; above one they are the dimension `seed`.
    - `seed`: the base of all of them.
    - `fixed`: the other arguments of the function: numbers, strings, lists and tables.
    - `record`: the variables to keep; all of them when empty.
    - `block`: cells per block, at most; the unit of computing, writing and resuming. Chosen when left out.
    - `unbatched_axes`: axes whose values never share a block, for cells whose arrays differ in shape.
    - `dtype`: the precision JAX computes in, on every worker. None (in TOML "none") leaves JAX alone, for functions
      that do not use it.
    - `coords`: labels of the variables' further dimensions.

    **Example:**

        >>> from linnet.sweeps import Sweep
        >>> sweep = Sweep(name="widths", function="linnet.sweeps.cells:train", axes={"width": [10, 10**6]}, seeds=3)
        >>> sweep.axes["width"], sweep.seeds
        ([10, 1000000], 3)
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    refusal = ConfigurationError

    name: str = Field(min_length=1, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    function: str
    axes: dict[str, list[Any]] = Field(default_factory=dict)
    seeds: int = Field(default=1, ge=1, le=MAX_VALUES)
    seed: int = Field(default=0, ge=0)
    fixed: dict[str, Any] = Field(default_factory=dict)
    record: list[str] = Field(default_factory=list)
    block: int | None = Field(default=None, ge=1)
    unbatched_axes: list[str] = Field(default_factory=list)
    dtype: Literal["float64", "float32"] | None = "float64"
    coords: dict[str, list[Any]] = Field(default_factory=dict)
    _allowed: tuple[str, ...] | None = PrivateAttr(default=None)  # modules it may name: all, unless from a file

    def __init__(self, **fields: object) -> None:
        super().__init__(**{name: _plain_value(name, value) for name, value in fields.items()})

    @field_validator("function", mode="before")
    @classmethod
    def _function_name(cls, value: object) -> str:
        """Return the function as `module:name`; refuse what other processes could not import."""
        if callable(value):
            value = f"{value.__module__}:{getattr(value, '__qualname__', '<no name>')}"
        return ":".join(names.parse(value))

    @field_validator("dtype", mode="before")
    @classmethod
    def _none_in_toml(cls, value: object) -> Any:
        """Read "none" as None, which TOML does not have."""
        return None if value == "none" else value

    @field_validator("axes", mode="before")
    @classmethod
    def _expand_ranges(cls, axes: object) -> Any:
        """Replace ranges by their values."""
        if not isinstance(axes, dict):
            return axes
        expanded = {}
        for name, values in axes.items():
            if isinstance(values, dict):
                values = _parse_range(name, values)
            expanded[name] = values.values() if isinstance(values, Range) else values
        return expanded

    @model_validator(mode="after")
    def _check_size(self) -> Sweep:
        """Refuse a grid of more cells than can be counted."""
        cells = math.prod([self.seeds, *(len(values) for values in self.axes.values())])
        if cells > MAX_CELLS:
            raise ValueError(
                f"the grid of `axes` and `seeds` has {cells:,} cells: at most {MAX_CELLS:,} can be counted"
            )
        return self

    @field_validator("axes", "coords")
    @classmethod
    def _check_labels(cls, axes: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Refuse axes whose names or values cannot label a dataset."""
        for name, values in axes.items():
            if not name.isidentifier() or name in RESERVED:
                raise ValueError(f"axis `{name}` must be a Python name other than {', '.join(RESERVED)}")
            kinds = {"number" if type(v) in (int, float) else type(v).__name__ for v in values}
            if len(kinds) != 1 or not kinds <= {"number", "str", "bool"}:
                raise ValueError(
                    f"axis `{name}` must hold numbers only, or strings only, and at least one: got {values!r}"
                )
            if any(type(v) in (int, float) and not (math.isfinite(v) and abs(v) < 2**63) for v in values):
                raise ValueError(f"axis `{name}` must be finite, and below 2^63 in size: got {values!r}")
            twice = [v for i, v in enumerate(values) if v in values[:i]] if len(set(values)) < len(values) else []
            if twice:
                raise ValueError(f"axis `{name}` holds {twice[0]!r} twice")
        return axes

    @model_validator(mode="after")
    def _check_consistency(self) -> Sweep:
        """Refuse fields that contradict each other."""
        if not self.axes and self.seeds == 1:
            raise ValueError("a sweep needs at least one axis in `axes`, or `seeds` above 1")
        both = set(self.axes) & (set(self.fixed) | set(self.coords))
        if both:
            raise ValueError(f"`{min(both)}` is an axis: it cannot be in `fixed` or `coords` as well")
        for name in self.unbatched_axes:
            if name not in self.axes:
                near = did_you_mean(name, self.axes)
                raise ValueError(
                    f"`unbatched_axes` names `{name}`, which is not an axis{near} The axes are {', '.join(self.axes)}"
                )
        return self

    def plain(self) -> dict[str, Any]:
        """The configuration as JSON, which a store remembers and compares."""
        return self.model_dump()  # plain Python already; pydantic's own JSON would turn infinities into nothing

    @property
    def allowed(self) -> tuple[str, ...] | None:
        """The modules whose functions it may name; None for all."""
        return self._allowed


def load(path: str | Path, *, code: Sequence[str] = ()) -> Sweep:
    r"""Read the sweep that a TOML file describes, with the fields of `Sweep`.

    In Python, make a `Sweep` directly; a file from somebody else is safer to read with this function, which restricts
    the code it may call.

    Running a sweep imports and calls the functions that it names, so read the code of a file from somebody else first.
    Without `code`, a file may only name `linnet.sweeps.cells:train` and the generators of `linnet.problems`.

    **Arguments:**

    - `path`: path of the file
    - `code`: full names of further modules whose functions the file may name

    **Returns** a `Sweep`.

    **Example:**

        >>> import tempfile
        >>> from pathlib import Path
        >>> from linnet.sweeps import load
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "sweep.toml"
        ...     _ = file.write_text('name = "mine"\nfunction = "module:cells"\n[axes]\nwidth = [10, 100]\n')
        ...     sweep = load(file, code=["module"])
        >>> sweep.name, sweep.axes
        ('mine', {'width': [10, 100]})
    """
    path = path_of("path", path)
    if not isinstance(code, (list, tuple)) or not all(isinstance(module, str) for module in code):
        raise ValueError(f"`code` must be a list of the names of modules: got {shown(code)}.")
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(f"cannot read the configuration `path` {path}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.") from None
    try:
        sweep = Sweep(**fields)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from None
    sweep._allowed = (*names.ALLOWED, *code)
    with names.allowing(sweep.allowed):
        for name in {sweep.function, *names.named_functions([sweep.fixed, sweep.axes])}:
            try:
                names.check(name)
            except ConfigurationError as error:
                raise ConfigurationError(f"{path}: {error}") from None
    return sweep


def digest(value: object) -> str:
    """Sixteen letters that change when anything in a value, as JSON has it, does."""
    return hashlib.blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=8).hexdigest()


def differences(stored: dict[str, Any], now: dict[str, Any]) -> str:
    """Differences between a store's configuration or code and the present ones, in words."""
    return "; ".join(_differences("", stored, now))


def _differences(where: str, old: object, new: object) -> Iterator[str]:
    """Yield a line for each difference between two configurations."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in [*old, *(name for name in new if name not in old)]:
            inside = f"{where}.{name}" if where else name
            if name not in new:
                yield f"{inside}: {_short_value(old[name])} in the store, absent now"
            elif name not in old:
                yield f"{inside}: absent in the store, {_short_value(new[name])} now"
            else:
                yield from _differences(inside, old[name], new[name])
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new) > 6:
        apart = [place for place, pair in enumerate(zip(old, new)) if json.dumps(pair[0]) != json.dumps(pair[1])]
        for place in apart[:1]:
            more = f" (and {len(apart) - 1} more of its {len(old)} values)" if len(apart) > 1 else ""
            yield f"{where}[{place}]: {old[place]!r} in the store, {new[place]!r} now{more}"
    elif json.dumps(old) != json.dumps(new):
        yield f"{where}: {_short_value(old)} in the store, {_short_value(new)} now"


def _short_value(value: object) -> str:
    """Write a value, a long list by its ends."""
    if isinstance(value, list) and len(value) > 6:
        return f"[{value[0]!r}, ..., {value[-1]!r}] ({len(value)} values)"
    return repr(value)


def _plain_value(name: str, value: object) -> Any:
    """Python numbers, strings, lists and tables in place of NumPy's; anything else has no place in a configuration."""
    if isinstance(value, (np.ndarray, np.generic)):
        no_mask(name, value)
        value = value.tolist()
    if name == "function" or value is None or isinstance(value, (bool, int, float, str, Range)):
        return value
    if isinstance(value, (list, tuple, range)):
        return [_plain_value(f"{name}[{i}]", item) for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain_value(f"{name}.{key}", item) for key, item in value.items()}
    raise ConfigurationError(f"`{name}` must be numbers, strings, lists or tables: got {type(value).__name__}.")


def _parse_range(name: str, fields: dict[str, Any]) -> Range:
    """The range of an axis; its messages name the axis as well."""
    try:
        return Range(**fields)
    except ConfigurationError as error:
        inner = error.__context__
        if not isinstance(inner, ValidationError):
            raise
        inside = (sentence(problem, Range, f"axes.{name}.") for problem in inner.errors())
        raise ConfigurationError("; ".join(inside)) from None
