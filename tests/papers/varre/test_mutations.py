"""Every claim of the paper: its verdict where linnet is sound, and a deliberate error that turns it.

Theory and measurement take nothing from each other, so an error in the theory needs no new training; an error of the
training is made in what was trained.
"""

import dataclasses
from functools import cache

import numpy as np
import pytest

import linnet as ln
import linnet.inits
import linnet.observables
from linnet.papers.varre import PAPER
from linnet.papers.varre.claims import dynamics, growth, label_noise, mirror, noise, starts, whitened
from linnet.reproduction import Estimate, Trial
from linnet.reproduction.table import Table
from linnet.theories import noise as noise_theory
from linnet.theories import spectral_bias as theory

QUICK = Trial(quick=True)
CLAIMS = {claim.name.removeprefix("varre-"): claim for claim in PAPER.claims}


def result(owner, name, change):
    """What a function returns, changed."""
    right = getattr(owner, name)
    return lambda patch: patch.setattr(owner, name, lambda *args, **kwargs: change(right(*args, **kwargs)))


def scaled(owner, name, factor):
    """A function's result times a factor."""
    return result(owner, name, lambda found: factor * found)


def given(owner, name, place, change):
    """One positional argument of a function changed."""
    right = getattr(owner, name)

    def wrong(*args, **kwargs):
        return right(*args[:place], change(args[place]), *args[place + 1 :], **kwargs)

    return lambda patch: patch.setattr(owner, name, wrong)


def keyword(owner, name, key, change):
    """One argument by keyword changed."""
    right = getattr(owner, name)
    return lambda patch: patch.setattr(
        owner, name, lambda *args, **kwargs: right(*args, **kwargs | {key: change(kwargs[key])})
    )


def always(owner, name, **values):
    """Arguments by keyword added or replaced."""
    right = getattr(owner, name)
    return lambda patch: patch.setattr(owner, name, lambda *args, **kwargs: right(*args, **kwargs | values))


def rows_of(table, change):
    """What is read of one table, changed."""
    right = Table.rows

    def wrong(self, trial):
        return change(right(self, trial)) if self.name == table else right(self, trial)

    return lambda patch: patch.setattr(Table, "rows", wrong)


def trained(table, **changes):
    """The flows of one table, changed: each entry a function of the path."""

    def wrong(path):
        return dataclasses.replace(path, **{name: change(path) for name, change in changes.items()})

    return rows_of(table, lambda paths: [wrong(path) for path in paths])


def rates_of(**changes):
    """Measured growth rates, changed."""
    return rows_of("growth", lambda rates: rates | {name: change(rates[name]) for name, change in changes.items()})


def typical_areas(change):
    """Medians of the commutator's size over the paths, changed."""
    return rows_of(
        "noise", lambda rows: {key: cell.assign(area_median=change(cell["area_median"])) for key, cell in rows.items()}
    )


other_data = rows_of("whitened", lambda _: starts.flows.LIMITS.rows(QUICK))  # flows on data that are not whitened


def outside_the_span(path):
    """A little of every neuron along an input that no sample sees: what the samples see stays."""
    unseen = np.linalg.eigh(path.whole_cov)[1][:, 0]
    return path.whole_first + 1e-3 * unseen


def along_the_unseen(path):
    """A second layer with a part along the neurons' weights of an input that no sample sees."""
    unseen = np.linalg.eigh(path.whole_cov)[1][:, 0]
    return path.whole_second + 1e-3 * path.whole_first @ unseen


def noise_of(shape, size):
    return size * np.random.default_rng(0).standard_normal(shape)


def one_neuron_off(path):
    first = path.whole_first.copy()
    first[3] += noise_of(first[3].shape, 0.1)
    return first


def fewer_values(path):
    values = path.values.copy()
    values[3:] = 0.0
    return values


def lagging(path):
    return np.where(np.arange(path.values.size) == 3, path.values[2], path.values)


def unbalanced(patch):
    right = starts.plain_flow
    patch.setattr(
        starts,
        "plain_flow",
        lambda problem, start, times: right(
            problem, ln.Weights(start.first + noise_of(start.first.shape, 1e-2), start.second), times
        ),
    )


def pushed(module):
    """Descent that adds a little to every weight."""
    right = module.plain_step

    def wrong(layers, problem, rate):
        return tuple(
            layer + 1e-5 * np.cos(np.arange(layer.size)).reshape(layer.shape) for layer in right(layers, problem, rate)
        )

    return lambda patch: patch.setattr(module, "plain_step", wrong)


