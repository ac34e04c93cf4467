"""Watanabe et al., section 3.2.1: growth from a small initialization, its sigmoid, and what stays small meanwhile."""

from __future__ import annotations

import numpy as np

from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Rows, Trial, claim
from linnet_papers.reproduction.fits import exponent, slopes
from linnet_papers.reproduction.rows import Verdict, above, at_most, below, both, corrected, fact, printed, within
from linnet_papers.watanabe.settings import (
    AT_PAIR,
    EVERYWHERE,
    NETWORKS,
    PAIR,
    POINTS,
    SCALE,
    SCALES,
    SCANNED,
    SLOPE,
    SMALL,
    WHOLE_PLANE,
    pair_name,
)
from linnet_papers.watanabe.training.phases import (
    Networks,
    coupled_networks,
    pair_moments,
    paper_starts,
    runs_by_scale,
    scale_exponents,
    train_batch,
    trained_networks,
)

OF_THE_START = below(10, "$O(s)$: a few times $s$, where a component that grows reaches $10\\,000 s$")
IN_PROPORTION = above(0.9, "$O(s)$ is slope 1; a limit that does not depend on $s$ has slope 0")
FRACTIONS = (0.5, 2 / 3, 0.8, 0.9)  # of t1


def growing(run: Networks) -> np.ndarray:
    """Return whether w1^2 has been below 90% of its plateau up to a time (time, seed)."""
    return np.cumsum(run.w1**2 > 0.9 * run.moments.plateau**2, axis=0) == 0


@claim(
    "eq35",
    says="While the weights are small, $w_1$ and $a$ follow the linear equations and the other $w_i$ rest, to "
    "$O(s^3)$.",
    assumes=SMALL,
    tried=f"{NETWORKS}; $s$ from $10^{{-2}}$ to $10^{{-3}}$, $t$ up to 0.3 (two e-foldings)",
)
def linearized(trial: Trial) -> Rows:
    used = [1e-2, 3e-3, 1e-3]
    times = np.linspace(0, 0.3, POINTS)
    sizes, others = [], []
    for s in used:
        run = train_batch(PAIR, paper_starts(trial.seed, s), times, rtol=1e-12)
        w, a = run.first[..., 0], run.second
        grow = np.exp(run.theory.correlation * times)[:, None, None]
        sums, differences = (w[0] + a[0]) / 2 * grow, (w[0] - a[0]) / 2 / grow
        sizes.append(np.abs([w - sums - differences, a - sums + differences]).max())
        others.append(np.abs(run.first[..., 1:] - run.first[0, ..., 1:]).max())
    yield printed(
        "least slope in $s$ of what (13) neglects",
        {"error of (35)": slopes(used, sizes)[1], r"change of $w_i$, $i \ge 2$": slopes(used, others)[1]},
        above(2.9, "terms of third order in the weights, so of $O(s^3)$ at a fixed time"),
    )


@claim(
    "eq15",
    says=r"For $t \ll t_1$, $w_1$ and $a$ both grow exponentially along $r_1$, at the rate "
    r"$\lvert \Sigma_{xy} \rvert$, up to $O(s)$.",
    assumes=rf"{SMALL}; $t \ll t_1$",
    tried=f"{NETWORKS}; {SCALES}, judged for all times up to $2 t_1/3$, up to where the neglected cube of "
    "$s e^{c t}$ is $O(s)$",
)
def linear_growth(trial: Trial) -> Rows:
    runs = runs_by_scale(trial)
    sizes: dict[float, list[float]] = {}
    for s, run in runs.items():
        grown = run.predicted(run.theory.growth)[..., None] * run.r
        gaps = np.abs(np.stack([run.first[..., 0] - grown, run.second - grown])).max((0, 2, 3))
        for fraction in FRACTIONS:
            sizes.setdefault(fraction, []).append(gaps[run.times <= fraction * run.moments.early_time(s)].max())
    by_time = {f"{fraction:.2f} $t_1$": slopes(list(runs), own)[0] for fraction, own in sizes.items()}
    least = slopes(list(runs), sizes[FRACTIONS[1]])[1]
    yield printed("least slope in $s$ of the exponential's error up to $2 t_1/3$", least, SLOPE)
    yield fact("slope in $s$ of that error, by the time up to which it is taken", by_time)


