"""The deliberate errors that turn the claims on Varre et al."""

import dataclasses

import numpy as np

import linnet as ln
from linnet.theories import noise_process as noise_theory
from linnet.theories import spectral_bias as theory
from linnet_papers.reproduction import Estimate, Trial
from linnet_papers.testing import Mutation, always, argument, result, scaled, wrong
from linnet_papers.varre.claims import dynamics, growth, label_noise, limit, mirror, noise, rank, relu, starts, whitened

TRIAL = Trial(quick=True)


def trained(kind, **changes):
    """The flows of one kind, changed: each entry a function of the path."""

    def wrong(path):
        return dataclasses.replace(path, **{name: change(path) for name, change in changes.items()})

    return result(starts.flows, kind, lambda paths: [wrong(path) for path in paths])


def rates_of(**changes):
    """Measured growth rates, changed."""
    return result(
        growth.growth, "rates", lambda rates: rates | {name: change(rates[name]) for name, change in changes.items()}
    )


def typical_areas(change):
    """Medians of the commutator's size over the paths, changed."""
    return result(
        noise.noise,
        "paths",
        lambda rows: {key: cell.assign(area_median=change(cell["area_median"])) for key, cell in rows.items()},
    )


other_data = result(
    starts.flows, "whitened", lambda _: starts.flows.regression(TRIAL)
)  # flows on data that are not whitened


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


def fewer_values(ends):
    """Ends of which only three values are left."""
    return dataclasses.replace(ends, values=ends.values * (np.arange(10) < 3))


def near(ends, settings):
    """Ends whose values are those of orthogonal layers, but for a percent."""
    gammas = [std**2 * width / 2 for std, width, _ in settings]
    values = [
        theory.final_singular_values(modes, gamma, 10)[0] for modes, gamma in zip(ends.modes, gammas, strict=True)
    ]
    return dataclasses.replace(ends, values=1.01 * np.stack(values))


def many_inputs(name, factor):
    """Growth rates at other numbers of inputs, one of them multiplied."""
    return result(growth.growth, "rates_at", lambda rates: rates | {name: factor * rates[name]})


def lagging(path):
    return np.where(np.arange(path.values.size) == 3, path.values[2], path.values)


def unbalanced(start):
    """A start whose first layer is a little off."""
    return ln.Weights(start.first + noise_of(start.first.shape, 1e-2), start.second)


def pushed(layers):
    """Layers with a little added to every weight."""
    return tuple(layer + 1e-5 * np.cos(np.arange(layer.size)).reshape(layer.shape) for layer in layers)


def with_a_common_part(start):
    """A start whose inputs all have a part of the first in them."""
    return ln.Weights(start.first + 0.5 * start.first[:, :1], start.second)


def away_from_the_identity(start):
    """A start that is not the identity."""
    return ln.Weights(start.first + noise_of(start.first.shape, 0.1), start.second)


def students(**changes):
    """What was trained of the students, changed: each entry a function of the variable."""

    def of_variable(name, change):
        return lambda trained: change(trained[name])

    def changed(trained):
        return trained.assign({name: of_variable(name, change)(trained) for name, change in changes.items()})

    return result(relu.relu_ranks, "students", changed)


def sampled_as(change):
    """Means of the process with noise alone, changed."""
    return result(noise.noise, "sampled_mean", lambda mean: Estimate(*change(*mean)))


def sampled_without(*names):
    """Means of these quantities of the process with noise alone that are 0."""

    def mistaken(right):
        def sampled_mean(paths, name, *moment):
            mean = right(paths, name, *moment)
            return Estimate(0.0, mean.error) if name in names else mean

        return sampled_mean

    return wrong(noise.noise, "sampled_mean", mistaken)


def rate_at(dim, value):
    """The rates of several dimensions, with another one at one of them."""
    return lambda rates: {
        each: Estimate(value, rate.error) if each == f"$d = {dim}$" else rate for each, rate in rates.items()
    }


ranks_of_two = wrong(
    ln.observables, "numerical_rank", lambda right: lambda values, *rest: np.full(values.shape[:-1], 2)
)

