"""Descent with label noise near its interpolators: how fast it forgets the start, for any inputs and outputs."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet._arguments import non_negative, of_kind, positive, representable
from linnet.problems import Problem


@representable
def decay_rates(
    problem: Problem, *, learning_rate: float, noise_std: float, order: int = 1
) -> Float[np.ndarray, " mode"]:
    r"""Rates at which label noise makes the small singular values of the first layer fall, $\sigma_i \sim e^{-r_i t}$.

    $$ r_i = \frac{k\, \eta \delta^2}{2}\, \mu_i, \qquad \mu_1 \le \dots \le \mu_{d-k} \text{ the least eigenvalues of }
       \Sigma + \frac{\mathrm{tr}\,\Sigma}{k}\, \Pi, $$

    with $\Pi$ the projector onto the rows of $A \Sigma^{1/2}$, $A$ the solution. For whitened inputs all are
    $k \eta \delta^2/2$.

    **Why.** Near an interpolator the noise of each step has the covariance $\delta^2$ times the Hessian, so descent
    drifts down the trace of the Hessian, $k\,\mathrm{tr}\,W_1 \Sigma W_1^\top + \mathrm{tr}\,\Sigma\,|W_2|^2$, at the
    rate $\eta\delta^2/4$ along the interpolators. Its least value has
    $(W_2 W_2^\top)^2 = k A \Sigma A^\top/\mathrm{tr}\,\Sigma$. What $W_1$ has outside the k hidden directions that
    $W_2$ reads, M, falls as $dM/dt = -(k\eta\delta^2/2) M \Sigma g$, where
    $g = 1 + (\mathrm{tr}\,\Sigma/k) A^\top (A \Sigma A^\top)^{-1} A$ is the inverse of the metric: turning the hidden
    directions shortens the way.

    **Second order** (`order=2`; one output, whitened inputs). With $s = |A|/\sqrt d$, the squared length of the
    flattest second layer,

    $$ r = \frac{\eta\delta^2}{2} \left[ \frac{1}{1 - \eta s/2} -
       \frac{(d-1)(d+3)}{2(d+2)}\, \frac{\eta\delta^2}{s} \right] $$

    for the mean of the d - 1 small values. Once M is small, $W_2 = y^\top W_1^\top$ with a vector y that has an
    equation of its own, and $\ln|\det W_1|$ changes by $\ln|1 - \eta\, G \cdot y|$ in a step with residual G. So the
    rate is a mean over the stationary law of $(A, s, y)$, here to second order in $\eta\delta^2$, by solving Poisson's
    equation in powers of it.

    **Arguments:**

    - `problem`: square loss, a covariance of full rank, a solution of rank $k$
    - `learning_rate`: $\eta$
    - `noise_std`: $\delta$, noise of labels divided by $\sqrt n$: labels of a problem with n samples get
      $\sqrt n\,\delta$ in `linnet.label_noise_descent`
    - `order`: 1, or 2 with the first corrections in the step and in the noise

    **Returns** the rates per unit of canonical time, smallest first, (d - k,).

    **Valid when** $\eta\delta^2$ is small and the run is long enough to have left its start.

    **Reference:** ours; Varre et al. 2023, section 4.1, leaves it open.

    **Example:**

        >>> import numpy as np, linnet as ln
        >>> problem = ln.problems.orthogonal_regression(key=0, in_dim=5)
        >>> ln.theories.label_noise.decay_rates(problem, learning_rate=0.02, noise_std=1.0).round(4).tolist()
        [0.01, 0.01, 0.01, 0.01]
        >>> skewed = ln.Problem.from_moments(np.diag([2.0, 1.0, 0.5]), [[1.0, 1.0, 1.0]])
        >>> ln.theories.label_noise.decay_rates(skewed, learning_rate=0.02, noise_std=1.0).round(4).tolist()
        [0.0081, 0.0174]
    """
    of_kind("problem", problem, Problem, "linnet.Problem")
    strength = positive("learning_rate", learning_rate) * non_negative("noise_std", noise_std) ** 2
    if problem.cost is not None or problem.batch is not None:
        raise ValueError("`problem` must be one problem with the square loss.")
    solution, cov = problem.min_norm_solution(), problem.cov
    k, d = solution.shape
    values, vectors = np.linalg.eigh(cov)
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    _, sizes, rows = np.linalg.svd(solution @ root, full_matrices=False)
    if values[0] <= 1e-12 * values[-1] or k > d or sizes[-1] <= 1e-12 * sizes[0]:
        raise ValueError(
            f"`problem` must have a covariance of full rank and a solution of rank {k}, the number of its outputs: "
            f"the covariance has eigenvalues {values[0]:.3g} to {values[-1]:.3g}, the solution singular values "
            f"{sizes[-1]:.3g} to {sizes[0]:.3g}."
        )
    slowest = np.linalg.eigvalsh(cov + np.trace(cov) / k * rows.T @ rows)[: d - k]
    if order == 1:
        return k * strength / 2 * slowest
    if order != 2:
        raise ValueError(f"`order` must be 1 or 2: got {order!r}.")
    if k > 1 or not np.allclose(values, 1, rtol=0, atol=1e-9):
        raise ValueError("`order=2` is known for one output and whitened inputs: `problem` has others. Use `order=1`.")
    s = float(np.linalg.norm(solution)) / np.sqrt(d)
    if learning_rate * s >= 2:
        raise ValueError(
            f"`learning_rate` must be below 2/s = {2 / s:.3g}, or descent diverges: got {learning_rate:g}."
        )
    factor = 1 / (1 - learning_rate * s / 2) - (d - 1) * (d + 3) / (2 * (d + 2)) * strength / s
    return np.full(d - 1, strength / 2 * factor)
