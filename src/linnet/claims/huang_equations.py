"""Huang et al.: the equations of the neurons, (7)-(11), against the network that was trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.claims.registry import Claim, Measurement, Trial, Verdict

if TYPE_CHECKING:
    import numpy as np

    from linnet.experiments.feature_runs import FeatureRun

SYNTHETIC = "synthetic data of section 6: m = 1024, d = 10 000, n = 10, eta = 0.1, sigma_0 = 0.01, v_0 = 0.001"
NONE = "none beyond the network and its gradient descent"


def _run(trial: Trial) -> FeatureRun:
    from linnet.experiments.feature_runs import section_six

    return section_six(trial.seed)


def _inside(trial: Trial) -> FeatureRun:
    from linnet.experiments.feature_runs import separated

    return separated(trial.seed, dim=2000, width=256) if trial.quick else separated(trial.seed)


def _stage(run: FeatureRun) -> tuple[int, int]:
    """Where the second stage begins (the loss has lost 5%) and where it is over (99.99%), as indices."""
    return int((run.share <= 0.95).argmax()), int((run.share <= 1e-4).argmax())


def measure_neurons(trial: Trial) -> Measurement:
    import numpy as np

    from linnet.experiments.feature_runs import section_six

    size = {"dim": 1500, "width": 150} if trial.quick else {"dim": 10_000, "width": 1024}
    run = section_six(trial.seed, **size)
    root, steps = np.sqrt(run.width), 40
    full = _full_network(
        run.data.inputs, run.data.outputs, root * run.start.first, root * run.start.second[0], 0.1, steps
    )
    history = run.history
    trained = (history.loss, history.alignments, history.magnitudes, history.kernels / run.width)
    errors = [_normwise(own, other[: steps + 1]) for own, other in zip(full, trained)]
    worst = max(errors)
    names = ("loss", "rho", "v", "NTK")
    text = ", ".join(f"{name} {error:.1e}" for name, error in zip(names, errors))
    shape = history.overlaps.size, run.data.in_dim
    return Measurement(
        Verdict.HOLDS if worst < 1e-10 else Verdict.REFUTED,
        f"full {shape[1]} x {shape[0]} network in NumPy against the reduced 10 x 11 one over {steps} steps: {text}",
        worst,
    )


def _full_network(
    X: np.ndarray, y: np.ndarray, W: np.ndarray, v: np.ndarray, eta: float, steps: int
) -> list[np.ndarray]:
    """Equations (7) and (8) with the whole first layer carried along: losses, rho, v and the paper's NTK at each step."""
    import numpy as np

    n, m, feature, gram = len(y), len(v), X.T @ y, X @ X.T
    rho, step, seen = np.zeros(m), eta / (len(v) * len(y)), []
    start = W @ feature
    for _ in range(steps + 1):
        images = X @ W.T
        output = images @ v / m
        pull = X.T @ output  # X^T X W v / m
        seen.append((((y - output) ** 2).sum() / (2 * n), rho, v, ((v @ v) * gram + images @ images.T) / m**2))
        rho, v, W = (
            rho + step * v * (feature @ feature) - step * v * (pull @ feature),
            v + step * rho + step * start - step * (W @ pull),
            W + step * np.outer(v, feature - pull),
        )
    return [np.array(column) for column in zip(*seen)]


def _normwise(a: np.ndarray, b: np.ndarray) -> float:
    """The largest distance over the run, relative to the largest size."""
    import numpy as np

    flat = a.reshape(len(a), -1), b.reshape(len(b), -1)
    return float(np.linalg.norm(flat[0] - flat[1], axis=1).max() / np.linalg.norm(flat[0], axis=1).max())


