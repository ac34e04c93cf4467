r"""The end of training of a network with one output, from a small initialization and from larger ones.

Symbols as in `stages`: $f = \frac1m\sum_r v_r\,w_r\cdot x$, $\rho_r = \langle w_r(t) - w_r(0), X^T y\rangle$,
$K = XX^T$, $\gamma = y^T K y$; means are over neurons.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet import _arguments as arguments


@dataclass(frozen=True)
class FinalState:
    r"""Result of `final_state`: the end of training from a vanishing initialization.

    **Attributes:**

    - `square`: mean of $v_r^2$ over the neurons
    - `ratio`: ratio $\rho_r/v_r$, which is the same for every neuron
    - `alignment_square`: mean of $\rho_r^2$ over the neurons
    - `settled`: ratio at the end as a fraction of $\sqrt\gamma$, its value in the first stage; at most 1
    - `kernel`: neural tangent kernel, (sample, sample)

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.feature_learning import final_state
        >>> limit = final_state(4 * np.eye(2), [3.0, 4.0])  # a multiple of the identity: nothing of the ratio is lost
        >>> limit.square, limit.settled
        (2.5, 1.0)
    """

    square: float
    ratio: float
    alignment_square: float
    settled: float
    kernel: Float[np.ndarray, "sample sample"]


@arguments.representable
def final_state(gram: ArrayLike, outputs: ArrayLike) -> FinalState:
    r"""Return the end of gradient flow from a vanishing initialization, exact for any inputs.

    Use it for the final magnitudes, alignments and kernel without training. `Stages` describes training until then.

    $$ \overline{v^2} = \sqrt{y^T K^{-1} y}, \quad \frac{\rho_r}{v_r} = \frac{|y|^2}{\sqrt{y^T K^{-1} y}}, \quad
       \overline{\rho^2} = \frac{|y|^4}{\sqrt{y^T K^{-1} y}}, \quad
       \Theta = \overline{v^2}\Bigl(K + \frac{y y^T}{y^T K^{-1} y}\Bigr) $$

    The layers stay balanced, $w_r = v_r u$ with $|u| = 1$, and the predictor $\overline{v^2}u$ is the minimum-norm
    solution $X^T K^{-1} y$. If $K$ is singular, its inverse is the pseudo-inverse, and $y$ is projected on its range.

    **Arguments:**

    - `gram`: Gram matrix $K = XX^T$, (sample, sample)
    - `outputs`: outputs $y$, (sample,)

    **Returns** a `FinalState`.

    **Valid when** $v_0$ and $\sigma_0$ are small compared with the final weights: corrections are of the order
    $v_0^2/\overline{v^2}$.

    **Reference:** own result. Huang et al. 2025 treat a $K$ that is a multiple of the identity, below eq. (11) and in
    Figure 1c. There the ratio stays $\sqrt\gamma$, and the kernel is `target_aligned_kernel`.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.feature_learning import final_state
        >>> limit = final_state(np.diag([9.0, 1.0]), [1.0, 1.0])
        >>> round(limit.settled, 3)  # the neurons leave the feature, which is mostly the first input
        0.6
    """
    K, y = arguments.symmetric("gram", gram), arguments.real_array("outputs", outputs, ndim=1)
    if y.size != K.shape[0]:
        raise ValueError(f"`outputs` must have one value per row of `gram`, {K.shape[0]}: got {y.size}.")
    values, frame = np.linalg.eigh(K)
    if values[-1] <= 0:
        raise ValueError("`gram` must be positive semi-definite and not zero: there is nothing to learn from.")
    kept = values > values[-1] * len(y) * np.finfo(float).eps
    coefficients = frame.T @ y * kept
    if not coefficients.any():
        raise ValueError("`outputs` must have a part in the range of `gram`: there is nothing to learn.")
    seen = frame @ coefficients
    power = float((coefficients[kept] ** 2 / values[kept]).sum())  # y' K^-1 y
    square, norm = np.sqrt(power), float(seen @ seen)
    root = np.sqrt(float((coefficients**2 * values).sum()))
    kernel = square * (K + np.outer(seen, seen) / power)
    square = float(square)
    return FinalState(square, norm / square, norm**2 / square, norm / (square * float(root)), kernel)


@arguments.representable
def lazy_feature_ratio(initial_ratio: ArrayLike, share: ArrayLike) -> Float[np.ndarray, " ..."]:
    r"""Return a number from 0 (lazy training) to 1 (feature learning) for a network with one output.

    The number depends on the initialization and on the remaining loss. To classify the modes of any two-layer network
    as lazy or active, use `observables.regimes`.

    $$ \frac{\rho}{v\sqrt\gamma} = \tanh\Bigl(\tfrac12\,\mathrm{asinh}
       \frac{2(1 - \sqrt{L/L_0})}{v_0^2/v_\infty^2}\Bigr),
       \qquad v_\infty^2 = \frac{\sqrt\gamma}{\mathrm{tr}\,\Sigma} $$

    At 0, the magnitudes do not move. At 1, the layers have become equal. $v^2 - \rho^2/\gamma = v_0^2$ is conserved,
    and the output grows as $v\rho$.

    **Arguments:**

    - `initial_ratio`: squared magnitude at initialization over its final value, $v_0^2/v_\infty^2$, positive
    - `share`: remaining fraction $L/L_0$ of the initial loss, from 0 to 1

    **Returns** the number, with the broadcast shape of both arguments.

    **Valid when** $\sigma_0 \ll v_0$ and $XX^T$ is near $\mathrm{tr}\,\Sigma$ times the identity.

    **Reference:** own result; Huang et al. 2025 name the two cases below eq. (6). If $v_0$ is the largest that
    condition (3) of their Assumption 4.1 allows, $v_\infty^2/v_0^2 = n^{3/2}|\bar\beta|^3\sqrt{\mathrm{tr}\,\Sigma}$.
    The assumption does not restrict this number.

    **Example:**

        >>> from linnet.theories.feature_learning import lazy_feature_ratio
        >>> [round(float(lazy_feature_ratio(start, 0.25)), 3) for start in (1e-4, 1.0, 100.0)]
        [1.0, 0.414, 0.005]
    """
    v = np.asarray(arguments.real_array("initial_ratio", initial_ratio))
    left = np.asarray(arguments.real_array("share", share))
    if not (v > 0).all():
        raise ValueError(
            "`initial_ratio` must be positive: it is the squared ratio of the first magnitude to the last."
        )
    if not ((left >= 0) & (left <= 1)).all():
        raise ValueError("`share` must be from 0 to 1: it is what is left of the loss.")
    v, left = np.broadcast_arrays(*arguments.broadcast(initial_ratio=v, share=left))
    return np.tanh(np.arcsinh(2 * (1 - np.sqrt(left)) / v) / 2)
