"""The deliberate errors that turn the claims on Watanabe et al."""

import dataclasses

import numpy as np

from linnet.theories import ridge, spiked
from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Trial
from linnet_papers.testing import Mutation, result, scaled, wrong
from linnet_papers.watanabe.claims import alignment, bound, curves, early, equations, ours, ridgeless
from linnet_papers.watanabe.claims import phases as early_phase
from linnet_papers.watanabe.grids import errors as errors_grid
from linnet_papers.watanabe.grids import phase_times
from linnet_papers.watanabe.training import few_samples, phases
from linnet_papers.watanabe.training.phases import Networks

TRIAL = Trial(quick=True)


def constant(name, change):
    """A constant of the theory, changed."""
    return wrong(TwoPhase, name, change)


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
    """Test errors of the grid with a change: from its points to their errors."""
    return result(errors_grid, "errors", lambda points: points.assign(error=change(points)))


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


def least_rate(covariance, beta):
    """The least eigenvalue in the whole space, directions in which the target has no part included."""
    return float(np.linalg.eigvals(ours.matrix_of_rates(covariance, beta)).real.min())


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
ridge_with_size = wrong(
    ridgeless, "ridge_solution", lambda right: lambda X, y, strength: right(X, y, strength * len(X) / 30)
)
one_size = wrong(ridgeless, "solved_kappa", lambda right: lambda dim, *rest: right(100, *rest))  # whatever d is
other_limits = wrong(ridgeless, "ridgeless_limits", lambda right: lambda ratio: (ratio, ratio / (ratio - 1)))
half_spike = wrong(  # (27) with half of the spike
    spiked, "generalization_error", lambda right: lambda rho, *a, **k: right(np.asarray(rho) / 2, *a, **k)
)

