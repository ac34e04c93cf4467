"""Test error after learning from fewer samples than inputs."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import broadcast, flag, positive, real_array, representable
from linnet.theories.spiked._model import checked_model


@representable
def generalization_error(
    spike: ArrayLike, alignment: ArrayLike, ratio: ArrayLike, *, variance: float = 1.0, normalized: bool = False
) -> float | Float[np.ndarray, " ..."]:
    r"""Return the test error after training from a small initialization on fewer samples than inputs.

    The inputs have one spike, and labels have no noise. For any spectrum, a ridge penalty, label noise or more samples,
    use `theories.ridge.risk`.

    $$ R_0 = \sigma^2\Big(1 - \frac1\gamma\Big)\Big[1 - A^2\Big(1 - \frac{1 + \rho}{(1 + \rho/\gamma)^2}\Big)\Big],
    \qquad
       \frac{R_0}{E[y^2]} = \frac{R_0}{\sigma^2(1 + \rho A^2)} $$

    **Arguments:**

    - `spike`: strength $\rho > -1$ of the spike, a number or an array
    - `alignment`: alignment $A \in [0, 1]$, a number or an array
    - `ratio`: ratio $\gamma = d/n > 1$, a number or an array; the three broadcast
    - `variance`: variance $\sigma^2$
    - `normalized`: whether to divide by the signal's power

    **Returns** $R_0$ or $R_0/E[y^2]$, twice the `test_loss` of linnet: a number, or an array of the broadcast shape.

    **Valid when** n and d are large at a fixed ratio.

    **Dependence on the spike.** The normalized error is
    $(1 - 1/\gamma)[1 - \frac{A^2(1+\rho)}{1+\rho A^2}(1 - (1+\rho/\gamma)^{-2})]$. Both factors in the bracket rise
    with $\rho$ and with A, so the normalized error falls with both. The error itself falls with $\rho$ only for $\rho >
    \gamma - 2$.

    **Reference:** Watanabe et al., (27), where our copy has $\kappa$ in the bracket in place of $\rho$.

    **Example:**

        >>> from linnet.theories.spiked import generalization_error
        >>> generalization_error([0.0, 4.0, 20.0], 1.0, 2.0, normalized=True).round(3)  # a spike along the target helps
        array([0.5  , 0.056, 0.004])
    """
    rho, A = checked_model(spike, alignment)
    gamma, variance = real_array("ratio", ratio), positive("variance", variance)
    if (gamma <= 1).any():
        raise ValueError(
            f"`ratio` must exceed 1 (fewer samples than inputs): got {gamma.min():.6g}. With more samples than inputs "
            "and no label noise the error is zero; `theories.ridge.risk` covers both sides."
        )
    broadcast(spike=rho, alignment=A, ratio=gamma)
    stretch = (gamma + rho) / gamma  # 1 + rho/gamma and 1 - 1/gamma cancel near a ratio of one
    error = variance * ((gamma - 1) / gamma) * ((1 - A) * (1 + A) + A**2 * ((1 + rho) / stretch / stretch))
    if flag("normalized", normalized):
        error = error / (variance * (1 + rho * A**2))
    return float(error) if np.ndim(error) == 0 else error
