"""The test error on the page *Two phases*: over inputs per sample, spike and alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linnet.reproduction.datasets import labelled

if TYPE_CHECKING:
    import xarray as xr
    from numpy.typing import ArrayLike

SAMPLED_DIM, DRAWS = 120, 8
RATIOS = (1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)  # d/n at which minimum-norm solutions are measured
SPIKES = np.array([float(f"{spike:.3g}") for spike in np.geomspace(0.1, 100.0, 49)])  # as a click sets them
ALIGNMENTS = np.linspace(0.0, 1.0, 41)


def few_samples(*, spike: float, alignment: float, ratio: float, seed: int) -> xr.Dataset:
    """The error after training from a small start, divided by the signal's power: the formula and sampled data.

    **Arguments:** `spike` rho and `alignment` A of the data, `ratio` d/n at which the map over spikes and alignments
    is drawn, `seed` of the samples.
    """
    import linnet as ln

    def error(spike: ArrayLike, alignment: ArrayLike, ratio: ArrayLike) -> np.ndarray:
        return ln.theories.spiked.generalization_error(spike, alignment, ratio, normalized=True)

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
    return labelled(variables, coordinates, {"error_here": float(error(spike, alignment, ratio))})


def sampled_errors(spike: float, alignment: float, seed: int) -> np.ndarray:
    """Errors (ratio, draw) of the minimum-norm solutions of sampled data: where networks of small start end."""
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