MUTATIONS = {
    "limit-of-the-loss": Mutation("theorem-3.1-limit", trained("regression", loss=lambda path: path.loss + 1e-10)),
    "limit-outside-the-span": Mutation("theorem-3.1-limit", trained("regression", whole_first=outside_the_span)),
    "gaussian-as-orthogonal": Mutation(
        "theorem-3.1-limit",
        trained(
            "gaussian",
            whole_cross=lambda path: path.whole_second @ path.whole_first @ (path.whole_cov + 1e-6 * np.eye(10)),
            whole_cov=lambda path: path.whole_cov + 1e-6 * np.eye(10),
        ),
    ),
    "variational": Mutation(
        "theorem-3.1-variational",
        trained(
            "regression",
            whole_first=lambda path: 1.01 * path.whole_first,
            whole_second=lambda path: path.whole_second / 1.01,
        ),
    ),
    "corollary": Mutation("corollary-3.1", argument(theory, "final_singular_values", 1, lambda gamma: 1.001 * gamma)),
    "idle-values": Mutation(
        "corollary-3.1",
        trained("regression", values=lambda path: path.values * np.where(np.arange(10) < 3, 1.0, 1.001)),
    ),
    "more-outputs": Mutation("any-shape", argument(theory, "final_singular_values", 1, lambda gamma: 1.001 * gamma)),
    "gaussian-far": Mutation("gaussian-aligns", argument(theory, "final_singular_values", 1, lambda gamma: 2 * gamma)),
    "squared-norms": Mutation("nuclear-norm", trained("regression", values=lambda path: 1.01 * path.values)),
    "nuclear-minimum": Mutation(
        "nuclear-minimum",
        trained("regression", whole_first=lambda path: path.whole_first + noise_of(path.whole_first.shape, 1e-2)),
    ),
    "one-output-aligns": Mutation("one-output-aligns", trained("one_output", whole_first=one_neuron_off)),
    "rank-k": Mutation("rank-by-scale", trained("regression", values=lagging)),
    "isotropic": Mutation(
        "rank-by-scale", trained("regression", values=lambda path: path.values * np.linspace(1.5, 1.0, 10))
    ),
    "log-det": Mutation("log-det", trained("regression", values=lambda path: path.values / path.gamma)),
    "crossover": Mutation("crossover", trained("one_output", values=lambda path: np.sqrt(path.values))),
    "gaussian-variance": Mutation("gaussian-variance", result(rank, "gaussian_ends", fewer_values)),
    "gaussian-exact": Mutation(  # where "closely" holds at the paper's own variance, nothing is left to correct
        "gaussian-aligns",
        wrong(limit, "gaussian_ends", lambda right: lambda settings, **rest: near(right(settings, **rest), settings)),
    ),
    "interpolating-layers": Mutation(
        "interpolators",
        trained(
            "regression", whole_first=lambda path: 0 * path.whole_first, whole_second=lambda path: 0 * path.whole_second
        ),
    ),
    "interpolating-predictors": Mutation("interpolators", trained("regression", whole_cov=lambda path: np.eye(10))),
    "balanced-rank": Mutation("balanced-rank", argument(starts, "plain_flow", 1, unbalanced), quick=True),
    "balanced-decoupled": Mutation("balanced-decoupled", argument(starts, "plain_flow", 1, unbalanced)),
    "balanced-sees-all": Mutation(  # data that see every input, where the paper's do not
        "balanced-decoupled",
        result(starts, "_draw_problem", lambda problem: ln.Problem.from_target(problem.min_norm_solution())),
    ),
    "small-second-layer": Mutation(
        "small-second-layer", argument(starts, "orthogonal_layers", "second_gamma", np.sqrt)
    ),
    "zero-start": Mutation("zero-start", result(starts, "plain_step", pushed), quick=True),
    "gaussian-orthogonal": Mutation(
        "gaussian-orthogonal", result(ln.inits, "gaussian", with_a_common_part), quick=True
    ),
    "second-layer": Mutation(
        "second-layer", argument(theory, "final_singular_values", "second_gamma", lambda gamma: 2 * gamma)
    ),
    "velocities": Mutation("equations-2.4", result(dynamics, "_derivatives", lambda found: [2 * one for one in found])),
    "plain-steps": Mutation("equations-2.4", result(dynamics, "plain_step", pushed)),
    "projection": Mutation("lemma-3.1", result(dynamics, "plain_step", pushed)),
    "invariant": Mutation("lemma-3.2", trained("regression", projected_first=lambda path: 1.01 * path.projected_first)),
    "predictor-of-alpha": Mutation("lemma-3.3", scaled(theory, "predictor", 2.0)),
    "riccati": Mutation("lemma-3.3", scaled(theory, "alpha_velocity", 1.001)),
    "gram-of-alpha": Mutation("lemma-3.3", trained("regression", second=lambda path: 1.001 * path.second)),
    "alpha-outside": Mutation("lemma-3.3", trained("regression", whole_second=along_the_unseen)),
    "loss-rate": Mutation("lemma-C.6-rate", scaled(theory, "loss_rate", 100.0)),
    "traces": Mutation("trace-inequality", result(dynamics, "_slack", np.abs), quick=True),
    "potentials-convex": Mutation("potentials-convex", scaled(theory, "mirror", -1.0), quick=True),
    "predictor-potential": Mutation("potentials-convex", scaled(theory, "predictor_mirror", -1.0), quick=True),
    "trade-off": Mutation("trade-off", trained("regression", times=lambda path: path.times * path.gamma**2)),
    "drift-of-powers": Mutation("constant-c0", scaled(growth.misprints, "power_drift", 1.1)),
    "bound-of-sizes": Mutation("constant-c0", scaled(growth.noise_process, "size_over_bound", 1.5), quick=True),
    "conditions": Mutation(
        "proposition-C.5", argument(limit, "_constrained_minimum", 0, lambda x: x[:, ::-1]), quick=True
    ),
    "small-start": Mutation("discrete-step", argument(dynamics, "_starts", 0, lambda size: 1.0), quick=True),
    "discrete-step": Mutation("discrete-step", argument(ln, "gradient_descent", 1, away_from_the_identity)),
    "turning-vectors": Mutation("theorem-C.11", other_data),
    "shared-vectors": Mutation(
        "theorem-C.11",
        trained("regression", second=lambda path: path.second + noise_of(path.second[0].shape, 1e-3)),
    ),
    "identities": Mutation("theorem-C.11-identities", other_data),
    "velocity-of-the-predictor": Mutation(
        "theorem-C.11-identities",
        trained("whitened", second=lambda path: 1.001 * path.second),
    ),
    "evolution": Mutation("theorem-C.12", argument(theory, "singular_values", 2, lambda times: 1.0001 * times)),
    "jump": Mutation("jump", scaled(theory, "activation_times", 1.05)),
    "order-of-modes": Mutation("jump", wrong(whitened, "_half_time", lambda right: lambda s, gamma: s)),
    "mirror-of-values": Mutation("theorem-3.2a", scaled(theory, "mirror", 2.0)),
    "values-of-alpha": Mutation("theorem-3.2a", trained("regression", second=lambda path: 1.001 * path.second)),
    "potential-limit": Mutation(
        "potential-limit",
        trained("whitened", cross=lambda path: 2 * path.cross, cov=lambda path: 2 * path.cov),
    ),
    "mirror-of-the-predictor": Mutation("theorem-3.2b", scaled(theory, "predictor_warp", 2.0)),
    "hessian": Mutation("lemma-C.7-hessian", argument(mirror, "_metric", 1, lambda power: 0.8 * power)),
    "potential": Mutation(
        "lemma-C.4-potential",
        wrong(
            mirror,
            "_without_imbalance",
            lambda right: lambda first, *, imbalance, on_left: first - imbalance @ first,
        ),
        quick=True,
    ),
    "convergence-bound": Mutation("lemma-C.8", scaled(theory, "convergence_bound", 0.1)),
    "gamma-rate": Mutation("gamma-rate", scaled(theory, "convergence_bound", 2.0)),
    "mean-squares": Mutation(
        "proposition-4.1a",
        result(noise_theory, "second_moments", lambda found: tuple(1.2 * part for part in found)),
    ),
    "scale-of-W": Mutation("proposition-4.1b", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "scale-of-a": Mutation(
        "proposition-4.1b",
        rates_of(outgoing=lambda rates: {dim: Estimate(0.0, rate.error) for dim, rate in rates.items()}),
    ),
    "constant-c0": Mutation("constant-c0", argument(growth.misprints, "scale_constant", 0, lambda dim: dim + 1)),
    "two-inputs-grow": Mutation("two-inputs-grow", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "growth-at-two": Mutation("two-inputs-grow", rates_of(length=rate_at(2, 0.1))),
    "top-value-grows": Mutation(
        "top-value-grows",
        result(growth.noise_process, "mean_log_top", lambda means: [Estimate(0.6, 0.03), Estimate(1.2, 0.03)]),
    ),
    "coarse-steps": Mutation(  # growth that goes on
        "coarse-steps",
        result(growth.noise_process, "mean_logs_by_steps", lambda logs: logs + 0.1 * np.array([[8.0], [16.0], [32.0]])),
    ),
    "fine-steps": Mutation("coarse-steps", always(growth.noise_process, "mean_logs_by_steps", first_step=0.5)),
    "mean-commutator": Mutation("proposition-4.1c", scaled(noise_theory, "commutator_mean_limit", 1.5)),
    "vanishing-commutator": Mutation("proposition-4.1c", sampled_without("area")),
    "vanishing-entries": Mutation("proposition-4.1c", sampled_without("entry")),
    "typical-commutator": Mutation("commutator-falls", typical_areas(lambda medians: 0 * medians + 0.3)),
    "weights-of-paths": Mutation(
        "proposition-4.1c",
        result(noise.noise_process, "weighted_areas", lambda means: [Estimate(0.6, mean.error) for mean in means]),
    ),
    "rate-of-the-mean": Mutation("proposition-4.1c-rate", sampled_as(lambda mean, error: (0.0, 1.0))),
    "signed-commutator": Mutation("signed-commutator", sampled_as(lambda mean, error: (1.5 * mean, error))),
    "increments": Mutation("equations-D.2", always(ln, "noise_sde", noise_std=1.2)),
    "one-input": Mutation("one-input-collapses", always(ln, "noise_sde", noise_std=1.2)),
    "any-diagonal": Mutation(
        "any-diagonal", argument(noise.volumes, "sampled_moments", 0, lambda scales: 1.1 * scales)
    ),
    "sums-of-exponents": Mutation("exponents-any-diagonal", scaled(noise_theory, "exponent_sum", 1.2)),
    "rows-align": Mutation("rows-align", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "rows-stay": Mutation("rows-align", sampled_without("worst_sine_drop")),
    "lower-values-decay": Mutation("lower-values-decay", scaled(noise_theory, "lyapunov_exponents", 1.2)),
    "all-lower-values-decay": Mutation("lower-values-decay", rates_of(second=rate_at(6, -0.1))),
    "second-value-by-svd": Mutation(
        "lower-values-decay", result(growth.volumes, "log_second_values", lambda logs: logs[::-1])
    ),
    "second-value-of-many": Mutation("lower-values-decay", many_inputs("second", -1.0)),
    "growth-of-many": Mutation("two-inputs-grow", many_inputs("length", 0.0), quick=True),
    "top-value-of-many": Mutation("top-value-grows", many_inputs("length", 0.0)),
    "second-value-stays": Mutation("lower-values-decay", rates_of(second=rate_at(2, 0.0))),
    "label-noise-decays": Mutation(
        "label-noise-decays",
        argument(label_noise.label_noise, "predicted_decay", 0, lambda delta: 1.1 * delta),
    ),
    "noise-any-start": Mutation("noise-any-start", always(ln, "label_noise_descent", noise_std=0.5)),
    "drift-bounds": Mutation("drift-bounds", always(label_noise.networks, "sizes_under_noise", drift=False)),
    "large-noise": Mutation(
        "large-noise",
        result(label_noise.noise_process, "log_norms_with_drift", lambda found: found[[0, 1, 1, 1][: len(found)]]),
    ),
    "large-noise-late": Mutation(  # a drift that stays small at late times, too
        "large-noise",
        result(label_noise.noise_process, "log_norms_with_drift", lambda found: found[:1] + 1e-3 * (found - found[:1])),
    ),
    "noise-equation": Mutation(
        "noise-equation",
        argument(label_noise.networks, "mean_log_by_equation", "noise", lambda noise: 1.15 * noise),
    ),
    "minibatch": Mutation("minibatch", always(label_noise.networks, "minibatch_run", noise=0.0)),
    "relu-low-rank": Mutation("relu-low-rank", ranks_of_two),
    "relu-rank-two": Mutation("relu-rank-two", ranks_of_two),
    "relu-directions": Mutation("relu-directions", students(directions=lambda found: 0 * found + 0.95)),
    "saddle-to-saddle": Mutation("saddle-to-saddle", students(plateau=lambda found: found | True)),
    "phase-one": Mutation("phase-one", students(plateau_ratio=lambda found: 0 * found + 0.5)),
}
