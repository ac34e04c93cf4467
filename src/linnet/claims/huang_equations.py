"""Huang et al.: the equations of the neurons, (7)-(11), against the network that was trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.claims.registry import Claim, Measurement, Trial, Verdict

if TYPE_CHECKING:
    import numpy as np

    from linnet.claims.huang_runs import FeatureRun

SYNTHETIC = "synthetic data of section 6: m = 1024, d = 10 000, n = 10, eta = 0.1, sigma_0 = 0.01, v_0 = 0.001"
NONE = "none beyond the network and its gradient descent"


def _run(trial: Trial) -> FeatureRun:
    from linnet.claims.huang_runs import section_six

    return section_six(trial.seed)


def _inside(trial: Trial) -> FeatureRun:
    from linnet.claims.huang_runs import separated

    return separated(trial.seed, dim=2000, width=256) if trial.quick else separated(trial.seed)


def _stage(run: FeatureRun) -> tuple[int, int]:
    """Where the second stage begins (the loss has lost 5%) and where it is over (99.99%), as indices."""
    return run.reached(0.95), run.reached(1e-4)


def measure_neurons(trial: Trial) -> Measurement:
    import numpy as np

    from linnet.claims.huang_runs import section_six

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
    from linnet.claims.huang_runs import relative_errors
    from linnet.claims.milestones import first_of

    found = {}
    for name, run in (("section 6", _run(trial)), ("inside the assumption", _inside(trial))):
        begin, end = _stage(run)
        history, steps = run.history, run.steps[: end + 1]
        for printed in (False, True):
            rho, _ = run.stages.linear(steps, history.overlaps, history.magnitudes[0], printed=printed)
            errors = relative_errors(rho, history.alignments[: end + 1])
            late = first_of(errors > 0.05, "the linear stage is never off by 5%")
            found[name, printed] = errors[: begin + 1].max(), errors[begin:].max(), run.share[late], int(steps[late])
    right, wrong = found["section 6", False], found["section 6", True]
    inside = found["inside the assumption", False]
    return Measurement(
        _verdict(wrong[0], max(right[0], inside[0]), 0.05),
        f"rho in stage 1 is off by {right[0]:.1%} with eta/(mn), by {wrong[0]:.1g} times itself as printed (5% at step "
        f"{wrong[3]}); with it 5% is passed at step {right[3]}, the loss at {right[2]:.0%}, and stage 2 ends {right[1]:.2g} off; "
        f"inside the assumption {inside[0]:.1%}, step {inside[3]}, {inside[2]:.0%}, {inside[1]:.2g}",
        float(max(right[0], inside[0])),
    )


def measure_plane(trial: Trial) -> Measurement:
    from linnet.claims.huang_runs import relative_errors

    found = {}
    for name, run in (("section 6", _run(trial)), ("inside the assumption", _inside(trial))):
        begin, end = _stage(run)
        history, steps = run.history, run.steps[begin : end + 1] - run.steps[begin]
        for printed in (False, True):
            rho, v = run.stages.plane(steps, history.alignments[begin], history.magnitudes[begin], printed=printed)
            errors = relative_errors(rho, history.alignments[begin : end + 1])
            loss = abs(run.stages.loss(rho, v) / history.loss[0] - run.share[begin : end + 1]).max()
            found[name, printed] = float(errors.max()), float(loss)
    run = _run(trial)
    begin, end = _stage(run)
    whole = []
    for overlaps in (None, run.history.overlaps):
        rho, _ = run.stages.plane(
            run.steps[: end + 1], 0 * run.history.overlaps, run.history.magnitudes[0], overlaps=overlaps
        )
        errors = relative_errors(rho, run.history.alignments[: end + 1])
        whole.append((errors[: begin + 1].max(), errors[begin:].max()))
    right, wrong = found["section 6", False], found["section 6", True]
    inside = [found["inside the assumption", printed] for printed in (False, True)]
    return Measurement(
        _verdict(wrong[0], right[0], 0.05),
        f"rho in stage 2 is off by {right[0]:.2%} with the mean (loss by {right[1]:.2%}), by {wrong[0]:.0%} as printed (loss "
        f"{wrong[1]:.0%}); inside the assumption, where neurons are alike, {inside[0][0]:.2%} and {inside[1][0]:.2%}; from "
        f"step 0 with the start's overlaps added {whole[1][0]:.1e} in stage 1 and {whole[1][1]:.1e} in stage 2, "
        f"without them {whole[0][0]:.0%}",
        right[0],
    )


def measure_scalar(trial: Trial) -> Measurement:
    from linnet.claims.huang_runs import relative_errors

    found = {}
    for name, run in (("section 6", _run(trial)), ("inside the assumption", _inside(trial))):
        begin, end = _stage(run)
        for when, first in (("stage 2", begin), ("from step 1", 1)):
            steps = run.steps[first : end + 1] - run.steps[first]
            for printed in (False, True):
                rho = run.stages.scalar(steps, run.history.alignments[first], printed=printed)
                errors = relative_errors(rho, run.history.alignments[first : end + 1])
                found[name, when, printed] = float(errors.max())
    right, wrong = (found["section 6", "stage 2", printed] for printed in (False, True))
    inside = [found["inside the assumption", "stage 2", printed] for printed in (False, True)]
    return Measurement(
        _verdict(wrong, right, 0.05),
        f"rho in stage 2 is off by {right:.1%} with the mean, by {wrong:.0%} as printed; inside the assumption {inside[0]:.2%} and "
        f"{inside[1]:.2%}; in stage 1, where rho is not sqrt(gamma) v, by {found['section 6', 'from step 1', False]:.0%}",
        right,
    )


def measure_limit(trial: Trial) -> Measurement:
    import numpy as np

    run = _run(trial)
    end = run.history.alignments[-1] ** 2 / run.stages.limit
    printed, mean = float(np.median(np.abs(end - 1))), float(abs(end.mean() - 1))
    inside = _inside(trial)
    alike = inside.history.alignments[-1] ** 2 / inside.stages.limit
    return Measurement(
        _verdict(printed, mean, 0.02),
        f"rho_r^2 phi/gamma^(5/2) has mean {end.mean():.4f} at the end of section 6's run; neuron by neuron it spreads "
        f"from {end.min():.2g} to {end.max():.3g}, the median neuron {printed:.0%} off; inside the assumption mean "
        f"{alike.mean():.4f}, from {alike.min():.3f} to {alike.max():.3f}",
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
        name="huang-eq7", paper="huang", number="Eqs. (7), (8)",
        sentence="The alignments and magnitudes of all neurons follow the two feature-learning equations exactly.",
        assumptions=NONE, setting=SYNTHETIC + " (quick: d = 1500, m = 150)",
        claimed="equality at every step", expected=Verdict.HOLDS, measure=measure_neurons,
    ),
    Claim(
        name="huang-eq9", paper="huang", number="Eq. (9)",
        sentence="While the output is small, alignment and magnitude follow a linear system.",
        assumptions="the loss has not begun to fall", setting=SYNTHETIC + "; and data inside Assumption 4.1",
        claimed="v += rho + ... (printed); v += eta/(mn) rho + ... (corrected)",
        expected=Verdict.CORRECTED, measure=measure_linear,
    ),
    Claim(
        name="huang-eq10", paper="huang", number="Eq. (10)",
        sentence="In the second stage each neuron follows a two-dimensional nonlinear system.",
        assumptions="w_r - w_r(0) along X^T y", setting=SYNTHETIC + "; and data inside Assumption 4.1",
        claimed="the neuron's own v_r rho_r (printed); the mean over neurons (corrected)",
        expected=Verdict.CORRECTED, measure=measure_plane,
    ),
    Claim(
        name="huang-eq11", paper="huang", number="Eq. (11)",
        sentence="With rho = sqrt(gamma) v each neuron's alignment follows one cubic equation.",
        assumptions="second stage", setting=SYNTHETIC + "; and data inside Assumption 4.1",
        claimed="rho_r^3 (printed); rho_r times the mean of rho^2 (corrected)",
        expected=Verdict.CORRECTED, measure=measure_scalar,
    ),
    Claim(
        name="huang-limit", paper="huang", number="below Eq. (11)",
        sentence="The squared alignment tends to gamma^(5/2)/phi.",
        assumptions="second stage", setting=SYNTHETIC,
        claimed="for each neuron (printed); for the mean over neurons (corrected), within 2%",
        expected=Verdict.CORRECTED, measure=measure_limit,
    ),
    Claim(
        name="huang-ratio", paper="huang", number="Section 6",
        sentence="The ratio of alignment to magnitude settles while the loss is high and stays.",
        assumptions=NONE, setting=SYNTHETIC,
        claimed="rho/v = sqrt(gamma): within 5% before the loss has lost 5%, within 1% at the end",
        expected=Verdict.HOLDS, measure=measure_ratio,
    ),
]  # fmt: skip