@claim(
    "eq37",
    says="The Bernoulli equation for $u$ is solved by the sigmoid (37).",
    assumes="none: an identity",
    tried="(36) integrated at three pairs of spike and alignment",
)
def sigmoid_solution(trial: Trial) -> Rows:
    from scipy.integrate import solve_ivp

    errors = {}
    for spike, alignment, u0 in ((20.0, 0.3, 1e-5), (1.0, 0.9, 1e-3), (0.0, 0.5, 1e-4)):
        theory = TwoPhase(spike, alignment)
        c = (1 + spike * (2 + spike) * alignment**2) ** 0.5
        lam = 1 + spike * (1 + spike) ** 2 * alignment**2 / c**2
        times = np.linspace(0, 25 / c, 60)

        def rate(_: float, u: np.ndarray, c: float = c, lam: float = lam) -> np.ndarray:
            return c * u - lam * u**3

        run = solve_ivp(rate, (0, times[-1]), [u0], t_eval=times, method="DOP853", rtol=1e-12, atol=1e-16)
        errors[pair_name(spike, alignment)] = np.abs(run.y[0] - theory.early(u0, times)).max()
    yield printed(
        "largest distance of (37) from the integrated (36)",
        errors,
        below(1e-8, "a closed form against an integrator of tolerance $10^{-12}$, through growth over five decades"),
    )


@claim(
    "eq17",
    says="Through its whole growth $w_1$ follows a sigmoid up to $O(s)$, while all other components stay $O(s)$.",
    assumes=SMALL,
    tried=f"{NETWORKS}; $s$ from $10^{{-3}}$ to $10^{{-6}}$, until $w_1^2$ is 90% of its plateau",
    expected=Verdict.REFUTED,
)
def sigmoid(trial: Trial) -> Rows:
    runs = runs_by_scale(trial, largest=1e-3)
    errors, others = {}, {}
    for s, run in runs.items():
        errors[s] = (np.abs(run.w1 - run.predicted(run.theory.early)) * growing(run)).max() / run.moments.plateau
        others[s] = (np.abs(run.w2) * growing(run)).max()
    slope = {
        name: exponent(list(sizes), list(sizes.values()))[0] for name, sizes in (("$w_1$", errors), ("$w_2$", others))
    }
    yield printed("slope in $s$ of the error of $w_1$ and of the size of $w_2$", slope, IN_PROPORTION)
    yield fact("largest error of $w_1$ over its plateau, by $s$", errors)
    yield fact("largest $w_2$, by $s$", others)


@claim(
    "symmetry",
    says="The approximation $a = w_1 + O(s)$ holds as long as the other components are negligible.",
    assumes=f"{SMALL}; the other components are of order $s$",
    tried=f"{EVERYWHERE}; $a$ and $w_1$ along $r_1$ up to where $w_2$ is $10 s$",
)
def symmetry(trial: Trial) -> Rows:
    grown = []

    def largest_gap(run: Networks) -> float:
        negligible = np.cumsum(np.abs(run.w2) > OF_THE_START.number * run.scale, axis=0) == 0
        grown.append((run.w1 * negligible).max() / run.scale)
        return (np.abs(np.einsum("sh,tsh->ts", run.r, run.second) - run.w1) * negligible).max()

    found = scale_exponents(trial, largest_gap)
    yield printed("least slope in $s$ of the largest $a - w_1$", found["least"], SLOPE)
    yield printed(
        "smallest factor by which $w_1$ has then grown above $s$, over the runs",
        min(grown),
        above(3, "the approximation says something only if $w_1$ has grown by more than its draw differs from $a$"),
    )
    yield fact("largest $a - w_1$ at the smallest $s$", found["last"])


@claim(
    "eq11",
    says=r"The components $w_i$ with $i \ge 3$ never grow and stay of the scale of the initialization.",
    assumes=SMALL,
    tried=f"{EVERYWHERE}; the whole run",
)
def other_components(trial: Trial) -> Rows:
    growth = []

    def size(run: Networks) -> float:
        norms = np.linalg.norm(run.first[..., 2:], axis=-2)
        growth.append((norms / norms[0]).max())
        return norms.max()

    yield printed(r"least slope in $s$ of the size of $w_i$, $i \ge 3$", scale_exponents(trial, size)["least"], SLOPE)
    yield printed(
        r"largest $\lvert w_i \rvert$ over its first value, by run",
        growth,
        below(1 + 1e-6, "a norm that never grows, up to the integrator's tolerance of $10^{-10}$ at each step"),
    )


