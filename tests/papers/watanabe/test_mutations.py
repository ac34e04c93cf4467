"""Every claim of the paper: its verdict where linnet is sound, and a deliberate error that turns it.

Theory and measurement take nothing from each other, so an error in the theory needs no new training.
"""

import dataclasses

import numpy as np
import pytest

from linnet.papers.watanabe import PAPER
from linnet.papers.watanabe.claims import alignment, bound, curves, early, equations, ridgeless
from linnet.papers.watanabe.networks import few_samples, phases
from linnet.papers.watanabe.networks.phases import Networks, trained_networks_once
from linnet.papers.watanabe.tables import errors as errors_table
from linnet.papers.watanabe.tables import phase_times
from linnet.reproduction import Trial
from linnet.reproduction.numbers import entries
from linnet.theories import ridge, spiked
from linnet.theories.spiked import TwoPhase

QUICK = Trial(quick=True)
CLAIMS = {claim.name.removeprefix("watanabe-"): claim for claim in PAPER.claims}


def wrong(owner, name, mistaken):
    """A function of a module or class that becomes `mistaken` of the right one; a property, `mistaken` of its value."""
    right = vars(owner)[name]

    def mistake(patch):
        if isinstance(right, property):
            patch.setattr(owner, name, property(lambda self: mistaken(right.__get__(self))))
        else:
            patch.setattr(owner, name, mistaken(right))

    return mistake


def constant(name, change):
    """A constant of the theory, changed."""
    return wrong(TwoPhase, name, change)


def scaled(owner, name, factor):
    """A function's result times a factor."""
    return wrong(owner, name, lambda right: lambda *args, **kwargs: factor * right(*args, **kwargs))


def recorded(change):
    """Networks that are recorded with a change: from the run to the fields that are other ones."""

    def mistaken(right):
        def train_batch(*args, **kwargs):
            run = right(*args, **kwargs)
            return dataclasses.replace(run, **change(run))

        return train_batch

    return wrong(phases, "train_batch", mistaken)


def read_as(change):
    """Trained networks that are read with a change: from what is read of one to what is other."""
    return wrong(phase_times, "read_network", lambda right: lambda ds: {**right(ds), **change(right(ds))})


def errors_of(change):
    """Test errors of the table with a change: from its points to their errors."""

    def mistaken(table):
        def read(ds):
            points = table.read(ds)
            return points.assign(error=change(points))

        return dataclasses.replace(table, read=read)

    return wrong(errors_table, "TABLE", mistaken)


def flow_part(layer, columns, factor=1.1):
    """One of (9)-(12) a tenth too large: `columns` of dW/dt (layer 0), or da/dt."""

    def mistaken(right):
        def printed_flow(*args):
            parts = [part.copy() for part in right(*args)]
            parts[layer][..., columns] *= factor
            return tuple(parts)

        return printed_flow

    return wrong(equations, "printed_flow", mistaken)


def exchanged_v2_v3(found):
    """Moments in a basis whose second and third vectors are exchanged."""
    order = [0, 2, 1, *range(3, len(found.limit))]
    return dataclasses.replace(found, basis=found.basis[order])


def direction_of_second_layer(problem, weights):
    """The size and direction of a(0), in place of those of w1(0) + a(0)."""
    a = weights.second[..., 0, :]
    return np.linalg.norm(a, axis=-1), a / np.linalg.norm(a, axis=-1, keepdims=True)


def population_moments(X, y):
    """The population's moments in place of the empirical ones (8)."""
    sigma = np.diag(np.where(np.arange(30) == 0, 21.0, 1.0))
    return sigma, sigma @ equations.target(0.3)


double_lambda1, double_lambda2 = constant("lambda1", lambda x: 2 * x), constant("lambda2", lambda x: 2 * x)
half_correlation, other_sign = constant("correlation", lambda x: x / 2), constant("nu", lambda x: -x)
double_nu = constant("nu", lambda x: 2 * x)
turned_basis = constant("basis", lambda x: x * [[1.0], [-1.0]])  # (29)-(30) with v2 reversed
other_variance = wrong(phases, "TwoPhase", lambda right: lambda spike, align: right(spike, align, 2.0))  # in the theory
no_spike = wrong(phases, "PAIR", lambda right: (0.0, 0.3))
without_a_spike = wrong(early, "trained_networks", lambda right: lambda trial, pair=(0.0, 0.5): right(trial, pair))

