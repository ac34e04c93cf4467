"""The deliberate errors that turn our own claims."""

from dataclasses import replace
from typing import Any

import numpy as np

import linnet as ln
from linnet.reductions.trial_descent import TrialDescent
from linnet.theories import deep, label_noise, lazy_active, one_output, spectral_bias, spectral_descent
from linnet_papers.own.claims import depth_of_the_papers, diagram, over_time, start_scale
from linnet_papers.own.grids import dimensions
from linnet_papers.own.training import optimizers
from linnet_papers.reproduction import Trial
from linnet_papers.testing import Error, Mutation, always, argument, result, scaled, times, wrong

TRIAL = Trial(quick=True, seed=3)


def predicted_with(**factors: float) -> Error:
    """Multiply parts of what is predicted for the plane."""
    return result(
        lazy_active,
        "predicted_diagram",
        lambda told: replace(told, **{name: factor * getattr(told, name) for name, factor in factors.items()}),
    )


def descent_for_it(start: Any, problem: Any, steps: int) -> Any:
    """Gradient descent, for spectral descent."""
    states = optimizers.descent_run(start, problem, 0.01)
    return np.arange(float(len(states))), states


newton_schulz = optimizers.newton_schulz
faster_decay, slower_decay = (argument(optimizers, "decayed_flow", 2, times(factor)) for factor in (1.1, 0.9))


def normalized(gradient: Any) -> Any:
    """The gradient over its length, for its polar factor."""
    return gradient / np.linalg.norm(gradient)


def rates_of_the_covariance(right: Any) -> Any:
    """Return rates whose ratio is that of the covariance, at every scale: what was claimed before."""
    return lambda cov, target, scale: np.diag(cov)[::-1] / cov.max() * right(cov, target, scale).max()


