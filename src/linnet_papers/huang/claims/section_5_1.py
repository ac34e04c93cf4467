"""What section 5.1 says of every neuron in the first stage and after: signs, growth, where it ends; and our limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet_papers.huang import settings
from linnet_papers.huang.grids import neurons, region, starts
from linnet_papers.huang.training.runs import FeatureRun, Scales, train
from linnet_papers.reproduction import Numbers, Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, relative_distance
from linnet_papers.reproduction.rows import at_least, at_most, below, corrected, fact, printed

if TYPE_CHECKING:
    from linnet_papers.huang.training.features import FeatureHistory

OVER_BOTH = f"{settings.OVER_RATIOS}; and {settings.OVER_SIGNALS}"
of_neurons = partial(claim, assumes=settings.ASSUMED, tried=f"{settings.OVER_RATIOS}; {starts.OVER_ALIKE}")
ALL = at_least(0.999, "one neuron in a thousand may be caught while it turns")
FEW = at_most(0.001, "one neuron in a thousand may be caught while it turns")
NONE = at_most(0, "it is said of every neuron")
OFF_THE_LIMIT = at_most(
    0.02, r"$X X^\top$ is a multiple of the identity to a few percent, and the limit assumes that it is one exactly"
)


@of_neurons(
    "limit",
    says=r"The squared alignment of each neuron tends to $\gamma^{5/2}/\phi$.",
    correction=r"the mean over neurons of $\rho^2$ tends to $\gamma^{5/2}/\phi$, where $v_0^2$ and $\sigma_0^2$ are "
    r"well below $\sqrt{\gamma}/\mathrm{tr}$",
    tried=f"{OVER_BOTH}; {starts.OVER_SETTLED}",
    region=starts.SETTLED,
)
def limit(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    spread = rf"distance of the median neuron's $\rho_r^2$ from the mean at the end, by {settings.RATIO}"
    yield printed(spread, rows["spread"], OFF_THE_LIMIT)
    yield fact(r"mean of $\rho_r^2$ at the end over $\gamma^{5/2}/\phi$, by signal", region.rows(trial)["end"])
    off = starts.read_over_region(trial, lambda run: abs(run.history.mean_square[-1] / run.stages.limit - 1))
    mean = r"relative distance of the mean of $\rho_r^2$ from $\gamma^{5/2}/\phi$ at the end"
    yield corrected(mean, off, OFF_THE_LIMIT)


@claim(
    "exact-end",
    where="ours, for the limit below Eq. (11)",
    says=r"From a small initialization training ends, for any $K = X X^\top$, at $v^2 = \sqrt{y^\top K^{-1} y}$, "
    r"$\rho/v = \lvert y \rvert^2/\sqrt{y^\top K^{-1} y}$, mean $\rho^2 = \lvert y \rvert^4/\sqrt{y^\top K^{-1} y}$ "
    r"and the kernel $v^2 (K + y y^\top/(y^\top K^{-1} y))$.",
    assumes=r"$v_0$ and $\sigma_0$ small against the end",
    tried=r"$n = 10$, $d = 40, 400, 2000$ with eigenvalues of the covariance falling as $i^{-1}$ or flat, $m = 64$, "
    r"$v_0 = 10^{-3}$ of the end, trained until $10^{-8}$ of the loss is left",
)
def exact_end(trial: Trial) -> Rows:
    ends = by_name(
        {f"$d = {dim}$": _end_errors(trial, dim, power) for dim, power in ((40, 1.0), (400, 1.0), (2000, 0.0))}
    )
    reached = below(
        0.01,
        "the start is $10^{-6}$ of the end in squares; steps of 0.02 growth times keep the layers balanced to 1%",
    )
    worst = r"relative distance of the worst of mean $v^2$, $\rho/v$, mean $\rho^2$ and the kernel"
    yield printed(worst, ends["off"], reached)
    yield fact(r"$\rho/(v \sqrt{\gamma})$ at that end, where the paper has 1", ends["settled"])


def _end_errors(trial: Trial, dim: int, power: float) -> Numbers:
    """Return how far the end of training is from the closed form, and where that has the ratio of the layers."""
    data = ln.problems.subgaussian_regression(
        key=[trial.seed, dim],
        samples=settings.SAMPLES,
        covariance=np.arange(1, dim + 1) ** -power,
        teacher=np.ones(dim) / np.sqrt(dim),
        noise_variance=0.01,
    )
    gram = data.inputs @ data.inputs.T
    gamma = data.outputs @ gram @ data.outputs
    predicted = ln.theories.feature_learning.final_state(gram, data.outputs)
    size = np.sqrt(predicted.square)
    scales: Scales = {
        "width": 64,
        "first_std": 1e-4 * size / np.sqrt(dim),
        "magnitude": 1e-3 * size,
        "learning_rate": 0.02 * data.samples / np.sqrt(gamma),
    }
    for longer in (1, 4, 16, 64):
        run = train(data, trial.seed, steps=2000 * longer, save_every=100 * longer, **scales)
        if run.loss_share[-1] <= 1e-8:
            break
    v, rho = run.history.magnitudes[-1], run.history.alignments[-1]
    off = highest(
        abs((v**2).mean() / predicted.square - 1),
        abs(np.median(rho / v) / predicted.ratio - 1),
        abs((rho**2).mean() / predicted.alignment_square - 1),
        relative_distance(run.history.kernels[-1], predicted.kernel, 2),
    )
    return {"off": off, "settled": predicted.settled}


@of_neurons(
    "difference",
    says=r"Over time the difference between $\rho_r$ and $\sqrt{\gamma}\, v_r$ diminishes.",
    correction=r"the difference tends to $-\langle w_r(0), X^\top y \rangle$, so that only the relative difference "
    "vanishes",
    tried=rf"{settings.OVER_RATIOS}; corrected: starts of $10^{{-6}}$ to $10^{{-4}}$ and ratios of 0.03 to 1 over the "
    "strengths of the other corrections, $n = 10$, no noise",
    region={
        "strength": starts.STRENGTH,
        "start": Range(1e-6, 1e-4, log=True),
        "ratio": Range(0.03, 1, log=True),
    },
)
def difference(trial: Trial) -> Rows:
    rows = neurons.rows(trial)

    def distance(run: FeatureRun) -> float:
        """Return the median relative distance of the difference at t1 from minus the overlap."""
        stage, c = run.stage, run.history.overlaps
        gap = stage.alignments[0] - np.sqrt(stage.gamma) * stage.magnitudes[0]
        return np.median(np.abs(gap + c) / np.abs(c))

    decayed = at_most(
        0.05, r"the part of the difference that decays, $e^{-2 t_1}$, is a few percent of the overlap at these scales"
    )
    grown = f"fraction of neurons whose difference is larger at $t_1$ than at initialization, by {settings.RATIO}"
    yield printed(grown, rows["grown"], FEW)
    end = r"relative distance of the median difference at $t_1$ from $-\langle w_r(0), X^\top y \rangle$"
    yield corrected(f"{end}, over the region", starts.read_over_region(trial, distance), decayed)


SIGN = r"$\sqrt{\gamma}\, v_r(0) + \tanh(u) \langle w_r(0), X^\top y \rangle$"


@of_neurons(
    "signs-determined",
    says=r"The signs of alignment and magnitude are determined by the initial $\langle w_r(0), X^\top y \rangle$ and "
    "$v_r(0)$.",
    tried=OVER_BOTH,
)
def signs_determined(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    nearly_all = at_least(0.995, "where that sum is below a two-hundredth of its size, what (9) neglects decides")
    share = f"fraction of neurons whose $v_r$ ends with the sign of {SIGN}, by {settings.RATIO} or signal"
    yield printed(share, rows["determined"] | region.rows(trial)["determined"], nearly_all)
    yield fact("number of neurons", sum(rows["count"].values()))


@of_neurons(
    "signs",
    says="Each neuron's alignment and magnitude maintain consistent signs throughout the training.",
    correction=r"a fraction $\Phi(v_0/\sigma_0)$ of the neurons keeps its sign, all where $v_0 \ge 3 \sigma_0 "
    r"\sqrt{\log m}$",
    region=starts.ALIKE,
)
def signs(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    kept = "fraction of neurons that keep the sign of $v_r(0)$"
    few_errors = at_most(4.0, "neurons are drawn independently: one fraction in 16 000 is farther away by chance")
    over_region = starts.read_over_region(trial, lambda run: run.history.keeps_sign.mean())
    yield printed(f"{kept}, by {settings.RATIO}", rows["kept"], ALL)
    yield corrected(f"{kept}, over the region", over_region, ALL)
    off = highest(rows["kept_off"].values())
    yield corrected(r"standard errors of that fraction from $\Phi(v_0/\sigma_0)$", off, few_errors)
    yield fact("number of neurons at each ratio", next(iter(rows["count"].values())))


def _falls(trial: Trial, what: str, name: str, quantity: Callable[[FeatureHistory], np.ndarray]) -> Rows:
    """Yield how many neurons have a quantity that falls between two saved states of stage 2, counted under a name."""
    rows = neurons.rows(trial)
    falls = f"neurons whose {what} falls between two saved states of stage 2"

    def count(run: FeatureRun) -> int:
        """Return the number of neurons in which it falls."""
        return (np.diff(quantity(run.stage), axis=0) <= 0).any(axis=0).sum()

    yield printed(f"{falls}, by {settings.RATIO}", rows[name], NONE)
    yield corrected(f"{falls}, over the region", starts.read_over_region(trial, count), NONE)
    yield fact("number of neurons", sum(rows["count"].values()))


never_falling = partial(
    of_neurons, correction=f"{starts.IF_ALIKE}: those that fall turn within stage 2", region=starts.ALIKE
)


@never_falling("rising", says=r"Every $\lvert \rho_r \rvert$ consistently increases during the second stage.")
def rising(trial: Trial) -> Rows:
    yield from _falls(trial, r"$\lvert \rho_r \rvert$", "rising", lambda stage: np.abs(stage.alignments))
    rows = neurons.rows(trial)
    networks = rf"networks with such a neuron, of {next(iter(rows['networks'].values()))}"
    yield fact(networks, rows["falling_networks"])


@never_falling("products", says=r"$\rho_r(t) v_r(t)$ is monotone in the second stage.")
def products(trial: Trial) -> Rows:
    yield from _falls(trial, r"$\rho_r v_r$", "multiplying", lambda stage: stage.alignments * stage.magnitudes)


@of_neurons(
    "output-aligns",
    says=r"$X^\top X W v$ tends to align closely with the direction of $X^\top y$.",
    tried=OVER_BOTH,
)
def output_aligns(trial: Trial) -> Rows:
    rows = neurons.rows(trial)
    aligned = at_least(
        0.98, r"$X X^\top$ is a multiple of the identity up to $\sqrt{n/d}$, 7% in quick mode: a cosine of about 0.995"
    )
    cosine = r"cosine of $X^\top X W v$ to $X^\top y$"
    small = region.where_reached(region.rows(trial), "output_first")
    yield printed(f"smallest {cosine} at $t_1$, by {settings.RATIO} or signal", rows["output_first"] | small, aligned)
    at_start = highest(rows["output_start"].values())
    yield fact(f"{cosine} of the median network at the first saved state, at most", at_start)
