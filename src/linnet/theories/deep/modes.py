"""Wide Gaussian and orthogonal initializations: every mode is a tiny separate network."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import (
    broadcast,
    count,
    none_negative,
    one_or_each,
    positive,
    real_array,
    refuse_infinite,
    representable,
    times_array,
)
from linnet.theories.deep._trees import MAX_UNITS, couplings, integrate_products

MAX_LETTERS = 40
RTOL = 1e-9  # of the integration


@representable
def gaussian_modes(
    values: ArrayLike,
    coupling: ArrayLike,
    depth: int,
    times: ArrayLike,
    *,
    initial_values: ArrayLike = 0.0,
    order: int | None = None,
    rtol: float = 1e-5,
) -> Float[np.ndarray, "time mode"]:
    r"""Return the singular values of the product of a wide deep Gaussian network over time.

    Use it for three or more layers; for two, `lazy_active.mode_values` has a closed form. Networks with orthogonal
    layers follow `orthogonal_modes`.

    Each singular value S of the target follows a separate network with one input, one output and infinitely many hidden
    units. This network is represented by monomials, which are products of the inner matrices and their transposes. Two
    monomials have degree zero: the image of the input in the first hidden layer, and the row of the last layer in the
    last one. Multiplying a monomial in hidden layer l by $W_{l+1}$ or $W_l^T$ gives the next ones, with the coupling
    $c_l = \sqrt w\,\mathrm{std}_l$. At depth 2 there are no inner matrices, and the result is $\dot s = 2\sqrt{s^2 +
    g^2}(S - s)$ with $g = c^2$.

    **Arguments:**

    - `values`: singular values $S \ge 0$ of the target, (mode,)
    - `coupling`: coupling $c_l = \sqrt w\,\mathrm{std}_l$, one number or one for each layer
    - `depth`: number of layers $L$
    - `times`: times (learning rate times number of steps), increasing, (time,)
    - `initial_values`: initial values $s(0)$, small compared with the product of the couplings, one number or one for
      each mode
    - `order`: largest degree of the monomials that are kept; the default is large enough that two more degrees change
      the result by less than `rtol`
    - `rtol`: allowed error, as a fraction of the largest singular value

    **Returns** $s(t)$, (time, mode).

    **Valid when** the inputs are whitened, the width $w$ is large compared with the numbers of inputs and outputs, and
    the initial product is negligible. Networks of width $w$ deviate by about $w^{-1/2}$.

    **Reference:** own result; Chizat et al. 2022 and Bordelon and Pehlevan 2022 treat infinite width at fixed data.

    **Example:**

        >>> from linnet.theories.deep import gaussian_modes
        >>> gaussian_modes([2.0, 0.5], 0.3, depth=3, times=[0.0, 2.0, 50.0]).round(2).tolist()
        [[0.0, 0.0], [1.89, 0.03], [2.0, 0.5]]
    """
    S, c, L, clock = _check_modes(values, coupling, depth, times, "coupling")
    tolerance, overlaps = positive("rtol", rtol), _overlaps(initial_values, S, c)
    if order is not None or L == 2:
        longest = 0 if order is None else count("order", order, least=max(0, L - 3), most=MAX_LETTERS)
        return _modes_from_words(S, c, clock, longest, overlaps)
    letters = L
    modes = _modes_from_words(S, c, clock, letters, overlaps)
    size = max(float(S.max()), float(np.abs(modes).max()))
    while letters + 2 <= MAX_LETTERS and max(len(layer) for layer in couplings(L, letters + 2)) <= MAX_UNITS:
        letters += 2
        longer = _modes_from_words(S, c, clock, letters, overlaps)
        change, modes = float(np.abs(longer - modes).max()), longer
        if not change > tolerance * size:
            return modes
    raise ArithmeticError(
        f"words of {letters} letters do not suffice for `rtol` = {tolerance:g} at depth {L}: allow more, or give "
        "`order` to insist."
    )


@representable
def orthogonal_modes(
    values: ArrayLike, scales: ArrayLike, depth: int, times: ArrayLike, *, initial_values: ArrayLike = 0.0
) -> Float[np.ndarray, "time mode"]:
    r"""Return the singular values of the product of a deep network with orthogonal layers over time.

    If the layers are balanced, `balanced_modes` has a closed form. Gaussian layers follow `gaussian_modes`.

    Every mode follows a separate network with two units in each hidden layer and the layers $c_1 e_1$, $c_l I$ and
    $c_L (o, \sqrt{1 - o^2})$, where $o$ is the initial strength of the mode over $c_1 \cdots c_L$.

    **Arguments:**

    - `values`: singular values $S \ge 0$ of the target, (mode,)
    - `scales`: singular values $c_l$ of each layer at initialization, one number or one for each layer
    - `depth`: number of layers $L$
    - `times`: times (learning rate times number of steps), increasing, (time,)
    - `initial_values`: initial values $s(0)$, at most the product of the scales, one number or one for each mode

    **Returns** $s(t)$, (time, mode).

    **Valid when** the inputs are whitened, the hidden layers are wide compared with the number of inputs and outputs,
    and the initial product is negligible outside of the modes.

    **Example:**

        >>> from linnet.theories.deep import orthogonal_modes
        >>> orthogonal_modes([2.0, 0.5], 0.3, depth=3, times=[0.0, 50.0]).round(2).tolist()
        [[0.0, 0.0], [2.0, 0.5]]
    """
    S, c, _, clock = _check_modes(values, scales, depth, times, "scales")
    o = _overlaps(initial_values, S, c)
    last = np.stack([o, np.sqrt(1 - o**2)], axis=1)[:, None, :]
    each = [np.broadcast_to(layer, (S.size, *layer.shape)) for layer in (np.array([[1.0], [0.0]]), np.eye(2))]
    return _modes_from_layers(S, [c[0] * each[0], *(one * each[1] for one in c[1:-1]), c[-1] * last], clock)


def _overlaps(initial_values: ArrayLike, S: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Return the initial values over the product of the layers' sizes, one for each mode."""
    given = real_array("initial_values", initial_values, ndim=(0, 1))
    if given.ndim and given.size != S.size:
        broadcast(values=S, initial_values=given)
    size = float(np.prod(c))
    if (np.abs(given) > size * (1 + 1e-9)).any():
        raise ValueError(
            f"`initial_values` must be at most the product of the layers' sizes, {size:.3g}: got {given.max():.3g}."
        )
    return np.broadcast_to(np.clip(given / (size if size > 0 else 1.0), -1.0, 1.0), S.shape)


