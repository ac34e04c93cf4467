"""Relations between the two layers: imbalance and alignment."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet._arguments import representable
from linnet.inits.weights import Weights, check_two_layers


@representable
def imbalance(weights: Weights) -> Float[np.ndarray, "*batch hidden hidden"]:
    """Return the imbalance of the layers, which gradient flow conserves.

    If the imbalance changes during training, the cause is large steps, weight decay or an adaptive optimizer. Deeper
    networks have `Weights.imbalances`.

    $$ M = W_1 W_1^T - W_2^T W_2 $$

    **Arguments:**

    - `weights`: weights of the network

    **Returns** $M$, (..., hidden, hidden).

    **Example:**

        >>> import linnet as ln
        >>> from linnet.observables import imbalance
        >>> imbalance(ln.Weights([[2.0]], [[1.0]])).tolist()
        [[3.0]]
    """
    return check_two_layers(weights).imbalance
