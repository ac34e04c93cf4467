"""What a reader of a page can set: named values with bounds, read from an address and written into it.

controls = group("Network", log("width", "Width h", 1000, (1, 1e12), "Hidden units."))
state = parse(controls, "width=1e6")          # {"width": 1000000}
address(controls, state)                      # "width=1000000": the inverse; defaults are left out
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack
from urllib.parse import parse_qsl, urlencode

from linnet._arguments import did_you_mean

Kind = Literal["number", "whole", "log", "choice", "switch", "text", "numbers"]
Value = float | int | str | bool | tuple[float, ...]
State = dict[str, Any]

MAX_CHARACTERS = 400  # characters of a value
MAX_NUMBERS = 32  # entries of a list of numbers, unless the control says less


class ControlError(ValueError):
    """A value that a control refuses, with the control's name: the page marks it."""

    def __init__(self, message: str, control: str = "") -> None:
        super().__init__(message)
        self.control = control


@dataclass(frozen=True)
class Control:
    """One value of a page.

    - `name`: in the address and in the page's functions; `label`: what the reader sees, with the paper's symbol
    - `help`: one sentence; `default`: where the page starts; `unit`: shown behind the label
    - `kind`: "number", "whole" (an integer), "log" (a slider on a logarithmic axis, whole if the default is an
      integer), "choice", "switch", "text" or "numbers" (a list, each entry within the bounds; empty only if the
      default is)
    - `low`, `high`, `step`: bounds, and the slider's step (of "log": in decades)
    - `choices`: pairs (value, label) of a "choice", or plain values
    - `most`: entries of "numbers"
    - `group`: the heading under which it stands
    - `when`: (another control, the values with which this one matters): hidden otherwise
    - `computes`: False for what only the drawing needs (a cursor, a switch of an overlay): moving it computes nothing
    - `plays`: a button beside the slider runs through its values
    - `hidden`: no input of its own: set by a click in a picture, and in the address all the same
    """

    name: str
    label: str
    help: str
    default: Value
    kind: Kind
    low: float | None = None
    high: float | None = None
    step: float | None = None
    choices: tuple[str | tuple[str, str], ...] = ()
    unit: str = ""
    most: int = MAX_NUMBERS
    group: str = ""
    when: tuple[str, tuple[Value, ...]] | None = None
    computes: bool = True
    plays: bool = False
    hidden: bool = False

    @property
    def options(self) -> tuple[tuple[str, str], ...]:
        """The choices as pairs (value, label)."""
        return tuple((one, one) if isinstance(one, str) else one for one in self.choices)

    @property
    def whole(self) -> bool:
        """Whether its values are integers."""
        return self.kind == "whole" or (self.kind == "log" and isinstance(self.default, int))

    def read(self, raw: object) -> Value:
        """The value that `raw` (text of an address, or what an input of a page holds) stands for; checked."""
        if self.kind == "switch":
            return self._switch(raw)
        if raw is None or (isinstance(raw, (list, tuple, dict)) and self.kind != "numbers"):
            raise self.refusal("is empty" if raw in (None, [], ()) else "is not a single value")
        text = ",".join(map(str, raw)) if isinstance(raw, (list, tuple)) else str(raw).strip()
        if len(text) > MAX_CHARACTERS:
            raise self.refusal(f"must have at most {MAX_CHARACTERS} characters: got {len(text)}")
        if self.kind == "choice":
            values = [value for value, _ in self.options]
            if text not in values:
                raise self.refusal(f"must be one of {', '.join(values)}: got {text!r}")
            return text
        if self.kind == "text":
            return text
        if self.kind == "numbers":
            return self._numbers(text)
        return self._number(text)

    def write(self, value: Value) -> str:
        """The text that stands for a value in an address and in an input."""
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, tuple):
            return ",".join(_short(entry) for entry in value)
        return _short(value) if isinstance(value, float) else str(value)

    def refusal(self, what: str) -> ControlError:
        """The sentence that refuses a value."""
        return ControlError(f"{self.label} {what}.", self.name)

    def _switch(self, raw: object) -> bool:
        if isinstance(raw, bool):
            return raw
        if isinstance(raw, (list, tuple)):  # a checklist's value
            return bool(raw)
        words = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
        if str(raw).strip().lower() not in words:
            raise self.refusal(f"must be on or off: got {str(raw)[:40]!r}")
        return words[str(raw).strip().lower()]

    def _number(self, text: str) -> float | int:
        try:
            value = float(text.replace("\u2212", "-"))
        except ValueError:
            raise self.refusal(f"must be a number: got {text[:40]!r}" if text else "is empty") from None
        if not math.isfinite(value):
            raise self.refusal(f"must be finite: got {text[:40]}")
        self._check_bounds(value)
        if self.whole:
            if value != round(value):
                raise self.refusal(f"must be a whole number: got {text[:40]}")
            return int(value)
        return value

    def _numbers(self, text: str) -> tuple[float, ...]:
        parts = [part for part in text.replace(";", ",").replace(" ", ",").split(",") if part]
        if not parts and self.default != ():
            raise self.refusal("is empty")
        if len(parts) > self.most:
            raise self.refusal(f"must have at most {self.most} entries: got {len(parts)}")
        return tuple(float(self._number(part)) for part in parts)

    def _check_bounds(self, value: float) -> None:
        low, high = self.low, self.high
        if (low is not None and value < low) or (high is not None and value > high):
            if low is not None and high is not None:
                wanted = f"between {_short(low)} and {_short(high)}"
            else:
                wanted = f"at least {_short(low)}" if low is not None else f"at most {_short(high or 0.0)}"
            raise self.refusal(f"must be {wanted}: got {_short(value)}")


