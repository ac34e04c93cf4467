"""Descent with label noise near interpolating weights: how fast it forgets the initialization."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from linnet._arguments import count, non_negative, positive, representable
from linnet.problems.problem import Problem, squared_loss


@representable
def decay_rates(
    problem: Problem, *, learning_rate: float, noise_std: float, order: int = 1
) -> Float[np.ndarray, " mode"]:
    r"""Return the rates at which label noise shrinks the small singular values of the first layer.

    Fresh noise on the labels at each step makes descent forget its initialization: $\sigma_i \sim e^{-r_i t}$. The
    rates are accurate only if both `expansion_parameters` are small, so check these first. To train with label noise,
    use `ln.label_noise_descent`.

    $$ r_i = \frac{k\, \eta \delta^2}{2}\, \mu_i, \qquad \mu_1 \le \dots \le \mu_{d-k} \text{ the smallest eigenvalues
    of } \Sigma + \frac{\mathrm{tr}\,\Sigma}{k}\, \Pi, $$

    where $A$ is the solution and $\Pi$ the projector onto the rows of $A \Sigma^{1/2}$. For whitened inputs all rates
    are $k \eta \delta^2/2$.

    **Why.** Near weights that interpolate, the noise of each step has $\delta^2$ times the Hessian as its covariance.
    So descent drifts along the interpolating weights towards a smaller trace of the Hessian, $k\,\mathrm{tr}\,W_1
    \Sigma W_1^\top + \mathrm{tr}\,\Sigma\,|W_2|^2$, at the rate $\eta\delta^2/4$. At the minimum of the trace, $(W_2
    W_2^\top)^2 = k A \Sigma A^\top/\mathrm{tr}\,\Sigma$. Let M be the part of $W_1$ outside the k hidden directions
    that $W_2$ uses. It falls as $dM/dt = -(k\eta\delta^2/2) M \Sigma g$, where $g = 1 + (\mathrm{tr}\,\Sigma/k) A^\top
    (A \Sigma A^\top)^{-1} A$ is the inverse of the metric. The metric arises because the hidden directions turn
    meanwhile.

    **Second order** (`order=2`, for one output and whitened inputs). Let s be the squared length of the second layer.
    The mean of the d - 1 rates is

    $$ r = \frac{\eta\delta^2}{2} \left[ P - \frac{(d-1)(d+3)}{2(d+2)}\, \frac{\eta\delta^2}{s} \right], \qquad
       s^2 = \frac{|A|^2\, Q}{(d-1) P + Q}, \quad P = \frac{1}{1 - \eta s/2}, \quad
       Q = \frac{1}{1 - \eta (s + |A|^2/s)/2} $$

    P and Q are the variances of the residual orthogonal to A and along A, over $\delta^2$, for steps of any size. At
    their s the quantity $|W_1|^2 - |W_2|^2$ has no drift; for small steps it is $|A|/\sqrt d$. Once M is small, $W_2 =
    y^\top W_1^\top$ with a vector y that has a separate equation. A step with residual G changes $\ln|\det W_1|$ by
    $\ln|1 - \eta\, G \cdot y|$. So the rate is a mean over the stationary distribution of $(A, s, y)$, computed here to
    second order in $\eta\delta^2$ from Poisson's equation.

    **Arguments:**

    - `problem`: learning problem with the squared loss, a covariance of full rank and a solution of rank $k$
    - `learning_rate`: learning rate $\eta$
    - `noise_std`: standard deviation $\delta$ of the noise on labels divided by $\sqrt n$; on the labels themselves, as
      in `linnet.label_noise_descent`, the noise of n samples is $\sqrt n\,\delta$
    - `order`: order of the expansion: 1, or 2 with the first corrections in the step and in the noise

    **Returns** the rates per unit of time (learning rate times number of steps), smallest first, (d - k,).

    **Valid when** both numbers of `expansion_parameters`, noise x and step y, are small and the run has left its
    initialization. If one of them is 1 or more, the function raises `ValueError`.

    **Accuracy**, measured by plain descent with standard errors of 0.005 or less. The tests have 1 to 5 outputs,
    condition numbers of the covariance from 1 to $10^4$, singular values of A that are equal or differ by up to a
    factor of 100, widths from k + 1 to 60, and initializations of scale 0.01 to 10.

    - The mean of the measured rates is between 1 - 2.5 x and 1 + 0.6 y times the prediction, for x up to 0.3 and y up
      to 0.9. At x = 1 it is 0.46 times the prediction.
    - A single rate is off by up to 2.5 x of itself, or by x of the mean rate if that is more.
    - Weak directions balance slowly. At a condition number of $10^4$, runs of 30 000 steps from balanced weights are up
      to 14% above the prediction; runs from the minimum of the trace are within the limits above.
    - Networks of width below d have only the first of the rates, and a network of width k has none.
    - The second order is within 0.2% for $\eta |A| \le 0.7$ and x up to 0.01.

    **Reference:** own result; Varre et al. 2023, section 4.1, leaves it open.

    **Example:**

        >>> import numpy as np, linnet as ln
        >>> problem = ln.problems.orthogonal_regression(key=0, in_dim=5)
        >>> ln.theories.label_noise.decay_rates(problem, learning_rate=0.02, noise_std=1.0).round(4).tolist()
        [0.01, 0.01, 0.01, 0.01]
        >>> skewed = ln.Problem.from_moments(np.diag([2.0, 1.0, 0.5]), [[1.0, 1.0, 1.0]])
        >>> ln.theories.label_noise.decay_rates(skewed, learning_rate=0.02, noise_std=1.0).round(4).tolist()
        [0.0081, 0.0174]
    """
    learning_rate, noise_std = positive("learning_rate", learning_rate), non_negative("noise_std", noise_std)
    solution, cov = _solution(problem)
    noise, step = expansion_parameters(problem, learning_rate=learning_rate, noise_std=noise_std)
    if count("order", order) > 2:
        raise ValueError(f"`order` must be 1 or 2: got {order!r}.")
    if noise >= 1:
        raise ValueError(
            f"`noise_std` must be below {noise_std / np.sqrt(noise):.3g} at this `learning_rate`: got {noise_std:g}, "
            f"which moves the second layer by its own size (`expansion_parameters`: {noise:.3g})."
        )
    strength, (k, d) = learning_rate * noise_std**2, solution.shape
    if order == 2:
        return np.full(d - 1, strength / 2 * _second_order(solution, cov, learning_rate, strength))
    if step >= 1:
        raise ValueError(
            f"`learning_rate` must be below {learning_rate / step:.3g}, or the flattest interpolator is unstable: got "
            f"{learning_rate:g}."
        )
    values, vectors = np.linalg.eigh(cov)
    _, _, rows = np.linalg.svd(solution @ (vectors * np.sqrt(values) @ vectors.T), full_matrices=False)
    slowest = np.linalg.eigvalsh(cov + np.trace(cov) / k * rows.T @ rows)[: d - k]
    return k * strength / 2 * slowest


@representable
def expansion_parameters(problem: Problem, *, learning_rate: float, noise_std: float) -> tuple[float, float]:
    r"""Return two numbers that must be small for `decay_rates` to be accurate: x for the noise, y for the step.

    If one of them is 1 or more, there is no prediction: train with `ln.label_noise_descent` instead.

    $$ x = \frac{\eta\delta^2\, \mathrm{tr}\,\Sigma}{2 s_{\min}}, \qquad
       y = \frac{\eta\, s_{\max}}{2} \left(\lambda_{\max}(\Sigma) + \frac{\mathrm{tr}\,\Sigma}{k}\right), $$

    where s are the eigenvalues of $W_2 W_2^\top = (k A \Sigma A^\top/\mathrm{tr}\,\Sigma)^{1/2}$ at the flattest
    interpolating weights, those with the smallest trace of the Hessian. x compares the noise with the second layer. At
    y = 1 these weights become unstable under descent.

    **Arguments:**

    - `problem`: learning problem with the squared loss, a covariance of full rank and a solution of rank $k$
    - `learning_rate`: learning rate $\eta$
    - `noise_std`: standard deviation $\delta$ of the noise on labels divided by $\sqrt n$

    **Returns** x and y.

    **Example:**

        >>> import numpy as np, linnet as ln
        >>> problem = ln.Problem.from_target(np.eye(1, 4) * 2)
        >>> ln.theories.label_noise.expansion_parameters(problem, learning_rate=0.02, noise_std=1.0)
        (0.04, 0.05)
    """
    rate, std = positive("learning_rate", learning_rate), non_negative("noise_std", noise_std)
    solution, cov = _solution(problem)
    k, trace = len(solution), np.trace(cov)
    squares = np.sqrt(np.linalg.eigvalsh(k / trace * solution @ cov @ solution.T))
    noise = rate * std**2 * trace / (2 * squares[0])
    return float(noise), float(rate * squares[-1] * (np.linalg.norm(cov, 2) + trace / k) / 2)


def _solution(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The solution, of rank k, and the covariance, of full rank."""
    problem = squared_loss(problem)
    solution, cov = problem.min_norm_solution(), problem.cov
    values = np.linalg.eigvalsh(cov)
    k, d = solution.shape
    sizes = np.sqrt(np.maximum(np.linalg.eigvalsh(solution @ cov @ solution.T), 0))
    if values[0] <= 1e-12 * values[-1] or k > d or sizes[0] <= 1e-7 * sizes[-1]:
        raise ValueError(
            f"`problem` must have a covariance of full rank and a solution of rank {k}, the number of its outputs: "
            f"the covariance has eigenvalues {values[0]:.3g} to {values[-1]:.3g}, the solution singular values "
            f"{sizes[0]:.3g} to {sizes[-1]:.3g}."
        )
    return solution, cov


def _second_order(solution: np.ndarray, cov: np.ndarray, learning_rate: float, strength: float) -> float:
    """The mean rate over eta delta^2/2."""
    k, d = solution.shape
    if k > 1 or not np.allclose(cov, np.eye(d), rtol=0, atol=1e-9):
        raise ValueError("`order=2` is known for one output and whitened inputs: `problem` has others. Use `order=1`.")
    size = float(np.linalg.norm(solution))
    if learning_rate * size >= 1:
        raise ValueError(
            f"`learning_rate` must be below 1/|A| = {1 / size:.3g}, or descent leaves every interpolator: got "
            f"{learning_rate:g}."
        )
    eta = learning_rate * size  # in units of |A|, s is between d^(-1/2) and 1

    def balance(s: float) -> float:  # s^2 ((d - 1) P + Q) - Q, over Q
        return s**2 * ((d - 1) * (1 - eta * (s + 1 / s) / 2) / (1 - eta * s / 2) + 1) - 1

    from scipy.optimize import brentq

    s = brentq(balance, d**-0.5, 1.0, xtol=1e-15) if d > 1 else 1.0
    return 1 / (1 - eta * s / 2) - (d - 1) * (d + 3) / (2 * (d + 2)) * strength / (s * size)
