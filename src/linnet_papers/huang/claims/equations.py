"""The equations of the network, (2)-(8), and of its neurons, (9)-(11), against the network that was trained."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.grids import equations, starts
from linnet_papers.huang.grids.equations import INSIDE, SECTION_SIX, SETTINGS
from linnet_papers.huang.training import features
from linnet_papers.huang.training.runs import FeatureRun, train_section_six
from linnet_papers.reproduction import Numbers, Range, Rows, Trial, below, claim, corrected, fact, printed
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import first_index, highest, lowest, relative_distance
from linnet_papers.reproduction.rows import Limit

if TYPE_CHECKING:
    from linnet.theories.feature_learning import Stages
    from linnet_papers.huang.training.runs import Scales

GRID = (
    f"unit-signal data inside Assumption 4.1 with {settings.RATIO} = {', '.join(INSIDE)}, and section 6; $n = 10$, "
    r"$d = 10\,000$, $m = 1024$, 8 draws of each (quick: 3, $d = 2000$, $m = 512$)"
)
OFF = below(0.05, r"what the equation neglects is of the order $\sqrt{n/d}$, a few percent")
NEGLECTED = below(
    1.0, r"(11) neglects $\kappa$, derived to first order, and that $X X^\top$ is a multiple of the identity to $n/d$"
)
FLOW = below(1e-3, "one step of $10^{-7}$ is the flow up to its own size")
of_stages = partial(claim, tried=f"{GRID}; {starts.OVER_ALIKE}")


@claim(
    "eq3",
    says=r"The output moves by the kernel times the derivative of the loss: $df/dt = dL/df\, \Theta$.",
    assumes="gradient flow",
    tried="$d = 300$, $n = 10$, $m = 50$, one step of $10^{-7}$, layers of scale 0.03 to 3",
    correction=r"$df/dt = -dL/df\, \Theta$",
    region={"first_std": Range(0.03, 3, log=True), "magnitude": Range(0.03, 3, log=True)},
)
def kernel_equation(trial: Trial) -> Rows:
    distances = by_name({label: _distances_of_rate(trial.seed, **scales) for label, scales in trial.region(4).items()})
    yield printed(r"relative distance of $df/dt$ from $+\Theta\, dL/df$", lowest(distances["plus"].values()), FLOW)
    yield corrected(r"relative distance of $df/dt$ from $-\Theta\, dL/df$", distances["minus"], FLOW)


def _distances_of_rate(seed: int, *, first_std: float, magnitude: float) -> dict[str, float]:
    """Return how far the velocity of the outputs is from plus and minus the kernel times the slope of the loss."""
    data = ln.problems.gaussian_teacher(key=seed, dim=300, signal=1.0)
    start = ln.inits.signed(key=seed + 1, in_dim=300, width=50, first_std=first_std, magnitude=magnitude)
    step = 1e-7
    run = ln.gradient_descent(ln.Problem.from_data(data.inputs, data.outputs), start, learning_rate=step, steps=1)
    outputs = data.inputs @ run.products[:, 0].T
    rate = (outputs[:, 1] - outputs[:, 0]) / step
    kernel = features.feature_history(run).kernels[0]
    slope = kernel @ (outputs[:, 0] - data.outputs) / data.samples  # Theta dL/df
    return {"plus": relative_distance(slope, rate), "minus": relative_distance(-slope, rate)}


@claim(
    "eq7",
    says="The alignments and magnitudes of all neurons follow the two feature-learning equations exactly.",
    assumes="none beyond the network and its gradient descent",
    tried="synthetic data of section 6 (quick: $d = 1500$, $m = 150$), 40 steps: the full network by (7) and (8) in "
    "NumPy against the trained one, which is reduced to 10 neurons and 11 inputs",
)
def feature_learning_equations(trial: Trial) -> Rows:
    size = {"dim": 1500, "width": 150} if trial.quick else settings.LARGE
    run = train_section_six(trial.seed, **size)
    history = run.history
    start = run.start
    steps = 40
    W, v = np.sqrt(start.width) * start.first, np.sqrt(start.width) * start.second[0]
    full = _iterate_full_equations(run.data.inputs, run.data.outputs, W, v, settings.ETA, steps)
    trained = {
        "loss": history.loss,
        r"$\rho$": history.alignments,
        "$v$": history.magnitudes,
        "NTK": history.kernels / start.width,
    }
    off = {name: _max_relative_distance(full[name], other[: steps + 1]) for name, other in trained.items()}
    rounding = below(1e-10, "rounding of the two orders of summation over 40 steps")
    yield printed("largest relative distance at any step", off, rounding)


def _iterate_full_equations(
    X: np.ndarray, y: np.ndarray, W: np.ndarray, v: np.ndarray, eta: float, steps: int
) -> dict[str, np.ndarray]:
    """Iterate equations (7) and (8) with the whole first layer; return losses, rho, v and the paper's NTK by step."""
    n = len(y)
    m = len(v)
    feature = X.T @ y
    gram = X @ X.T
    rho = np.zeros(m)
    step = eta / (len(v) * len(y))
    seen = []
    start = W @ feature
    for _ in range(steps + 1):
        images = X @ W.T
        output = images @ v / m
        pull = X.T @ output  # X^T X W v / m
        loss = ((y - output) ** 2).sum() / (2 * n)
        kernel = ((v @ v) * gram + images @ images.T) / m**2
        seen.append({"loss": loss, r"$\rho$": rho, "$v$": v, "NTK": kernel})
        rho, v, W = (
            rho + step * v * (feature @ feature) - step * v * (pull @ feature),
            v + step * rho + step * start - step * (W @ pull),
            W + step * np.outer(v, feature - pull),
        )
    return {name: np.array(column) for name, column in by_name(seen).items()}


