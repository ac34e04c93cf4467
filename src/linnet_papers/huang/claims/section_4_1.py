"""Section 4.1: which starts have two stages, over the region of Assumption 4.1; lazy training and feature learning."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.grids import neurons, region, starts
from linnet_papers.huang.training.runs import FeatureRun, train
from linnet_papers.reproduction import Numbers, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest
from linnet_papers.reproduction.rows import Row, at_least, at_most, below, corrected, fact, given, printed

SETTLED = at_least(0.95, "a ratio of layers that has come within 5% of its end")
NEGLIGIBLE = below(0.1, "a hundredth of a common label, and the least of ten labels is a tenth of one")
UNSETTLED = below(0.95, "both conditions are needed: beyond either, the layers have not come within 5% of their end")


def _inside(rows: region.Rows) -> Row:
    """Return the row that all networks of the region satisfy the printed assumption."""
    inside, networks = (sum(rows[name].values()) for name in ("inside", "networks"))
    every = at_least(networks, "the statement is made of networks inside the assumption, so each must be")
    return given("networks that satisfy the printed assumption", inside, every)


@claim(
    "two-stages",
    says="Conditions (2) and (3) ensure two stages: the layers settle while the loss remains high.",
    assumes=settings.ASSUMED,
    tried=f"{settings.OVER_SIGNALS}; {starts.OVER_SETTLED}",
    correction=r"they do where also $v_0^2 \le \sqrt{\gamma}/(1000\,\mathrm{tr})$ and $\sigma_0^2 \le "
    r"\sqrt{\gamma}/(40\,000\,\mathrm{tr})$: both squares well below the $v^2$ at the end, conditions that the "
    "assumption lacks",
    region=starts.SETTLED,
)
def two_stages(trial: Trial) -> Rows:
    rows = region.rows(trial)
    yield _inside(rows)
    ratio = r"median $\rho/(v \sqrt{\gamma})$ where the loss has lost 5%"
    yield printed(f"{ratio}, by signal and margin", rows["settled"], SETTLED)
    yield corrected(f"{ratio}, over the region", starts.read_over_region(trial, _settled_ratio), SETTLED)
    for words, scales in {"v_0^2": {"second_layer": 1e-2}, r"\sigma_0^2": {"first_layer": 2.5e-4}}.items():
        outside = starts.network(trial, **{"second_layer": 1e-6, "first_layer": 1e-8} | scales)
        yield corrected(f"{ratio}, ${words}$ ten times outside", _settled_ratio(outside), UNSETTLED)
    yield fact(r"$v_0^2$ over $\sqrt{\gamma}/\mathrm{tr}$", rows["start"])
    left = r"fraction of the loss left where the median $\lvert \rho \rvert$ is 1"
    yield fact(left, rows["first_share"], "0: it never is")


def _settled_ratio(run: FeatureRun) -> float:
    """Return the median ratio of the layers where the loss has lost 5%."""
    history = run.history
    return float(np.interp(history.loss_time(1 - settings.FIRST_SHARE), history.times, history.median_ratio))


@claim(
    "small-output",
    says=r"$f(x_i) \ll y_i$ for all $i$ at initialization: guaranteed under Assumption 4.1.",
    assumes=settings.ASSUMED,
    tried=f"{settings.OVER_SIGNALS}; and {settings.OVER_RATIOS}; {starts.OVER_SETTLED}",
    correction=r"it is where $v_0^2$ and $\sigma_0^2$ are also well below $\sqrt{\gamma}/\mathrm{tr}$, but for draws "
    "that have a label near zero",
    region=starts.SETTLED,
)
def small_output(trial: Trial) -> Rows:
    rows, ratios = region.rows(trial), neurons.rows(trial)["first_output"]
    yield _inside(rows)
    at_unit_signal = {"any ratio": highest(ratios.values())}
    output = r"largest $\lvert f(x_i) \rvert$ of the initialization over the smallest $\lvert y_i \rvert$"
    yield printed(output, rows["first_output"] | at_unit_signal, NEGLIGIBLE)
    small = starts.first_outputs(trial)
    yield corrected(f"{output}, median of {starts.FIRST_OUTPUTS} draws, over the region", small, NEGLIGIBLE)


LAZY = at_most(0.1, r"lazy: alignments of a tenth of $\sqrt{\gamma}$ times the magnitudes when half the loss is gone")
RICH = at_least(0.9, "feature learning: nine tenths of the ratio 1 of layers that grew together")


@claim(
    "dichotomy",
    says="Large alignments with small magnitudes are feature learning, small ones with large magnitudes lazy training: "
    "the initialization's scale decides which.",
    assumes="none stated",
    tried=r"unit signal, $n = 10$, $d = 2000$, $m = 256$, $\sigma_0 = 10^{-8}$, $v_0$ from $10^{-3}$ to 100 times the "
    "final magnitude; read when half the loss is gone",
)
def dichotomy(trial: Trial) -> Rows:
    half = _states_at_half_loss(trial, (1e-3, 0.1, 1.0, 10.0, 100.0))
    ratios = half["ratios"]
    yield printed(r"$\rho/(v \sqrt{\gamma})$ from the largest initialization", ratios[100.0], LAZY)
    yield printed(r"$\rho/(v \sqrt{\gamma})$ from the smallest initialization", ratios[1e-3], RICH)
    yield fact(r"$\rho/(v \sqrt{\gamma})$ by $v_0$ in units of the final magnitude", ratios)
    yield fact(r"relative change of $\lvert v \rvert$ by then", half["moved"])


def _states_at_half_loss(trial: Trial, sizes: tuple[float, ...]) -> Numbers:
    """Return, by v_0 in units of the final magnitude, what networks are when half the loss is gone: the median of
    rho/(v sqrt(gamma)), the change of |v|, the share of the loss that is left."""
    data = ln.problems.gaussian_teacher(key=trial.seed, dim=2000, signal=1.0)
    gamma = np.linalg.norm(data.inputs.T @ data.outputs) ** 2
    # rho^2 ends at about gamma^(3/2)/tr: in units of that final magnitude the start is small, or large
    final = np.sqrt(gamma**1.5 / data.trace / gamma)

    def state_at_half_loss(size: float) -> Numbers:
        """Train from a start of that size and return these numbers where half the loss is gone."""
        magnitude = size * final
        growth = 0.02 * data.samples / (np.sqrt(gamma) + magnitude**2 * data.trace)  # stable for both kinds
        steps = int(30 / 0.02 if size > 0.3 else 20 / (growth * np.sqrt(gamma) / data.samples))
        run = train(data, trial.seed, width=256, steps=steps, first_std=1e-8, magnitude=magnitude, learning_rate=growth)
        half = run.first_state_at_share(0.5)
        history = run.history
        moved = np.median(np.abs(history.magnitudes[half] / history.magnitudes[0]) - 1)
        return {"ratios": history.median_ratio[half], "moved": moved, "shares": run.loss_share[half]}

    return by_name({size: state_at_half_loss(size) for size in sizes})


@claim(
    "crossover",
    where="ours, for the two cases below Eq. (6)",
    says=r"Between lazy training and feature learning $\rho/(v \sqrt{\gamma})$ is "
    r"$\tanh(\mathrm{asinh}(2 (1 - \sqrt{L/L_0}) v_\infty^2/v_0^2)/2)$, $v_\infty^2 = \sqrt{\gamma}/\mathrm{tr}$.",
    assumes=r"$\sigma_0$ well below $v_0$, $X X^\top$ near a multiple of the identity",
    tried="$v_0$ from 1/10 to 3 times the final magnitude when half the loss is gone; and where 5% of it is lost: "
    + settings.OVER_SIGNALS,
)
def crossover(trial: Trial) -> Rows:
    half = _states_at_half_loss(trial, (0.1, 0.3, 1.0, 3.0))
    ratios = half["ratios"]
    formula = ln.theories.feature_learning.lazy_feature_ratio
    off = {
        f"$v_0 = {size:g}$": abs(ratio - float(formula(size**2, half["shares"][size])))
        for size, ratio in ratios.items()
    }
    off |= region.rows(trial)["crossover_off"]
    near = below(0.03, r"$X X^\top$ is a multiple of the identity to a few percent, and the ratio is between 0 and 1")
    yield printed("largest distance of the ratio from the formula", off, near)
    yield fact("ratio by $v_0$ in units of its end", ratios)