class Fields(TypedDict, total=False):
    """What a control may say besides: see `Control`."""

    step: float
    unit: str
    most: int
    when: tuple[str, tuple[Value, ...]]
    computes: bool
    plays: bool
    hidden: bool


def number(
    name: str, label: str, default: float, bounds: tuple[float, float], help: str, **more: Unpack[Fields]
) -> Control:
    """A number between two bounds, with a slider; `more` are fields of `Control`."""
    return Control(name, label, help, default, "number", *bounds, **more)


def whole(name: str, label: str, default: int, bounds: tuple[int, int], help: str, **more: Unpack[Fields]) -> Control:
    """An integer between two bounds, with a slider."""
    return Control(name, label, help, default, "whole", *bounds, **more)


def log(
    name: str, label: str, default: float, bounds: tuple[float, float], help: str, **more: Unpack[Fields]
) -> Control:
    """Declare a positive number whose slider is logarithmic; whole if the default is an integer."""
    return Control(name, label, help, default, "log", *bounds, **more)


def choice(
    name: str, label: str, options: Mapping[str, str] | Sequence[str], help: str, **more: Unpack[Fields]
) -> Control:
    """One of some values, the first by default; a mapping has the words that are shown for each."""
    pairs = tuple(options.items()) if isinstance(options, Mapping) else tuple((value, value) for value in options)
    return Control(name, label, help, pairs[0][0], "choice", choices=pairs, **more)


def switch(name: str, label: str, default: bool, help: str, **more: Unpack[Fields]) -> Control:
    """On or off."""
    return Control(name, label, help, default, "switch", **more)


def text(name: str, label: str, help: str, **more: Unpack[Fields]) -> Control:
    """Words, empty by default."""
    return Control(name, label, help, "", "text", **more)


def numbers(
    name: str, label: str, default: tuple[float, ...], bounds: tuple[float, float], help: str, **more: Unpack[Fields]
) -> Control:
    """A list of numbers, each between two bounds."""
    return Control(name, label, help, default, "numbers", *bounds, **more)


def group(heading: str, *controls: Control) -> tuple[Control, ...]:
    """Controls under one heading."""
    return tuple(replace(one, group=heading) for one in controls)


def when(other: str, value: Value, *controls: Control) -> tuple[Control, ...]:
    """Controls that matter only while another one has this value."""
    return tuple(replace(one, when=(other, (value,))) for one in controls)


def defaults(controls: Sequence[Control]) -> State:
    """The state in which a page starts."""
    return {control.name: control.default for control in controls}


def parse(controls: Sequence[Control], query: str | Mapping[str, object]) -> State:
    """The state that a query string, or the values of a page's inputs by name, stand for.

    What is not named has its default. Raises `ControlError`, a `ValueError` of one sentence, for an unknown or repeated
    name and for a value out of bounds.
    """
    known = {control.name: control for control in controls}
    given = _pairs(query) if isinstance(query, str) else dict(query)
    for name in given:
        if name not in known:
            raise ControlError(f"This page has no control {str(name)[:40]!r}{did_you_mean(str(name)[:40], known)}")
    state = defaults(controls)
    for name, raw in given.items():
        state[name] = known[name].read(raw)
    return state


def parse_leniently(controls: Sequence[Control], query: str) -> tuple[State, list[ControlError]]:
    """The state of a query string without what is wrong in it, and what is wrong: the rest of a link still counts."""
    state, refused = defaults(controls), []
    for name, raw in _pairs(query).items():
        try:
            state |= {name: parse(controls, {name: raw})[name]}
        except ControlError as reason:
            refused.append(reason)
    return state, refused


def address(controls: Sequence[Control], state: Mapping[str, Value]) -> str:
    """The query string of a state: what differs from the defaults; `parse` is its inverse."""
    return urlencode(
        [
            (control.name, control.write(state[control.name]))
            for control in controls
            if state[control.name] != control.default
        ],
        safe=",",
    )


def _pairs(query: str) -> dict[str, object]:
    try:
        pairs = parse_qsl(query.lstrip("?"), keep_blank_values=True, strict_parsing=False, max_num_fields=100)
    except ValueError:
        raise ControlError("This address has too many fields.") from None
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ControlError(f"This address sets {name[:40]!r} more than once.")
    return dict(pairs)


def _short(value: float) -> str:
    """The shortest text that reads as the same number; without a decimal point where it is whole."""
    return str(int(value)) if value == round(value) and abs(value) < 1e15 else repr(float(value))