def measure_linear(trial: Trial) -> Measurement:
    from linnet.experiments.feature_runs import relative_errors

    found = {}
    for name, run in (("section 6", _run(trial)), ("inside the assumption", _inside(trial))):
        begin, end = _stage(run)
        history, steps = run.history, run.steps[: end + 1]
        for printed in (False, True):
            rho, _ = run.stages.linear(steps, history.overlaps, history.magnitudes[0], printed=printed)
            errors = relative_errors(rho, history.alignments[: end + 1])
            late = (errors > 0.05).argmax()
            found[name, printed] = errors[: begin + 1].max(), errors[begin:].max(), run.share[late], int(steps[late])
    right, wrong = found["section 6", False], found["section 6", True]
    text = "; ".join(
        f"{name}, {'printed' if printed else 'with eta/(mn)'}: rho off by {stage1:.2g} in stage 1, {stage2:.2g} in stage 2, "
        f"5% passed at step {step} (loss at {share:.1%})"
        for (name, printed), (stage1, stage2, share, step) in found.items()
    )
    corrected = max(right[0], found["inside the assumption", False][0])
    return Measurement(_verdict(wrong[0], corrected, 0.05), text, corrected)


def measure_plane(trial: Trial) -> Measurement:
    from linnet.experiments.feature_runs import relative_errors

    found, text = {}, []
    for name, run in (("section 6", _run(trial)), ("inside the assumption", _inside(trial))):
        begin, end = _stage(run)
        history, steps = run.history, run.steps[begin : end + 1] - run.steps[begin]
        for printed in (False, True):
            rho, v = run.stages.plane(steps, history.alignments[begin], history.magnitudes[begin], printed=printed)
            errors = relative_errors(rho, history.alignments[begin : end + 1])
            loss = abs(run.stages.loss(rho, v) / history.loss[0] - run.share[begin : end + 1]).max()
            found[name, printed] = float(errors.max())
            text.append(
                f"{name}, {'printed' if printed else 'mean over neurons'}: rho off by {errors.max():.2g} over stage 2, "
                f"loss by {loss:.2g}"
            )
    run = _run(trial)
    begin, end = _stage(run)
    steps = run.steps[: end + 1]
    start = 0 * run.history.overlaps, run.history.magnitudes[0]
    for overlaps, words in ((None, "without"), (run.history.overlaps, "with")):
        rho, _ = run.stages.plane(steps, *start, overlaps=overlaps)
        errors = relative_errors(rho, run.history.alignments[: end + 1])
        text.append(
            f"section 6 from step 0 {words} the overlaps of the start: {errors[: begin + 1].max():.2g} in stage 1, "
            f"{errors[begin:].max():.2g} in stage 2"
        )
    verdict = _verdict(found["section 6", True], found["section 6", False], 0.05)
    return Measurement(verdict, "; ".join(text), found["section 6", False])


def measure_scalar(trial: Trial) -> Measurement:
    from linnet.experiments.feature_runs import relative_errors

    found, text = {}, []
    for name, run in (("section 6", _run(trial)), ("inside the assumption", _inside(trial))):
        begin, end = _stage(run)
        for when, first in (("stage 2", begin), ("from step 1", 1)):
            steps = run.steps[first : end + 1] - run.steps[first]
            for printed in (False, True):
                rho = run.stages.scalar(steps, run.history.alignments[first], printed=printed)
                errors = relative_errors(rho, run.history.alignments[first : end + 1])
                found[name, when, printed] = float(errors.max())
                if when == "stage 2" or not printed:
                    form = "printed" if printed else "mean over neurons"
                    text.append(f"{name}, {form}, {when}: rho off by {errors.max():.2g}")
    verdict = _verdict(found["section 6", "stage 2", True], found["section 6", "stage 2", False], 0.05)
    return Measurement(verdict, "; ".join(text), found["section 6", "stage 2", False])


