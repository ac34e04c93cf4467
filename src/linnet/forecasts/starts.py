"""Initial weights by name: those of a PyTorch layer, Gaussian layers, or given weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linnet._arguments import count, non_negative, positive
from linnet._randomness import Key, generator
from linnet.inits.gaussian_weights import gaussian, reduced_gaussian
from linnet.inits.weights import Weights, check_two_layers

INIT_NAMES = ("pytorch", "gaussian")
MAX_WEIGHTS = 5_000_000  # of a network that is drawn as it is; beyond, its reduced Gaussian law is
LARGEST_SCALE = 1e30  # training raises an initialization to the eighth power
LEAST_SCALE = 1e-100  # the square of a smaller start is lost beside anything: its regime could not be told


def layer_stds(init: Any, *, in_dim: int, width: int, scale: float = 1.0) -> tuple[float, float]:
    """Return the standard deviations of both layers' weights at initialization.

    "pytorch" is what `torch.nn.Linear` does, uniform within 1/sqrt(fan-in): variances 1/(3 d) and 1/(3 width);
    "gaussian" has variances 1/d and 1/width; a pair is the two standard deviations themselves; of given
    weights they follow from the lengths of the layers. `scale` multiplies both.
    """
    scale = _valid_scale(scale)
    if isinstance(init, Weights):
        check_two_layers(init, "init")
        size = float(np.sqrt(init.full_width))
        first, second = (float(np.linalg.norm(layer)) / size for layer in (init.first, init.second))
        return scale * first / math.sqrt(init.in_dim), scale * second / math.sqrt(init.out_dim)
    if isinstance(init, str) and init in INIT_NAMES:
        share = 3.0 if init == "pytorch" else 1.0
        return scale / math.sqrt(share * in_dim), scale / math.sqrt(share * width)
    try:
        first, second = [] if isinstance(init, str) else [*init]
    except (TypeError, ValueError):
        raise ValueError(
            f"`init` must be one of {', '.join(INIT_NAMES)}, a pair of standard deviations, or Weights: got {init!r}."
        ) from None
    return scale * non_negative("init", first), scale * non_negative("init", second)


def start(init: object, *, in_dim: int, out_dim: int, width: int, key: Key, scale: float = 1.0) -> Weights:
    """Draw initial weights by name, at any width.

    It implements settings such as `init="pytorch"`. In a program, we recommend `inits.gaussian` and `inits.scaling`.

    Networks of up to five million weights are drawn in full. Larger ones are drawn in reduced form, with Gaussian
    weights of the same variances. Their distribution differs from that of uniform weights by terms of order 1/width.

    **Arguments:**

    - `init`: initialization: `"pytorch"`, `"gaussian"`, a pair of standard deviations, or `Weights`, which are not
      changed
    - `in_dim`: number of inputs $d$
    - `out_dim`: number of outputs $k$
    - `width`: number of hidden units $h$
    - `key`: seed of the weights
    - `scale`: factor by which both layers are multiplied

    **Returns** `Weights`.

    **Example:**

        >>> from linnet.forecasts import start
        >>> start("pytorch", in_dim=3, out_dim=1, width=10**8, key=0).full_width
        100000000
    """
    width, in_dim, out_dim = count("width", width), count("in_dim", in_dim), count("out_dim", out_dim)
    if isinstance(init, Weights):
        check_two_layers(init, "init")
        if (init.in_dim, init.out_dim) != (in_dim, out_dim):
            raise ValueError(
                f"`init` must fit {in_dim} inputs and {out_dim} outputs: got weights for {init.in_dim} and "
                f"{init.out_dim}."
            )
        scale = _valid_scale(scale)
        return init if scale == 1.0 else Weights(scale * init.first, scale * init.second)
    first, second = layer_stds(init, in_dim=in_dim, width=width, scale=scale)
    small = width * (in_dim + out_dim) <= MAX_WEIGHTS
    if isinstance(init, str) and init == "pytorch" and small:
        random, root = generator(key), np.sqrt(3.0)
        return Weights(
            first * root * random.uniform(-1, 1, (width, in_dim)),
            second * root * random.uniform(-1, 1, (out_dim, width)),
        )
    draw = gaussian if small else reduced_gaussian
    return draw(key=key, in_dim=in_dim, out_dim=out_dim, width=width, stds=(first, second))


def _valid_scale(scale: float) -> float:
    """Return the scale of an initialization as a number; refuse one at which training cannot begin."""
    number = positive("init_scale", scale)
    if not LEAST_SCALE <= number <= LARGEST_SCALE:
        bound = f"at least {LEAST_SCALE:g}" if number < LEAST_SCALE else f"at most {LARGEST_SCALE:g}"
        raise ValueError(f"`init_scale` must be {bound}: training cannot begin at {number:g}.")
    return number
