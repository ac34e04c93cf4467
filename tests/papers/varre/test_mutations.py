"""Every claim of the paper: its verdict where linnet is sound, and a deliberate error that turns it.

Theory and measurement take nothing from each other, so an error in the theory needs no new training; an error of the
training is made in what was trained.
"""

import dataclasses

import numpy as np
import pytest

import linnet as ln
import linnet.inits
import linnet.observables
from linnet.papers.varre import PAPER
from linnet.papers.varre.claims import dynamics, growth, label_noise, mirror, noise, starts
from linnet.reproduction import Estimate, Trial
from linnet.reproduction.table import Table
from linnet.theories import noise as noise_theory
from linnet.theories import spectral_bias as theory

QUICK = Trial(quick=True)
CLAIMS = {claim.name.removeprefix("varre-"): claim for claim in PAPER.claims}


def scaled(owner, name, factor):
    """A function's result times a factor."""
    right = getattr(owner, name)

    def wrong(*args, **kwargs):
        found = right(*args, **kwargs)
        return tuple(factor * part for part in found) if isinstance(found, tuple) else factor * found

    return lambda patch: patch.setattr(owner, name, wrong)


def given(owner, name, place, change):
    """One positional argument of a function changed."""
    right = getattr(owner, name)

    def wrong(*args, **kwargs):
        return right(*args[:place], change(args[place]), *args[place + 1 :], **kwargs)

    return lambda patch: patch.setattr(owner, name, wrong)


def keyword(owner, name, key, change):
    """One argument by keyword changed."""
    right = getattr(owner, name)

    def wrong(*args, **kwargs):
        return right(*args, **{**kwargs, key: change(kwargs[key])})

    return lambda patch: patch.setattr(owner, name, wrong)


def trained(table, **changes):
    """The flows of one table, changed: each entry a function of the path."""
    right = Table.rows

    def wrong(self, trial):
        rows = right(self, trial)
        if self.name != table:
            return rows
        return [dataclasses.replace(path, **{name: change(path) for name, change in changes.items()}) for path in rows]

    return lambda patch: patch.setattr(Table, "rows", wrong)


def other_data(patch):
    """Flows on data that are not whitened, where whitened ones are asked for."""
    right = Table.rows
    other = starts.limits.TABLE
    patch.setattr(Table, "rows", lambda self, trial: right(other if self.name == "whitened" else self, trial))


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
    right = noise.noise.sampled
    return lambda patch: patch.setattr(noise.noise, "sampled", lambda *args: Estimate(*change(*right(*args))))


def ranks_of_two(patch):
    patch.setattr(linnet.observables, "numerical_rank", lambda values, *rest: np.full(values.shape[:-1], 2))


