"""Huang et al.: what the neural tangent kernel does in the two stages, on synthetic data and on images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import linnet as ln
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest, lowest

if TYPE_CHECKING:
    import numpy as np

    from linnet.observables.features import FeatureHistory
    from linnet.papers.huang.runs import FeatureRun


def _runs(trial: Trial) -> dict[str, FeatureRun]:
    from linnet.papers.huang.runs import section_six, separated

    size: dict[str, Any] = {"dim": 2000, "width": 256} if trial.quick else {}
    return {"inside the assumption": separated(trial.seed, **size), "section 6": section_six(trial.seed)}


def measure_equation(trial: Trial) -> Measurement:
    import numpy as np

    data = ln.problems.gaussian_teacher(trial.seed, dim=300, signal=1.0)
    start = ln.inits.signed(trial.seed + 1, in_dim=300, width=50, first_std=0.3, magnitude=0.3)
    problem = ln.Problem.from_data(data.inputs, data.outputs)
    step = 1e-7
    run = ln.gradient_descent(problem, start, learning_rate=step, steps=1)
    outputs = data.inputs @ run.products[:, 0].T
    rate = (outputs[:, 1] - outputs[:, 0]) / step
    kernel = ln.observables.feature_history(run).kernels[0]
    slope = kernel @ (outputs[:, 0] - data.outputs) / data.samples  # Theta dL/df
    wrong, right = (float(np.linalg.norm(rate - sign * slope) / np.linalg.norm(rate)) for sign in (1, -1))
    verdict = Verdict.HOLDS if wrong < 1e-3 else Verdict.CORRECTED if right < 1e-3 else Verdict.REFUTED
    return Measurement(
        verdict, f"df/dt against +Theta dL/df (printed): off by {wrong:.2g}; against -Theta dL/df: {right:.1e}", right
    )


def measure_turning(trial: Trial) -> Measurement:
    from linnet.reproduction.milestones import first_of

    text, growth = [], []
    for name, run in _runs(trial).items():
        history = run.history
        gap = 1 - history.kernel_cosine
        turned = first_of(gap <= gap[0] / 10, "the kernel never turns nine tenths of the way")
        grown = float(history.kernel_norm[turned] / history.kernel_norm[0])
        first = run.reached(0.95)
        until = float(history.kernel_norm[first] / history.kernel_norm[0])
        growth.append(grown)
        text.append(
            f"{name}: the norm grows {grown:.2g}-fold while 1 - cosine falls to a tenth, {until:.2g}-fold until the "
            "loss "
            f"has lost 5% (then {history.kernel_norm[first] / history.kernel_norm[-1]:.1%} of its end)"
        )
    return Measurement(Verdict.HOLDS if highest(growth) < 1.5 else Verdict.REFUTED, "; ".join(text), highest(growth))


def measure_growth(trial: Trial) -> Measurement:
    text, cosines = [], []
    for name, run in _runs(trial).items():
        history = run.history
        first = run.reached(0.95)
        cosine = float(history.kernel_cosine[first:].min())
        cosines.append(cosine)
        text.append(
            f"{name}: cosine at least {cosine:.5f}, distance at most "
            f"{history.kernel_distance[first:].max():.1%}, norm up "
            f"{history.kernel_norm[-1] / history.kernel_norm[first]:.3g}-fold"
        )
    verdict = Verdict.HOLDS if lowest(cosines) > 0.999 else Verdict.REFUTED
    return Measurement(verdict, "after the loss has lost 5%, " + "; ".join(text), lowest(cosines))


def _digits(trial: Trial) -> tuple[np.ndarray, np.ndarray, float]:
    """Images of 3 and 8 with targets +1 and -1, and the canonical step at which the first stage grows by 5% a step."""
    import numpy as np

    X, y = ln.problems.load_images("digits").two_classes(3, 8, samples=200, key=trial.seed)
    return X, y, float(0.05 * len(y) / np.linalg.norm(X.T @ y))


def _stages(history: FeatureHistory) -> tuple[int, int]:
    """Where the loss has lost 5%, and where it has lost 90% of all it loses, as indices."""
    from linnet.reproduction.milestones import first_of

    share = history.loss / history.loss[0]
    dropped = first_of(share <= share[-1] + 0.1 * (1 - share[-1]), "the loss never drops")
    return first_of(share <= 0.95, "the loss never loses 5%"), dropped


def measure_images(trial: Trial) -> Measurement:
    import numpy as np

    X, y, rate = _digits(trial)
    start = ln.inits.signed(trial.seed, in_dim=64, width=256 if trial.quick else 1024, first_std=1e-4, magnitude=1e-3)
    run = ln.gradient_descent(
        ln.Problem.from_data(X, y), start, learning_rate=rate, steps=400 if trial.quick else 600, save_every=10
    )
    history = ln.observables.feature_history(run)
    first, dropped = _stages(history)
    ratio, cosine = history.median_ratio, history.kernel_cosine
    values = np.linalg.eigvalsh(X.T @ X / len(X))
    asked = len(X) * values.max() + np.sqrt(len(X)) * np.linalg.norm(values)
    inside = values.sum() >= asked  # condition (6) with the images' own covariance
    stable = np.ptp(ratio[first:]) < 0.05
    verdict = Verdict.OUTSIDE if not inside else Verdict.HOLDS if stable else Verdict.REFUTED
    return Measurement(
        verdict,
        f"tr(Sigma) = {values.sum():.3g} where condition (6) asks for {asked:.3g}; ratio {ratio[first]:.4f} where the "
        "loss has "
        f"lost 5%, {ratio[dropped]:.4f} when the drop is done, {ratio[-1]:.3f} at step {run.status.steps}; kernel "
        "cosine "
        f"{cosine[first]:.5f}, {cosine[dropped]:.4f}, {cosine[-1]:.4f}",
        float(ratio[-1]),
    )


def measure_relu(trial: Trial) -> Measurement:
    import numpy as np

    X, y, rate = _digits(trial)
    start = ln.inits.signed(trial.seed, in_dim=64, width=128 if trial.quick else 1024, first_std=1e-4, magnitude=1e-3)
    run = ln.relu_descent((X, y), start, learning_rate=2 * rate, steps=280 if trial.quick else 400, save_every=10)
    history = ln.observables.feature_history(run, activation="relu")
    first, dropped = _stages(history)
    ratio, cosine = history.median_ratio, history.kernel_cosine
    side = np.sign(X @ (X.T @ y))  # a neuron along the feature sees the images on its own side of it
    gates = np.where(np.outer(side, side) > 0, history.target, 0.0)
    sizes = np.linalg.norm(history.kernels, axis=(1, 2)) * np.linalg.norm(gates)
    gated = (history.kernels * gates).sum(axis=(1, 2)) / sizes
    turned = cosine[first:].min() > 0.95
    return Measurement(
        Verdict.HOLDS if turned else Verdict.REFUTED,
        f"cosine to the target-aligned kernel {cosine[first]:.3f} at t1 and {cosine[-1]:.3f} at the end, from "
        f"{cosine[0]:.3f} at "
        f"the start; to that kernel gated by the side of the feature {gated[0]:.3f}, {gated[first]:.3f}, "
        f"{gated[-1]:.3f}; the "
        f"ratio settles: {ratio[first]:.4f} at t1, {ratio[dropped]:.4f} after the drop",
        float(cosine[first:].min()),
    )


BOTH = "unit-signal data inside Assumption 4.1 (quick: d = 2000, m = 256), and section 6"

CLAIMS = [
    Claim(
        name="eq3",
        number="Eq. (3)",
        sentence="The output moves by the kernel times the derivative of the loss.",
        assumptions="gradient flow",
        setting="d = 300, n = 10, m = 50, one step of 1e-7",
        claimed="df/dt = dL/df Theta (printed); with a minus (corrected)",
        expected=Verdict.CORRECTED,
        measure=measure_equation,
    ),
    Claim(
        name="ntk-turning",
        number="Section 1, Section 4",
        sentence="In the first stage the kernel keeps its norm while it turns towards the target-aligned kernel.",
        assumptions="Assumption 4.1",
        setting=BOTH,
        claimed="norm within a factor 1.5 while 1 - cosine falls to a tenth",
        expected=Verdict.REFUTED,
        measure=measure_turning,
    ),
    Claim(
        name="ntk-growth",
        number="Lemma 5.3, Section 6",
        sentence="In the second stage the kernel grows at the fixed direction of the target-aligned kernel.",
        assumptions="Assumption 4.1",
        setting=BOTH,
        claimed="cosine above 0.999 from t1 on",
        expected=Verdict.HOLDS,
        measure=measure_growth,
    ),
    Claim(
        name="images",
        number="Figure 2",
        sentence="On real images the ratio stays stable in the second stage and the kernel converges to the "
        "target-aligned one.",
        assumptions="not stated; condition (6) is about the covariance",
        setting="digits 3 and 8, n = 200, m = 1024 (quick: 256)",
        claimed="stable to 5%",
        expected=Verdict.OUTSIDE,
        measure=measure_images,
    ),
    Claim(
        name="relu",
        number="Figure 3",
        sentence="A ReLU network shows the same stages, and its kernel converges to the target-aligned kernel.",
        assumptions="none stated",
        setting="digits 3 and 8, n = 200, m = 1024 (quick: 128)",
        claimed="cosine to the target-aligned kernel above 0.95 from t1 on",
        expected=Verdict.REFUTED,
        measure=measure_relu,
    ),
]
