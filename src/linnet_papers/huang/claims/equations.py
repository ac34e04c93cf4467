"""The equations of the network, (2)-(8), and of its neurons, (9)-(11), against the network that was trained."""

from __future__ import annotations

from functools import partial

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.tables import equations
from linnet_papers.huang.tables.equations import INSIDE, SECTION_SIX, SETTINGS
from linnet_papers.huang.training import features
from linnet_papers.huang.training.runs import train_section_six
from linnet_papers.reproduction import AllOf, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import first_index, highest, relative_distance

GRID = (
    f"unit-signal data inside Assumption 4.1 with v_0/(sigma_0 sqrt(log m)) = {', '.join(INSIDE)}, and section 6; n = "
    "10, d = 10 000, m = 1024, 8 draws of each (quick: 3, d = 2000, m = 512)"
)

OFF = Limit(0.05, "the equation is an approximation whose neglected terms are of the order sqrt(n/d), a few percent")
FLOW = Limit(1e-3, "one step of 1e-7 is the flow up to its own size")
AS_PRINTED = Below(OFF, "printed", what="largest distance of all alignments from the printed equation", form=".2g")
WITH_CORRECTION = AllOf(
    Below(OFF, what="largest distance inside the assumption", form=".2%"),
    Below(OFF, "section_six", what="in section 6", form=".1%"),
    Below(
        0.05,
        "neuron",
        what="largest distance of any one neuron inside, in units of the root mean square of all",
        form=".2%",
        because="the neglected terms are of the order sqrt(n/d) for each neuron as for their norm",
    ),
)
of_stages = partial(claim, tried=GRID, holds=AS_PRINTED, corrected=WITH_CORRECTION)


@claim(
    "eq3",
    says="The output moves by the kernel times the derivative of the loss: df/dt = dL/df Theta.",
    assumes="gradient flow",
    tried="d = 300, n = 10, m = 50, one step of 1e-7",
    holds=Below(FLOW, "printed", what="relative distance of df/dt from +Theta dL/df", form=".2g"),
    corrected=Below(FLOW, what="relative distance from -Theta dL/df", form=".1e"),
    correction="df/dt = -dL/df Theta",
    reads="df/dt is off by {printed:.2g} against +Theta dL/df, by {value:.1e} against -Theta dL/df",
)
def kernel_equation(trial: Trial) -> Numbers:
    data = ln.problems.gaussian_teacher(key=trial.seed, dim=300, signal=1.0)
    start = ln.inits.signed(key=trial.seed + 1, in_dim=300, width=50, first_std=0.3, magnitude=0.3)
    step = 1e-7
    run = ln.gradient_descent(ln.Problem.from_data(data.inputs, data.outputs), start, learning_rate=step, steps=1)
    outputs = data.inputs @ run.products[:, 0].T
    rate = (outputs[:, 1] - outputs[:, 0]) / step
    kernel = features.feature_history(run).kernels[0]
    slope = kernel @ (outputs[:, 0] - data.outputs) / data.samples  # Theta dL/df
    return {"value": relative_distance(-slope, rate), "printed": relative_distance(slope, rate)}


@claim(
    "eq7",
    says="The alignments and magnitudes of all neurons follow the two feature-learning equations exactly.",
    assumes="none beyond the network and its gradient descent",
    tried="synthetic data of section 6 (quick: d = 1500, m = 150)",
    holds=Below(
        1e-10,
        "off",
        what="largest relative distance",
        form=".1e",
        because="rounding of the two orders of summation over 40 steps",
    ),
    reads="a full network of {shape} inputs and neurons by (7) and (8) in NumPy against the trained one, which is "
    "reduced to 10 x 11, over {steps} steps: {off:.1e}",
)
def feature_learning_equations(trial: Trial) -> Numbers:
    size = {"dim": 1500, "width": 150} if trial.quick else settings.LARGE
    run = train_section_six(trial.seed, **size)
    history = run.history
    start = run.start
    steps = 40
    W, v = np.sqrt(start.width) * start.first, np.sqrt(start.width) * start.second[0]
    full = _iterate_full_equations(run.data.inputs, run.data.outputs, W, v, settings.ETA, steps)
    trained = {
        "loss": history.loss,
        "rho": history.alignments,
        "v": history.magnitudes,
        "NTK": history.kernels / start.width,
    }
    off = {name: _max_relative_distance(full[name], other[: steps + 1]) for name, other in trained.items()}
    return {"off": off, "shape": (run.data.in_dim, start.width), "steps": steps}


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
        seen.append({"loss": loss, "rho": rho, "v": v, "NTK": kernel})
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
    says="While the output is small, alignment and magnitude follow a linear system: v += rho + ...",
    assumes="stage 1: until t1 inside the assumption, until the loss has lost 5% in section 6",
    correction="v += eta/(mn) rho + ...",
    reads="with eta/(mn) all rho are off by at most {value:.2%} in stage 1 inside the assumption, {section_six:.1%} in "
    "section 6's; it passes 5% inside with the loss at {late.lowest:.0%} to {late.highest:.0%}; as printed it has "
    "passed 5% by step {step}",
)
def linear_stage(trial: Trial) -> Numbers:
    right, printed = (_errors_by_setting(trial, f"(9) {form}") for form in ("corrected", "printed"))
    late = [share for setting in INSIDE for _, share in _where_5_percent_off(trial, setting, right)]
    early = [step for setting in SETTINGS for step, _ in _where_5_percent_off(trial, setting, printed)]
    return {
        "value": _worst_inside(right["first"]),
        "neuron": _worst_inside(right["neuron"]),
        "printed": min(highest(each) for each in printed["first"].values()),
        "late": late,
        "section_six": highest(right["first"][SECTION_SIX]),
        "step": max(early),
    }