MISTAKES = {
    "theorem-3.1-limit": trained("limits", second=lambda path: 1.001 * path.second),
    "theorem-3.1-variational": trained(
        "limits", whole_first=lambda path: 1.01 * path.whole_first, whole_second=lambda path: path.whole_second / 1.01
    ),
    "corollary-3.1": given(theory, "final_singular_values", 1, lambda gamma: 1.001 * gamma),
    "nuclear-norm": trained("limits", values=lambda path: 1.01 * path.values),
    "nuclear-minimum": trained(
        "limits", whole_first=lambda path: path.whole_first + noise_of(path.whole_first.shape, 1e-2)
    ),
    "one-output-aligns": trained("one-output", whole_first=one_neuron_off),
    "rank-by-scale": trained("limits", values=lagging),
    "gaussian-variance": trained("gaussian-starts", values=fewer_values),
    "interpolators": trained(
        "limits", whole_first=lambda path: 0 * path.whole_first, whole_second=lambda path: 0 * path.whole_second
    ),
    "balanced-rank": unbalanced,
    "zero-start": pushed(starts),
    "gaussian-orthogonal": with_a_common_part,
    "second-layer": keyword(theory, "final_singular_values", "second_gamma", lambda gamma: 2 * gamma),
    "lemma-3.1": pushed(dynamics),
    "lemma-3.2": trained("limits", projected_first=lambda path: 1.01 * path.projected_first),
    "lemma-3.3": scaled(theory, "predictor", 2.0),
    "lemma-C.6-rate": scaled(theory, "loss_rate", 100.0),
    "discrete-step": other_descent,
    "theorem-C.11": other_data,
    "theorem-C.11-identities": other_data,
    "theorem-C.12": given(theory, "singular_values", 2, lambda times: 1.0001 * times),
    "jump": scaled(theory, "activation_times", 1.05),
    "theorem-3.2a": scaled(theory, "mirror", 2.0),
    "theorem-3.2b": scaled(theory, "predictor_warp", 2.0),
    "lemma-C.7-hessian": given(mirror, "_metric", 1, lambda power: 0.8 * power),
    "lemma-C.4-potential": lambda patch: patch.setattr(
        mirror, "_without_imbalance", lambda first, *, imbalance, on_left: first - imbalance @ first
    ),
    "lemma-C.8": scaled(theory, "convergence_bound", 0.1),
    "gamma-rate": scaled(theory, "convergence_bound", 2.0),
    "proposition-4.1a": scaled(noise_theory, "second_moments", 1.2),
    "proposition-4.1b": scaled(noise_theory, "lyapunov_exponents", 1.2),
    "two-inputs-grow": scaled(noise_theory, "lyapunov_exponents", 1.2),
    "top-value-grows": lambda patch: patch.setattr(
        growth.noise_process, "mean_log_top", lambda seed, *, times, paths: [Estimate(0.6, 0.03), Estimate(1.2, 0.03)]
    ),
    "proposition-4.1c": scaled(noise_theory, "commutator_mean_limit", 1.5),
    "proposition-4.1c-rate": sampled_as(lambda mean, error: (0.0, 1.0)),
    "signed-commutator": sampled_as(lambda mean, error: (1.5 * mean, error)),
    "any-diagonal": given(noise.volumes, "sampled_moments", 0, lambda scales: 1.1 * scales),
    "rows-align": scaled(noise_theory, "lyapunov_exponents", 1.2),
    "lower-values-decay": scaled(noise_theory, "lyapunov_exponents", 1.2),
    "label-noise-decays": given(label_noise.label_noise, "decay", 1, lambda delta: 2 * delta),
    "noise-equation": keyword(label_noise.networks, "small_by_equation", "noise", lambda noise: 1.15 * noise),
    "minibatch": keyword(label_noise.networks, "minibatch_shares", "noisy", lambda noisy: False),
    "relu-low-rank": ranks_of_two,
    "relu-rank-two": ranks_of_two,
    "relu-directions": students(directions=lambda found: 0 * found + 0.95),
    "saddle-to-saddle": students(plateau=lambda found: found | True),
    "phase-one": students(plateau_ratio=lambda found: 0 * found + 0.5),
}
QUICKLY = {  # the others train for longer than the suite should
    "zero-start",
    "balanced-rank",
    "gaussian-orthogonal",
    "lemma-3.1",
    "jump",
    "lemma-C.7-hessian",
    "lemma-C.4-potential",
    "proposition-4.1b",
    "two-inputs-grow",
    "lower-values-decay",
}
EVERY = [pytest.param(name, marks=[] if name in QUICKLY else [pytest.mark.slow]) for name in CLAIMS]


def test_there_is_a_mistake_for_every_claim():
    assert set(MISTAKES) == set(CLAIMS)


@pytest.mark.parametrize("name", EVERY)
def test_the_verdict_of_a_sound_linnet_and_of_one_with_a_mistake(name, monkeypatch):
    claim = CLAIMS[name]
    found = claim.measurement(QUICK)
    assert found.verdict == claim.expected, found.measured
    assert any(character.isdigit() for character in found.measured)
    MISTAKES[name](monkeypatch)
    wrong = claim.measurement(QUICK)
    assert wrong.verdict != claim.expected, wrong.measured
