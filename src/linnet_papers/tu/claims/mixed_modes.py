"""Claims on single modes of mixed dynamics: their speed, their layers (section 2, appendix D)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.fits import exponent
from linnet_papers.reproduction.rows import above, at_least, at_most, below, both, corrected, fact, printed, within
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import widths
from linnet_papers.tu.training.starts import threshold_start
from linnet_papers.tu.training.widths import flows

WIDE = 1024.0  # w/d of the network whose modes are looked at


def wide_flow(runs: widths.Widths) -> ln.Weights:
    """Return one network of w = 1024 d at every time."""
    return runs.weights[:, runs.ratios.tolist().index(WIDE), 0]


SPEED = below(0.15, r"five times $\sqrt{d/w}$ at $w = 1024 d$")
FASTER = above(
    3.0, r"$\sigma^2 w$ is a tenth of $\lvert Y \rvert$: the leading mode speeds up to ten times the lazy rate"
)


@claim(
    "mode-speed",
    says=r"The effective learning rate along a singular value is $2 \sqrt{s^2 + \sigma^4 w^2}$: modes speed up as they "
    r"pass $\sigma^2 w$.",
    assumes=r"Gaussian initialization, $w \gg d$",
    tried=r"flow at $d = 12$ (full: 40), $w = 1024 d$, $\sigma^2 w = \lvert Y \rvert/10$; modes and times at which a "
    "mode is pulled by a fifth of the gradient's norm or more",
)
def speed_of_modes(trial: Trial) -> Rows:
    runs = widths.flows(trial)
    weights = wide_flow(runs)
    left, values, right = np.linalg.svd(weights.product)
    pull = runs.problem.cross - weights.product
    velocity = ln.observables.ntk_operator(weights, pull)
    moving = np.einsum("tim,tij,tmj->tm", left, velocity, right)  # ds/dt along each singular pair
    aim = np.einsum("tim,tij,tmj->tm", left, pull, right)
    expected = lazy_active.mode_speed(values, runs.threshold)
    strength = np.linalg.norm(pull, 2, axis=(1, 2))[:, None]
    # where a mode is pulled at all: elsewhere its speed is that of the others' leftovers
    pulled = (np.abs(aim) > 0.2 * strength) & (strength > 1e-3 * strength[0])
    apart = np.abs(moving / np.where(pulled, expected * aim, 1.0) - 1)[pulled]
    leading = (moving[:, 0] / np.where(pulled[:, 0], aim[:, 0], 1.0))[pulled[:, 0]] / (2 * runs.threshold)
    yield printed(
        r"largest relative distance of a speed over its gradient from $2 \sqrt{s^2 + \sigma^4 w^2}$", apart.max(), SPEED
    )
    yield printed("largest over least speed of the leading mode", leading.max() / leading.min(), FASTER)
    yield fact("modes and times looked at", pulled.sum())
    yield fact("modes among them", pulled.any(axis=0).sum())


COSINES = at_most(3.0, "a constant of two, that of the edge of the spectrum, and half as much again for small $d$")
LAZY = at_most(2.5, r"lazy modes: $s$ is at most the edge $2 \sigma^2 \sqrt{w d}$, and its fluctuation")
ACTIVE = at_least(0.9, "a mode of ten times the threshold has 0.995; the print calls it perpendicular")


@claim(
    "mode-alignment",
    says=r"The hidden vectors of a mode have the cosine $s/\sqrt{s^2 + \sigma^4 w^2}$: 0 when lazy, 1 when active.",
    assumes=r"Gaussian initialization, $w \gg d$",
    tried=r"flow at $d = 12$; share: $\sigma^2 w/\lvert Y \rvert$, ratio: $w/d$",
    correction=r"$v^\top C_1 v$ in place of $u^\top C_1 u$",
    region={"share": Range(0.001, 0.1, log=True), "ratio": Range(64, 16384, log=True, whole=True)},
)
def cosine_of_a_mode(trial: Trial) -> Rows:
    found = {name: cosines(**setting, seed=trial.seed) for name, setting in trial.region(1).items()}
    right, wrong, first, last = ({name: own[i] for name, own in found.items()} for i in range(4))
    distance = r"largest distance of the cosine from $s/\sqrt{s^2 + \sigma^4 w^2}$ over $\sqrt{d/w}$"
    yield printed(rf"{distance}, with $u^\top C_1 u$", wrong, COSINES)
    yield corrected(rf"{distance}, with $v^\top C_1 v$", right, COSINES)
    yield both(r"largest cosine at initialization over $\sqrt{d/w}$", first, LAZY)
    yield both("cosine of the leading mode at the end", last, ACTIVE)


def cosines(share: float, ratio: int, seed: int) -> tuple[float, float, float, float]:
    """Return how far the cosines of one network are from the formula, with v and with u, and the first and last."""
    runs = flows(12, [ratio], [seed], seed, share)
    weights = runs.weights[:, 0]
    left, values, right = np.linalg.svd(weights.product)
    first = weights.first @ right.swapaxes(1, 2)
    second = weights.second.swapaxes(1, 2) @ left
    cosine = values / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))
    expected = lazy_active.predicted_alignment(values, runs.threshold)
    root = ratio**-0.5
    off, wrong = (np.abs(one - expected).max() / root for one in (cosine, misprints.mode_cosine(values, weights, left)))
    return off, wrong, cosine[0].max() / root, cosine[-1].max()


SAME = below(2.0, "an $O(.)$ has one constant for all widths")
SUM = below(1.0, r"the constant of the term $\sqrt{d/w}$ is about a half, that of the other a twentieth")
SQUARE = within(0.15, r"twice what the next order leaves between $\sigma^2 w = 3 d$ and $30 d$", of=-2)


@claim(
    "prop-d1-distance",
    says=r"In the lazy regime $\lvert A - B \rvert_F$ is at most $d O(d/(\sigma^2 w) \sqrt{d/w})$, $B$ being the "
    "linear dynamics.",
    assumes=r"$\sigma^2 w \gg d$, $w \gg d$",
    tried=r"flow at $d = 10$ (full: 20), $A^*$ a product of Gaussian factors of rank 2; share: $\sigma^2 w/d$, ratio: "
    r"$w/d$ ($\sigma^4 w \le 1$)",
    correction=r"$\lvert A - B \rvert_F$ is at most $d O(\sqrt{d/w} + (d/\sigma^2 w)^2)$, which vanishes too where "
    r"$\sigma^2 w \gg d$",
    region={
        "share": Range(3, 30, log=True),
        "ratio": Range(1e4, 1e10, log=True),
        "noise_std": Range(0.1, 1, log=True),
    },
)
def distance_from_linear(trial: Trial) -> Rows:
    dim = 10 if trial.quick else 20
    shares, ratios = (3.0, 10.0, 30.0), (1e4, 1e10)
    grid = {(share, ratio): linear_distance(dim, share, ratio, 1.0, trial.seed) for share in shares for ratio in ratios}
    grows = {}
    for share in shares:
        low, high = (grid[share, ratio] / misprints.lazy_distance(dim, ratio * dim, share * dim) for ratio in ratios)
        grows[rf"$\sigma^2 w = {share:g} d$"] = high / low
    distance = r"$\lvert A - B \rvert_F$ over $d"
    yield printed(rf"growth of {distance} (d/\sigma^2 w) \sqrt{{d/w}}$ from $w/d = 10^4$ to $10^{{10}}$", grows, SAME)
    over_sum = {
        name: linear_distance(dim, **setting, seed=trial.seed) / (setting["ratio"] ** -0.5 + setting["share"] ** -2)
        for name, setting in trial.region(1).items()
    }
    yield corrected(rf"{distance} (\sqrt{{d/w}} + (d/\sigma^2 w)^2)$", over_sum, SUM)
    power = exponent(shares, [grid[share, 1e10] for share in shares])[0]
    yield corrected(r"power of $\sigma^2 w$ with which the distance changes at $w/d = 10^{10}$", power, SQUARE)


def linear_distance(dim: int, share: float, ratio: float, noise_std: float, seed: int) -> float:
    """Return the largest distance of a network's flow from the linear dynamics over d."""
    threshold = share * dim
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, noise_std=noise_std, key=seed)
    start = threshold_start(dim, ratio * dim, threshold, key=[seed, round(np.log10(ratio))])
    run = ln.gradient_flow(problem, start, times=np.linspace(0.05, 4.0, 20) / (2 * threshold))
    lazy = lazy_active.lazy_flow(problem.cross, start.product, threshold, run.times)
    return float(np.linalg.norm(run.products - lazy, axis=(1, 2)).max() / dim)