# on the measuring side, and in what is trained or recorded
swapped_basis = wrong(phases, "moments", lambda right: lambda problem: exchanged_v2_v3(right(problem)))
other_direction = wrong(phases, "growth_direction", lambda right: direction_of_second_layer)
fixed_start = wrong(  # it does not shrink with s
    phases,
    "gaussian_start",
    lambda right: lambda key, dim, width, scale, batch=None: right(key, dim, width, 0.01, batch),
)
heavy_second_layer = recorded(lambda run: {"second": 1.01 * run.second})
restless_loss = recorded(lambda run: {"loss": run.loss * np.exp(-0.2 * run.times)[:, None]})  # it falls at once
rising_loss = recorded(lambda run: {"loss": run.loss[::-1]})
small_w2 = wrong(Networks, "components", lambda x: x * [1.0, 0.2])
exchanged_components = wrong(Networks, "components", lambda x: x[..., ::-1])
w2_with_w1 = wrong(Networks, "components", lambda x: x @ [[1.0, 0.3], [0.0, 1.0]])  # a third of the first in it
double_speed = wrong(Networks, "velocities", lambda parts: tuple(2 * part for part in parts))
exchanged_phases = read_as(lambda network: {"early": network["length"], "length": network["early"]})
rate_that_rises = read_as(lambda network: {"late_rate": 1 / network["late_rate"]})
coarse_start = wrong(  # 0.1 whatever s is
    few_samples.FewSamples,
    "flow_end",
    lambda right: lambda network, seed: right(dataclasses.replace(network, scale=0.1), seed),
)
undivided = errors_of(lambda points: points.error / (1 + points.spike * points.alignment**2))  # taken for plain ones
orthogonal_benefit = errors_of(  # a tenth less error where the spike is orthogonal to the target
    lambda points: points.error * (1 - 0.1 * ((points.spike > 0) & (points.alignment == 0)))
)
backwards = wrong(curves, "FAMILIES", lambda right: {name: pairs[::-1] for name, pairs in right.items()})

# in the formulas of claims
other_time_constant = wrong(equations, "time_constant", lambda right: lambda eta: 1 / eta)
larger_correlation = wrong(  # of (8), by a twentieth
    equations, "empirical_moments", lambda right: lambda X, y: (right(X, y)[0], 1.05 * right(X, y)[1])
)
first_samples = wrong(  # (8) over fifty samples alone: nothing is gained by more
    equations, "empirical_moments", lambda right: lambda X, y: right(X[:50], y[:50])
)
ridge_without_n = wrong(
    ridgeless, "ridge_solution", lambda right: lambda X, y, strength: right(X, y, strength / len(X))
)
one_size = wrong(ridgeless, "solved_kappa", lambda right: lambda dim, *rest: right(100, *rest))  # whatever d is
other_limits = wrong(ridgeless, "ridgeless_limits", lambda right: lambda ratio: (ratio, ratio / (ratio - 1)))
half_spike = wrong(  # (27) with half of the spike
    spiked, "generalization_error", lambda right: lambda rho, *a, **k: right(np.asarray(rho) / 2, *a, **k)
)

