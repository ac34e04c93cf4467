"""Section 4.1: which starts have two stages, over the region of Assumption 4.1; lazy training and feature learning."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.tables import neurons, region
from linnet_papers.huang.training.runs import train
from linnet_papers.reproduction import Above, AtLeast, AtMost, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, lowest

SETTLED = Limit(0.95, "a ratio of layers that has come within 5% of its end")
NEGLIGIBLE = Limit(0.1, "a hundredth of a common label, and the least of ten labels is a tenth of one")
INSIDE = AtLeast(
    1.0, "inside", times="networks", what="networks that satisfy the printed assumption", because="it is said of these"
)


@claim(
    "two-stages",
    says="Conditions (2) and (3) ensure two stages: the layers settle while the loss remains high.",
    assumes=settings.ASSUMED,
    tried=settings.OVER_SIGNALS,
    given=INSIDE,
    holds=AtLeast(SETTLED, "ratios", what="median ratio of the layers where the loss has lost 5%", form=".4f"),
    corrected=AtLeast(SETTLED, what="that ratio where v_0^2 is below sqrt(gamma)/(400 tr)", form=".4f")
    & Above(1, "corners", what="pairs of signal and margin with such a v_0", because="one pair is no region"),
    correction="they do where v_0^2 is also well below sqrt(gamma)/tr, for every v_0 that (3) admits where "
    "n^(3/2)|beta|^3 sqrt(tr) is large: a condition that the assumption lacks",
    reads="where the loss has lost 5%, the least median rho/(v sqrt(gamma)) is {ratios:.4f}; v_0^2 over sqrt(gamma)/tr "
    "there: {starts:.1e}; networks inside the printed assumption: {inside} of {networks}; what is left of the loss "
    "where the median |rho| is 1 (0: never): {first_shares:.3f}",
)
def two_stages(trial: Trial) -> Numbers:
    rows = region.TABLE.rows(trial)
    small = region.where_start_is_small(rows, "settled")
    return {
        "value": lowest(small) if small else float("nan"),
        "corners": len(small),
        "ratios": rows["settled"],
        "starts": rows["start"],
        "first_shares": rows["first_share"],
        **region.count_inside(rows),
    }


@claim(
    "small-output",
    says="f(x_i) << y_i for all i at the start: guaranteed under Assumption 4.1.",
    assumes=settings.ASSUMED,
    tried=settings.OVER_SIGNALS + "; and " + settings.OVER_RATIOS,
    given=INSIDE,
    holds=Below(NEGLIGIBLE, "largest", what="largest |f(x_i)| over the least |y_i|", form=".1e"),
    corrected=Below(NEGLIGIBLE, what="that where v_0^2 is below sqrt(gamma)/(400 tr)", form=".1e"),
    correction="it is where v_0^2 is also well below sqrt(gamma)/tr",
    reads="the largest |f(x_i)| of the start over the least |y_i| of its data: {largest:.1e}",
)
def small_output(trial: Trial) -> Numbers:
    rows, ratios = region.TABLE.rows(trial), neurons.TABLE.rows(trial)["first_output"]
    largest = rows["first_output"] | {"any ratio": highest(ratios.values())}
    small = region.where_start_is_small(rows, "first_output")
    return {"value": highest([largest["any ratio"], *small]), "largest": largest, **region.count_inside(rows)}


@claim(
    "dichotomy",
    says="Large alignments with small magnitudes are feature learning, small ones with large magnitudes lazy training: "
    "the start's scale decides which.",
    assumes="none stated",
    tried="unit signal, n = 10, d = 2000, m = 256, sigma_0 = 1e-8, v_0 from 1e-3 to 100 times the final magnitude; "
    "read when half the loss is gone",
    holds=AtMost(
        0.1,
        what="rho/(v sqrt(gamma)) from the largest start",
        form=".3f",
        because="lazy: alignments of a tenth of sqrt(gamma) times the magnitudes or less when half the loss is gone",
    )
    & AtLeast(
        0.9,
        "small",
        what="from the smallest start",
        form=".3f",
        because="feature learning: nine tenths of it or more",
    ),
    reads="median rho/(v sqrt(gamma)) when half the loss is gone, by v_0 in units of the final magnitude: "
    "{ratios:.3f}; the change of |v| by then: {moved:+.1%}",
)
def dichotomy(trial: Trial) -> Numbers:
    half = _states_at_half_loss(trial, (1e-3, 0.1, 1.0, 10.0, 100.0))
    ratios = half["ratios"]
    return {"value": ratios[100.0], "small": ratios[1e-3], "ratios": ratios, "moved": half["moved"]}


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
    says="Between lazy training and feature learning rho/(v sqrt(gamma)) is tanh(asinh(2 (1 - sqrt(L/L0)) "
    "v_end^2/v_0^2)/2), v_end^2 = sqrt(gamma)/tr.",
    assumes="sigma_0 well below v_0, XX' near a multiple of the identity",
    tried="v_0 from 1/10 to 3 times the final magnitude when half the loss is gone; and where 5% of it is lost: "
    + settings.OVER_SIGNALS,
    holds=Below(
        0.03,
        "off",
        what="largest distance of the ratio from the formula",
        form=".4f",
        because="XX' is a multiple of the identity to a few percent, and the ratio lies between 0 and 1",
    ),
    reads="distance of the measured ratio from the formula: {off:.4f}; the ratios by v_0 over its end: {ratios:.3f}",
)
def crossover(trial: Trial) -> Numbers:
    half = _states_at_half_loss(trial, (0.1, 0.3, 1.0, 3.0))
    ratios = half["ratios"]
    formula = ln.theories.feature_learning.lazy_feature_ratio
    off = {
        f"v_0 = {size:g}": abs(ratio - float(formula(size**2, half["shares"][size]))) for size, ratio in ratios.items()
    }
    off |= region.TABLE.rows(trial)["crossover_off"]
    return {"off": off, "ratios": ratios}
