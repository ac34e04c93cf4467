"""Functions by name: the only place that reads `module:function`, and that imports such a name."""

from __future__ import annotations

import importlib
import keyword
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from linnet.sweeps.errors import ConfigurationError

# The modules whose functions a file may name without leave, one by one: none of them writes, or runs what it is given.
ALLOWED = (
    "linnet.sweeps.cells",
    "linnet.problems",
    "linnet.problems.low_rank",
    "linnet.problems.spectra",
    "linnet.problems.spiked",
    "linnet.problems.subgaussian",
    "linnet.problems.synthetic",
)
_NAME = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*)", re.ASCII)
_allowed: ContextVar[tuple[str, ...] | None] = ContextVar("modules that may be named; None: all", default=None)


@contextmanager
def allowing(modules: tuple[str, ...] | None) -> Iterator[None]:
    """Inside the block, functions of these modules alone may be named; None allows all, for sweeps made in Python."""
    token = _allowed.set(modules)
    try:
        yield
    finally:
        _allowed.reset(token)


def parse(name: object) -> tuple[str, str]:
    """Return the module and the function of a name; refuse what is not exactly `module:function`."""
    match = _NAME.fullmatch(name) if isinstance(name, str) else None
    if match is None or any(keyword.iskeyword(part) for part in re.split("[.:]", match[0])):
        raise ConfigurationError(f"must name a function of a module as 'module:function': got {name!r}")
    return match[1], match[2]


def check(name: object) -> tuple[str, str]:
    """Parse a name, and refuse a module that may not be named here, and private names. Nothing is imported."""
    module, function = parse(name)
    allowed = _allowed.get()
    if allowed is not None and (module not in allowed or function.startswith("_")):
        raise ConfigurationError(
            f"the file names the function `{name}`, which running the sweep would import and call. Read the file and "
            f"that function; then allow its module, by its full name, in `code`: --code {module} or code=[{module!r}]. "
            "Private functions cannot be allowed."
        )
    return module, function


def find(name: object) -> Callable[..., Any]:
    """Import a function by its name. Where not all are allowed, it must be defined in an allowed module."""
    module, attribute = check(name)
    allowed = _allowed.get()
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except (Exception, SystemExit) as error:  # a module may raise anything
        raise ConfigurationError(
            f"cannot import the module of `{name}`: {type(error).__name__}: {error}. It must be on the Python path "
            "here and on every worker (`linnet sweep --code MODULE` adds the folder of the file)."
        ) from error
    if not callable(found) or isinstance(found, type):
        raise ConfigurationError(f"module `{module}` has no function `{attribute}`.")
    home = getattr(found, "__module__", None)
    if allowed is not None and home not in allowed:
        raise ConfigurationError(f"`{name}` is defined in `{home}`, which is not among the allowed modules.")
    return found


def texts(settings: object) -> list[str]:
    """The strings in settings, however deep in lists and tables they stand."""
    if isinstance(settings, str):
        return [settings]
    if isinstance(settings, Mapping):
        settings = list(settings.values())
    return [text for entry in settings for text in texts(entry)] if isinstance(settings, (list, tuple)) else []


def named_functions(settings: object) -> list[str]:
    """The strings in settings that are names of functions."""
    found = []
    for text in texts(settings):
        with suppress(ConfigurationError):
            parse(text)
            found.append(text)
    return found
