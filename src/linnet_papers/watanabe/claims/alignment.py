"""Watanabe et al., section 3.2.2 and Appendix C: one hidden direction, two scalar equations, and what is conserved."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.reproduction import Range, Rows, Trial, above, below, claim, corrected, fact, printed
from linnet_papers.reproduction.fits import exponent, highest, slopes
from linnet_papers.watanabe.settings import (
    AT_CORNERS,
    AT_PAIR,
    CORNERS,
    EVERYWHERE,
    LARGE,
    NETWORK,
    NETWORKS,
    PAIR,
    PLANE,
    POINTS,
    SAMPLES,
    SCALE,
    SCALES,
    SCANNED,
    SEEDS,
    SLOPE,
    SMALL,
    STRONG_SPIKES,
    pair_name,
)
from linnet_papers.watanabe.training.figure_runs import hausdorff
from linnet_papers.watanabe.training.phases import (
    LATER_PHASE_TIME,
    SCAN_DIM,
    SCAN_WIDTH,
    Networks,
    gaussian_start,
    pair_moments,
    phase_grid,
    runs_by_scale,
    scale_exponents,
    train_batch,
    trained_networks,
)

EXACT = below(1e-9, "an exact identity, up to two integrators of tolerance $10^{-12}$")


@claim(
    "appC",
    says="The vectors $a$, $w_1$ and $w_2$ stay aligned with $r_1$ throughout training, up to $O(s)$.",
    assumes=SMALL,
    tried=f"{EVERYWHERE}; the whole run",
)
def one_direction(trial: Trial) -> Rows:
    found = scale_exponents(trial, lambda run: np.sqrt(2 * run.energy.max()))
    yield printed("least slope in $s$ of the deviation of $a$, $w_1$ and $w_2$ from $r_1$", found["least"], SLOPE)
    yield fact("largest deviation at the smallest $s$", found["last"])


@claim(
    "span",
    says="The vector $a$ evolves within the span of $w_1$ and $w_2$, up to $O(s^2)$.",
    assumes=SMALL,
    tried=f"{NETWORKS}; {SCALES}, $da/dt$ at every saved state after $t_1$",
)
def span(trial: Trial) -> Rows:
    shares = {}
    for s, run in runs_by_scale(trial).items():
        late = run.times >= run.moments.early_time(s)
        speed = run.velocities[0][late]
        basis = np.linalg.qr(run.first[late][..., :2])[0]
        inside = np.einsum("tshk,tsgk,tsg->tsh", basis, basis, speed)
        shares[s] = np.abs(speed - inside).max() / np.abs(speed).max()
    yield printed(
        "least slope in $s$ of the part of $da/dt$ across the span of $w_1$ and $w_2$",
        slopes(list(shares), list(shares.values()))[1],
        above(1.9, r"what leads out of it is the sum over $i \ge 3$ of (12), $O(s)$ times $O(s)$: slope 2"),
    )
    yield fact(r"that part over the largest $\lvert da/dt \rvert$, by $s$", shares)


@claim(
    "rank-one",
    says="The first layer is a matrix of rank one, up to $O(s)$.",
    assumes=SMALL,
    tried=f"{EVERYWHERE}; the whole run",
)
def rank_one(trial: Trial) -> Rows:
    def singular_values(run: Networks) -> np.ndarray:
        return ln.observables.singular_values(run.first[::20])

    found = scale_exponents(trial, lambda run: singular_values(run)[..., 1].max())
    end = singular_values(trained_networks(trial, scale=found["scale"]))[-1]
    yield printed("least slope in $s$ of the second singular value of $W$", found["least"], SLOPE)
    yield fact("second singular value over the first, at the end and the smallest $s$", (end[:, 1] / end[:, 0]).max())


def reduced_error(run: Networks, networks: int) -> float:
    """Return the largest distance of (18)-(19) from both components of the first `networks` of the batch, over the
    run."""
    return np.abs(run.components - run.predicted(run.theory.reduced))[:, :networks].max()


@claim(
    "eq18",
    says="Two scalar equations describe the whole training of the network, both phases, up to $O(s)$.",
    assumes=SMALL,
    tried=f"{NETWORKS}; {AT_PAIR}, the corners ({AT_CORNERS}) and four pairs between them (two corners and two "
    "networks in quick mode)",
)
def reduced_dynamics(trial: Trial) -> Rows:
    inner = [(5.0, 0.8), (1.0, 0.5), (100.0, 0.5), (2.0, 0.95)]
    pairs, networks = (CORNERS[:2], 2) if trial.quick else ([*CORNERS, *inner], SEEDS)
    along = {s: reduced_error(trained_networks(trial, scale=s), networks) for s in (1e-4, 1e-6)}
    errors = {pair_name(*pair): reduced_error(trained_networks(trial, pair), networks) / SCALE for pair in pairs}
    errors |= {f"{AT_PAIR}, $s$ = {s:g}": error / s for s, error in along.items()}
    yield printed(
        "largest error of both components over the whole run, over $s$",
        errors,
        below(10, "$O(s)$ with a constant of a few: networks differ in how far $a(0)$ is from $w_1(0)$"),
    )
    yield printed(
        f"slope of that error in $s$ between $10^{{-4}}$ and $10^{{-6}}$, {AT_PAIR}",
        exponent(list(along), list(along.values()))[0],
        above(0.9, "(18)-(19) neglect terms of $O(s)$: the distance must fall in proportion to $s$"),
    )


@claim(
    "fig1",
    says="In the phase plane the reduced dynamics follows a network trained on 10 000 samples closely.",
    assumes=r"$n = 10\,000$ samples stand for the population",
    tried=rf"{NETWORK}, $s = 10^{{-5}}$, $n = 10\,000$, gradient flow; corners of the region, the first of which is "
    "Figure 1's pair",
    region=STRONG_SPIKES,
)
def sampled(trial: Trial) -> Rows:
    plane, in_time = {}, {}
    for name, at in trial.region(0).items():
        run = trained_networks(trial, (at["spike"], at["alignment"]), samples=SAMPLES)
        networks = range(1 if trial.quick else SEEDS)
        curves = [(run.components[:, i], run.theory.reduced(run.u0[i], run.times)) for i in networks]
        plane[name] = highest(hausdorff(*pair) for pair in curves)
        in_time[name] = highest(np.abs(np.subtract(*pair)).max() for pair in curves)
    width = below(0.02, "the width of the drawn line, 3.4 pt on an axis of about 200 pt for 1.2 units")
    yield printed("distance of the two curves in the plane", plane, width)
    yield fact("largest distance at equal times, which the figure does not show", in_time)


def aligned_error(trial: Trial, excess: float, spike: float, alignment: float, scale: float) -> float:
    """Return the distance from (18)-(19) of a network with a, w1, w2 along one r and no other component, with
    |a| = `excess` |w|."""
    moments = pair_moments(spike, alignment, SCAN_DIM)
    random = generator(trial.seed)
    w, r = scale * random.standard_normal(2), random.standard_normal(SCAN_WIDTH)
    r /= np.linalg.norm(r)
    w[0] = np.abs(w[0])  # r is then the direction of growth, not its negative
    second = excess * np.linalg.norm(w) * r
    weights = ln.Weights(np.outer(r, w @ moments.basis[:2])[None], second[None, None])
    run = train_batch((spike, alignment), weights, phase_grid(moments, 0.1 * scale, later=4.0), rtol=1e-12)
    return float(np.abs(run.first[:, 0, :, :2].swapaxes(1, 2) @ r - run.theory.reduced(w, run.times)).max())


@claim(
    "exact",
    says="From aligned initializations without other components the relation $a^2 = w_1^2 + w_2^2$ holds and the two "
    "scalar equations are exact.",
    assumes=r"$w_i(0) = 0$ for $i \ge 3$; $a$, $w_1$ and $w_2$ parallel",
    tried=f"{SCANNED}, with the relation and, at {AT_PAIR} and scale 0.01, without it",
    region={**PLANE, "scale": Range(1e-3, 1e-1, log=True)},
    correction=r"they are exact from aligned initializations with $\lvert a \rvert^2 = w_1^2 + w_2^2$, a condition of "
    "its own: the flow keeps it, alignment does not imply it",
)
def aligned_starts(trial: Trial) -> Rows:
    ten = r"distance from (18)-(19) if $\lvert a \rvert$ is ten times $\sqrt{w_1^2 + w_2^2}$ at the beginning"
    yield printed(ten, aligned_error(trial, 10.0, *PAIR, 0.01), EXACT)
    errors = {name: aligned_error(trial, 1.0, **setting) for name, setting in trial.region(1).items()}
    yield corrected("distance from them if the relation holds at the beginning", errors, EXACT)


@claim(
    "conserved",
    says=r"$a a^\top - W W^\top$ is conserved, so that $\lvert a \rvert^2$ equals $w_1^2 + w_2^2$ up to $O(s^2)$.",
    assumes="gradient flow; small initialization for the second half",
    tried=f"{EVERYWHERE}; the first half at $s = {LARGE:g}$",
)
def conserved(trial: Trial) -> Rows:
    run = trained_networks(trial, scale=LARGE)
    imbalance, square = run.imbalance[::20], run.second[::20, ..., None] * run.second[::20, ..., None, :]
    drift, moved = (np.abs(one - one[0]).max() / np.abs(imbalance[0]).max() for one in (imbalance, square))

    def excess(one: Networks) -> float:
        return np.abs((one.second**2).sum(-1) - (one.first[..., :2] ** 2).sum((-1, -2))).max()

    yield printed(
        r"drift of $a a^\top - W W^\top$ over its size",
        drift,
        below(1e-6, "conserved exactly; the integrator's tolerance is $10^{-10}$ of each weight at each step"),
    )
    yield printed(
        r"least slope in $s$ of $\lvert a \rvert^2 - w_1^2 - w_2^2$",
        scale_exponents(trial, excess)["least"],
        above(1.9, "the power 2 that is claimed, less 0.1 for a fit over decades"),
    )
    yield fact(r"motion of $a a^\top$ alone, over the same size", moved)


def weight_bound(imbalance: np.ndarray, product: np.ndarray) -> np.ndarray:
    r"""Return what $|a|^2$ cannot exceed where $|a^T W| \le$ `product` and $|aa^T - WW^T|_{op} \le$ `imbalance`.

    $|W^T a|^2 = |a|^4 - a^T(aa^T - WW^T)a \ge |a|^4 - D|a|^2$, so $|a|^2 \le (D + \sqrt{D^2 + 4|a^T W|^2})/2$.
    """
    return 0.5 * (imbalance + np.hypot(imbalance, 2 * product))


@claim(
    "bounded-weights",
    says="Since the loss is bounded, the weights remain in a bounded region.",
    assumes="none printed",
    tried=f"{SCANNED}, up to $t = 10$",
    region={**PLANE, "scale": Range(1e-2, 3, log=True)},
    correction=r"a bounded loss alone bounds no weight; with the conserved $a a^\top - W W^\top$, of norm $D$, "
    r"$\lvert a \rvert^2$ is at most $(D + \sqrt{D^2 + 4 \lvert a^\top W \rvert^2})/2$",
)
def bounded_weights(trial: Trial) -> Rows:
    times = np.linspace(0, LATER_PHASE_TIME, POINTS)
    shares = {}
    for name, at in trial.region(2).items():
        start = gaussian_start(trial.seed, SCAN_DIM, SCAN_WIDTH, at["scale"], batch=SEEDS)
        run = train_batch((at["spike"], at["alignment"]), start, times)
        imbalance = np.abs(np.linalg.eigvalsh(run.imbalance[0])).max(-1)
        allowed = weight_bound(imbalance, np.linalg.norm(run.overlaps, axis=-1))
        shares[name] = ((run.second**2).sum(-1) / allowed).max()
    factor = 100.0  # a -> K a, W -> W/K: the same function and so the same loss, however large K
    end, rescaled = run.overlaps[-1], np.einsum("sh,shi->si", run.second[-1] * factor, run.first[-1] / factor)
    same = np.abs(rescaled - end).max()
    yield printed(
        "factor between the second layers of two networks with the same function",
        factor if same < EXACT.number else 1.0,
        below(10, "no constant bounds the weights of one loss if one network has ten times those of another"),
    )
    exceeded = below(1 + 1e-9, "an inequality, up to rounding")
    yield corrected(r"$\lvert a \rvert^2$ over its bound", shares, exceeded)
    yield fact("distance of these two functions", same)
