"""Units: how results change when arguments are given in other ones, from 1e-150 to 1e150."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz import oracles
from fuzz.calling import LIMIT, Outcome, _watched
from fuzz.cases import target, value_of
from fuzz.examples import Example


@dataclass(frozen=True)
class Law:
    """In units of c, `arguments` are c to these powers times themselves, and the results c to their own powers."""

    arguments: dict[str, float]
    results: tuple[float, ...]
    units: tuple[float, ...] = (2.0**-498, 2.0**498)  # about 1e-150 and 1e150, without rounding


SMALL = (2.0**-250, 2.0**250)  # where squares of squares are to be numbers
LAWS: dict[str, list[Law]] = {
    "observables.stable_rank": [Law({"matrix": 1}, (0,))],
    "observables.effective_rank": [Law({"matrix": 1}, (0,))],
    "observables.singular_values": [Law({"matrix": 1}, (1,))],
    "observables.numerical_rank": [Law({"values": 1}, (0,))],
    "observables.crossing_time": [Law({"times": 1}, (1,)), Law({"values": 1, "level": 1}, (0,))],
    "theories.lazy_active.mode_values": [Law({"values": 1, "threshold": 1, "times": -1}, (1,))],
    "theories.lazy_active.mode_slopes": [Law({"values": 1, "threshold": 1, "times": -1}, (0,))],
    "theories.lazy_active.lazy_flow": [
        Law({"target": 1, "initial_product": 1}, (1,)),
        Law({"threshold": 1, "times": -1}, (0,)),
    ],
    "theories.lazy_active.aligned_modes": [Law({"targets": 1, "initial_values": 1, "threshold": 1, "times": -1}, (1,))],
    "theories.lazy_active.balanced_modes": [Law({"targets": 1, "initial_values": 1, "times": -1}, (1,))],
    "theories.lazy_active.crossing_times": [
        Law({"targets": 1, "initial_values": 1, "threshold": 1, "level": 1}, (-1,))
    ],
    "theories.lazy_active.mode_speed": [Law({"values": 1, "threshold": 1}, (1,))],
    "theories.lazy_active.predicted_alignment": [Law({"values": 1, "threshold": 1}, (0,))],
    "theories.lazy_active.gram_matrices": [Law({"product": 1, "threshold": 1}, (1, 1))],
    "theories.lazy_active.alignment_defect": [Law({"product": 1}, (0,)), Law({"truth": 1}, (0,))],
    "theories.lazy_active.alignment_bound": [Law({"product": 1, "reference": 1}, (0,))],
    "theories.lazy_active.self_consistent_layers": [Law({"initial_product": 2, "threshold": 2}, (1, 1), SMALL)],
    "theories.lazy_active.self_consistent": [
        Law({"target": 1, "initial_product": 1, "threshold": 1, "times": -1}, (1,))
    ],
    "theories.lazy_active.spectrum_constant": [Law({"spectrum": 1}, (1,))],
    "theories.lazy_active.gram_cubic": [
        Law({"own": 1, "other": 1, "product": 1, "threshold": 1}, (3,), (2.0**-300, 2.0**300))
    ],
    "theories.lazy_active.asymptotic_spectrum": [Law({"strengths": 1, "noise_std": 1}, (1, 1, 0, 2))],
    "theories.spectral_bias.singular_values": [Law({"values": 1, "gamma": 1, "times": -1}, (1,))],
    "theories.spectral_bias.alpha": [Law({"product": 1, "gamma": 1}, (0,))],
    "theories.spectral_bias.predictor": [Law({"gamma": 1}, (1,))],
    "theories.spectral_bias.mirror": [Law({"values": 1, "gamma": 1}, (0,))],
    "theories.spectral_bias.potential": [Law({"values": 1, "gamma": 1}, (1,))],
    "theories.spectral_bias.bregman": [Law({"values": 1, "reference": 1, "gamma": 1}, (1,))],
    "theories.spectral_bias.predictor_mirror": [Law({"beta": 2, "gamma": 2}, (1,), SMALL)],
    "theories.spectral_bias.predictor_warp": [Law({"beta": 2, "gamma": 2}, (1,), SMALL)],
    "theories.spectral_bias.predictor_bregman": [Law({"beta": 2, "reference": 2, "gamma": 2}, (3,), SMALL)],
    "theories.spectral_bias.final_singular_values": [Law({"values": 2, "gamma": 2, "second_gamma": 2}, (1, 1), SMALL)],
    "theories.spectral_bias.half_times": [Law({"values": 1, "gamma": 1}, (-1,))],
    "theories.spectral_bias.loss_rate": [Law({"cov": 1}, (1,)), Law({"gamma": 1}, (1,))],
    "theories.spiked.generalization_error": [Law({"variance": 1}, (0,))],
    "theories.aligned_flow.integrate": [Law({"cov": 1, "cross": 1, "times": -1}, (0,))],
    "theories.ridge.risk": [
        Law({"eigenvalues": 1, "ridge": 1, "overlaps": -1}, (0,)),
        Law({"overlaps": 1, "noise_variance": 1}, (1,)),
    ],
    "theories.ridge.estimate": [Law({"X": 1}, (2, -2, 0)), Law({"Y": 1}, (0, 2, 2))],
    "theories.denoising.sure": [Law({"values": 1, "filtered": 1, "noise_variance": 2}, (2,))],
    "theories.noise_process.commutator_mean_limit": [Law({"determinant": 1}, (1,))],
    "theories.noise_process.second_moments": [Law({"first_square": 1, "second_square": 1}, (1, 1))],
    "theories.feature_learning.target_aligned_kernel": [Law({"gram": 1}, (1,)), Law({"outputs": 1}, (0,))],
    "forecasts.noise_level": [Law({"values": 1}, (1, 1))],
    "forecasts.scaler": [Law({"values": 1}, (1, 1))],
    "inits.balanced": [Law({"product": 2, "imbalance": 2}, (1, 1), SMALL)],
    "inits.Weights.product": [Law({"first": 1}, (1,)), Law({"second": 1}, (1,))],
    "problems.Problem.min_norm_solution": [Law({"X": 1}, (-1,)), Law({"cov": 1}, (-1,)), Law({"cross": 1}, (1,))],
}


def scaled(example: Example) -> Iterator[Outcome]:
    """Each law of an example in each unit, held against the call as it is."""
    for law in LAWS.get(example.name, ()):
        if not set(law.arguments) <= set(example.arguments):
            continue
        plain = {name: value_of(argument) for name, argument in example.arguments.items()}
        wanted, error, _ = _watched(target(example), plain, LIMIT)
        for unit in law.units:
            if error is None:
                yield _held(example, law, unit, plain, wanted)


def _held(example: Example, law: Law, unit: float, plain: dict[str, Any], wanted: Any) -> Outcome:
    changed = {name: unit**power * np.asarray(plain[name], dtype=float) for name, power in law.arguments.items()}
    changed = {name: value if value.ndim else float(value) for name, value in changed.items()}
    outcome = Outcome(f"{example.label()}(in units of {unit:.0e}: {law.arguments})", "returned")
    got, error, _ = _watched(target(example), {**plain, **changed}, LIMIT)
    if error is not None:
        outcome.ended, outcome.broken["breaks under scaling"] = "refused", f"refused: {error}"[:200]
        return outcome
    theirs = list(oracles.numbers(got))
    ours = list(oracles.numbers(wanted))
    powers = law.results if len(law.results) == len(ours) else law.results * len(ours)
    expected = [unit**power * part for power, part in zip(powers, ours, strict=False)]
    gap = oracles.difference(theirs[: len(expected)], expected)
    if not gap < 1e-9:
        outcome.broken["breaks under scaling"] = f"off by {gap:.2g}"
    return outcome
