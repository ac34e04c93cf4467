"""Formulas of the paper as printed where they differ from `theories.feature_learning`, with what is wrong in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np
from numpy.typing import ArrayLike

from linnet import _arguments as arguments
from linnet.theories.feature_learning import assumptions

if TYPE_CHECKING:
    from linnet.problems.subgaussian import Regression
    from linnet.theories.feature_learning import Assumption, Stages
    from linnet_papers.huang.training.runs import Scales


def linear(stages: Stages, overlaps: ArrayLike, magnitudes: ArrayLike, steps: ArrayLike) -> np.ndarray:
    r"""Eq. (9): $v_r \mathrel{+}= \rho_r + \frac{\eta}{nm}c_r$, without the factor $\eta/(nm)$ before $\rho_r$.

    A step multiplies $\rho_r + \frac{\eta}{nm}c_r \pm k v_r$ by $1 \pm k$, with $k^2 = \frac{\eta}{nm}\gamma$.

    **Returns** $\rho_r$ and $v_r$, (2, time, neuron).
    """
    step = stages.learning_rate / stages.samples
    k = np.sqrt(step * stages.gamma)
    c, v, t = step * np.asarray(overlaps, dtype=float), np.asarray(magnitudes), np.reshape(steps, (-1, 1)).astype(float)
    with np.errstate(over="ignore", invalid="ignore"):
        up, down = (1 + k) ** t * (c + k * v), (1 - k) ** t * (c - k * v)
        return np.array([(up + down) / 2 - c, (up - down) / (2 * k)])


def plane(stages: Stages, alignments: ArrayLike, magnitudes: ArrayLike, steps: ArrayLike) -> np.ndarray:
    r"""Eq. (10): the force on a neuron with its own $v_r\rho_r$ where the mean over neurons belongs.

    **Returns** $\rho_r$ and $v_r$, (2, time, neuron).
    """
    step = stages.learning_rate / stages.samples
    damping = stages.phi / stages.gamma**2

    def advance(state: np.ndarray) -> np.ndarray:
        rho, v = state
        force = 1 - damping * v * rho
        return np.array([rho + step * stages.gamma * v * force, v + step * rho * force])

    return _iterate(advance, np.array([alignments, magnitudes]), steps)


def scalar(stages: Stages, alignments: ArrayLike, steps: ArrayLike) -> np.ndarray:
    r"""Eq. (11): the neuron's own $\rho_r^2$ where the mean over neurons belongs; $\rho_r$, (time, neuron)."""
    a = stages.learning_rate * stages.rate
    saturation = 1 / stages.limit
    return _iterate(lambda rho: rho + a * rho * (1 - saturation * rho**2), alignments, steps)


def appendix_proxy(alignments: ArrayLike, *, gamma: float, trace: float) -> np.ndarray:
    r"""Appendix B.2: $\tilde\rho_r = \rho_r/\sqrt{1 - \rho_r^2\,\mathrm{tr}(\Sigma)/\gamma^{3/2}}$ for each neuron.

    NaN for a neuron above the limit of the mean. Section 5 has $\phi/\gamma^{5/2}$ for
    $\mathrm{tr}(\Sigma)/\gamma^{3/2}$.
    """
    square = np.asarray(alignments, dtype=float) ** 2
    limit = gamma**1.5 / trace
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(square / (1 - square / limit))


def first_time(magnitude: float, *, samples: int, signal: float, trace: float) -> float:
    r"""Theorem 4.1: $t_1 = \log(1/v_0)\,\sqrt n/(\sqrt{\mathrm{tr}\Sigma}|\bar\beta|)$ on the canonical clock.

    The distance to cover is from $v_0\sqrt\gamma$ to 1, not from $v_0$. The theorem has a constant before it, Lemma B.1
    the constant 1.
    """
    if not 0 < magnitude < 1:
        raise ValueError(
            "`magnitude` must be between 0 and 1 for the printed time, a multiple of log(1/magnitude): "
            f"got {magnitude:g}."
        )
    return float(np.log(1 / magnitude) * np.sqrt(samples) / (np.sqrt(trace) * signal))


def second_time(loss: float, *, samples: int, signal: float, trace: float) -> float:
    r"""Lemma 5.3: $t_2 - t_1$, canonical, for a loss $L$.

    $$ \frac{\sqrt n}{|\bar\beta|\sqrt{\mathrm{tr}\Sigma}}\log(n|\bar\beta|\mathrm{tr}\Sigma/L) $$

    An order of magnitude in the paper; its logarithm depends on the units of the data.
    """
    ratio = samples * signal * trace / arguments.positive("loss", loss)
    if ratio <= 1:
        raise ValueError(f"`loss` must be below {loss * ratio:.4g} for the printed time to be positive: got {loss:g}.")
    return float(np.sqrt(samples) / (signal * np.sqrt(trace)) * np.log(ratio))


def final_proxy(stages: Stages, loss: float) -> float:
    r"""Section 5: the proxy's last value, $\sqrt{(1-\epsilon)|y|^2/(n\epsilon\phi/\gamma^{5/2})}$.

    `loss` is the paper's $\epsilon$, absolute, below 1. By the proxy's own definition the value is
    $\sqrt{(1-e)/(e\phi/\gamma^{5/2})}$ with $e$ the root of the loss's share.
    """
    return float(np.sqrt((1 - loss) * (stages.outputs**2).mean() / loss * stages.limit))


def assumption(data: Regression, *, epsilon: float, **scales: Unpack[Scales]) -> Assumption:
    r"""Assumption 4.1: $\sqrt{nm}$ in (4), $\sqrt\epsilon|\bar\beta|$ in (6), no (7) and (8)."""
    ours = assumptions.assumption(data, epsilon=epsilon, **scales)
    step = np.sqrt(data.samples * scales["width"] / data.trace) / data.signal
    spread = data.samples * data.operator_norm + np.sqrt(data.samples) * data.frobenius_norm
    printed = {"4": step, "6a": max(1.0, np.sqrt(epsilon) * data.signal) * spread}
    kept = [c for c in ours.conditions if c.number not in ("7", "8")]
    return replace(ours, conditions=tuple(replace(c, right=float(printed.get(c.number, c.right))) for c in kept))


def _iterate(advance: Callable[[np.ndarray], np.ndarray], start: ArrayLike, steps: ArrayLike) -> np.ndarray:
    """Return the states of a recursion at whole steps, (..., time, neuron); what diverges is infinite or NaN, not an
    error."""
    state = np.array(start, dtype=float)
    kept = []
    done = 0
    for step in np.asarray(steps, dtype=int).tolist():
        for _ in range(step - done):
            state = advance(state)
        done = step
        kept.append(state)
    return np.stack(kept, axis=-2)
