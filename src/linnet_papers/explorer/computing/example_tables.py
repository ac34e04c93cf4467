"""Tables that come with scikit-learn, to try a diagnosis on: each a data frame with its usual targets."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# By the name of their functions in `sklearn.datasets`, which begin with "load_".
EXAMPLES = {
    "wine": "178 wines, 13 measured properties, 3 growers (one column each)",
    "diabetes": "442 patients, 10 properties, the disease a year later",
    "linnerud": "20 men, 3 exercises, 3 measures of the body",
    "iris": "150 flowers, 4 lengths, 3 species (one column each)",
    "digits": "1797 pictures of 64 pixels, 10 digits (one column each); takes seconds",
}
CLASSIFIED = ("wine", "iris", "digits")  # whose target is a class


@cache
def example_frame(name: str) -> tuple[pd.DataFrame, list[str]]:
    """Return the example as one data frame, and the names of its targets; both are kept, and must not be changed.

    >>> example_frame("linnerud")[1]
    ['Weight', 'Waist', 'Pulse']
    """
    import pandas as pd
    from sklearn import datasets

    if name not in EXAMPLES:
        raise ValueError(f"`table` must be one of {', '.join(EXAMPLES)}, or an uploaded one: got {str(name)[:80]!r}.")
    data = getattr(datasets, f"load_{name}")(as_frame=True)
    if name in CLASSIFIED:
        targets = pd.get_dummies(data.target, prefix="class", dtype=float)
    else:
        targets = pd.DataFrame(data.target)
    return pd.concat([data.data, targets], axis=1), [str(column) for column in targets.columns]
