"""Networks of one output trained on fewer samples than inputs, from a Gaussian start of any width."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import ArrayLike, DTypeLike

from linnet._arguments import count, one_or_each, positive, real_array, refuse_infinite, representable
from linnet._randomness import Key, generator, words
from linnet.inits.gaussian_weights import reduced_gaussian
from linnet.precision import computing, resolve
from linnet.trajectories.status import StepLimitError
from linnet_papers.watanabe.training.function_flow import FunctionState, function_flow

MAX_TOLERANCE = 0.1  # relative error of a step: beyond it steps are not those of this flow
FEW_MODES = 256  # up to so many modes NumPy finds them, and programs are compiled for multiples of `MODE_STEP` only
MODE_STEP = 128


@dataclass(frozen=True)
class Interpolation:
    """A trained predictor: `product` (d,) and the `min_norm` solution of its data (d,), the canonical `time` and the
    `steps` that training took, and the `loss` it reached relative to that of a predictor that is zero."""

    product: np.ndarray
    min_norm: np.ndarray
    time: float
    steps: int
    loss: float


@representable
def interpolating_network(
    inputs: ArrayLike,
    labels: ArrayLike,
    *,
    key: Key,
    width: int,
    stds: float | ArrayLike,
    loss: float = 1e-8,
    tolerance: float = 3e-3,
    dtype: DTypeLike | None = None,
) -> Interpolation:
    """Gradient flow of a two-layer network on fewer samples than inputs, until it interpolates them.

    Only the samples' span moves. There the network is the law of a Gaussian initialization after reduction
    (`inits.reduced_gaussian` of n inputs, since a rotated Gaussian is one again), trained by `function_flow` in the
    eigenbasis of the sample covariance. Across the span the predictor is $W_2 W_1(0)$, with a part of $W_1(0)$ that
    training never touches and on which $W_2$ does not depend: given $W_2$ it is a Gaussian of variance $|W_2|^2$
    $s_1^2$ in each direction, and is drawn as such. So the predictor has exactly the law of the full
    network's.

    **Arguments:**

    - `inputs`: (n, d), of rank n < d
    - `labels`: (n,)
    - `key`: an integer seed or a JAX key
    - `width`: of the network
    - `stds`: standard deviations $s_1$ and $s_2$ of the entries of $W_1(0)$ and $W_2(0)$, or one number for both
    - `loss`: the share of the loss of zero at which training ends
    - `tolerance`: of the integration, at most 0.1
    - `dtype`: float64 by default, or `"float32"`

    **Returns** an `Interpolation`: the predictor `.product` and the `.min_norm` solution, (d,); the canonical `.time`,
    `.steps` and `.loss`.

    **Example:**

        >>> import numpy as np
        >>> from linnet_papers.watanabe.training.interpolation import interpolating_network
        >>> X = np.random.default_rng(0).standard_normal((4, 10))
        >>> network = interpolating_network(X, X[:, 0], key=0, width=50, stds=1e-3)
        >>> bool(np.abs(X @ network.product - X[:, 0]).max() < 1e-2)
        True
    """
    run_dtype, first_std = resolve(dtype), float(np.ravel(one_or_each("stds", stds, 2, "2 layers"))[0])
    X, y = real_array("inputs", inputs, ndim=2).astype(run_dtype), real_array("labels", labels).astype(run_dtype)
    if y.shape != X.shape[:1] or X.shape[0] >= X.shape[1]:
        raise ValueError(f"`inputs` must be (n, d) with n < d, and `labels` (n,): got shapes {X.shape} and {y.shape}.")
    if not y.any():
        raise ValueError("`labels` must not all be zero: the loss of zero is zero then, and there is nothing to learn.")
    loss, tolerance = positive("loss", loss), positive("tolerance", tolerance)
    if tolerance > MAX_TOLERANCE:
        raise ValueError(f"`tolerance` must be at most {MAX_TOLERANCE:g}: got {tolerance:g}.")
    n, dim = X.shape
    stream = words(key)
    start = reduced_gaussian(
        key=[*stream, 1],
        in_dim=n,
        out_dim=1,
        width=count("width", width),
        stds=stds,
    )
    noise = np.asarray(generator(key, 2).standard_normal(dim), run_dtype)
    values, vectors, cross, state = _eigenbasis(X, y, start.first.astype(run_dtype), start.second[0].astype(run_dtype))
    least, most = float(values[0]), float(values[-1])
    refuse_infinite(most, cross, *state)
    if not least > 0:
        raise ValueError(
            f"`inputs` must have rank n, {n}: the least eigenvalue of their covariance is {least:.3g}, the largest "
            f"{most:.3g}."
        )
    with computing(run_dtype):
        modes = _pad_modes(values, cross, state)
        run = function_flow(*modes, loss=run_dtype.type(loss), tolerance=run_dtype.type(tolerance))
        trained, gain = np.asarray(run.state.product)[:n], np.asarray(run.state.gain)
        reached, steps, time = float(run.loss), int(run.steps), float(run.time)
    if not reached <= loss:
        raise StepLimitError(
            f"training reached {reached:.3g} of its first loss in {steps} steps, not {loss:.3g}: rounding stops it "
            "there, or steps that are too small. Ask for a larger `loss`, another `tolerance`, or dtype='float64'."
        )
    product, min_norm = _trained_and_min_norm(X, values, vectors, cross, trained, np.sqrt(gain) * (first_std * noise))
    return Interpolation(product, min_norm, time, steps, reached)


def _eigenbasis(
    inputs: np.ndarray, labels: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, FunctionState]:
    """Return eigenvalues (increasing) and eigenvectors of the samples' Gram matrix X X^T/n, the cross moments in their
    basis, and the state of the initialization (`first`, `second`), whose inputs are taken to be the eigenvectors."""
    n = inputs.shape[0]
    gram = inputs @ inputs.T / n
    refuse_infinite(gram)
    values, vectors = np.linalg.eigh(gram) if n <= FEW_MODES else _eigh_on_device(gram)
    cross = np.sqrt(np.maximum(values, 0) / n) * (vectors.T @ labels)
    return values, vectors, cross, FunctionState(second @ first, second @ second, first.T @ first)


def _eigh_on_device(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and eigenvectors by JAX, which has a GPU where there is one. It works in float64: its
    float32 is less exact than that of NumPy."""
    with computing(np.dtype(np.float64)):
        values, vectors = jnp.linalg.eigh(jnp.asarray(gram, np.float64))
        return np.asarray(values, gram.dtype), np.asarray(vectors, gram.dtype)


