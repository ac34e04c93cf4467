"""The risk of ridge and ridgeless regression, for any spectrum of the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from linnet._arguments import (
    non_negative,
    none_negative,
    partly_representable,
    positive,
    real_array,
    refuse_infinite,
    representable,
    shown,
)
from linnet.theories.sample_spectra import spectrum_from_svd


@partly_representable
def risk(
    eigenvalues: ArrayLike,
    overlaps: ArrayLike,
    samples: float,
    *,
    ridge: float = 0.0,
    noise_variance: ArrayLike = 0.0,
    multiplicities: ArrayLike | None = None,
) -> float | Float[np.ndarray, " output"]:
    r"""Return the excess test risk $E[(\hat\beta^T x - \beta^T x)^2]$ of ridge regression on n samples.

    Use it to predict learning curves without fitting. It holds in the limit of many inputs and samples. If the spectrum
    of the inputs is unknown, `estimate` computes it from samples.

    $$ \kappa'\kappa^2 \sum_i \frac{l_i (\beta\cdot u_i)^2}{(\kappa + l_i)^2} + s^2 (\kappa' - 1), \qquad
       \kappa' = \frac{d\kappa}{d\lambda} = \frac{1}{1 - \frac1n\sum_i l_i^2/(\kappa + l_i)^2} $$

    The effective ridge $\kappa$ is the ridge that would shrink as much if the covariance were known: $1 =
    \lambda/\kappa + \sum_i l_i/(\kappa + l_i)/n$. On noisy labels, the mean squared test error is this risk plus $s^2$.

    **Arguments:**

    - `eigenvalues`: distinct eigenvalues $l_i \ge 0$ of the inputs' covariance, (mode,)
    - `overlaps`: squared projections $(\beta\cdot u_i)^2$ of the target, summed over equal eigenvalues, (mode,) or
      (output, mode)
    - `samples`: number of samples $n$
    - `ridge`: penalty $\lambda$ in $(X^T X + \lambda n I)^{-1} X^T y$; 0 is the minimum-norm solution
    - `noise_variance`: variance $s^2$ of the noise on the labels, one for all outputs or (output,)
    - `multiplicities`: multiplicity of each eigenvalue, (mode,); 1 by default. A million equal eigenvalues cost as much
      as one

    **Returns** a number, or one for each output.

    **Valid when** n and the rank r (the number of non-zero eigenvalues) are large. The error is O(1/r), and large near
    n = r. At n = r without a penalty, the risk is infinite if labels are noisy. Without noise the formula is undefined
    there, and the function raises `ValueError`.

    **Reference:** Watanabe et al., (23)-(24), extended to label noise; Hastie et al. 2022.

    **Example:**

        >>> from linnet.theories.ridge import risk
        >>> round(risk([1.0], [1.0], 50, multiplicities=[100]), 3)  # half as many samples as inputs: half the error
        0.5
        >>> round(risk([1.0], [1.0], 50, ridge=0.1, noise_variance=0.25, multiplicities=[100]), 3)
        0.687
    """
    values, counts = _check_spectrum(eigenvalues, multiplicities)
    weights = none_negative("overlaps", np.atleast_1d(real_array("overlaps", overlaps, ndim=(0, 1, 2))))
    if weights.shape[-1:] != values.shape:
        raise ValueError(
            f"`overlaps` must match the spectrum, one for each of its {values.size} eigenvalues: got "
            f"{weights.shape[-1]}."
        )
    n, ridge = positive("samples", samples), non_negative("ridge", ridge)
    noise = _check_noise(noise_variance, weights.shape[:-1])
    rank = counts[values > 0].sum()
    if ridge == 0 and n == rank:
        if (noise > 0).all():
            return _scalar(np.full(noise.shape, np.inf))
        raise ValueError(
            f"the ridgeless risk is undefined at `samples` equal to the rank, {rank:g}: infinite sensitivity times "
            "zero bias. "
            "Give a `ridge`, or another number of samples; both one-sided limits are 0 without noise, infinite with it."
        )
    if ridge == 0 and n > rank:
        return _scalar(noise * (rank / n) / (1 - rank / n))  # more samples than directions: no bias
    kappa, unit = _effective_ridge(values, counts, n, ridge)
    values = values / unit
    share, rest = values / (kappa + values), kappa / (kappa + values)
    # 1 - df2 = ridge/kappa + (df1 - df2), in which nothing cancels near n = rank.
    sensitivity = 1 / (ridge / unit / kappa + (counts * share * rest).sum() / n)
    bias = sensitivity * (share * rest * (kappa * (unit * weights))).sum(axis=-1)
    total = bias + noise * sensitivity * (counts * share**2).sum() / n
    if not np.isfinite(total).all():
        raise ValueError("`eigenvalues` times `overlaps` are too large for a number: give them in smaller units.")
    return _scalar(total)


@dataclass(frozen=True)
class RidgeSpectrum:
    """Result of `estimate`: the spectrum, overlaps and noise of a data set, as `risk` needs them.

    **Attributes:**

    - `eigenvalues`: eigenvalues of the inputs' covariance, (mode,)
    - `overlaps`: squared projections of the target on the eigenvectors, (output, mode)
    - `noise_variance`: variance of the noise on the labels, (output,)

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.ridge import RidgeSpectrum, risk
        >>> spectrum = RidgeSpectrum(np.ones(100), np.full((1, 100), 0.01), np.zeros(1))
        >>> risk(spectrum.eigenvalues, spectrum.overlaps, 50, noise_variance=spectrum.noise_variance).round(3).tolist()
        [0.5]
    """

    eigenvalues: Float[np.ndarray, " mode"]
    overlaps: Float[np.ndarray, "output mode"]
    noise_variance: Float[np.ndarray, " output"]


@representable
def estimate(X: ArrayLike, Y: ArrayLike) -> RidgeSpectrum:
    r"""Estimate the spectrum of the inputs, the overlaps and the noise of a linear model from samples.

    Pass the result to `risk` to predict learning curves.

    $$ \hat l_i = \mathrm{eig}_i(\hat\Sigma), \qquad \hat s^2 = \frac{|Y - X\hat\beta|^2}{n - r}, \qquad
       (\beta\cdot u_i)^2 \approx (\hat\beta\cdot u_i)^2 - \frac{\hat s^2}{n\,\hat l_i} $$

    where $\hat\beta$ is the least-squares solution of the centered data, r the rank of the inputs, and n the number of
    samples minus one. Negative overlaps are set to zero. The others are then scaled so that the explained power
    $\sum_i l_i (\beta\cdot u_i)^2$ does not change.

    **Arguments:**

    - `X`: inputs, (sample, input)
    - `Y`: outputs, (sample, output) or (sample,)

    **Returns** a `RidgeSpectrum` s. `risk(s.eigenvalues, s.overlaps, n, noise_variance=s.noise_variance)` predicts the
    excess risk on n samples, which does not include the noise of the test labels.

    **Valid when** there are many more samples than inputs, because the eigenvalues of the sample covariance are not
    corrected for their spread. If the samples are not more than the rank of the inputs, the noise cannot be estimated,
    and the function raises `ValueError`.

    **Example:**

        >>> import numpy as np
        >>> from linnet.theories.ridge import estimate
        >>> X = np.random.default_rng(0).standard_normal((2000, 3))
        >>> float(estimate(X, X @ [1.0, 0.0, 2.0]).overlaps.sum().round(3))
        5.0
    """
    inputs, outputs = real_array("X", X, ndim=2), real_array("Y", Y, ndim=(1, 2))
    outputs = outputs[:, None] if outputs.ndim == 1 else outputs
    if len(inputs) != len(outputs):
        raise ValueError(f"`X` and `Y` must have the same number of samples: got {len(inputs)} and {len(outputs)}.")
    n = len(inputs) - 1
    inputs, outputs = inputs - inputs.mean(axis=0), outputs - outputs.mean(axis=0)
    left, scales, _ = np.linalg.svd(inputs / np.sqrt(max(n, 1)), full_matrices=False)
    rank = int((scales > scales[0] * max(inputs.shape) * np.finfo(float).eps).sum())
    return RidgeSpectrum(*spectrum_from_svd(left[:, :rank], scales[:rank], outputs))


def _effective_ridge(values: np.ndarray, counts: np.ndarray, n: float, ridge: float) -> tuple[float, float]:
    """The positive root and the unit it is given in: midway between all scales, so that squares do not overflow."""
    from scipy.optimize import brentq

    values, counts = values[values > 0], counts[values > 0]
    rank = counts.sum()
    if values.size == 0:
        return 1.0, ridge
    scales = np.append(values, ridge) if ridge > 0 else values
    unit = float(np.sqrt(scales.min()) * np.sqrt(scales.max()))
    values, ridge = values / unit, ridge / unit

    def excess(log_kappa: float) -> float:
        kappa = np.exp(log_kappa)
        # modes below kappa by their small share, those above by what they lack of 1: whole numbers cancel exactly
        below = values < kappa
        small = counts * np.where(below, values, -kappa) / (kappa + values)
        return float(ridge / kappa + (rank - n - counts[below].sum()) / n + small.sum() / n)

    low = max(ridge, values.min() * (rank - n) / n)  # at both the sum is at least 1
    high = ridge + (counts * values).sum() / n  # there it is at most 1
    refuse_infinite(float(low), float(high))
    if not low < high or n < 1e-17:  # so few samples that the root is `high` to rounding
        return float(high), unit
    kappa = float(np.exp(brentq(excess, np.log(low) - 1e-3, np.log(high) + 1e-3, xtol=1e-14, rtol=1e-14)))
    fall = ridge / kappa + (counts * (values / (kappa + values)) * (kappa / (kappa + values))).sum() / n
    return kappa + kappa * (excess(np.log(kappa)) / fall), unit  # one Newton step: the logarithm costs a digit


def _check_noise(noise_variance: object, lead: tuple[int, ...]) -> np.ndarray:
    """The noise of each output, checked."""
    noise = none_negative("noise_variance", real_array("noise_variance", noise_variance, ndim=(0, 1)))
    if noise.shape not in ((), lead):
        raise ValueError(
            f"`noise_variance` must be one number or one for each of the {lead[0] if lead else 1} outputs: got shape "
            f"{noise.shape}."
        )
    return np.broadcast_to(noise, lead)


def _scalar(value: np.ndarray) -> Any:
    """Return a float for an array without axes, other arrays as they are."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def _check_spectrum(eigenvalues: object, multiplicities: object) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues and their multiplicities (1 where none are given), checked."""
    values = none_negative("eigenvalues", real_array("eigenvalues", eigenvalues, ndim=(0, 1)).reshape(-1))
    if multiplicities is None:
        return values, np.ones_like(values)
    counts = real_array("multiplicities", multiplicities, ndim=(0, 1)).reshape(-1)
    if counts.shape != values.shape:
        raise ValueError(
            f"`multiplicities` must match the spectrum, one for each of its {values.size} eigenvalues: got "
            f"{counts.size}."
        )
    if (counts < 1).any() or (counts != np.round(counts)).any():
        raise ValueError(f"`multiplicities` must be whole numbers of at least 1: got {shown(counts.tolist())}.")
    if counts.max() > 1e15:  # beyond, whole numbers are no longer counted exactly
        raise ValueError(f"`multiplicities` must be at most 1e15: got {counts.max():g}.")
    return values, counts
