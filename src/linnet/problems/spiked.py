"""Inputs with one strong direction, the spike, and a linear target at an angle to it."""

from __future__ import annotations

from linnet._arguments import count, number, partly_representable
from linnet._randomness import Key
from linnet.problems.problem import Problem
from linnet.problems.spectra import many_spikes


@partly_representable
def spiked_covariance(
    dim: int,
    *,
    spike: float,
    alignment: float,
    variance: float = 1.0,
    out_dim: int | None = None,
    samples: int | None = None,
    noise_std: float = 0.0,
    key: Key | None = None,
) -> Problem:
    r"""Make a regression problem whose inputs have one spike: a direction of larger or smaller variance.

    It is the setting of Watanabe et al. 2026. For several spikes, use `many_spikes`.

    $$ \Sigma = \sigma^2 (I + \rho\, \mu\mu^T), \qquad y = \beta^T x, \qquad \mu^T\beta = A $$

    $\mu$ and $\mu_\perp$ are the first two axes of the inputs, and $\beta = A\mu + \sqrt{1 - A^2}\,\mu_\perp$. This is
    no restriction, because the distribution of Gaussian initial weights does not change under rotations.

    **Arguments:**

    - `dim`: dimension $d$
    - `spike`: strength $\rho > -1$ of the spike
    - `alignment`: cosine $A \in [0, 1]$ between spike and target
    - `variance`: variance $\sigma^2$ of the inputs orthogonal to the spike
    - `out_dim`: number of targets; their signs along both axes are random
    - `samples`: number of samples $n$ to draw; the problem then has $\beta$ as `truth` and the covariance of the
      population as `test_cov`. By default no samples are drawn, and the problem has the moments of the population
    - `noise_std`: standard deviation of the noise on each label
    - `key`: an integer seed or a JAX key

    **Returns** a `Problem`.

    **Reference:** Watanabe et al., (1)-(3).

    **Example:**

        >>> from linnet.problems import spiked_covariance
        >>> problem = spiked_covariance(3, spike=4.0, alignment=0.6)
        >>> problem.cov.diagonal().tolist(), problem.min_norm_solution().round(3).tolist()
        ([5.0, 1.0, 1.0], [[0.6, 0.8, 0.0]])
    """
    dim = count("dim", dim, least=2)
    spike, alignment = number("spike", spike), number("alignment", alignment)
    if not spike > -1:
        raise ValueError(f"`spike` must exceed -1, or the covariance is not positive definite: got {spike}.")
    if not 0 <= alignment <= 1:
        raise ValueError(
            f"`alignment` must lie in [0, 1], as the cosine between spike and target: got {alignment}. "
            "A negative one is the same data with the spike's direction reversed."
        )
    return many_spikes(
        dim,
        spikes=[spike],
        alignments=[alignment],
        variance=variance,
        out_dim=out_dim,
        samples=samples,
        noise_std=noise_std,
        key=key,
    )
