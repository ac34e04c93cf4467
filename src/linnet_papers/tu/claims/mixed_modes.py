"""Claims on single modes of mixed dynamics: their speed, their layers (section 2, appendix D)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Rows,
    Trial,
    above,
    at_least,
    at_most,
    below,
    both,
    claim,
    corrected,
    fact,
    printed,
    within,
)
from linnet_papers.reproduction.fits import exponent
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import widths
from linnet_papers.tu.settings import AS_GOOD
from linnet_papers.tu.training.starts import threshold_start

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
    assumes=r"Gaussian start, $w \gg d$",
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


COSINES = at_most(0.1, r"three times $\sqrt{d/w}$ at $w = 1024 d$")
LAZY = at_most(0.2, "lazy modes have cosines 'close to zero'")
ACTIVE = at_least(0.9, "a mode of ten times the threshold has 0.995; the print calls it perpendicular")


@claim(
    "mode-alignment",
    says=r"The hidden vectors of a mode have the cosine $s/\sqrt{s^2 + \sigma^4 w^2}$: 0 when lazy, 1 when active.",
    assumes=r"Gaussian start, $w \gg d$",
    tried="flow at $d = 12$ (full: 40), $w = 1024 d$",
    correction=r"$v^\top C_1 v$ in place of $u^\top C_1 u$",
)
def cosine_of_a_mode(trial: Trial) -> Rows:
    runs = widths.flows(trial)
    weights = wide_flow(runs)
    left, values, right = np.linalg.svd(weights.product)
    first = weights.first @ right.swapaxes(1, 2)
    second = weights.second.swapaxes(1, 2) @ left
    cosine = values / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))
    expected = lazy_active.predicted_alignment(values, runs.threshold)
    off, wrong = (np.abs(one - expected).max() for one in (cosine, misprints.mode_cosine(values, weights, left)))
    distance = r"largest distance of the cosine from $s/\sqrt{s^2 + \sigma^4 w^2}$"
    yield printed(rf"{distance} with $u^\top C_1 u$, over that with $v^\top C_1 v$", wrong / off, AS_GOOD)
    yield both(rf"{distance} with $v^\top C_1 v$", off, COSINES)
    yield both("largest cosine at the start", cosine[0].max(), LAZY)
    yield both("cosine of the leading mode at the end", cosine[-1].max(), ACTIVE)
    yield fact(rf"{distance} with $u^\top C_1 u$", wrong)


SAME = below(2.0, "an $O(.)$ has one constant for all widths")
SUM = below(1.0, r"the constant of the term $\sqrt{d/w}$ is about a half, that of the other a twentieth")
SQUARE = within(0.15, r"twice what the next order leaves between $\sigma^2 w = 3 d$ and $30 d$", of=-2)


@claim(
    "prop-d1-distance",
    says=r"In the lazy regime $\lvert A - B \rvert_F$ is at most $d O(d/(\sigma^2 w) \sqrt{d/w})$, $B$ being the "
    "linear dynamics.",
    assumes=r"$\sigma^2 w \gg d$, $w \gg d$",
    tried=r"flow at $d = 10$ (full: 20), $\sigma^2 w = 3 d$, $10 d$, $30 d$, $w/d = 10^4$ to $10^{10}$ "
    r"($\sigma^4 w \le 1$)",
    correction=r"$\lvert A - B \rvert_F$ is at most $d O(\sqrt{d/w} + (d/\sigma^2 w)^2)$, which vanishes too where "
    r"$\sigma^2 w \gg d$",
)
def distance_from_linear(trial: Trial) -> Rows:
    dim = 10 if trial.quick else 20
    times = np.linspace(0.05, 4.0, 20)
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    ratios = 10.0 ** np.array([4, 6, 8, 10])
    shares = (3.0, 10.0, 30.0)
    grows, over_sum, last = {}, {}, []
    for share in shares:
        threshold = share * dim
        name = rf"$\sigma^2 w = {share:g} d$"
        starts = [threshold_start(dim, ratio * dim, threshold, key=[trial.seed, i]) for i, ratio in enumerate(ratios)]
        run = ln.gradient_flow(problem, ln.Weights.stack(starts), times=times / (2 * threshold))
        lazy = [lazy_active.lazy_flow(problem.cross, start.product, threshold, run.times) for start in starts]
        distances = np.linalg.norm(run.products - np.stack(lazy, axis=1), axis=(2, 3)).max(axis=0) / dim
        over_printed = distances / misprints.lazy_distance(dim, ratios * dim, threshold)
        grows[name] = over_printed[-1] / over_printed[0]
        last.append(distances[-1])
        for one, ratio in zip(distances, ratios, strict=True):
            over_sum[rf"{name}, $w/d = 10^{{{np.log10(ratio):g}}}$"] = one / (ratio**-0.5 + share**-2.0)
    distance = r"$\lvert A - B \rvert_F$ over $d"
    yield printed(rf"growth of {distance} (d/\sigma^2 w) \sqrt{{d/w}}$ from $w/d = 10^4$ to $10^{{10}}$", grows, SAME)
    yield corrected(rf"{distance} (\sqrt{{d/w}} + (d/\sigma^2 w)^2)$", over_sum, SUM)
    yield corrected(
        r"power of $\sigma^2 w$ with which the distance changes at $w/d = 10^{10}$", exponent(shares, last)[0], SQUARE
    )