def with_a_common_part(patch):
    right = linnet.inits.gaussian

    def wrong(*args, **kwargs):
        found = right(*args, **kwargs)
        return ln.Weights(found.first + 0.5 * found.first[:, :1], found.second)

    patch.setattr(linnet.inits, "gaussian", wrong)


def other_descent(patch):
    """Descent from a start that is not the identity."""
    right = ln.gradient_descent

    def wrong(problem, weights, **options):
        return right(problem, ln.Weights(weights.first + noise_of(weights.first.shape, 0.1), weights.second), **options)

    patch.setattr(ln, "gradient_descent", wrong)


def students(**changes):
    """What was trained of the students, changed."""
    right = Table.results

    def wrong(self, trial):
        found = right(self, trial)
        return found.assign({name: change(found[name]) for name, change in changes.items()})

    return lambda patch: patch.setattr(Table, "results", wrong)


def sampled_as(change):
    """Means of the process with noise alone, changed."""
    right = noise.noise.sampled_mean
    return lambda patch: patch.setattr(noise.noise, "sampled_mean", lambda *args: Estimate(*change(*right(*args))))


def sampled_without(*names):
    """Means of these quantities of the process with noise alone that are 0."""
    right = noise.noise.sampled_mean

    def wrong(paths, name, *moment):
        found = right(paths, name, *moment)
        return Estimate(0.0, found.error) if name in names else found

    return lambda patch: patch.setattr(noise.noise, "sampled_mean", wrong)


def rate_at(dim, value):
    """The rates of several dimensions, with another one at one of them."""
    return lambda rates: {
        each: Estimate(value, rate.error) if each == f"d = {dim}" else rate for each, rate in rates.items()
    }


def ranks_of_two(patch):
    patch.setattr(linnet.observables, "numerical_rank", lambda values, *rest: np.full(values.shape[:-1], 2))


