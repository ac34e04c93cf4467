"""Huang et al.: the equations of the neurons, (7)-(11), against the network that was trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnet.papers.huang.tables import errors as huang_errors
from linnet.papers.huang.tables.errors import SETTINGS, Errors, Row, span
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import highest

if TYPE_CHECKING:
    import numpy as np

    from linnet.papers.huang.runs import FeatureRun

SYNTHETIC = "synthetic data of section 6: m = 1024, d = 10 000, n = 10, eta = 0.1, sigma_0 = 0.01, v_0 = 0.001"
GRID = SYNTHETIC + "; and data inside Assumption 4.1; 8 draws of each (quick: 3, d = 2000, m = 256)"
NONE = "none beyond the network and its gradient descent"


def _run(trial: Trial) -> FeatureRun:
    from linnet.papers.huang.runs import section_six

    return section_six(trial.seed)


def _inside(trial: Trial) -> FeatureRun:
    from linnet.papers.huang.runs import separated

    return separated(trial.seed, dim=2000, width=256) if trial.quick else separated(trial.seed)


def measure_neurons(trial: Trial) -> Measurement:
    import numpy as np

    from linnet.papers.huang.runs import section_six

    size = {"dim": 1500, "width": 150} if trial.quick else {"dim": 10_000, "width": 1024}
    run = section_six(trial.seed, **size)
    root, steps = np.sqrt(run.width), 40
    full = _full_network(
        run.data.inputs, run.data.outputs, root * run.start.first, root * run.start.second[0], 0.1, steps
    )
    history = run.history
    trained = (history.loss, history.alignments, history.magnitudes, history.kernels / run.width)
    errors = [_normwise(own, other[: steps + 1]) for own, other in zip(full, trained)]
    worst = highest(errors)
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
    """Equations (7) and (8) with the whole first layer carried along: losses, rho, v and the paper's NTK at each
    step."""
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


def _errors(trial: Trial, row: Row) -> dict[str, list[Errors]]:
    """How far one row of the table is off, for every network of both settings."""
    dataset = huang_errors.TABLES[0].results(trial)
    return {setting: [row(run) for run in huang_errors.networks(dataset, setting)] for setting in SETTINGS}


def measure_linear(trial: Trial) -> Measurement:
    right = _errors(trial, huang_errors.linear)
    wrong = _errors(trial, lambda run: huang_errors.linear(run, printed=True))["section 6"]
    worst = highest(error.first for errors in right.values() for error in errors)
    words = {
        setting: f"{span([e.first for e in errors])} in stage 1, 5% with the loss at "
        f"{span([e.late[1] for e in errors])}, and "
        f"{span([e.second for e in errors])} by the end of stage 2"
        for setting, errors in right.items()
    }
    return Measurement(
        _verdict(highest(error.first for error in wrong), worst, 0.05),
        f"with eta/(mn) rho is off by {words['section 6']}; inside the assumption by {words['inside']}; as printed by "
        f"{span([e.first for e in wrong])} in stage 1, 5% by step {max(e.late[0] for e in wrong)} ({len(wrong)} draws "
        "each)",
        worst,
    )


def measure_plane(trial: Trial) -> Measurement:
    right = _errors(trial, huang_errors.plane)
    wrong = _errors(trial, lambda run: huang_errors.plane(run, printed=True))
    kept = _errors(trial, huang_errors.plane_from_start)["section 6"]
    dropped = _errors(trial, lambda run: huang_errors.plane_from_start(run, overlaps=False))["section 6"]
    own, printed = right["section 6"], wrong["section 6"]
    inside = [span([e.second for e in errors["inside"]]) for errors in (right, wrong)]
    worst = highest(error.second for error in own)
    return Measurement(
        _verdict(highest(error.second for error in printed), worst, 0.05),
        f"rho in stage 2 is off by {span([e.second for e in own])} with the mean (loss by "
        f"{span([e.loss for e in own])}), by "
        f"{span([e.second for e in printed])} as printed (loss {span([e.loss for e in printed])}); inside the "
        "assumption, where "
        f"neurons are alike, {inside[0]} and {inside[1]}; from step 0 with the start's overlaps added "
        f"{span([e.first for e in kept])} in stage 1 and {span([e.second for e in kept])} in stage 2, without them "
        f"{span([e.first for e in dropped])} ({len(own)} draws each)",
        worst,
    )


def measure_scalar(trial: Trial) -> Measurement:
    right = _errors(trial, huang_errors.scalar)
    wrong = _errors(trial, lambda run: huang_errors.scalar(run, printed=True))
    early = _errors(trial, huang_errors.scalar_from_start)["section 6"]
    own, printed = ([error.second for error in errors["section 6"]] for errors in (right, wrong))
    inside = [span([e.second for e in errors["inside"]]) for errors in (right, wrong)]
    return Measurement(
        _verdict(highest(printed), highest(own), 0.05),
        f"rho in stage 2 is off by {span(own)} with the mean, by {span(printed)} as printed; inside the assumption "
        f"{inside[0]} and "
        f"{inside[1]}; in stage 1, where rho is not sqrt(gamma) v, by {span([e.first for e in early])} ({len(own)} "
        "draws each)",
        highest(own),
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
        f"median rho/(v sqrt(gamma)) is {early:.4f} at step {last} with the loss at {run.share[last]:.1%}, {end:.4f} "
        "at the end "
        f"(ratio of means {means[last]:.4f}, {means[-1]:.4f})",
        end,
    )


def _verdict(printed: float, corrected: float, limit: float) -> Verdict:
    if printed < limit:
        return Verdict.HOLDS
    return Verdict.CORRECTED if corrected < limit else Verdict.REFUTED


CLAIMS = [
    Claim(
        name="eq7",
        number="Eqs. (7), (8)",
        sentence="The alignments and magnitudes of all neurons follow the two feature-learning equations exactly.",
        assumptions=NONE,
        setting=SYNTHETIC + " (quick: d = 1500, m = 150)",
        claimed="equality at every step",
        expected=Verdict.HOLDS,
        measure=measure_neurons,
    ),
    Claim(
        name="eq9",
        number="Eq. (9)",
        sentence="While the output is small, alignment and magnitude follow a linear system.",
        assumptions="the loss has not begun to fall",
        setting=GRID,
        claimed="v += rho + ... (printed); v += eta/(mn) rho + ... (corrected)",
        expected=Verdict.CORRECTED,
        measure=measure_linear,
    ),
    Claim(
        name="eq10",
        number="Eq. (10)",
        sentence="In the second stage each neuron follows a two-dimensional nonlinear system.",
        assumptions="w_r - w_r(0) along X^T y",
        setting=GRID,
        claimed="the neuron's own v_r rho_r (printed); the mean over neurons (corrected)",
        expected=Verdict.CORRECTED,
        measure=measure_plane,
    ),
    Claim(
        name="eq11",
        number="Eq. (11)",
        sentence="With rho = sqrt(gamma) v each neuron's alignment follows one cubic equation.",
        assumptions="second stage",
        setting=GRID,
        claimed="rho_r^3 (printed); rho_r times the mean of rho^2 (corrected)",
        expected=Verdict.CORRECTED,
        measure=measure_scalar,
    ),
    Claim(
        name="limit",
        number="below Eq. (11)",
        sentence="The squared alignment tends to gamma^(5/2)/phi.",
        assumptions="second stage",
        setting=SYNTHETIC,
        claimed="for each neuron (printed); for the mean over neurons (corrected), within 2%",
        expected=Verdict.CORRECTED,
        measure=measure_limit,
    ),
    Claim(
        name="ratio",
        number="Section 6",
        sentence="The ratio of alignment to magnitude settles while the loss is high and stays.",
        assumptions=NONE,
        setting=SYNTHETIC,
        claimed="rho/v = sqrt(gamma): within 5% before the loss has lost 5%, within 1% at the end",
        expected=Verdict.HOLDS,
        measure=measure_ratio,
    ),
]