def _max_relative_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest distance of two series (step, ...) at a step, relative to the largest size of the first."""
    flat = a.reshape(len(a), -1), b.reshape(len(b), -1)
    return float(np.linalg.norm(flat[0] - flat[1], axis=1).max() / np.linalg.norm(flat[0], axis=1).max())


@of_stages(
    "eq9",
    says=r"While the output is small, alignment and magnitude follow a linear system: $v += \rho + \dots$.",
    assumes=r"stage 1: until $t_1$ inside the assumption, until the loss has lost 5% in section 6",
    correction=r"$v += \frac{\eta}{mn} \rho + \dots$; until $t_1$ where $\gamma^{3/2}/\mathrm{tr} \ge 100$",
    region=starts.ANY_RATIO,
)
def linear_stage(trial: Trial) -> Rows:
    right, wrong = (_errors_by_setting(trial, f"(9) {form}") for form in ("corrected", "printed"))
    least = min(highest(each) for each in wrong["first"].values())
    yield printed("relative distance of all alignments from (9), in the setting where it is least", least, OFF)
    yield from _corrected(right, "first")
    yield corrected("the same over the region", starts.read_over_region(trial, _error_of_linear), OFF)
    late = [share for setting in INSIDE for _, share in _where_5_percent_off(trial, setting, right)]
    early = [step for setting in SETTINGS for step, _ in _where_5_percent_off(trial, setting, wrong)]
    yield fact("fraction of the loss left where the corrected (9) is first 5% off, inside the assumption", late)
    yield fact("step by which (9) as printed is 5% off in every network", max(early))


def _error_of_linear(run: FeatureRun) -> float:
    """Return the largest relative distance of all alignments from (9), corrected, until t1."""
    history, until = run.history, run.first_state_at_t1()
    assert history.steps is not None
    predicted = run.stages.linear(history.overlaps, history.magnitudes[0], history.steps[:until])[0]
    return equations.relative_errors(predicted, history.alignments[:until]).max()


def _where_5_percent_off(trial: Trial, setting: str, errors: Numbers) -> list[tuple[int, float]]:
    """Return the step at which an equation followed from step 0 is first off by 5%, and the share of the loss left
    there, for every network of a setting."""
    runs = equations.rows(trial)[setting]
    states = [first_index(each > 0.05, "the linear stage is never off by 5%") for each in errors["each"][setting]]
    return [(int(run.steps[at]), run.loss_share[at]) for run, at in zip(runs, states, strict=True)]


@of_stages(
    "eq10",
    says=r"In the second stage each neuron follows a two-dimensional nonlinear system with its own $v_r \rho_r$.",
    assumes=settings.ASSUMED + r"; $w_r - w_r(0)$ along $X^\top y$",
    correction=r"the mean over neurons stands where $v_r \rho_r$ is printed, and " + starts.IF_ALIKE,
    region=starts.ALIKE,
)
def plane_of_the_second_stage(trial: Trial) -> Rows:
    yield from _second_stage(trial, "(10)", lambda stages, rho, v, steps: stages.two_variable(rho, v, steps)[0])
    kept, dropped = (_errors_by_setting(trial, f"(10) corrected, overlaps {words}") for words in ("kept", "dropped"))
    of_start = r"the overlaps $\langle w_r(0), X^\top y \rangle$"
    yield fact(f"largest error of the corrected (10) from step 0 with {of_start} added", _worst_inside(kept["second"]))
    yield fact(f"that error in stage 1 without them, by {settings.RATIO}", _medians_inside(dropped["first"]))


@of_stages(
    "eq11",
    says=r"With $\rho = \sqrt{\gamma}\, v$ each neuron's alignment follows one cubic equation, with $\rho_r^3$.",
    assumes=settings.ASSUMED + "; second stage",
    correction=r"$\rho_r$ times the mean over neurons of $\rho^2$ stands where $\rho_r^3$ is printed, and "
    + starts.IF_ALIKE
    + r"; taking $\sqrt{\gamma} v$ for $\rho$ costs up to $\kappa = (\sigma_0^2 \gamma + v_0^4 \gamma^2/16)^{1/2}$",
    region=starts.ALIKE,
)
def cubic_of_the_second_stage(trial: Trial) -> Rows:
    def allowed(scales: Scales, gamma: float) -> float:
        """Return kappa + 0.01: at t1 (rho + sqrt(gamma) v + c)/2 goes on to grow, which is rho + c + v_0^2 gamma/4."""
        return 0.01 + np.sqrt(scales["first_std"] ** 2 * gamma + scales["magnitude"] ** 4 * gamma**2 / 16)

    def follow(stages: Stages, rho: Any, v: Any, steps: Any) -> np.ndarray:
        """Return the alignments by the corrected equation."""
        return stages.one_variable(rho, steps)

    yield from _second_stage(
        trial, "(11)", follow, r"the same over $\kappa + 0.01$, over the region", allowed, NEGLECTED
    )


def _second_stage(
    trial: Trial,
    number: str,
    follow: Callable[[Stages, Any, Any, Any], np.ndarray],
    over_the_region: str = "the same over the region",
    unit: Callable[[Scales, float], float] = lambda scales, gamma: 1.0,
    limit: Limit = OFF,
) -> Rows:
    """Judge an equation of the second stage, as printed and corrected; over the region in a unit of what it
    neglects."""
    right, wrong = (_errors_by_setting(trial, f"{number} {form}") for form in ("corrected", "printed"))
    largest = f"largest relative distance of all alignments from {number}"
    yield printed(f"{largest} as printed", _worst_inside(wrong["second"]), OFF)
    yield from _corrected(right, "second")

    def error(run: FeatureRun) -> float:
        """Return the largest distance of all alignments from the corrected equation, from t1 to 1e-4 of the loss."""
        begin = run.first_state_at_t1()
        states = slice(begin, run.first_state_at_share(1e-4) + 1)
        rho, v = run.history.alignments[begin], run.history.magnitudes[begin]
        predicted = follow(run.stages, rho, v, run.steps[states] - run.steps[begin])
        off = equations.relative_errors(predicted, run.history.alignments[states]).max()
        return off / unit(run.scales, run.history.gamma)

    yield corrected(over_the_region, starts.read_over_region(trial, error), limit)
    yield fact(f"that distance as printed, median of the draws, by {settings.RATIO}", _medians_inside(wrong["second"]))
    yield fact(f"{largest} as printed, in section 6", highest(wrong["second"][SECTION_SIX]))


def _corrected(errors: Numbers, stage: str) -> Rows:
    """Judge a corrected equation in a stage by all neurons together, and by each alone."""
    largest = "largest relative distance of all alignments from the corrected equation"
    yield corrected(f"{largest}, inside the assumption", _worst_inside(errors[stage]), OFF)
    yield corrected(f"{largest}, in section 6", highest(errors[stage][SECTION_SIX]), OFF)
    single = "largest distance of one neuron from it, inside, over the root mean square of all"
    yield corrected(single, _worst_inside(errors["neuron"]), OFF)


def _errors_by_setting(trial: Trial, name: str) -> Numbers:
    """Return each kind of error of the equation of that name, for every network of every setting."""
    networks = equations.rows(trial)
    return by_name({key: by_name(equations.errors(run, name) for run in runs) for key, runs in networks.items()})


def _worst_inside(errors: dict[str, list[float]]) -> float:
    """Return the largest error of any network inside the assumption."""
    return highest(error for setting in INSIDE for error in errors[setting])


def _medians_inside(errors: dict[str, list[float]]) -> dict[str, float]:
    """Return the median error over the draws of each setting inside the assumption."""
    return {setting: float(np.median(errors[setting])) for setting in INSIDE}