MUTATIONS = {
    "other-time-constant": Mutation("eq6", other_time_constant, quick=True),
    "population-moments": Mutation(
        "eq6", wrong(equations, "empirical_moments", lambda right: population_moments), quick=True
    ),
    "larger-correlation": Mutation("samples", larger_correlation),
    "first-samples": Mutation("samples", first_samples),
    "label-power": Mutation("samples", scaled(equations, "label_power", 1.05)),
    "eq9": Mutation("eq9", flow_part(0, 0), quick=True),
    "eq10": Mutation("eq9", flow_part(0, 1), quick=True),
    "eq11-flow": Mutation("eq9", flow_part(0, slice(2, None)), quick=True),
    "eq12": Mutation("eq9", flow_part(1, slice(None)), quick=True),
    "eq28": Mutation("appA", half_correlation, quick=True),
    "eq29-30": Mutation("appA", turned_basis, quick=True),
    "eq31": Mutation("appA", double_lambda1, quick=True),
    "eq32": Mutation("appA", double_lambda2, quick=True),
    "eq33": Mutation("appA", double_nu, quick=True),
    "linear-rate": Mutation("eq35", half_correlation),
    "growth-rate": Mutation("eq15", half_correlation, quick=True),
    "bernoulli": Mutation("eq37", half_correlation, quick=True),
    "early-without-spike": Mutation("eq17", no_spike),
    "unequal-layers": Mutation("symmetry", heavy_second_layer, retrains=True),
    "exchanged-basis": Mutation("eq11", swapped_basis, retrains=True),
    "other-variance": Mutation("projection", other_variance, quick=True),
    "one-phase-rate": Mutation("one-phase", half_correlation),
    "one-phase-second": Mutation("one-phase", w2_with_w1),
    "one-phase-spike": Mutation("one-phase", without_a_spike),
    "other-direction": Mutation("appC", other_direction, retrains=True),
    "other-span": Mutation("span", swapped_basis, retrains=True),
    "fixed-start": Mutation("rank-one", fixed_start, retrains=True),
    "eq18": Mutation("eq18", double_lambda1, quick=True),
    "eq19": Mutation("eq18", other_sign, quick=True),
    "fig1-lambda2": Mutation("fig1", double_lambda2, quick=True),
    "aligned-nu": Mutation("exact", other_sign),
    "heavy-second-layer": Mutation("conserved", heavy_second_layer, retrains=True),
    "half-weight-bound": Mutation("bounded-weights", scaled(alignment, "weight_bound", 0.5)),
    "other-plateau": Mutation("saturation", constant("plateau", lambda x: 1.2 * x), quick=True),
    "plateau-whatever-the-limit": Mutation(
        "saturation", wrong(early, "saturation_value", lambda right: lambda run: run.theory.plateau), quick=True
    ),
    "half-t1": Mutation("t1", half_correlation),
    "start-whatever-the-width": Mutation(
        "t1", wrong(early_phase, "typical_start", lambda right: lambda scale, ratio: right(scale, 50 / 30))
    ),
    "other-speed": Mutation("early-speed", half_correlation),
    "bound-5-percent-smaller": Mutation("eq20", scaled(TwoPhase, "later_bound", 0.95)),
    "eq39-5-percent-larger": Mutation("eq39", scaled(bound, "least_rate", 1.05), quick=True),
    "integral-lambda2": Mutation("eq42", double_lambda2, quick=True),
    "limits-lambda2": Mutation("eq41", double_lambda2, quick=True),
    "loose-bound": Mutation("tight", scaled(TwoPhase, "later_bound", 1.1)),
    "exchanged-components": Mutation("direction", exchanged_components, quick=True),
    "restless-loss": Mutation("loss-drops", restless_loss, retrains=True),
    "w2-with-w1": Mutation("loss-drops", w2_with_w1, quick=True),
    "w2-moves-little": Mutation("loss-drops", small_w2, quick=True),
    "small-w2": Mutation("onset", small_w2, quick=True),
    "bound-two-thirds": Mutation("mark", scaled(TwoPhase, "later_bound", 0.64), quick=True),
    "backwards": Mutation("order", backwards),
    "half-rate": Mutation("indistinct", scaled(curves, "halved", 0.5), quick=True),
    "other-early-loss": Mutation("early-share", constant("early_loss", lambda x: 1.1 * x)),
    "rate-that-rises": Mutation("later-speed", rate_that_rises),
    "rate-across-the-plane": Mutation("governed", constant("late_rate", lambda x: min(x, 1.0))),
    "other-late-rate": Mutation("governed", constant("late_rate", lambda x: 1.2 * x)),
    "spike-on-later-phase": Mutation("spike-speed", exchanged_phases),
    "eq43": Mutation("eq43", double_lambda1, quick=True),
    "eq44": Mutation("eq43", double_lambda2, quick=True),
    "eq45": Mutation("eq45", double_lambda2, quick=True),
    "eq47": Mutation("eq47", double_lambda2, quick=True),
    "rest-of-fixed-start": Mutation("eq48", fixed_start, retrains=True),
    "rate-lambda2": Mutation("eq49", double_lambda2, quick=True),
    "energy-of-fixed-start": Mutation("eq50", fixed_start, retrains=True),
    "double-speed": Mutation("eq51", double_speed, quick=True),
    "rising-loss": Mutation("eq51", rising_loss, retrains=True),
    "coarse-start": Mutation("eq21", coarse_start),
    "more-samples-than-inputs": Mutation("interpolators", wrong(ridgeless, "SAMPLES", lambda right: 40), quick=True),
    "ridge-without-n": Mutation("eq22", ridge_without_n, quick=True),
    "ridge-with-d": Mutation("limits", ridge_with_size, quick=True),
    "larger-risk": Mutation("eq23", scaled(ridge, "risk", 1.2), quick=True),
    "larger-kappa": Mutation("eq26", scaled(ridgeless, "solved_kappa", 1.1), quick=True),
    "kappa-of-one-size": Mutation("eq26", one_size, quick=True),
    "other-limits": Mutation("eq26", other_limits, quick=True),
    "half-spike": Mutation("eq27", half_spike),
    "larger-error": Mutation("isotropic", scaled(spiked, "generalization_error", 1.2)),
    "orthogonal-benefit": Mutation("isotropic", orthogonal_benefit),
    "half-spike-normalized": Mutation("normalized-error", half_spike),
    "undivided": Mutation("plain-error", undivided),
    "rate-of-the-whole-space": Mutation("late-rate", wrong(spiked, "late_rate", lambda right: least_rate), quick=True),
    "any-late-rate": Mutation("late-rate", scaled(spiked, "late_rate", 1.1), quick=True),
    "longer-strong-spike": Mutation("strong-spikes", scaled(TwoPhase, "strong_spike_length", 1.1)),
    "larger-early-w2": Mutation("early-w2", scaled(TwoPhase, "early_second", 1.2), quick=True),
}
