"""The page *Two phases*: a trained network on its way between spike and target, and its test error on few samples."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.reproduction.datasets import labeled

if TYPE_CHECKING:
    import xarray as xr

DIM, WIDTH, DELTA = 30, 50, 3.0  # inputs and hidden units of the trained network; when the second phase counts as over
POINTS, ARROWS = 201, 17  # times of a run; arrows along each side of the plane
POPULATION = "population"
TRAINED_ON = (POPULATION, "10000", "1000", "100", "40")  # never fewer than inputs: one compiled flow serves them all
SAMPLED_DIM, DRAWS = 120, 8  # inputs of the sampled data; data sets at each ratio
RATIOS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)  # d/n at which minimum-norm solutions are measured
SPIKES = np.array([float(f"{spike:.3g}") for spike in np.geomspace(0.1, 100.0, 49)])  # as a click sets them
ALIGNMENTS = np.linspace(0.0, 1.0, 41)


def two_phases(*, spike: float, alignment: float, scale: float, samples: str, seed: int) -> xr.Dataset:
    """Train one network by gradient flow, and compute the reduced dynamics and the times of its phases.

    **Arguments:** `spike` rho and `alignment` A of the data; `scale` s of the start; `samples` what the network is
    trained on, the population or a number of samples; `seed` of the start and the samples. Directions are along the
    spike and across it, components along v1 and v2.
    """
    theory = ln.theories.spiked.TwoPhase(spike, alignment)
    basis, plateau = theory.basis, theory.correlation / theory.lambda1
    first = theory.early_time(scale)
    second = theory.later_time(scale, DELTA) if theory.has_second_phase else np.nan
    times = np.linspace(0, 1.6 * second if theory.has_second_phase else 2 * first + 2 / theory.lambda1, POINTS)
    trained, loss, start = _trained_path(spike, alignment, scale, samples, seed, float(times[-1]))
    reduced = theory.reduced(start, times, rtol=1e-8)
    components = trained @ basis.T
    side = np.linspace(-0.1, 1.1, ARROWS)
    grid = np.stack(np.meshgrid(side, side), axis=-1)  # (across, along, 2)
    nullclines = [line @ basis for line in theory.nullclines(points=160, radius=2.0)]
    of_plane = ("time", "direction")
    variables = {
        "trained": (of_plane, trained, "trained network, along the spike and across it"),
        "trained_components": (("time", "component"), components, "trained network, along v₁ and v₂"),
        "reduced": (of_plane, reduced @ basis, "reduced dynamics, along the spike and across it"),
        "reduced_components": (("time", "component"), reduced, "reduced dynamics, along v₁ and v₂"),
        "early": ("time", theory.early(start, times), "early phase, along v₁"),
        "loss": ("time", loss, "training loss, share of its start"),
        "field": (("across", "along", "direction"), theory.vector_field(grid @ basis.T) @ basis, "velocity"),
        "nullcline_1": (("point", "direction"), nullclines[0], "where dw₁/dt = 0"),
        "nullcline_2": (("point", "direction"), nullclines[1], "where dw₂/dt = 0"),
        "basis": (("component", "direction"), basis, "v₁ and v₂, along the spike and across it"),
        "target": ("direction", theory.fixed_point @ basis, "target β, along the spike and across it"),
    }
    coordinates = {
        "time": ("time", times, "time t", "canonical"),
        "along": ("along", side, "along the spike"),
        "across": ("across", side, "across the spike"),
    }
    settled = np.nan  # w2 of a network without a second phase only wanders at the size of its start
    if theory.has_second_phase:
        limit = -np.expm1(-DELTA) * float(components[-1, 1])
        settled = ln.observables.crossing_time(times, components[:, 1], limit)
    moments = {
        "first_time": first,
        "second_time": second,
        "first_time_trained": ln.observables.crossing_time(times, components[:, 0] ** 2, plateau / 2),
        "second_time_trained": settled,
        "start": start,
    }
    return labeled(variables, coordinates, moments)


def _trained_path(
    spike: float, alignment: float, scale: float, samples: str, seed: int, end: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Train, and return the first layer along its direction of growth, (time, 2) in the plane; the loss; and u(0)."""
    count = None if samples == POPULATION else int(samples)
    problem = ln.problems.spiked_covariance(
        DIM, spike=spike, alignment=alignment, samples=count, key=None if count is None else seed
    )
    weights = ln.inits.gaussian(
        key=[seed, 1], in_dim=DIM, out_dim=1, width=WIDTH, stds=(scale / DIM**0.5, scale / WIDTH**0.5)
    )
    start, direction = ln.theories.aligned_flow.growth_direction(problem, weights)
    # the moments alone: the population and any number of samples then share one compiled flow
    moments = ln.Problem.from_moments(problem.cov, problem.cross)
    run = ln.gradient_flow(moments, weights, times=np.linspace(0, end, POINTS), rtol=1e-8)
    return (direction @ run.weights.first)[:, :2], run.loss / run.loss[0], start


def few_samples(*, spike: float, alignment: float, ratio: float, seed: int) -> xr.Dataset:
    """Compute the error after training from a small start, divided by the signal's power: the formula and sampled data.

    **Arguments:** `spike` rho and `alignment` A of the data, `ratio` d/n at which the map over spikes and alignments
    is drawn, `seed` of the samples.
    """
    error = partial(ln.theories.spiked.generalization_error, normalized=True)

    ratios = np.geomspace(1.02, 20.0, 121)
    variables = {
        "error": ("ratio", error(spike, alignment, ratios), "test error / signal power"),
        "error_without_spike": ("ratio", error(0.0, alignment, ratios), "the same without a spike"),
        "error_drawn": (
            ("drawn_ratio", "draw"),
            sampled_errors(spike, alignment, seed),
            "test error / signal power of minimum-norm solutions",
        ),
        "error_map": (("alignment", "spike"), error(SPIKES, ALIGNMENTS[:, None], ratio), "test error / signal power"),
    }
    coordinates = {
        "ratio": ("ratio", ratios, "inputs per sample d/n"),
        "drawn_ratio": ("drawn_ratio", np.array(RATIOS), "inputs per sample d/n"),
        "spike": ("spike", SPIKES, "spike ρ"),
        "alignment": ("alignment", ALIGNMENTS, "alignment A"),
    }
    return labeled(variables, coordinates, {"error_here": float(error(spike, alignment, ratio))})


def sampled_errors(spike: float, alignment: float, seed: int) -> np.ndarray:
    """Return errors (ratio, draw) of the minimum-norm solutions of sampled data: where networks of small start end."""
    beta = np.zeros(SAMPLED_DIM)
    beta[:2] = alignment, np.sqrt(1 - alignment**2)
    errors = np.empty((len(RATIOS), DRAWS))
    for i, ratio in enumerate(RATIOS):
        inputs = np.random.default_rng([seed, i]).standard_normal((DRAWS, round(SAMPLED_DIM / ratio), SAMPLED_DIM))
        inputs[..., 0] *= np.sqrt(1 + spike)
        gram = inputs @ np.swapaxes(inputs, 1, 2)
        miss = (np.linalg.solve(gram, inputs @ beta[:, None]) * inputs).sum(axis=1) - beta
        errors[i] = (miss**2).sum(axis=1) + spike * miss[:, 0] ** 2
    return errors / (1 + spike * alignment**2)
