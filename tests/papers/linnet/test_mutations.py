"""Every claim of our own: its verdict where linnet is sound, and a deliberate error that turns it."""

from dataclasses import replace

import numpy as np
import pytest

import linnet as ln
from linnet.papers.linnet import PAPER
from linnet.papers.linnet.claims import depth_of_the_papers, diagram, over_time, start_scale
from linnet.papers.linnet.tables import dimensions
from linnet.reductions._trial_descent import TrialDescent
from linnet.reproduction import Trial
from linnet.theories import deep, label_noise, mixed, one_output, spectral_bias

QUICK = Trial(quick=True, seed=3)
CLAIMS = {claim.name.removeprefix("linnet-"): claim for claim in PAPER.claims}


def changed(owner, name, change):
    """A function with its positional arguments changed."""
    right = getattr(owner, name)
    return lambda patch: patch.setattr(owner, name, lambda *args, **named: right(*change(args), **named))


def keyword(owner, name, key, factor):
    """One argument by keyword times a factor."""
    right = getattr(owner, name)
    return lambda patch: patch.setattr(
        owner, name, lambda *args, **named: right(*args, **named | {key: factor * named[key]})
    )


def replaced(owner, name, **values):
    """Arguments by keyword replaced."""
    right = getattr(owner, name)
    return lambda patch: patch.setattr(owner, name, lambda *args, **named: right(*args, **named | values))


def scaled(owner, name, factor):
    """A result times a factor."""
    right = getattr(owner, name)
    return lambda patch: patch.setattr(owner, name, lambda *args, **named: factor(right(*args, **named)))


MUTATIONS = {
    "trained": [
        scaled(mixed, "predicted_diagram", lambda told: replace(told, best_test=1.03 * told.best_test)),
        scaled(mixed, "predicted_diagram", lambda told: replace(told, stable_rank=1.08 * told.stable_rank)),
        scaled(mixed, "predicted_diagram", lambda told: replace(told, best_time=1.1 * told.best_time)),
        scaled(mixed, "predicted_diagram", lambda told: replace(told, error=told.error / 3)),
        scaled(mixed, "predicted_diagram", lambda told: replace(told, error=4 * told.error)),  # nothing is covered
    ],
    "printed": [
        scaled(diagram, "published_and_predicted", lambda data: data.assign(predicted=1.1 * data["predicted"]))
    ],
    "one-equation": [changed(spectral_bias, "singular_values", lambda args: (args[0], 2 * args[1], *args[2:]))],
    "dimensions": [scaled(dimensions, "predicted_best_test", lambda predicted: 1.05 * predicted)],
    "hindsight": [keyword(ln, "denoise", "noise_std", 2)],
    "one-start": [
        keyword(ln.inits, "balanced", "imbalance", 0.5),
        changed(mixed, "self_consistent", lambda args: (*args[:2], 1.01 * args[2], *args[3:])),
    ],
    "over-time": [changed(one_output, "learning_curve", lambda args: (args[0], 1.01 * args[1], *args[2:]))],
    "any-spectrum": [changed(one_output, "learning_curve", lambda args: (args[0], 1.01 * args[1], *args[2:]))],
    "over-time-limit": [keyword(one_output, "asymptotic", "threshold", 1.5)],
    "two-phases": [
        changed(over_time, "small_start", lambda args: (args[0], 2 * args[1], *args[2:])),
        changed(over_time, "small_start", lambda args: (args[0] / 10, *args[1:])),
    ],
    "start-scale": [keyword(one_output, "asymptotic", "noise_variance", 1e-3)],
    "layer-scales": [
        scaled(start_scale, "_start_of_scales", lambda start: ln.Weights(start.first, 1.1 * start.second)),
    ],
    "no-shortcut": [
        changed(one_output, "flow", lambda args: (args[0], args[1], 10 * args[2] if args[1] < 2 else args[2]))
    ],
    "depth-reduction": [scaled(TrialDescent, "max_distance", lambda distance: 1e-2 * distance)],
    "depth-decoupling": [changed(deep, "gaussian_modes", lambda args: (args[0], 1.01 * args[1], *args[2:]))],
    "depth-diagram": [
        changed(deep, "deep_diagram", lambda args: (args[0], [2 * one for one in args[1]], *args[2:])),
        scaled(deep, "deep_diagram", lambda told: replace(told, error=0.2 * told.error)),
    ],
    "depth-borders": [scaled(deep, "threshold", lambda told: told**1.1)],
    "depth-phases": [
        replaced(depth_of_the_papers, "descent_products", weighted=lambda error: 6 * error)
    ],  # both at once
    "depth-stages": [
        changed(depth_of_the_papers, "_start", lambda args: (*args[:3], 1.0, *args[4:]))
    ],  # a start that is not small
    "depth-rank": [changed(depth_of_the_papers, "_start", lambda args: (*args[:3], max(args[3], 0.6), *args[4:]))],
    "depth-buys": [scaled(deep, "deep_diagram", lambda told: replace(told, best_test=told.best_test * told.depth / 2))],
    "flattest": [
        keyword(ln, "label_noise_descent", "noise_std", 0.7),
        keyword(label_noise, "decay_rates", "order", 0.5),
    ],
    "label-noise-corners": [scaled(label_noise, "decay_rates", lambda rates: 1.2 * rates)],
    "label-noise-rates": [scaled(label_noise, "decay_rates", lambda rates: np.full(rates.shape, rates.mean()))],
}
TURNS = {name: name for name in MUTATIONS}  # the claim that each turns
QUICK_COMPILATION = ("one-equation", "flattest", "depth-reduction", "depth-decoupling")
ALL = [pytest.param(name, marks=[] if name in QUICK_COMPILATION else [pytest.mark.slow]) for name in CLAIMS]


def test_every_claim_has_a_mutation():
    assert set(MUTATIONS) == set(CLAIMS)


@pytest.mark.parametrize("name", ALL)
def test_a_sound_linnet_gives_the_published_verdict(name):
    found = CLAIMS[name].measurement(QUICK)
    assert found.verdict == CLAIMS[name].expected, found.measured


@pytest.mark.parametrize("name", ALL)
def test_a_deliberate_error_turns_the_verdict(name):
    for mutation in MUTATIONS[name]:
        with pytest.MonkeyPatch.context() as patch:
            mutation(patch)
            found = CLAIMS[name].measurement(QUICK)
        assert found.verdict != CLAIMS[name].expected, found.measured