def _modes_from_words(S: np.ndarray, c: np.ndarray, clock: np.ndarray, order: int, overlaps: np.ndarray) -> np.ndarray:
    """Return the modes of a wide network from couplings of words up to `order`.

    The image of the input under all but the last inner layer overlaps with the row of the last layer.
    """
    layers = couplings(len(c), order)
    unit = 0
    for layer in layers[1:-2]:
        unit = int(np.argmax(layer[:, unit]))
    networks = [one * np.repeat(layer[None], S.size, axis=0) for one, layer in zip(c, layers, strict=True)]
    before = networks[-2] if len(c) > 2 else networks[-1]
    before[:, 0, unit] += c[-2 if len(c) > 2 else -1] * overlaps
    return _modes_from_layers(S, networks, clock)


def _modes_from_layers(S: np.ndarray, networks: list[np.ndarray], clock: np.ndarray) -> np.ndarray:
    """Return the modes that small networks reach, each towards its own singular value."""
    singular_values = integrate_products(S, networks, np.repeat(clock[:, None], S.size, axis=1), RTOL)
    if not np.isfinite(singular_values).all():
        raise ArithmeticError("the mode equations took too many steps: ask for earlier `times`.")
    return singular_values


def _check_modes(
    values: ArrayLike, sizes: ArrayLike, depth: int, times: ArrayLike, name: str
) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Return singular values, one size for each layer, the depth and the times, checked."""
    S = none_negative("values", np.atleast_1d(real_array("values", values, ndim=(0, 1))))
    L = count("depth", depth, least=2, most=12)
    c = none_negative(name, one_or_each(name, sizes, L, f"{L} layers"))
    refuse_infinite(S**2, c ** (2.0 * L))
    if S.max(initial=0.0) > 0 and np.prod(np.broadcast_to(c, (L,))) * np.finfo(float).eps > S.max():
        raise ValueError(
            f"`{name}` must be smaller: next to layers of size {c.max():.3g} the `values` are lost in rounding. There "
            "every mode is lazy, $s = S (1 - e^{-k t})$, with $k$ the sum over layers of the others' squared product."
        )
    return S, np.broadcast_to(c, (L,)), L, times_array("times", times)
