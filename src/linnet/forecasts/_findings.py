"""A diagnosis in sentences, honest about what the network is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from linnet.forecasts._telling import regime_sentence
from linnet.observables.mode_regimes import MOVED, tied_kernel

if TYPE_CHECKING:
    from linnet.forecasts.diagnosis import Diagnosis

EXACT = 1e-6  # of the variance: an error below it is none
SCALED = {
    "std": "inputs and targets are centred and divided by their standard deviations",
    "none": "inputs and targets are centred, not scaled",
    "whiten": "inputs are whitened, targets centred and divided by their standard deviations",
}


def findings(found: Diagnosis) -> list[str]:
    """What was found, line by line."""
    s, told = found.settings, found.forecast
    lines = [
        f"{s['rows']} rows, {s['inputs']} inputs, {s['targets']} target{'s' * (s['targets'] > 1)}; "
        f"{SCALED[s['scale']]}."
    ]
    lines += found.table.notes
    lines.append(_spectrum(found))
    lines.append(
        f"Width {s['width']}, init {s['init']} x {s['init_scale']:g}: {regime_sentence(told)} "
        f"Threshold {told.regimes.thresholds.mean():.3g}, sizes {_span(told.regimes.sizes)}."
    )
    lines.append(_border(found))
    lines.append(_kernels(found))
    lines += _when(found)
    rate = told.largest_stable_rate
    checked = "5% above diverges, 5% below does not" if rate.checked else "the border is not sharp"
    lines.append(f"Learning rate {told.learning_rate:.3g}; the largest stable one is {rate.rate:.3g} ({checked}).")
    lines += _stopping(found)
    lines += _rivals(found)
    lines.append(_samples(found))
    return [line for line in lines if line]


def critical_thresholds(found: Diagnosis) -> np.ndarray:
    """For each mode, the threshold below which it is learned actively: its kernel grows there by a factor sqrt(2)."""
    told = found.forecast
    at = int(np.searchsorted(told.steps, found.stop).clip(0, len(told.steps) - 1))
    product, r = told.trajectory.products[at], told.regimes
    top = np.linalg.norm(product, ord=2)
    low, high = np.full(len(r.strengths), 1e-12 * top + 1e-300), np.full(len(r.strengths), 10 * top + 1e-300)
    for _ in range(60):
        middle = np.sqrt(low * high)
        active = tied_kernel(middle, product, r.left, r.right) > 2 * MOVED * middle
        low, high = np.where(active, middle, low), np.where(active, high, middle)
    return low


def active_modes(
    found: Diagnosis, widths: Float[np.ndarray, " width"], scales: Float[np.ndarray, " scale"]
) -> Int[np.ndarray, "scale width"]:
    """How many modes would be learned actively at other `widths` and `scales` (times the chosen one) of the start."""
    critical, (first, second) = critical_thresholds(found), found.stds
    # PyTorch's second layer shrinks as the width grows; given standard deviations stay
    shrinks = found.settings["init"] in ("pytorch", "gaussian")
    seconds = second * np.sqrt(found.settings["width"] / widths) if shrinks else np.full_like(widths, second)
    threshold = scales[:, None] ** 2 * (first**2 + seconds**2) * widths / 2
    return (threshold[..., None] < critical).sum(axis=-1)


def _spectrum(found: Diagnosis) -> str:
    variances = found.forecast.problem.factor.scales**2
    shares = np.cumsum(variances) / variances.sum()
    most = int(np.searchsorted(shares, 0.9)) + 1
    return (
        f"Inputs: the strongest direction holds {shares[0]:.0%} of the variance, {most} of {len(variances)} hold 90%; "
        f"the largest variance is {variances[0] / variances[-1]:.3g} times the least."
    )


def _border(found: Diagnosis) -> str:
    """What to change to be on the other side."""
    critical, now = critical_thresholds(found), float(found.forecast.regimes.thresholds.mean())
    active = int((now < critical).sum())
    if now <= 0:
        return ""
    if active == len(critical):
        return f"All modes would be lazy with an init {np.sqrt(critical.max() / now):.2g} times larger."
    words = "all modes" if active else "every mode"
    return (
        f"To learn {words} actively, make the init {np.sqrt(critical.min() / now):.2g} times its size "
        f"(threshold {critical.min():.2g})."
    )


def _kernels(found: Diagnosis) -> str:
    told = found.forecast
    predicted, measured = told.regimes.movement, told.kernel[-1]
    off, moved = np.max(np.abs(predicted / measured - 1)), np.max(np.abs(measured - 1))
    if moved < 0.05:
        return f"The tangent kernel hardly moves: by {moved:.1%} at most along the modes (predicted within {off:.1%})."
    return (
        f"Along the modes the tangent kernel ends {_span(measured)} times as large as it began; predicted within "
        f"{off:.1%}."
    )


def _when(found: Diagnosis) -> list[str]:
    half = found.forecast.half_steps
    known = np.flatnonzero(~np.isnan(half))
    lines = []
    if known.size:
        early, late = known[np.argmin(half[known])], known[np.argmax(half[known])]
        lines.append(
            f"Mode {early + 1} is half learned at step {half[early]:.0f}"
            + (f", mode {late + 1} at step {half[late]:.0f}." if late != early else ".")
        )
    if known.size < len(half):
        lines.append(f"{len(half) - known.size} modes are not half learned after {found.forecast.steps[-1]} steps.")
    return lines


def _stopping(found: Diagnosis) -> list[str]:
    c = found.curves
    low, high = c.range
    error = f"held-out error {c.mean[c.best]:.4f} +- {c.standard_error[c.best]:.4f} of the variance"
    if c.still_falling:
        lines = [f"Stopping: the held-out error still falls at step {c.step} ({error}); train longer (--steps)."]
    else:
        late = c.mean[-1] / c.mean[c.best] - 1
        lines = [
            f"Stop at step {c.step} (steps {low} to {high} are within one standard error): {error}; "
            f"at step {c.steps[-1]} it is {late:.1%} higher."
        ]
    if found.stein is not None:
        lines.append(f"Stein's estimate, without held-out rows, says step {found.stein.step}.")
    return lines


def _rivals(found: Diagnosis) -> list[str]:
    network = found.curves.honest_error()
    methods = {"the network": network, **found.rivals}
    told = ", ".join(f"{name} {errors.mean():.4f}" for name, errors in methods.items())
    gap = network - found.rivals["ridge"]
    mean, spread = gap.mean(), gap.std(ddof=1) / np.sqrt(len(gap))
    share = mean / found.rivals["ridge"].mean()
    lines = [f"In the same folds, every choice made without the held-out ones: {told}."]
    if max(network.mean(), found.rivals["ridge"].mean()) < EXACT:
        return [*lines, "The targets are a linear map of the inputs: each of these methods finds it."]
    if network.mean() >= 1:
        lines.append("The network predicts no better than the mean of the targets.")
    if abs(mean) <= 2 * spread:
        lines.append(
            f"The network is no different from ridge ({share:+.1%} +- {spread / abs(mean) * abs(share):.1%}): "
            f"ridge is simpler."
        )
    elif mean > 0:
        lines.append(f"The network does not beat ridge: its error is {share:.1%} larger. Use ridge.")
    else:
        lines.append(
            f"The network beats ridge here: its error is {-share:.1%} smaller ({-mean / spread:.1f} standard errors)."
        )
    return lines


def _samples(found: Diagnosis) -> str:
    curve = found.samples
    first, last = curve.samples[[0, -1]]
    text = (
        f"Rows: ridge's test error falls from {curve.measured[0]:.3f} at {first} to {curve.measured[-1]:.3f} at {last}"
    )
    if np.isnan(curve.gap):
        return f"{text}; a prediction needs more rows than inputs."
    return (
        f"{text}; predicted {curve.predicted[-1]:.3f} there, off by {curve.gap:.1%} on average over "
        f"{len(curve.samples)} sizes."
    )


def _span(values: np.ndarray) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    return f"{high:.3g}" if np.isclose(low, high, rtol=5e-3) else f"{low:.3g} to {high:.3g}"
