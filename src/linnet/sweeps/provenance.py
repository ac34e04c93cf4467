"""Where numbers come from: the attributes every stored result carries."""

from __future__ import annotations

import hashlib
import importlib
import json
import platform
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import linnet
from linnet.sweeps.configuration import Sweep
from linnet.trajectories.dataset import provenance


def attributes(sweep: Sweep, *, executor: str, devices: Iterable[str]) -> dict[str, Any]:
    """Version, commit, configuration, seed, precision and machine, as plain strings and numbers."""
    return {
        "title": sweep.name,
        **provenance(),
        "configuration": json.dumps(sweep.plain(), sort_keys=True),
        "function_source": source(sweep.function),
        "seed": sweep.seed,
        "dtype": sweep.dtype or "as the function has it",
        "device": "; ".join(sorted(devices)) or "none yet",
        "executor": executor,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def device() -> str:
    """What JAX computes on in this process, if it has been started; the processor's name otherwise."""
    jax = sys.modules.get("jax")
    if jax is None:
        return f"{platform.machine()} (without JAX)"
    first = jax.devices()[0]
    return f"{first.platform}: {first.device_kind}, JAX {jax.__version__}"


def source(function: str) -> str:
    """A fingerprint of the file a cell function is in, of all of linnet for its own; 'unknown' where there is no file."""
    name = function.partition(":")[0]
    if name.partition(".")[0] == "linnet":
        return package()
    try:
        content = Path(importlib.import_module(name).__file__ or "").read_bytes()
    except (ImportError, OSError, AttributeError):
        content = b""
    return hashlib.blake2b(content, digest_size=6).hexdigest() if content else "unknown"


@cache
def package(without: tuple[str, ...] = ("cli/",)) -> str:
    """A digest of linnet's version and of its source files, but those whose paths begin with one of `without`."""
    folder = Path(linnet.__file__).parent
    digest = hashlib.blake2b(linnet.__version__.encode(), digest_size=6)
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        if not name.startswith(without):
            digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
