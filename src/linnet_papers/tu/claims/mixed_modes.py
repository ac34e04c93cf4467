"""Claims on single modes of mixed dynamics: their speed, their layers (section 2, appendix D)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.theories import lazy_active
from linnet_papers.reproduction import Above, AllOf, AtLeast, AtMost, Below, Numbers, Trial, Within, claim
from linnet_papers.reproduction.fits import exponent
from linnet_papers.tu import misprints
from linnet_papers.tu.settings import APART
from linnet_papers.tu.tables import widths
from linnet_papers.tu.training.starts import threshold_start

WIDE = 1024.0  # w/d of the network whose modes are looked at


def wide_flow(runs: widths.Widths) -> ln.Weights:
    """Return one network of w = 1024 d at every time."""
    return runs.weights[:, runs.ratios.tolist().index(WIDE), 0]


@claim(
    "mode-speed",
    says="The effective learning rate along a singular value is 2 sqrt(s^2 + sigma^4 w^2): modes speed up as they pass "
    "sigma^2 w.",
    assumes="Gaussian start, w >> d",
    tried="flow at d = 12 (full: 40), w = 1024 d, sigma^2 w = |Y|/10",
    holds=AllOf(
        Below(
            0.15,
            what="largest relative distance of a speed from 2 sqrt(s^2 + sigma^4 w^2)",
            because="of the mode's own speed, at w = 1024 d: five times sqrt(d/w)",
        ),
        Above(
            3.0,
            "fast",
            times="slow",
            what="largest speed of the leading mode",
            because="the threshold is a tenth of the target's norm: modes speed up to ten times the lazy rate",
        ),
    ),
    reads="speed of {modes} modes ({cases} modes and times that are pulled by a fifth of the gradient's norm or more): "
    "within {value:.3f} of 2 sqrt(s^2 + sigma^4 w^2) times their own gradient at w = 1024 d; the leading mode goes "
    "from {slow:.2f} to {fast:.1f} times the lazy rate",
)
def speed_of_modes(trial: Trial) -> Numbers:
    runs = widths.TABLE.rows(trial)
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
    return {
        "cases": pulled.sum(),
        "modes": pulled.any(axis=0).sum(),
        "slow": leading.min(),
        "fast": leading.max(),
        "value": apart.max(),
    }


COSINES = AllOf(
    AtMost(
        0.1,
        what="largest distance of a cosine from s/sqrt(s^2 + sigma^4 w^2)",
        because="of a cosine, at w = 1024 d: three times sqrt(d/w)",
    ),
    AtMost(0.2, "start", what="largest cosine at the start", because="cosines of lazy modes: 'close to zero'"),
    AtLeast(
        0.9,
        "end",
        what="cosine of the leading mode at the end",
        because="cosines of active modes are near one",
        then="active modes become parallel, where the print says perpendicular",
    ),
)


@claim(
    "mode-alignment",
    says="The hidden vectors of a mode have the cosine s/sqrt(s^2 + sigma^4 w^2): 0 when lazy, 1 when active.",
    assumes="Gaussian start, w >> d",
    tried="flow at d = 12 (full: 40), w = 1024 d",
    holds=AtMost(APART, "ratio", what="distance with the printed u^T C1 u over that with v^T C1 v") & COSINES,
    corrected=COSINES,
    correction="v^T C1 v in place of u^T C1 u",
    reads="cosine of W1 v and W2^T u is s/sqrt(s^2 + sigma^4 w^2) to {value:.3f}: at most {start:.2f} at the start, "
    "{end:.3f} at the end; with the printed u^T C1 u it is off by {printed:.2f}",
)
def cosine_of_a_mode(trial: Trial) -> Numbers:
    runs = widths.TABLE.rows(trial)
    weights = wide_flow(runs)
    left, values, right = np.linalg.svd(weights.product)
    first = weights.first @ right.swapaxes(1, 2)
    second = weights.second.swapaxes(1, 2) @ left
    cosine = values / (np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1))
    expected = lazy_active.predicted_alignment(values, runs.threshold)
    off, printed = (np.abs(one - expected).max() for one in (cosine, misprints.mode_cosine(values, weights, left)))
    return {
        "printed": printed,
        "ratio": printed / off,
        "value": off,
        "start": cosine[0].max(),
        "end": cosine[-1].max(),
    }


@claim(
    "prop-d1-distance",
    says="In the lazy regime |A - B|_F is at most d O(d/(sigma^2 w) sqrt(d/w)), B being the linear dynamics.",
    assumes="sigma^2 w >> d, w >> d",
    tried="flow at d = 10 (full: 20), sigma^2 w = 3 d, 10 d, 30 d, w/d = 1e4 .. 1e10 (sigma^4 w <= 1)",
    holds=Below(APART, "grows", what="growth of the distance over the printed bound, from w/d = 1e4 to 1e10"),
    corrected=AllOf(
        Below(
            1.0,
            "mended",
            what="distance over d (sqrt(d/w) + (d/sigma^2 w)^2)",
            because="the constant of the term sqrt(d/w) is about a half, that of the other a twentieth",
        ),
        Within(
            0.15,
            of=-2,
            what="power of sigma^2 w with which the distance falls at w/d = 1e10",
            because="twice what the next order leaves between sigma^2 w = 3 d and 30 d",
        ),
    ),
    correction="|A - B|_F is at most d O(sqrt(d/w) + (d/sigma^2 w)^2), which vanishes too where sigma^2 w >> d",
    reads="|A - B|_F/d at w/d = 1e4, 1e6, 1e8, 1e10: {apart:.1e}; over the printed d/(sigma^2 w) sqrt(d/w) it grows "
    "by {grows:.0f} from 1e4 to 1e10; over sqrt(d/w) + (d/sigma^2 w)^2 it is {mended.lowest:.2f} to "
    "{mended.highest:.2f}; at 1e10 it changes like (sigma^2 w)^{value:.2f}",
)
def distance_from_linear(trial: Trial) -> Numbers:
    dim = 10 if trial.quick else 20
    times = np.linspace(0.05, 4.0, 20)
    problem = ln.problems.low_rank_plus_noise(dim, rank=2, key=trial.seed)
    ratios = 10.0 ** np.array([4, 6, 8, 10])
    shares = (3.0, 10.0, 30.0)
    apart, mended, grows = {}, {}, {}
    for share in shares:
        threshold = share * dim
        name = f"sigma^2 w = {share:g} d"
        starts = [threshold_start(dim, ratio * dim, threshold, key=[trial.seed, i]) for i, ratio in enumerate(ratios)]
        run = ln.gradient_flow(problem, ln.Weights.stack(starts), times=times / (2 * threshold))
        lazy = [lazy_active.lazy_flow(problem.cross, start.product, threshold, run.times) for start in starts]
        distances = np.linalg.norm(run.products - np.stack(lazy, axis=1), axis=(2, 3)).max(axis=0) / dim
        printed = distances / misprints.lazy_distance(dim, ratios * dim, threshold)
        apart[name] = distances.tolist()
        grows[name] = printed[-1] / printed[0]
        for one, ratio in zip(distances, ratios, strict=True):
            mended[f"{name}, w/d = {ratio:.0e}"] = one / (ratio**-0.5 + share**-2.0)
    rate, error = exponent(shares, [distances[-1] for distances in apart.values()])
    return {"apart": apart, "grows": grows, "mended": mended, "value": rate, "uncertainty": error}
