"""Where numbers come from: the attributes every stored result carries."""

from __future__ import annotations

import hashlib
import importlib
import json
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

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


def commit() -> str:
    """The commit of the checkout linnet runs from, with `-dirty` when files differ; 'unknown' for an installed copy."""
    return str(provenance()["linnet_commit"])


def device() -> str:
    """What JAX computes on in this process, if it has been started; the processor's name otherwise."""
    jax = sys.modules.get("jax")
    if jax is None:
        return f"{platform.machine()} (without JAX)"
    first = jax.devices()[0]
    return f"{first.platform}: {first.device_kind}, JAX {jax.__version__}"


def source(function: str) -> str:
    """A fingerprint of the file a cell function is in; 'unknown' where there is no file."""
    try:
        module = importlib.import_module(function.partition(":")[0])
        content = Path(module.__file__ or "").read_bytes()
    except (ImportError, OSError, AttributeError):
        content = b""
    return hashlib.blake2b(content, digest_size=6).hexdigest() if content else "unknown"
