"""The deliberate errors that turn the claims on Huang et al.: in a theory, a start, the data, or what is read off a
run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.theories.feature_learning import Stages
from linnet_papers.huang import misprints, settings
from linnet_papers.huang.claims import appendix_a, appendix_b, first_stage, lemma_5_2, section_6, theorem_4_1
from linnet_papers.huang.claims import equations as equation_claims
from linnet_papers.huang.grids import convergence, lemmas, starts
from linnet_papers.huang.training import features, runs
from linnet_papers.huang.training.cells import equations
from linnet_papers.reproduction import Trial
from linnet_papers.testing import Error, always, argument, result, scaled, wrong
from linnet_papers.testing import Mutation as AnyMutation

TRIAL = Trial(quick=True, seed=4)
Mutation = partial(AnyMutation, retrains=True)
OfTheory = AnyMutation  # an error of the theory: what was trained stays


def make_smaller(patch: pytest.MonkeyPatch) -> None:
    """Train small networks under the errors, and without them."""
    patch.setattr(settings, "SMALL", {"dim": 800, "width": 96})
    patch.setattr(settings, "SIGNALS", (1.0, 0.3, 0.1, 0.05))  # condition (6) ends at 0.035 there
    patch.setattr(
        equations, "train_section_six", lambda seed, **k: runs.train_section_six(seed, **{"dim": 800, "width": 96, **k})
    )


def layer_scaled(factor: float) -> Error:
    """Draw signed starts whose first layer is too large."""
    return result(ln.inits, "signed", lambda weights: ln.Weights(factor * weights.first, weights.second))


def alike_for_many_samples(scales: Any) -> Any:
    """Scales whose neurons differ less the more samples there are, by n^(-3/2)."""
    return scales | {"first_std": scales["first_std"] * (1e3 * scales["magnitude"]) ** 3}


def larger_in_the_regions(factor: float) -> Error:
    """Train the networks of the regions from a second layer that is larger than their settings say."""

    def mistaken(right: Any) -> Any:
        return lambda data, key, **named: right(data, key, **named | {"magnitude": factor * named["magnitude"]})

    return wrong(starts, "train", mistaken)


def history_changed(change: Callable[[features.FeatureHistory], dict[str, Any]]) -> Error:
    """Change what is read off a run."""
    return result(features, "feature_history", lambda history: replace(history, **change(history)))


def backwards(stage: features.FeatureHistory) -> features.FeatureHistory:
    """Read a second stage from its end to its beginning."""
    return replace(stage, alignments=stage.alignments[::-1], magnitudes=stage.magnitudes[::-1])


def mean_over_neurons(alignments: np.ndarray) -> np.ndarray:
    """Return for every neuron a little less than the root mean square of all."""
    return 0.9 * np.sqrt((alignments**2).mean(axis=1, keepdims=True)) * np.ones_like(alignments)


def both_times_wrong(patch: pytest.MonkeyPatch) -> None:
    """Make both times of Theorem 4.1 a hundred times too short."""
    for name in ("first_time", "second_time"):
        scaled(misprints, name, 0.01)(patch)


def stated_for_one_signal(right: Any) -> Any:
    """State the second time for a signal of one whatever it is, and so with another constant for each."""
    return lambda loss, *, samples, signal, trace: right(loss, samples=samples, signal=signal**3, trace=trace)


def without_one_law(rows: Any) -> Any:
    """Let networks on inputs of +-1 never reach 4 epsilon."""
    constants = [np.nan if law == "signs" else c for law, c in zip(rows["law"], rows["constant"], strict=True)]
    return rows | {"constant": constants}


def outputs_scaled(factor: float | np.ndarray) -> Error:
    """Multiply the outputs of the network."""
    return wrong(runs.FeatureRun, "outputs", lambda outputs: factor * outputs)


def end_scaled(**factors: float) -> Error:
    """Multiply parts of the closed form of the end."""
    return result(
        ln.theories.feature_learning,
        "final_state",
        lambda end: replace(end, **{name: factor * getattr(end, name) for name, factor in factors.items()}),
    )


def short_inputs(run: runs.FeatureRun) -> runs.FeatureRun:
    """Give a run data that are not those it was trained on, but shorter."""
    return replace(run, data=replace(run.data, inputs=0.05 * run.data.inputs))


class UniformOfUnitVariance:
    """A generator whose uniform numbers have variance one."""

    def uniform(self, low: float, high: float, shape: tuple[int, int]) -> np.ndarray:
        return np.sqrt(3) * np.random.default_rng(0).uniform(low, high, shape)


def deviations(history: features.FeatureHistory) -> dict[str, Any]:
    return {"measure_deviations": lambda: 100 * history.deviations}


def kernels(history: features.FeatureHistory) -> dict[str, Any]:
    return {"kernels": 0.4 * history.kernels}


def normalized_kernels(history: features.FeatureHistory) -> dict[str, Any]:
    return {"kernels": history.kernels / history.kernel_norm[:, None, None]}


def alignments(history: features.FeatureHistory) -> dict[str, Any]:
    return {"alignments": 0.8 * history.alignments}


def larger_alignments(history: features.FeatureHistory) -> dict[str, Any]:
    return {"alignments": history.alignments + 0.2 * np.sqrt(history.gamma) * history.magnitudes}


def runaway_alignments(history: features.FeatureHistory) -> dict[str, Any]:
    """Alignments that never stop growing."""
    growth = np.exp(np.sqrt(history.gamma) / 5 * history.times)[:, None]
    return {"alignments": history.alignments[1] * growth}


def fading_alignments(history: features.FeatureHistory) -> dict[str, Any]:
    return {"alignments": history.alignments * (history.loss / history.loss[0])[:, None]}


def first_alignment(history: features.FeatureHistory) -> dict[str, Any]:
    """An alignment that leaps in the first step and falls in the second."""
    return {"alignments": np.concatenate([history.alignments[:1], 5 * history.alignments[1:2], history.alignments[2:]])}


def magnitudes(history: features.FeatureHistory) -> dict[str, Any]:
    return {"magnitudes": 30 * history.magnitudes}


def overlaps(history: features.FeatureHistory) -> dict[str, Any]:
    return {"overlaps": -2 * history.overlaps}


def larger_loss(history: features.FeatureHistory) -> dict[str, Any]:
    return {"loss": 100 * history.loss}


def falling_loss(history: features.FeatureHistory) -> dict[str, Any]:
    """A loss that falls from the first step on."""
    return {"loss": np.minimum(history.loss, history.loss[0] * np.linspace(1, 0.01, len(history.loss)))}


def wavering_loss(history: features.FeatureHistory) -> dict[str, Any]:
    return {"loss": history.loss * (1 + 0.2 * (np.arange(len(history.loss)) % 2))}


limit_doubled = wrong(Stages, "limit", lambda limit: 2 * limit)
plane_without_mean = wrong(
    Stages,
    "two_variable",
    lambda right: lambda self, rho, v, steps, overlaps=None: misprints.plane(self, rho, v, steps),
)
other_target_kernel = wrong(features, "target_aligned_kernel", lambda right: lambda gram, y: 2 * gram - right(gram, y))

MUTATIONS = {
    "eq3": Mutation("eq3", history_changed(kernels), quick=True),
    "eq7": Mutation("eq7", always(equation_claims, "train_section_six", eta=0.2), quick=True),
    "eq7-kernel": Mutation("eq7", history_changed(kernels), quick=True),
    "eq9": OfTheory("eq9", argument(Stages, "linear", 1, lambda overlaps: 1.2 * overlaps)),
    "eq10": Mutation("eq10", plane_without_mean),
    "eq11": OfTheory("eq11", limit_doubled),
    "two-stages": Mutation("two-stages", history_changed(alignments)),
    "small-output": Mutation("small-output", scaled(starts, "relative_output", 1e5)),
    "dichotomy": Mutation("dichotomy", history_changed(alignments)),
    "dichotomy-lazy": Mutation("dichotomy", history_changed(larger_alignments)),
    "two-stages-first": Mutation("two-stages", layer_scaled(30.0)),
    "crossover": OfTheory("crossover", scaled(ln.theories.feature_learning, "lazy_feature_ratio", 0.9)),
    "exact-end": Mutation("exact-end", end_scaled(square=1.1)),
    "t1": OfTheory("t1", scaled(Stages, "first_time", 2.0)),
    "t2": OfTheory("t2", wrong(misprints, "second_time", stated_for_one_signal)),
    "second-time": OfTheory("second-time", scaled(Stages, "second_time", 2.0)),
    "theorem4.1": OfTheory("theorem4.1", both_times_wrong),
    "theorem4.1-law": OfTheory("theorem4.1", result(convergence, "rows", without_one_law)),
    "theorem4.1-descends": Mutation("theorem4.1", history_changed(wavering_loss)),
    "step": Mutation("step", argument(theorem_4_1, "_last_loss", 3, lambda rate: 10 * rate), quick=True),
    "lemmaB1-overlaps": Mutation("lemmaB1-overlaps", scaled(first_stage, "_limit_of_first_std", 100.0), quick=True),
    "lemmaB1-start": Mutation(
        "lemmaB1-start", result(ln.inits, "signed", lambda w: ln.Weights(1e-3 * w.first, w.second))
    ),
    "lemmaB1-sizes": Mutation("lemmaB1-sizes", history_changed(magnitudes)),
    "scale-difference": Mutation("scale-difference", history_changed(magnitudes)),
    "slowing": Mutation("slowing", history_changed(runaway_alignments)),
    "lemmaB1-time": OfTheory("lemmaB1-time", scaled(misprints, "first_time", 0.2)),
    "limit": OfTheory("limit", limit_doubled),
    "limit-start": Mutation("limit", larger_in_the_regions(10.0)),
    "difference": Mutation("difference", history_changed(overlaps)),
    "signs-determined": Mutation("signs-determined", history_changed(overlaps)),
    "signs": Mutation("signs", layer_scaled(2.0)),
    "rising": Mutation("rising", result(runs.FeatureRun, "second_stage", backwards)),
    "products": Mutation("products", result(runs.FeatureRun, "second_stage", backwards)),
    "output-aligns": Mutation("output-aligns", outputs_scaled(np.where(np.arange(settings.SAMPLES) < 3, -1.0, 1.0))),
    "lemma5.2": Mutation("lemma5.2", layer_scaled(30.0)),
    "lemma5.2-magnitudes": Mutation("lemma5.2", history_changed(magnitudes)),
    "lemma5.2-noise": OfTheory(
        "lemma5.2", wrong(lemma_5_2, "_label_power", lambda right: lambda data: data.signal**2 / 9)
    ),
    "lemma5.2-kernel": Mutation("lemma5.2-kernel", always(lemma_5_2, "train_inside", signal=1.0)),
    "lemma5.3-weights": Mutation("lemma5.3-weights", history_changed(deviations)),
    "lemma5.3-layers": Mutation("lemma5.3-layers", layer_scaled(30.0)),
    "lemma5.3-layers-start": Mutation("lemma5.3-layers", larger_in_the_regions(10.0)),
    "lemma5.3-kernel": Mutation("lemma5.3-kernel", history_changed(kernels)),
    "ntk-turning": Mutation("ntk-turning", history_changed(normalized_kernels), quick=True),
    "ntk-growth": Mutation("ntk-growth", other_target_kernel),
    "ntk-growth-start": Mutation("ntk-growth", larger_in_the_regions(10.0)),
    "ntk-growth-norm": Mutation("ntk-growth", history_changed(normalized_kernels)),
    "ntk-converges": OfTheory("ntk-converges", end_scaled(kernel=1.1)),
    "minimum-norm": Mutation("minimum-norm", scaled(ln.Problem, "min_norm_solution", 2.0), quick=True),
    "loss-drops": Mutation("loss-drops", history_changed(falling_loss)),
    "ratio": Mutation("ratio", history_changed(alignments)),
    "ratio-fading": Mutation("ratio", history_changed(fading_alignments)),
    "ratio-rising": Mutation("ratio", history_changed(first_alignment)),
    **{
        name: Mutation(name, result(section_6, "_share_of_cifar", lambda share: 1.0))  # a verdict of other pictures
        for name in ("images", "images-kernel", "relu", "relu-ratio")
    },
    "lemma5.1": Mutation(
        "lemma5.1", result(ln.problems, "subgaussian_regression", lambda data: replace(data, inputs=2 * data.inputs))
    ),
    "lemmaA1": Mutation("lemmaA1", layer_scaled(2.0)),
    "lemmaA2": Mutation("lemmaA2", layer_scaled(1.5)),
    "lemmaA3": OfTheory("lemmaA3", wrong(lemmas, "FORM", lambda right: (0.9, 1.1)), quick=True),
    "lemmaA4": Mutation("lemmaA4", always(ln.problems, "gaussian_teacher", noise_variance=0.0)),
    "unit-variance": Mutation(
        "unit-variance",
        wrong(appendix_a, "generator", lambda right: lambda *arguments: UniformOfUnitVariance()),
        quick=True,
    ),
    "eq13": Mutation("eq13", result(appendix_b, "scales_inside", alike_for_many_samples)),
    "eq13-weights": Mutation("eq13-weights", history_changed(deviations), quick=True),
    "lemmaB1-products": Mutation("lemmaB1-products", layer_scaled(30.0), quick=True),
    "lemmaB1-quadratic": Mutation("lemmaB1-quadratic", result(appendix_b, "train_inside", short_inputs), quick=True),
    "lemmaB2-output": Mutation("lemmaB2-output", outputs_scaled(3.0)),
    "proxy-step": Mutation("proxy-step", argument(misprints, "appendix_proxy", 0, mean_over_neurons)),
    # a proxy that doubles at every step besides
    "proxy-step-upper": Mutation("proxy-step", scaled(appendix_b, "_growth_of_mean", 2.0)),
    "proxy-end": Mutation("proxy-end", scaled(Stages, "proxy", 1.5), quick=True),
    "final-loss": Mutation("final-loss", history_changed(larger_loss), quick=True),
}