def measure_limit(trial: Trial) -> Measurement:
    import numpy as np

    run = _run(trial)
    end = run.history.alignments[-1] ** 2 / run.stages.limit
    printed, mean = float(np.median(np.abs(end - 1))), float(abs(end.mean() - 1))
    inside = _inside(trial)
    alike = inside.history.alignments[-1] ** 2 / inside.stages.limit
    return Measurement(
        _verdict(printed, mean, 0.02),
        f"section 6, end: rho_r^2 phi/gamma^(5/2) has mean {end.mean():.4f}; neuron by neuron it spreads from {end.min():.2g} "
        f"to {end.max():.3g}, the median neuron is {printed:.0%} off; inside the assumption mean {alike.mean():.4f}, from "
        f"{alike.min():.3f} to {alike.max():.3f}",
        mean,
    )


def measure_ratio(trial: Trial) -> Measurement:
    import numpy as np

    run = _run(trial)
    ratio, high = run.history.median_ratio, run.share > 0.95
    last = int(np.flatnonzero(high)[-1])
    early, end = float(ratio[last]), float(ratio[-1])
    ok = abs(early - 1) < 0.05 and abs(end - 1) < 0.01
    means = run.history.mean_ratio
    return Measurement(
        Verdict.HOLDS if ok else Verdict.REFUTED,
        f"median rho/(v sqrt(gamma)) is {early:.4f} at step {last} with the loss at {run.share[last]:.1%}, {end:.4f} at the end "
        f"(ratio of means {means[last]:.4f}, {means[-1]:.4f})",
        end,
    )


def _verdict(printed: float, corrected: float, limit: float) -> Verdict:
    if printed < limit:
        return Verdict.HOLDS
    return Verdict.CORRECTED if corrected < limit else Verdict.REFUTED


CLAIMS = [
    Claim(
        name="huang-eq7", paper="huang", number="(7), (8)",
        sentence="The alignments and magnitudes of all neurons follow the two feature-learning equations exactly.",
        assumptions=NONE, setting=SYNTHETIC + " (quick: d = 1500, m = 150)",
        claimed="equality at every step", expected=Verdict.HOLDS, measure=measure_neurons,
    ),
    Claim(
        name="huang-eq9", paper="huang", number="(9)",
        sentence="While the output is small, alignment and magnitude follow a linear system.",
        assumptions="the loss has not begun to fall", setting=SYNTHETIC + "; and data inside Assumption 4.1",
        claimed="v += rho + ... (printed); v += eta/(mn) rho + ... (corrected)",
        expected=Verdict.CORRECTED, measure=measure_linear,
    ),
    Claim(
        name="huang-eq10", paper="huang", number="(10)",
        sentence="In the second stage each neuron follows a two-dimensional nonlinear system.",
        assumptions="w_r - w_r(0) along X^T y", setting=SYNTHETIC + "; and data inside Assumption 4.1",
        claimed="the neuron's own v_r rho_r (printed); the mean over neurons (corrected)",
        expected=Verdict.CORRECTED, measure=measure_plane,
    ),
    Claim(
        name="huang-eq11", paper="huang", number="(11)",
        sentence="With rho = sqrt(gamma) v each neuron's alignment follows one cubic equation.",
        assumptions="second stage", setting=SYNTHETIC + "; and data inside Assumption 4.1",
        claimed="rho_r^3 (printed); rho_r times the mean of rho^2 (corrected)",
        expected=Verdict.CORRECTED, measure=measure_scalar,
    ),
    Claim(
        name="huang-limit", paper="huang", number="below (11)",
        sentence="The squared alignment tends to gamma^(5/2)/phi.",
        assumptions="second stage", setting=SYNTHETIC,
        claimed="for each neuron (printed); for the mean over neurons (corrected), within 2%",
        expected=Verdict.CORRECTED, measure=measure_limit,
    ),
    Claim(
        name="huang-ratio", paper="huang", number="section 6",
        sentence="The ratio of alignment to magnitude settles while the loss is high and stays.",
        assumptions=NONE, setting=SYNTHETIC,
        claimed="rho/v = sqrt(gamma): within 5% before the loss has lost 5%, within 1% at the end",
        expected=Verdict.HOLDS, measure=measure_ratio,
    ),
]  # fmt: skip
