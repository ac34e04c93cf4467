"""The standard scalings of wide networks by name: the initial size of each layer, and its learning rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from linnet._arguments import count, none_negative, one_or_each, positive, refuse_infinite, representable, shown

SCALINGS = ("ntk", "mup", "pytorch")


@dataclass(frozen=True)
class Scaling:
    """Result of `scaling`: the standard deviation and the learning rate of each layer.

    **Attributes:**

    - `stds`: standard deviations of $W_1, \\dots, W_L$, (layer,)
    - `rates`: learning rate of each layer as a multiple of the common one, for `layer_rates` of the trainers, (layer,)

    **Example:**

        >>> from linnet.inits import scaling
        >>> scaling("mup", in_dim=4, out_dim=1, width=100, depth=3).rates.tolist()
        [100.0, 1.0, 0.01]
    """

    stds: np.ndarray
    rates: np.ndarray


@representable
def scaling(
    name: str, *, in_dim: int, out_dim: int, width: int | Sequence[int], depth: int, output_factor: float = 1.0
) -> Scaling:
    r"""Return the standard deviations and learning rates of a standard scaling: NTK, muP or PyTorch's default.

    Pass its `stds` to `gaussian` and its `rates` to `gradient_descent` as `layer_rates`. In linnet, layers are
    multiplied without factors, $f(x) = W_L \cdots W_1 x$. A factor that the usual form has in front of a layer
    therefore becomes part of `stds` and `rates`. A layer has $n$ inputs and $m$ outputs:

    | name | standard deviations | rates | usual form |
    |---|---|---|---|
    | `"ntk"` | $n^{-1/2}$ | $1/n$ | entries N(0, 1), every layer divided by $\sqrt n$, one rate |
    | `"mup"` | $n^{-1/2}$, the last layer $n^{-1}$ | first $m$, last $1/n$, inner 1 | maximal update, for descent |
    | `"pytorch"` | $(3n)^{-1/2}$ | 1 | `torch.nn.Linear`, uniform up to $n^{-1/2}$ |

    A factor $\alpha$ of the output, $f = \alpha W_L \cdots W_1 x$, becomes part of the last layer. The standard
    deviation of the last layer is multiplied by $\alpha$ and its rate by $\alpha^2$, which gives the same function at
    every step.

    **Arguments:**

    - `name`: name of the scaling: `"ntk"`, `"mup"` or `"pytorch"`
    - `in_dim`: number of inputs
    - `out_dim`: number of outputs
    - `width`: width of the hidden layers, one number or `depth - 1` of them
    - `depth`: number of layers $L$
    - `output_factor`: factor $\alpha$ of the output

    **Returns** a `Scaling`.

    **Reference:** Jacot et al. 2018 (NTK); Yang and Hu 2021, and Table 3 of Yang et al. 2022 (maximal update).

    **Example:**

        >>> from linnet.inits import scaling
        >>> scaling("ntk", in_dim=4, out_dim=1, width=100, depth=2).stds.tolist()
        [0.5, 0.1]
    """
    if not isinstance(name, str) or name not in SCALINGS:
        raise ValueError(f"`name` must be one of {', '.join(SCALINGS)}: got {shown(name)}.")
    sizes = np.array(shapes(in_dim, out_dim, width, depth), dtype=float)
    factor = positive("output_factor", output_factor)
    into, out = sizes[:-1], sizes[1:]
    stds, rates = 1 / np.sqrt(into), np.ones_like(into)
    if name == "ntk":
        rates = 1 / into
    elif name == "pytorch":
        stds = stds / np.sqrt(3)
    else:
        stds[-1] = 1 / into[-1]
        rates[0], rates[-1] = out[0], 1 / into[-1]
    stds[-1] *= factor
    rates[-1] *= factor**2
    refuse_infinite(1 / rates[-1])  # a rate that has become zero would leave the last layer as it started
    return Scaling(stds, rates)


def shapes(in_dim: int, out_dim: int, width: int | Sequence[int], depth: int) -> list[int]:
    """Numbers of units from the inputs to the outputs, `depth + 1` of them."""
    depth = count("depth", depth, least=2, most=1000)
    if isinstance(width, (Sequence, np.ndarray)) and not isinstance(width, (str, bytes)) and np.ndim(width) == 1:
        hidden = [count("width", one) for one in width]
        if len(hidden) != depth - 1:
            raise ValueError(
                f"`width` must be one number or one for each of the {depth - 1} hidden layers: got {len(hidden)}."
            )
    else:
        hidden = [count("width", width)] * (depth - 1)
    return [count("in_dim", in_dim), *hidden, count("out_dim", out_dim)]


def layer_sizes(name: str, value: object, *, sizes: list[int]) -> np.ndarray:
    """One non-negative number for each layer: given as one, as a list, or as the name of a scaling."""
    depth = len(sizes) - 1
    if isinstance(value, str):
        if value not in SCALINGS:
            raise ValueError(f"`{name}` must be numbers, or one of {', '.join(SCALINGS)}: got {shown(value)}.")
        return scaling(value, in_dim=sizes[0], out_dim=sizes[-1], width=sizes[1:-1], depth=depth).stds
    array = none_negative(name, one_or_each(name, value, depth, f"{depth} layers"))
    return np.broadcast_to(array, (depth,)).copy()