# by its name: the claim, the mistake, whether it trains again (the others share the networks of one pair)
MUTATIONS = {
    "other-time-constant": ("eq6", other_time_constant, False),
    "population-moments": ("eq6", wrong(equations, "empirical_moments", lambda right: population_moments), False),
    "larger-correlation": ("samples", larger_correlation, False),
    "first-samples": ("samples", first_samples, True),
    "label-power": ("samples", scaled(equations, "label_power", 1.05), True),
    "eq9": ("eq9", flow_part(0, 0), False),
    "eq10": ("eq9", flow_part(0, 1), False),
    "eq11-flow": ("eq9", flow_part(0, slice(2, None)), False),
    "eq12": ("eq9", flow_part(1, slice(None)), False),
    "eq28": ("appA", half_correlation, False),
    "eq29-30": ("appA", turned_basis, False),
    "eq31": ("appA", double_lambda1, False),
    "eq32": ("appA", double_lambda2, False),
    "eq33": ("appA", double_nu, False),
    "linear-rate": ("eq35", half_correlation, False),
    "growth-rate": ("eq15", half_correlation, False),
    "bernoulli": ("eq37", half_correlation, False),
    "early-without-spike": ("eq17", no_spike, True),
    "symmetry-without-spike": ("symmetry", no_spike, True),
    "exchanged-basis": ("eq11", swapped_basis, True),
    "other-variance": ("projection", other_variance, False),
    "one-phase-rate": ("one-phase", half_correlation, True),
    "one-phase-second": ("one-phase", w2_with_w1, True),
    "one-phase-spike": ("one-phase", without_a_spike, True),
    "other-direction": ("appC", other_direction, True),
    "other-span": ("span", swapped_basis, True),
    "fixed-start": ("rank-one", fixed_start, True),
    "eq18": ("eq18", double_lambda1, False),
    "eq19": ("eq18", other_sign, False),
    "fig1-lambda2": ("fig1", double_lambda2, False),
    "aligned-nu": ("exact", other_sign, False),
    "heavy-second-layer": ("conserved", heavy_second_layer, True),
    "half-weight-bound": ("bounded-weights", scaled(alignment, "weight_bound", 0.5), False),
    "other-plateau": ("saturation", constant("plateau", lambda x: 1.2 * x), False),
    "half-t1": ("t1", half_correlation, True),
    "other-speed": ("early-speed", half_correlation, True),
    "bound-5-percent-smaller": ("eq20", scaled(TwoPhase, "later_bound", 0.95), True),
    "eq39-5-percent-larger": ("eq39", scaled(bound, "least_rate", 1.05), False),
    "integral-lambda2": ("eq42", double_lambda2, False),
    "limits-lambda2": ("eq41", double_lambda2, False),
    "loose-bound": ("tight", scaled(TwoPhase, "later_bound", 1.1), True),
    "exchanged-components": ("direction", exchanged_components, False),
    "restless-loss": ("loss-drops", restless_loss, True),
    "w2-with-w1": ("loss-drops", w2_with_w1, False),
    "w2-moves-little": ("loss-drops", small_w2, False),
    "small-w2": ("onset", small_w2, False),
    "bound-two-thirds": ("mark", scaled(TwoPhase, "later_bound", 0.64), False),
    "backwards": ("order", backwards, True),
    "other-early-loss": ("early-share", constant("early_loss", lambda x: 1.1 * x), True),
    "rate-that-rises": ("later-speed", rate_that_rises, True),
    "other-late-rate": ("governed", constant("late_rate", lambda x: 1.2 * x), True),
    "spike-on-later-phase": ("spike-speed", exchanged_phases, True),
    "alignment-on-later-phase": ("contrast", exchanged_phases, True),
    "eq43": ("eq43", double_lambda1, False),
    "eq44": ("eq43", double_lambda2, False),
    "eq45": ("eq45", double_lambda2, False),
    "eq47": ("eq47", double_lambda2, False),
    "rest-of-fixed-start": ("eq48", fixed_start, True),
    "rate-lambda2": ("eq49", double_lambda2, False),
    "energy-of-fixed-start": ("eq50", fixed_start, True),
    "double-speed": ("eq51", double_speed, False),
    "rising-loss": ("eq51", rising_loss, True),
    "coarse-start": ("eq21", coarse_start, True),
    "more-samples-than-inputs": ("interpolators", wrong(ridgeless, "SAMPLES", lambda right: 40), False),
    "ridge-without-n": ("eq22", ridge_without_n, False),
    "larger-risk": ("eq23", scaled(ridge, "risk", 1.2), False),
    "larger-kappa": ("eq26", scaled(ridgeless, "solved_kappa", 1.1), False),
    "kappa-of-one-size": ("eq26", one_size, False),
    "other-limits": ("eq26", other_limits, False),
    "half-spike": ("eq27", half_spike, True),
    "larger-error": ("isotropic", scaled(spiked, "generalization_error", 1.2), True),
    "orthogonal-benefit": ("isotropic", orthogonal_benefit, True),
    "half-spike-normalised": ("normalised-error", half_spike, True),
    "undivided": ("plain-error", undivided, True),
    "any-late-rate": ("late-rate", scaled(spiked, "late_rate", 1.1), False),
    "longer-strong-spike": ("strong-spikes", scaled(TwoPhase, "strong_spike_length", 1.1), True),
    "larger-early-w2": ("early-w2", scaled(TwoPhase, "early_second", 1.2), False),
}
TURNS = {name: claim for name, (claim, *_) in MUTATIONS.items()}  # for tests/papers/test_coverage.py
RETRAINED = (swapped_basis, other_direction, fixed_start, heavy_second_layer, restless_loss, rising_loss)
ROWS = [pytest.param(*row[:2], id=name, marks=[pytest.mark.slow] if row[2] else []) for name, row in MUTATIONS.items()]


def test_every_claim_has_a_mistake():
    assert set(TURNS.values()) == set(CLAIMS)


@pytest.mark.parametrize(("name", "mistake"), ROWS)
def test_the_verdict_is_the_expected_one_and_a_mistake_turns_it(name, mistake):
    claim = CLAIMS[name]
    found = claim.measurement(QUICK)
    assert found.verdict == claim.expected, found.measured
    assert all(np.isfinite(entry) for _, leaf in claim.limits() for _, entry in entries(found.numbers[leaf.number]))
    with pytest.MonkeyPatch.context() as patch:
        mistake(patch)
        if mistake in RETRAINED:  # an error in what is trained or recorded
            trained_networks_once.cache_clear()
        turned = claim.measurement(QUICK)
    if mistake in RETRAINED:
        trained_networks_once.cache_clear()
    assert turned.verdict != claim.expected, turned.measured
