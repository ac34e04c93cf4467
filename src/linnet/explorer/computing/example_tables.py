"""Tables that come with scikit-learn, to try a diagnosis on: each a data frame with its usual targets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Example:
    """A table of `sklearn.datasets`: its function there, what it holds, and whether its target is a class."""

    loader: str
    about: str
    classes: bool = False


EXAMPLES = {
    "wine": Example("load_wine", "178 wines, 13 measured properties, 3 growers (one column each)", classes=True),
    "diabetes": Example("load_diabetes", "442 patients, 10 properties, the disease a year later"),
    "linnerud": Example("load_linnerud", "20 men, 3 exercises, 3 measures of the body"),
    "iris": Example("load_iris", "150 flowers, 4 lengths, 3 species (one column each)", classes=True),
    "digits": Example("load_digits", "1797 pictures of 64 pixels, 10 digits (one column each); takes seconds", True),
}


@cache
def frame(name: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The example as one data frame, and the names of its targets.

    >>> frame("linnerud")[1]
    ('Weight', 'Waist', 'Pulse')
    """
    import pandas as pd

    example = _known(name)
    data = _loaded(example)
    if not example.classes:
        targets = data.target.to_frame() if data.target.ndim == 1 else data.target
        return pd.concat([data.data, targets], axis=1), tuple(map(str, targets.columns))
    targets = pd.get_dummies(data.target, prefix="class", dtype=float)
    return pd.concat([data.data, targets], axis=1), tuple(map(str, targets.columns))


def script(name: str) -> str:
    """Lines of Python that make the same data frame, named `frame`, and its `targets`."""
    example = _known(name)
    lines = [
        "import pandas as pd",
        f"from sklearn.datasets import {example.loader}",
        "",
        f"data = {example.loader}(as_frame=True)",
    ]
    if example.classes:
        lines.append('targets = pd.get_dummies(data.target, prefix="class", dtype=float)')
    else:
        lines.append("targets = pd.DataFrame(data.target)")
    return "\n".join([*lines, "frame = pd.concat([data.data, targets], axis=1)"])


def _known(name: str) -> Example:
    if name not in EXAMPLES:
        raise ValueError(f"`table` must be one of {', '.join(EXAMPLES)}, or an uploaded one: got {str(name)[:80]!r}.")
    return EXAMPLES[name]


def _loaded(example: Example) -> Any:
    from sklearn import datasets

    return getattr(datasets, example.loader)(as_frame=True)
