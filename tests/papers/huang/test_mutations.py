"""A deliberate error for every claim, in a theory, a start, the data or what is read off a run, turns its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet.observables import features
from linnet.papers.huang import PAPER, misprints, settings
from linnet.papers.huang.claims import appendix_a, appendix_b, lemma_5_2, section_6, theorem_4_1
from linnet.papers.huang.claims import equations as equation_claims
from linnet.papers.huang.networks import runs
from linnet.papers.huang.networks.cells import equations
from linnet.papers.huang.tables import convergence, lemmas
from linnet.problems.images import Images
from linnet.reproduction import Trial, table
from linnet.theories.feature_learning import Stages

QUICK = Trial(quick=True, seed=4)
Patch = pytest.MonkeyPatch
CLAIMS = {claim.name.removeprefix("huang-"): claim for claim in PAPER.claims}


def scaled(owner: Any, name: str, factor: float) -> Callable[[Patch], None]:
    """What the function returns, multiplied."""
    right = getattr(owner, name)

    def multiplied(*arguments: Any, **named: Any) -> Any:
        found = right(*arguments, **named)
        return tuple(factor * part for part in found) if isinstance(found, tuple) else factor * found

    return lambda patch: patch.setattr(owner, name, multiplied)


def start_scaled(name: str, factor: float) -> Callable[[Patch], None]:
    """A start inside the assumption with one of its scales wrong."""
    right: Any = runs.scales_inside
    wrong = lambda *a, **k: (s := right(*a, **k)) | {name: factor * s[name]}  # noqa: E731
    return lambda patch: patch.setattr(runs, "scales_inside", wrong)


def layer_scaled(factor: float) -> Callable[[Patch], None]:
    """A signed start whose first layer is too large."""
    right = ln.inits.signed

    def wrong(*arguments: Any, **named: Any) -> ln.Weights:
        weights = right(*arguments, **named)
        return ln.Weights(factor * weights.first, weights.second)

    return lambda patch: patch.setattr(ln.inits, "signed", wrong)


def ignoring(owner: Any, function: str, argument: str, value: Any) -> Callable[[Patch], None]:
    """A function that forgets one of its arguments."""
    right = getattr(owner, function)
    return lambda patch: patch.setattr(owner, function, lambda *a, **k: right(*a, **{**k, argument: value}))


def history_changed(change: Callable[[Any], dict[str, Any]]) -> Callable[[Patch], None]:
    """What is read off a run, wrong."""
    right = features.feature_history

    def wrong(*arguments: Any, **named: Any) -> Any:
        history = right(*arguments, **named)
        return replace(history, **change(history))

    return lambda patch: patch.setattr(ln.observables, "feature_history", wrong)


def orthogonal_inputs(patch: Patch) -> None:
    """Data whose Gram matrix is exactly a multiple of the identity: on them the theory has nothing to neglect."""
    right = ln.problems.gaussian_teacher

    def wrong(*arguments: Any, **named: Any) -> Any:
        data = right(*arguments, **named)
        inputs = np.sqrt(data.in_dim) * np.linalg.qr(data.inputs.T)[0].T
        return replace(data, inputs=inputs, outputs=inputs @ data.teacher)

    patch.setattr(ln.problems, "gaussian_teacher", wrong)


def orthogonal_pictures(patch: Patch) -> None:
    """The same for pictures: as many orthogonal ones."""
    right = Images.two_classes

    def wrong(self: Images, *arguments: Any, **named: Any) -> tuple[np.ndarray, np.ndarray]:
        X, y = right(self, *arguments, **{**named, "samples": 40})
        return 8.0 * np.eye(len(y), X.shape[1]), y - y.mean() + 0.1

    patch.setattr(Images, "two_classes", wrong)


def limit_doubled(patch: Patch) -> None:
    patch.setattr(Stages, "limit", property(lambda self: 2 * self.gamma**2.5 / self.phi))


def overlaps_grown(patch: Patch) -> None:
    right = Stages.linear
    patch.setattr(Stages, "linear", lambda self, c, v, steps: right(self, 1.2 * c, v, steps))


def plane_without_mean(patch: Patch) -> None:
    patch.setattr(Stages, "plane", lambda self, rho, v, steps, overlaps=None: misprints.plane(self, rho, v, steps))


def wrong_kernel_target(patch: Patch) -> None:
    right = features.target_aligned_kernel
    patch.setattr(features, "target_aligned_kernel", lambda gram, y: 2 * gram - right(gram, y))


def outputs_of_wrong_sign(patch: Patch) -> None:
    right = vars(runs.FeatureRun)["outputs"].fget
    signs = np.where(np.arange(settings.SAMPLES) < 3, -1.0, 1.0)
    patch.setattr(runs.FeatureRun, "outputs", property(lambda self: right(self) * signs))


def backwards(patch: Patch) -> None:
    """A second stage that is read from its end to its beginning."""
    right = runs.FeatureRun.second_stage

    def wrong(self: runs.FeatureRun, loss: float) -> features.FeatureHistory:
        stage = right(self, loss)
        return replace(stage, alignments=stage.alignments[::-1], magnitudes=stage.magnitudes[::-1])

    patch.setattr(runs.FeatureRun, "second_stage", wrong)


def proxy_of_the_mean(patch: Patch) -> None:
    right = misprints.appendix_proxy

    def wrong(alignments: np.ndarray, **named: float) -> np.ndarray:
        root = np.sqrt((alignments**2).mean(axis=1, keepdims=True))
        return right(root * np.ones_like(alignments) * 0.9, **named)

    patch.setattr(misprints, "appendix_proxy", wrong)


def inputs_doubled(patch: Patch) -> None:
    right = ln.problems.subgaussian_regression

    def wrong(*arguments: Any, **named: Any) -> Any:
        data = right(*arguments, **named)
        return replace(data, inputs=2 * data.inputs)

    patch.setattr(ln.problems, "subgaussian_regression", wrong)


def times_of_the_theorem_wrong(patch: Patch) -> None:
    for name in ("first_time", "second_time"):
        scaled(misprints, name, 0.01)(patch)


def one_law_does_not_converge(patch: Patch) -> None:
    """Networks on inputs of +-1 that never reach 4 epsilon."""
    right = convergence.read

    def wrong(networks: Any) -> Any:
        rows = right(networks)
        constants = [np.nan if law == "signs" else c for law, c in zip(rows["law"], rows["constant"], strict=True)]
        return rows | {"constant": constants}

    patch.setattr(convergence, "TABLE", replace(convergence.TABLE, read=wrong))


def steps_too_large(patch: Patch) -> None:
    right = theorem_4_1._last_loss
    patch.setattr(theorem_4_1, "_last_loss", lambda data, key, width, rate: right(data, key, width, 10 * rate))


def outputs_scaled(factor: float) -> Callable[[Patch], None]:
    """Outputs of the network that are too large."""
    right = vars(runs.FeatureRun)["outputs"].fget
    return lambda patch: patch.setattr(runs.FeatureRun, "outputs", property(lambda self: factor * right(self)))


def end_scaled(**factors: float) -> Callable[[Patch], None]:
    """A wrong closed form of the end."""
    right = ln.theories.feature_learning.end

    def wrong(*arguments: Any) -> Any:
        found = right(*arguments)
        return replace(found, **{name: factor * getattr(found, name) for name, factor in factors.items()})

    return lambda patch: patch.setattr(ln.theories.feature_learning, "end", wrong)


def proxy_leaping(patch: Patch) -> None:
    right = misprints.appendix_proxy

    def wrong(alignments: np.ndarray, **named: float) -> np.ndarray:
        return 2.0 ** np.arange(len(alignments))[:, None] * right(alignments, **named)

    patch.setattr(misprints, "appendix_proxy", wrong)


def short_inputs(patch: Patch) -> None:
    """A run whose data are not those it was trained on, but shorter."""
    right = appendix_b.train_inside

    def wrong(*arguments: Any, **named: Any) -> Any:
        run = right(*arguments, **named)
        return replace(run, data=replace(run.data, inputs=0.05 * run.data.inputs))

    patch.setattr(appendix_b, "train_inside", wrong)


def uniform_of_unit_variance(patch: Patch) -> None:
    class Wrong:
        def uniform(self, low: float, high: float, shape: tuple[int, int]) -> np.ndarray:
            return np.sqrt(3) * np.random.default_rng(0).uniform(low, high, shape)

    patch.setattr(appendix_a, "generator", lambda *arguments: Wrong())


def deviations(history: Any) -> dict[str, Any]:
    return {"deviations": 100 * history.deviations}


def kernels(history: Any) -> dict[str, Any]:
    return {"kernels": 0.4 * history.kernels}


def normalised_kernels(history: Any) -> dict[str, Any]:
    return {"kernels": history.kernels / history.kernel_norm[:, None, None]}


def kernels_at_the_target(history: Any) -> dict[str, Any]:
    """A last kernel that is the target-aligned one."""
    aligned = (history.magnitudes[-1] ** 2).mean() * history.target
    return {"kernels": np.concatenate([history.kernels[:-1], aligned[None]])}


def alignments(history: Any) -> dict[str, Any]:
    return {"alignments": 0.8 * history.alignments}


def larger_alignments(history: Any) -> dict[str, Any]:
    return {"alignments": history.alignments + 0.2 * np.sqrt(history.gamma) * history.magnitudes}


def fading_alignments(history: Any) -> dict[str, Any]:
    return {"alignments": history.alignments * (history.loss / history.loss[0])[:, None]}


def first_alignment(history: Any) -> dict[str, Any]:
    """An alignment that leaps in the first step and falls in the second."""
    return {"alignments": np.concatenate([history.alignments[:1], 5 * history.alignments[1:2], history.alignments[2:]])}


def magnitudes(history: Any) -> dict[str, Any]:
    return {"magnitudes": 30 * history.magnitudes}


def overlaps(history: Any) -> dict[str, Any]:
    return {"overlaps": -2 * history.overlaps}


def larger_loss(history: Any) -> dict[str, Any]:
    return {"loss": 100 * history.loss}


def falling_loss(history: Any) -> dict[str, Any]:
    """A loss that falls from the first step on."""
    return {"loss": np.minimum(history.loss, history.loss[0] * np.linspace(1, 0.01, len(history.loss)))}


def wavering_loss(history: Any) -> dict[str, Any]:
    return {"loss": history.loss * (1 + 0.2 * (np.arange(len(history.loss)) % 2))}


# name, the claim that it turns, the error, and whether it is cheap enough for every run of the tests
MUTATIONS: list[tuple[str, str, Callable[[Patch], None], bool]] = [
    ("eq3", "eq3", history_changed(kernels), True),
    ("eq7", "eq7", ignoring(equation_claims, "train_section_six", "eta", 0.2), True),
    ("eq7-kernel", "eq7", history_changed(kernels), True),
    ("eq9", "eq9", overlaps_grown, False),
    ("eq10", "eq10", plane_without_mean, False),
    ("eq11", "eq11", limit_doubled, False),
    ("two-stages", "two-stages", history_changed(alignments), False),
    ("small-output", "small-output", outputs_scaled(1e5), False),
    ("dichotomy", "dichotomy", history_changed(alignments), False),
    ("dichotomy-lazy", "dichotomy", history_changed(larger_alignments), False),
    ("crossover", "crossover", scaled(ln.theories.feature_learning, "lazy_feature_ratio", 0.9), False),
    ("exact-end", "exact-end", end_scaled(square=1.1), False),
    ("t1", "t1", scaled(Stages, "first_time", 2.0), False),
    ("t2", "t2", scaled(Stages, "second_time", 2.0), False),
    ("theorem4.1", "theorem4.1", times_of_the_theorem_wrong, False),
    ("theorem4.1-law", "theorem4.1", one_law_does_not_converge, False),
    ("theorem4.1-descends", "theorem4.1", history_changed(wavering_loss), False),
    ("step", "step", steps_too_large, True),
    ("lemmaB1-time", "lemmaB1-time", scaled(misprints, "first_time", 0.2), False),
    ("limit", "limit", limit_doubled, False),
    ("difference", "difference", history_changed(overlaps), False),
    ("signs-determined", "signs-determined", history_changed(overlaps), False),
    ("signs", "signs", layer_scaled(2.0), False),
    ("rising", "rising", backwards, False),
    ("products", "products", backwards, False),
    ("output-aligns", "output-aligns", outputs_of_wrong_sign, False),
    ("lemma5.2", "lemma5.2", layer_scaled(30.0), False),
    ("lemma5.2-magnitudes", "lemma5.2", history_changed(magnitudes), False),
    ("lemma5.2-kernel", "lemma5.2-kernel", ignoring(lemma_5_2, "train_inside", "signal", 1.0), False),
    ("lemma5.3-weights", "lemma5.3-weights", history_changed(deviations), False),
    ("lemma5.3-layers", "lemma5.3-layers", layer_scaled(30.0), False),
    ("lemma5.3-kernel", "lemma5.3-kernel", history_changed(kernels), False),
    ("ntk-turning", "ntk-turning", history_changed(normalised_kernels), True),
    ("ntk-growth", "ntk-growth", wrong_kernel_target, False),
    ("ntk-growth-norm", "ntk-growth", history_changed(normalised_kernels), False),
    ("ntk-converges", "ntk-converges", end_scaled(kernel=1.1), False),
    ("minimum-norm", "minimum-norm", scaled(ln.Problem, "min_norm_solution", 2.0), True),
    ("loss-drops", "loss-drops", history_changed(falling_loss), False),
    ("ratio", "ratio", history_changed(alignments), False),
    ("ratio-fading", "ratio", history_changed(fading_alignments), False),
    ("ratio-rising", "ratio", history_changed(first_alignment), False),
    ("images", "images", orthogonal_pictures, False),
    ("images-kernel", "images-kernel", orthogonal_pictures, False),
    ("relu", "relu", history_changed(kernels_at_the_target), False),
    ("relu-ratio", "relu-ratio", history_changed(fading_alignments), False),
    ("lemma5.1", "lemma5.1", inputs_doubled, False),
    ("lemmaA1", "lemmaA1", layer_scaled(2.0), False),
    ("lemmaA2", "lemmaA2", layer_scaled(1.5), True),
    ("lemmaA3", "lemmaA3", lambda patch: patch.setattr(lemmas, "FORM", (0.9, 1.1)), True),
    ("lemmaA4", "lemmaA4", ignoring(ln.problems, "gaussian_teacher", "noise_variance", 0.0), True),
    ("unit-variance", "unit-variance", uniform_of_unit_variance, True),
    ("eq13", "eq13", start_scaled("first_std", 0.0), True),
    ("eq13-weights", "eq13-weights", history_changed(deviations), True),
    ("lemmaB1-products", "lemmaB1-products", layer_scaled(30.0), True),
    ("lemmaB1-quadratic", "lemmaB1-quadratic", short_inputs, True),
    ("lemmaB2-output", "lemmaB2-output", outputs_scaled(3.0), False),
    ("proxy-step", "proxy-step", proxy_of_the_mean, False),
    ("proxy-step-upper", "proxy-step", proxy_leaping, False),
    ("proxy-end", "proxy-end", scaled(Stages, "proxy", 1.5), True),
    ("final-loss", "final-loss", history_changed(larger_loss), True),
]
TURNS = {name: claim for name, claim, _, _ in MUTATIONS}


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: Patch) -> Iterator[None]:
    """Tables are trained anew under the error, on small networks, and forgotten after it."""
    table._results.cache_clear()
    section_6.train_on_pictures.cache_clear()
    monkeypatch.setattr(settings, "SMALL", {"dim": 800, "width": 96})
    monkeypatch.setattr(settings, "SIGNALS", (1.0, 0.3, 0.1, 0.05))  # condition (6) ends at 0.035 there
    monkeypatch.setattr(
        equations, "train_section_six", lambda seed, **k: runs.train_section_six(seed, **{"dim": 800, "width": 96, **k})
    )
    yield
    table._results.cache_clear()
    section_6.train_on_pictures.cache_clear()


@pytest.mark.parametrize(
    ("claim", "mutate"),
    [pytest.param(c, m, marks=() if cheap else pytest.mark.slow, id=n) for n, c, m, cheap in MUTATIONS],
)
def test_an_error_turns_the_verdict(claim, mutate, monkeypatch):
    mutate(monkeypatch)
    found = CLAIMS[claim].measurement(QUICK)
    assert found.verdict != CLAIMS[claim].expected, found.measured


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMS)
def test_without_the_error_the_verdict_stands(name):
    """The control, on the same small networks."""
    found = CLAIMS[name].measurement(QUICK)
    assert found.verdict == CLAIMS[name].expected, found.measured


def test_every_claim_has_its_error():
    assert set(TURNS.values()) == set(CLAIMS)