def _pad_modes(values: np.ndarray, cross: np.ndarray, state: FunctionState) -> tuple[Array, Array, FunctionState]:
    """Return a problem and its initialization; pad a small problem with modes that have nothing to learn.

    The added modes have the smallest eigenvalue, and the caller cuts them off. Sizes are rounded up by this because
    compiling a size takes longer than running it.
    """
    more = -values.size % MODE_STEP if values.size <= FEW_MODES else 0
    filled = FunctionState(
        jnp.asarray(np.pad(state.product, (0, more))),
        jnp.asarray(state.gain),
        jnp.asarray(np.pad(state.kernel, (0, more))),
    )
    values = np.pad(values, (0, more), constant_values=values[0])
    return jnp.asarray(values), jnp.asarray(np.pad(cross, (0, more))), filled


def _trained_and_min_norm(
    inputs: np.ndarray,
    values: np.ndarray,
    vectors: np.ndarray,
    cross: np.ndarray,
    trained: np.ndarray,
    noise: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the trained predictor and the minimum-norm one as vectors over the inputs.

    - `values`, `vectors`, `cross`: of `_eigenbasis`; `trained` is the predictor there
    - `noise` (d,): of which the part across the samples' span is added to the trained one
    """
    scale = np.sqrt(inputs.shape[0] * values)

    def lift(v: np.ndarray) -> np.ndarray:  # from the eigenbasis to the inputs
        return inputs.T @ (vectors @ (v / scale))

    across = noise - lift(vectors.T @ (inputs @ noise) / scale)
    return lift(trained) + across, lift(cross / values)
