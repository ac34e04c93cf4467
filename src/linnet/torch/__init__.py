"""PyTorch: reading pairs of linear layers, watching them while they train, forecasting models made of one.

PyTorch is optional: it is imported when one of the names of `__init__.pyi` is first used, and its absence raises one
sentence.
"""

from typing import Any

import lazy_loader

from linnet import _extras as extras

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except ModuleNotFoundError as reason:
        if reason.name != "torch":
            raise
        raise ModuleNotFoundError(extras.line("torch", "linnet.torch"), name="torch") from None