MISTAKES = {  # by name: the claim that turns, and how
    "limit-of-the-loss": ("theorem-3.1-limit", trained("limits", loss=lambda path: path.loss + 1e-10)),
    "limit-outside-the-span": ("theorem-3.1-limit", trained("limits", whole_first=outside_the_span)),
    "gaussian-as-orthogonal": (
        "theorem-3.1-limit",
        trained(
            "gaussian-starts",
            whole_cross=lambda path: path.whole_second @ path.whole_first @ (path.whole_cov + 1e-6 * np.eye(10)),
            whole_cov=lambda path: path.whole_cov + 1e-6 * np.eye(10),
        ),
    ),
    "variational": (
        "theorem-3.1-variational",
        trained(
            "limits",
            whole_first=lambda path: 1.01 * path.whole_first,
            whole_second=lambda path: path.whole_second / 1.01,
        ),
    ),
    "corollary": ("corollary-3.1", given(theory, "final_singular_values", 1, lambda gamma: 1.001 * gamma)),
    "idle-values": (
        "corollary-3.1",
        trained("limits", values=lambda path: path.values * np.where(np.arange(10) < 3, 1.0, 1.001)),
    ),
    "more-outputs": ("any-shape", given(theory, "final_singular_values", 1, lambda gamma: 1.001 * gamma)),
    "gaussian-far": ("gaussian-aligns", given(theory, "final_singular_values", 1, lambda gamma: 2 * gamma)),
    "squared-norms": ("nuclear-norm", trained("limits", values=lambda path: 1.01 * path.values)),
    "nuclear-minimum": (
        "nuclear-minimum",
        trained("limits", whole_first=lambda path: path.whole_first + noise_of(path.whole_first.shape, 1e-2)),
    ),
    "one-output-aligns": ("one-output-aligns", trained("one-output", whole_first=one_neuron_off)),
    "rank-k": ("rank-by-scale", trained("limits", values=lagging)),
    "isotropic": ("rank-by-scale", trained("limits", values=lambda path: path.values * np.linspace(1.5, 1.0, 10))),
    "log-det": ("log-det", trained("limits", values=lambda path: path.values / path.gamma)),
    "crossover": ("crossover", trained("one-output", values=lambda path: np.sqrt(path.values))),
    "gaussian-variance": ("gaussian-variance", trained("gaussian-starts", values=fewer_values)),
    "interpolating-layers": (
        "interpolators",
        trained(
            "limits", whole_first=lambda path: 0 * path.whole_first, whole_second=lambda path: 0 * path.whole_second
        ),
    ),
    "interpolating-predictors": ("interpolators", trained("limits", whole_cov=lambda path: np.eye(10))),
    "balanced-rank": ("balanced-rank", unbalanced),
    "balanced-decoupled": ("balanced-decoupled", unbalanced),
    "small-second-layer": ("small-second-layer", keyword(starts, "orthogonal_layers", "second_gamma", np.sqrt)),
    "zero-start": ("zero-start", pushed(starts)),
    "gaussian-orthogonal": ("gaussian-orthogonal", with_a_common_part),
    "second-layer": ("second-layer", keyword(theory, "final_singular_values", "second_gamma", lambda gamma: 2 * gamma)),
    "velocities": ("equations-2.4", result(dynamics, "_derivatives", lambda found: [2 * one for one in found])),
    "plain-steps": ("equations-2.4", pushed(dynamics)),
    "projection": ("lemma-3.1", pushed(dynamics)),
    "invariant": ("lemma-3.2", trained("limits", projected_first=lambda path: 1.01 * path.projected_first)),
    "predictor-of-alpha": ("lemma-3.3", scaled(theory, "predictor", 2.0)),
    "riccati": ("lemma-3.3", scaled(theory, "alpha_velocity", 1.001)),
    "gram-of-alpha": ("lemma-3.3", trained("limits", second=lambda path: 1.001 * path.second)),
    "alpha-outside": ("lemma-3.3", trained("limits", whole_second=along_the_unseen)),
    "loss-rate": ("lemma-C.6-rate", scaled(theory, "loss_rate", 100.0)),
    "discrete-step": ("discrete-step", other_descent),
    "turning-vectors": ("theorem-C.11", other_data),
    "shared-vectors": (
        "theorem-C.11",
        trained("limits", second=lambda path: path.second + noise_of(path.second[0].shape, 1e-3)),
    ),
    "identities": ("theorem-C.11-identities", other_data),
    "velocity-of-the-predictor": (
        "theorem-C.11-identities",
        trained("whitened", second=lambda path: 1.001 * path.second),
    ),
    "evolution": ("theorem-C.12", given(theory, "singular_values", 2, lambda times: 1.0001 * times)),
    "jump": ("jump", scaled(theory, "activation_times", 1.05)),
    "order-of-modes": ("jump", lambda patch: patch.setattr(whitened, "_half_time", lambda s, gamma: s)),
    "mirror-of-values": ("theorem-3.2a", scaled(theory, "mirror", 2.0)),
    "values-of-alpha": ("theorem-3.2a", trained("limits", second=lambda path: 1.001 * path.second)),
    "potential-limit": (
        "potential-limit",
        trained("whitened", cross=lambda path: 2 * path.cross, cov=lambda path: 2 * path.cov),
    ),
    "mirror-of-the-predictor": ("theorem-3.2b", scaled(theory, "predictor_warp", 2.0)),
    "hessian": ("lemma-C.7-hessian", given(mirror, "_metric", 1, lambda power: 0.8 * power)),
    "potential": (
        "lemma-C.4-potential",
        lambda patch: patch.setattr(
            mirror, "_without_imbalance", lambda first, *, imbalance, on_left: first - imbalance @ first
        ),
    ),
    "convergence-bound": ("lemma-C.8", scaled(theory, "convergence_bound", 0.1)),
    "gamma-rate": ("gamma-rate", scaled(theory, "convergence_bound", 2.0)),
    "mean-squares": (
        "proposition-4.1a",
        result(noise_theory, "second_moments", lambda found: tuple(1.2 * part for part in found)),
    ),
    "scale-of-W": ("proposition-4.1b", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "scale-of-a": (
        "proposition-4.1b",
        rates_of(outgoing=lambda rates: {dim: Estimate(0.0, rate.error) for dim, rate in rates.items()}),
    ),
    "constant-c0": ("constant-c0", given(growth.misprints, "scale_constant", 0, lambda dim: dim + 1)),
    "two-inputs-grow": ("two-inputs-grow", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "growth-at-two": ("two-inputs-grow", rates_of(length=rate_at(2, 0.1))),
    "top-value-grows": (
        "top-value-grows",
        lambda patch: patch.setattr(
            growth.noise_process,
            "mean_log_top",
            lambda seed, *, times, paths: [Estimate(0.6, 0.03), Estimate(1.2, 0.03)],
        ),
    ),
    "coarse-steps": (  # a finest step that is not refined
        "coarse-steps",
        result(growth.noise_process, "euler_rates", lambda rates: rates | {0.02: rates[0.2]}),
    ),
    "mean-commutator": ("proposition-4.1c", scaled(noise_theory, "commutator_mean_limit", 1.5)),
    "vanishing-commutator": ("proposition-4.1c", sampled_without("area")),
    "vanishing-entries": ("proposition-4.1c", sampled_without("entry")),
    "typical-commutator": ("commutator-falls", typical_areas(lambda medians: 0 * medians + 0.3)),
    "weights-of-paths": (
        "proposition-4.1c",
        result(noise.noise_process, "weighted_areas", lambda means: [Estimate(0.6, mean.error) for mean in means]),
    ),
    "rate-of-the-mean": ("proposition-4.1c-rate", sampled_as(lambda mean, error: (0.0, 1.0))),
    "signed-commutator": ("signed-commutator", sampled_as(lambda mean, error: (1.5 * mean, error))),
    "increments": ("equations-D.2", always(ln, "noise_sde", noise_std=1.2)),
    "one-input": ("one-input-collapses", always(ln, "noise_sde", noise_std=1.2)),
    "any-diagonal": ("any-diagonal", given(noise.volumes, "sampled_moments", 0, lambda scales: 1.1 * scales)),
    "sums-of-exponents": ("exponents-any-diagonal", scaled(noise_theory, "exponent_sum", 1.2)),
    "rows-align": ("rows-align", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "rows-stay": ("rows-align", sampled_without("worst_sine_drop")),
    "lower-values-decay": ("lower-values-decay", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "all-lower-values-decay": ("lower-values-decay", rates_of(second=rate_at(6, -0.1))),
    "second-value-stays": ("lower-values-decay", rates_of(second=rate_at(2, 0.0))),
    "label-noise-decays": (
        "label-noise-decays",
        given(label_noise.label_noise, "predicted_decay", 0, lambda delta: 1.1 * delta),
    ),
    "noise-any-start": ("noise-any-start", always(ln, "label_noise_descent", noise_std=0.5)),
    "drift-bounds": ("drift-bounds", always(label_noise.networks, "sizes_under_noise", drift=False)),
    "large-noise": (
        "large-noise",
        result(label_noise.noise_process, "log_norms_with_drift", lambda found: found[[0, 1, 1, 1]]),
    ),
    "noise-equation": (
        "noise-equation",
        keyword(label_noise.networks, "mean_log_by_equation", "noise", lambda noise: 1.15 * noise),
    ),
    "minibatch": ("minibatch", always(label_noise.networks, "minibatch_shares", noisy=False)),
    "relu-low-rank": ("relu-low-rank", ranks_of_two),
    "relu-rank-two": ("relu-rank-two", ranks_of_two),
    "relu-directions": ("relu-directions", students(directions=lambda found: 0 * found + 0.95)),
    "saddle-to-saddle": ("saddle-to-saddle", students(plateau=lambda found: found | True)),
    "phase-one": ("phase-one", students(plateau_ratio=lambda found: 0 * found + 0.5)),
}
TURNS = {name: claim for name, (claim, _) in MISTAKES.items()}
QUICK_COMPILATION = {  # the others train for longer than the suite should
    "zero-start",
    "balanced-rank",
    "gaussian-orthogonal",
    "potential",
    "lower-values-decay",
}
EVERY = [pytest.param(name, marks=[] if name in QUICK_COMPILATION else [pytest.mark.slow]) for name in MISTAKES]


def test_there_is_a_mistake_for_every_claim():
    assert set(TURNS.values()) == set(CLAIMS)


@cache
def sound(claim):
    return CLAIMS[claim].measurement(QUICK)


@pytest.mark.parametrize("name", EVERY)
def test_the_verdict_of_a_sound_linnet_and_of_one_with_a_mistake(name, monkeypatch):
    turned, mistake = MISTAKES[name]
    claim, found = CLAIMS[turned], sound(turned)
    assert found.verdict == claim.expected, found.measured
    assert any(character.isdigit() for character in found.measured)
    mistake(monkeypatch)
    wrong = claim.measurement(QUICK)
    assert wrong.verdict != claim.expected, wrong.measured
