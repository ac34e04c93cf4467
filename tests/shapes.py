"""The type checker of `make test-shapes`: arrays have the shapes that their annotations state, at run time."""

import re
from collections.abc import Callable
from typing import Any

from beartype import BeartypeConf, beartype

OF_ARRAYS = re.compile(r"\b(Float|Int|Bool|Complex|Shaped)\[")
STRICT = BeartypeConf(is_pep484_tower=True)  # an int is a float, which is a complex number


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """Check the shapes of arguments and results; mypy checks the other annotations."""
    function.__annotations__ = {
        name: annotation if OF_ARRAYS.search(str(annotation)) else Any
        for name, annotation in function.__annotations__.items()
    }
    return beartype(conf=STRICT)(function)