MUTATIONS = {
    "trained": Mutation("trained", predicted_with(min_test_loss=1.03)),
    "trained-rank": Mutation("trained", predicted_with(stable_rank=1.08)),
    "trained-time": Mutation("trained", predicted_with(best_time=1.1)),
    "trained-bars": Mutation("trained", predicted_with(uncertainty=1 / 6)),
    "trained-uncovered": Mutation("trained", predicted_with(uncertainty=4.0)),
    "printed": Mutation(
        "printed",
        result(diagram, "published_and_predicted", lambda data: data.assign(predicted=1.1 * data["predicted"])),
    ),
    "one-equation": Mutation("one-equation", argument(spectral_bias, "singular_values", 1, times(2)), quick=True),
    "dimensions": Mutation("dimensions", scaled(dimensions, "predicted_min_test_loss", 1.05)),
    "hindsight": Mutation("hindsight", argument(ln, "denoise", "noise_std", times(2))),
    "one-start": Mutation("one-start", argument(ln.inits, "balanced", "imbalance", times(0.5))),
    "one-start-threshold": Mutation("one-start", argument(lazy_active, "self_consistent", 2, times(1.01))),
    "over-time": Mutation("over-time", argument(one_output, "error_over_time", 1, times(1.01))),
    "any-spectrum": Mutation("any-spectrum", argument(one_output, "error_over_time", 1, times(1.01))),
    "over-time-limit": Mutation("over-time-limit", argument(one_output, "asymptotic", "threshold", times(1.5))),
    "two-phases": Mutation("two-phases", argument(over_time, "small_start", 1, times(2))),
    "two-phases-scale": Mutation("two-phases", argument(over_time, "small_start", 0, times(0.1))),
    "start-scale": Mutation("start-scale", argument(one_output, "asymptotic", "noise_variance", times(1e-3))),
    "layer-scales": Mutation(
        "layer-scales",
        result(start_scale, "_start_of_scales", lambda start: ln.Weights(start.first, 1.1 * start.second)),
    ),
    "steps-saved": Mutation("steps-saved", wrong(start_scale, "late_rates", rates_of_the_covariance)),
    "steps-saved-error": Mutation(  # errors that show nothing of it, all that was tried before
        "steps-saved", wrong(start_scale, "ERRORS", lambda right: (1e-1, 1e-2, 1e-2, 1e-2, 1e-2))
    ),
    "depth-reduction": Mutation("depth-reduction", scaled(TrialDescent, "distance", 1e-2), quick=True),
    "depth-decoupling": Mutation("depth-decoupling", argument(deep, "gaussian_modes", 1, times(1.01)), quick=True),
    "depth-diagram": Mutation(
        "depth-diagram", argument(deep, "deep_diagram", 1, lambda variances: [2 * one for one in variances])
    ),
    "depth-diagram-bars": Mutation(
        "depth-diagram", result(deep, "deep_diagram", lambda told: replace(told, uncertainty=0.2 * told.uncertainty))
    ),
    "depth-phases": Mutation(  # both at once
        "depth-phases", always(depth_of_the_papers, "descent_products", weighted=times(6))
    ),
    "depth-stages": Mutation(  # a start that is not small
        "depth-stages", argument(depth_of_the_papers, "_start", 3, lambda scale: 1.0)
    ),
    "depth-rank": Mutation("depth-rank", argument(depth_of_the_papers, "_start", 3, lambda scale: max(scale, 0.6))),
    "depth-scale": Mutation(  # depth lowers the error of the best network too
        "depth-scale",
        result(deep, "deep_diagram", lambda told: replace(told, min_test_loss=told.min_test_loss * 2 / told.depth)),
    ),
    "flow-ridge": Mutation("flow-ridge", argument(one_output, "asymptotic", "times", times(10))),
    "one-equation-riccati": Mutation("one-equation", argument(lazy_active, "balanced_solution", "first", times(2))),
    "flattest": Mutation("flattest", argument(ln, "label_noise_descent", "noise_std", times(0.7))),
    "flattest-order": Mutation("flattest", argument(label_noise, "decay_rates", "order", times(0.5)), quick=True),
    "label-noise-corners": Mutation("label-noise-corners", scaled(label_noise, "decay_rates", 1.2)),
    "label-noise-rates": Mutation(
        "label-noise-rates", result(label_noise, "decay_rates", lambda rates: np.full(rates.shape, rates.mean()))
    ),
    # Muon and weight decay
    "muon-clips": Mutation("muon-clips", scaled(spectral_descent, "level", 1.2), quick=True),
    "muon-selects": Mutation("muon-clips", wrong(optimizers, "polar_factor", lambda _: newton_schulz)),
    "muon-formula": Mutation(
        "muon-no-active-region",
        result(spectral_descent, "minimum", lambda found: replace(found, test_loss=1.3 * found.test_loss)),
    ),
    "muon-denoises": Mutation(  # spectral descent that were as good as descent
        "muon-no-active-region", wrong(optimizers, "spectral_run", lambda _: descent_for_it)
    ),
    "muon-wide": Mutation("muon-narrow", argument(optimizers, "wide_start", 3, times(30))),
    "muon-conserved": Mutation("muon-conserved", wrong(optimizers, "polar_factor", lambda _: normalized)),
    "muon-approximate": Mutation(
        "muon-sixteen-steps", wrong(optimizers, "polar_factor", lambda _: newton_schulz), quick=True
    ),
    "decay-threshold": Mutation(
        "decay-threshold", argument(lazy_active, "mode_values", "weight_decay", times(1.2)), quick=True
    ),
    "decay-of-the-imbalance": Mutation("decay-threshold", faster_decay),
    "decay-soft-threshold": Mutation("decay-soft-threshold", slower_decay, quick=True),
    "decay-turns-active": Mutation(
        "decay-turns-active", argument(lazy_active, "predicted_diagram", "weight_decay", times(0.7)), quick=True
    ),
    "decay-stays-lazy": Mutation("decay-turns-active", argument(optimizers, "decayed_flow", 2, times(0.1))),
}