@claim(
    "projection",
    says=r"The projection of each $w_i$, $i \ge 3$, on the direction of $a$ decays, at the rate "
    r"$\sigma^2 \lvert a \rvert^2$.",
    assumes=f"{SMALL}; the later phase, when $a$ has its direction",
    tried=f"{NETWORKS}; from $t_1$ to $t_1 + 4$",
)
def projection(trial: Trial) -> Rows:
    from scipy.integrate import cumulative_trapezoid

    run = trained_networks(trial)
    early = run.moments.early_time(SCALE)
    late = (run.times >= early) & (run.times <= early + 4)
    power = (run.second[late] ** 2).sum(-1)
    directions = run.second[late] / np.sqrt(power)[..., None]
    along = np.abs(np.einsum("tsh,tshi->its", directions, run.first[late][..., 2:]))  # of each w_i
    decay = np.exp(-run.theory.variance * cumulative_trapezoid(power, run.times[late], axis=0, initial=0))
    sizes = np.sqrt((along[:, 0] ** 2).mean(axis=0))  # of the projections of a network at t1
    yield printed(
        r"distance of each from $\exp(-\sigma^2 \int \lvert a \rvert^2 dt)$ times its first value, over that of all",
        np.abs((along / decay - along[:, :1]) / sizes).max(),
        below(0.02, r"the integral of $\lvert a \rvert^2$ is taken on the saved times by trapezia, worth up to 1%"),
    )
    yield printed(
        "largest change of the projections from one saved time to the next, over their largest size",
        np.diff(along, axis=1).max() / along.max(),
        at_most(0, "what decays never rises"),
    )
    yield fact("fraction of the projections that is left at $t_1 + 4$", decay[-1].max())


def saturation_value(run: Networks) -> float:
    """Return the larger of the plateau of w1 and its limit."""
    return max(run.theory.plateau, run.moments.limit[0])


@claim(
    "saturation",
    says=r"In the early phase $w_1$ goes from $O(s)$ to its saturation value, approximately "
    r"$\sqrt{\lvert \Sigma_{xy} \rvert/\lambda_1}$.",
    assumes=SMALL,
    tried=f"{SCANNED}; Figure 1's network",
    region=WHOLE_PLANE,
    correction="it goes to the larger of that value and of its limit, which exceeds that value without bound",
)
def saturation(trial: Trial) -> Rows:
    runs = {name: coupled_networks(trial, (at["spike"], at["alignment"])) for name, at in trial.region(8).items()}
    heights = {name: run.w1.max(axis=0).mean() / run.theory.plateau for name, run in runs.items()}
    larger = {name: run.w1.max(axis=0).mean() / saturation_value(run) for name, run in runs.items()}
    figure = trained_networks(trial)
    nearly = within(0.03, "'approximately': what has grown of $w_2$ raises the peak by up to 2.1% by (18)-(19)", of=1)
    yield printed("largest $w_1$ over that value", heights, nearly)
    yield corrected("largest $w_1$ over the larger of that value and its limit", larger, nearly)
    yield both(
        "largest $w_1$ of Figure 1's network over both", figure.w1.max(axis=0) / saturation_value(figure), nearly
    )
    steepest = {spike: pair_moments(spike, 1 / (1 + spike)) for spike in (10.0, 100.0, 1000.0)}
    limits = {rf"$\rho = {spike:g}$": one.limit[0] / one.plateau for spike, one in steepest.items()}
    yield fact(r"limit of $w_1$ over that value at $A = 1/(1 + \rho)$, where it grows as $\sqrt{\rho}$", limits)


@claim(
    "one-phase",
    says="Without a spike, or with one parallel or orthogonal to the target, $w_2$ stays $O(s)$: there is no later "
    "phase.",
    assumes=SMALL,
    tried=f"{NETWORKS}; spike 20 with alignment 0 and 1, spike 0; beside them {AT_PAIR}",
)
def one_phase(trial: Trial) -> Rows:
    sizes, misses = {}, {}
    for name, pair in {"alignment 0": (20.0, 0.0), "alignment 1": (20.0, 1.0), "spike 0": (0.0, 0.5)}.items():
        run = trained_networks(trial, pair)
        sizes[name] = np.abs(run.w2).max() / SCALE
        misses[name] = np.abs(run.w1 - run.predicted(run.theory.early)).max() / SCALE
    yield printed("largest $w_2/s$", sizes, OF_THE_START)
    yield printed("distance of $w_1$ from the sigmoid (17) through the whole run, over $s$", misses, OF_THE_START)
    yield printed(
        f"smallest final $w_2$ at {AT_PAIR}",
        trained_networks(trial).w2[-1].min(),
        above(0.5, "with a later phase $w_2$ ends at order 1: the other rows say something"),
    )
