"""What a reader of a page can set: named values with bounds, read from an address and written into it.

controls = grouped("Network", log("width", "Width h", 1000, (1, 1e12), "Hidden units."))
state = parse(controls, "width=1e6")          # {"width": 1000000}
query_string(controls, state)                 # "width=1000000": the inverse; defaults are left out
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

from linnet._arguments import did_you_mean

Kind = Literal["number", "whole", "log", "choice", "switch", "text", "numbers"]
Value = float | int | str | bool | tuple[float, ...]
State = dict[str, Any]

MAX_VALUE_CHARACTERS = 400
MAX_NUMBERS = 32  # entries of a list of numbers, unless the control says less
SINGLE_NUMBERS = ("number", "whole", "log")  # the kinds that have a slider
SWITCH_WORDS = {"on": True, "true": True, "1": True, "off": False, "false": False, "0": False}
NO_BOUNDS = (-math.inf, math.inf)


class ControlError(ValueError):
    """A value that a control refuses, with the control's name: the page marks it."""

    def __init__(self, message: str, control: str = "") -> None:
        super().__init__(message)
        self.control = control


@dataclass(frozen=True)
class Control:
    """One value of a page; the factories below (`number`, `whole`, ...) declare one of each kind.

    - `kind`: "number", "whole" (an integer), "log" (a slider on a logarithmic axis, whole if the default is an
      integer), "choice", "switch", "text" or "numbers" (a list, each entry within the bounds; empty only if the
      default is)
    - `name`: in the address and in the page's functions: another one breaks links; `label`: what the reader sees, with
      the paper's symbol
    - `default`: where the page starts, and what an address without it stands for; `bounds`: the least and the largest
      number; `help`: one sentence
    - `step`: of the slider (of "log": in decades)
    - `choices`: pairs (value, label) of a "choice"
    - `most`: entries of "numbers"
    - `group`: the heading under which it stands
    - `when`: another control's name, and the texts of its values with which this one matters: hidden otherwise
    - `plays`: a button beside the slider runs through its values
    - `hidden`: no input of its own: set by a click in a picture, and in the address all the same
    """

    kind: Kind
    name: str
    label: str
    default: Value
    bounds: tuple[float, float]
    help: str
    step: float | None = None
    choices: tuple[tuple[str, str], ...] = ()
    most: int = MAX_NUMBERS
    group: str = ""
    when: tuple[str, ...] = ()
    plays: bool = False
    hidden: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether its values are integers."""
        return self.kind == "whole" or (self.kind == "log" and isinstance(self.default, int))

    @property
    def has_slider(self) -> bool:
        """Whether a slider stands beside its box."""
        return self.kind in SINGLE_NUMBERS and not self.hidden

    @property
    def slider_range(self) -> tuple[float, float, float]:
        """The lowest and highest position of its slider, and the step between two; decades for "log"."""
        low, high = map(self.slider_position, self.bounds)
        if self.kind == "log":
            return low, high, self.step or 0.05
        return low, high, self.step or (1 if self.kind == "whole" else (high - low) / 100)

    def slider_position(self, value: float) -> float:
        """Return where the slider stands for a value.

        `syncSlider` and `textAtPosition` of assets/explorer.js have it and its inverse: change all three.
        """
        return math.log10(value) if self.kind == "log" else float(value)

    def read(self, raw: object) -> Value:
        """Return the value that `raw` (text of an address, or what an input of a page holds) stands for.

        Raises `ControlError`, the only error that `parse_leniently` collects; `write` is its inverse.
        """
        if self.kind == "switch":
            return self._read_switch(raw)
        if raw is None or (isinstance(raw, (list, tuple, dict)) and self.kind != "numbers"):
            raise self.refusal("is empty" if raw in (None, [], ()) else "is not a single value")
        text = ",".join(map(str, raw)) if isinstance(raw, (list, tuple)) else str(raw).strip()
        if len(text) > MAX_VALUE_CHARACTERS:
            raise self.refusal(f"must have at most {MAX_VALUE_CHARACTERS} characters: got {len(text)}")
        if self.kind == "choice" and text not in dict(self.choices):
            raise self.refusal(f"must be one of {', '.join(dict(self.choices))}: got {text!r}")
        if self.kind in ("choice", "text"):
            return text
        return self._read_numbers(text) if self.kind == "numbers" else self._read_number(text)

    def write(self, value: Value) -> str:
        """Return the text that stands for a value in an address and in an input."""
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, tuple):
            return ",".join(_number_text(entry) for entry in value)
        return _number_text(value) if isinstance(value, float) else str(value)

    def refusal(self, what: str) -> ControlError:
        """Return the error that refuses a value, in a sentence."""
        return ControlError(f"{self.label} {what}.", self.name)

    def _read_switch(self, raw: object) -> bool:
        """Return whether a switch is on, from a word or from the list that a checklist holds."""
        if isinstance(raw, (bool, list, tuple)):
            return bool(raw)
        word = str(raw).strip().lower()
        if word not in SWITCH_WORDS:
            raise self.refusal(f"must be on or off: got {str(raw)[:40]!r}")
        return SWITCH_WORDS[word]

    def _read_number(self, text: str) -> float | int:
        """Return the number that a text stands for; refuse one that is out of bounds, or not whole where it must be."""
        try:
            value = float(text.replace("\u2212", "-"))
        except ValueError:
            raise self.refusal(f"must be a number: got {text[:40]!r}" if text else "is empty") from None
        if not math.isfinite(value):
            raise self.refusal(f"must be finite: got {text[:40]}")
        low, high = self.bounds
        if not low <= value <= high:
            raise self.refusal(
                f"must be between {_number_text(low)} and {_number_text(high)}: got {_number_text(value)}"
            )
        if self.is_whole and value != round(value):
            raise self.refusal(f"must be a whole number: got {text[:40]}")
        return int(value) if self.is_whole else value

    def _read_numbers(self, text: str) -> tuple[float, ...]:
        """Return the numbers of a list with commas, semicolons or spaces between them; refuse too many."""
        parts = [part for part in text.replace(";", ",").replace(" ", ",").split(",") if part]
        if not parts and self.default != ():
            raise self.refusal("is empty")
        if len(parts) > self.most:
            raise self.refusal(f"must have at most {self.most} entries: got {len(parts)}")
        return tuple(float(self._read_number(part)) for part in parts)


# Each takes name, label, default, bounds and help, and further fields of `Control` by name.
number = partial(Control, "number")
whole = partial(Control, "whole")
log = partial(Control, "log")  # whole if the default is an integer
numbers = partial(Control, "numbers")


def choice(name: str, label: str, options: Mapping[str, str] | Sequence[str], help: str, **more: Any) -> Control:
    """Declare one of some values, the first by default; a mapping has the words that are shown for each."""
    pairs = tuple(options.items()) if isinstance(options, Mapping) else tuple((value, value) for value in options)
    return Control("choice", name, label, pairs[0][0], NO_BOUNDS, help, choices=pairs, **more)


def switch(name: str, label: str, default: bool, help: str, **more: Any) -> Control:
    """Declare a switch, on or off."""
    return Control("switch", name, label, default, NO_BOUNDS, help, **more)


def text(name: str, label: str, help: str, **more: Any) -> Control:
    """Declare words, empty by default."""
    return Control("text", name, label, "", NO_BOUNDS, help, **more)


def grouped(*headings_and_controls: str | Control) -> tuple[Control, ...]:
    """Return the controls, each under the heading (a text) that stands last before it."""
    heading, controls = "", []
    for entry in headings_and_controls:
        if isinstance(entry, str):
            heading = entry
        else:
            controls.append(replace(entry, group=heading))
    return tuple(controls)


def defaults(controls: Sequence[Control]) -> State:
    """Return the state in which a page starts."""
    return {control.name: control.default for control in controls}


def parse(controls: Sequence[Control], query: str | Mapping[str, object]) -> State:
    """Return the state that a query string, or the values of a page's inputs by name, stand for.

    What is not named has its default. Raises `ControlError`, a `ValueError` of one sentence, for an unknown or repeated
    name and for a value out of bounds.
    """
    state, refused = parse_leniently(controls, query)
    if refused:
        raise refused[0]
    return state


def parse_leniently(controls: Sequence[Control], query: str | Mapping[str, object]) -> tuple[State, list[ControlError]]:
    """Return the state of a query without what is wrong in it, and the errors: the rest of a link still counts.

    A query string that has no fields to read (see `query_fields`) is an error that is raised.
    """
    known = {control.name: control for control in controls}
    state, refused = defaults(controls), []
    for name, raw in (query_fields(query) if isinstance(query, str) else query).items():
        try:
            if name not in known:
                raise ControlError(f"This page has no control {str(name)[:40]!r}{did_you_mean(str(name)[:40], known)}")
            state[name] = known[name].read(raw)
        except ControlError as reason:
            refused.append(reason)
    return state, refused


def query_fields(query: str) -> dict[str, str]:
    """Return the fields of a query string by name; each may be set once."""
    try:
        pairs = parse_qsl(query.lstrip("?"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        raise ControlError("This address has too many fields.") from None
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ControlError(f"This address sets {name[:40]!r} more than once.")
    return dict(pairs)


def query_string(controls: Sequence[Control], state: Mapping[str, Value]) -> str:
    """Return the query string of a state: what differs from the defaults; `parse` is its inverse."""
    changed = [control for control in controls if state[control.name] != control.default]
    return urlencode([(control.name, control.write(state[control.name])) for control in changed], safe=",")


def _number_text(value: float) -> str:
    """Return the shortest text that reads as the same number; without a decimal point where it is whole."""
    return str(int(value)) if value == round(value) and abs(value) < 1e15 else repr(float(value))