def _where_5_percent_off(trial: Trial, setting: str, errors: Numbers) -> list[tuple[int, float]]:
    """Return the step at which an equation followed from step 0 is first off by 5%, and the share of the loss left
    there, for every network of a setting."""
    runs = equations.TABLE.rows(trial)[setting]
    states = [first_index(each > 0.05, "the linear stage is never off by 5%") for each in errors["each"][setting]]
    return [(int(run.steps[at]), run.loss_share[at]) for run, at in zip(runs, states, strict=True)]


@of_stages(
    "eq10",
    says="In the second stage each neuron follows a two-dimensional nonlinear system with its own v_r rho_r.",
    assumes=settings.ASSUMED + "; w_r - w_r(0) along X^T y",
    correction="the mean over neurons stands where v_r rho_r is printed",
    reads="all rho of stage 2 are off by at most {value:.2%} with the mean inside the assumption ({section_six:.1%} in "
    "section 6), as printed by the median over draws, by v_0/(sigma_0 sqrt(log m)), of {by_ratio:.2g} (section 6: "
    "{section_six_printed:.2g}); from step 0 with the start's overlaps added {kept:.2%}, without them in stage 1 "
    "{dropped:.2g}",
)
def plane_of_the_second_stage(trial: Trial) -> Numbers:
    kept, dropped = (_errors_by_setting(trial, f"(10) corrected, overlaps {words}") for words in ("kept", "dropped"))
    return {
        **_second_stage_errors(trial, "(10)"),
        "kept": _worst_inside(kept["second"]),
        "dropped": _medians_inside(dropped["first"]),
    }


@of_stages(
    "eq11",
    says="With rho = sqrt(gamma) v each neuron's alignment follows one cubic equation, with rho_r^3.",
    assumes=settings.ASSUMED + "; second stage",
    correction="rho_r times the mean over neurons of rho^2 stands where rho_r^3 is printed",
    reads="all rho of stage 2 are off by at most {value:.2%} with the mean inside the assumption ({section_six:.1%} in "
    "section 6), as printed by the median over draws, by v_0/(sigma_0 sqrt(log m)), of {by_ratio:.2g}",
)
def cubic_of_the_second_stage(trial: Trial) -> Numbers:
    return _second_stage_errors(trial, "(11)")


def _second_stage_errors(trial: Trial, number: str) -> Numbers:
    """Measure how far an equation of the second stage is off, corrected and as printed."""
    right, printed = (_errors_by_setting(trial, f"{number} {form}") for form in ("corrected", "printed"))
    return {
        "value": _worst_inside(right["second"]),
        "neuron": _worst_inside(right["neuron"]),
        "printed": _worst_inside(printed["second"]),
        "section_six": highest(right["second"][SECTION_SIX]),
        "section_six_printed": highest(printed["second"][SECTION_SIX]),
        "by_ratio": _medians_inside(printed["second"]),
    }


def _errors_by_setting(trial: Trial, name: str) -> Numbers:
    """Return each kind of error of the equation of that name, for every network of every setting."""
    rows = equations.TABLE.rows(trial)
    return by_name({setting: by_name(equations.errors(run, name) for run in runs) for setting, runs in rows.items()})


def _worst_inside(errors: dict[str, list[float]]) -> float:
    """Return the largest error of any network inside the assumption."""
    return highest(error for setting in INSIDE for error in errors[setting])


def _medians_inside(errors: dict[str, list[float]]) -> dict[str, float]:
    """Return the median error over the draws of each setting inside the assumption."""
    return {setting: float(np.median(errors[setting])) for setting in INSIDE}
