"""Watanabe et al., section 3.2.1: growth from a small start, its sigmoid, and what stays small meanwhile."""

from __future__ import annotations

import numpy as np

from linnet.theories.spiked import TwoPhase
from linnet_papers.reproduction import Above, AllOf, AtMost, Below, Limit, Numbers, Trial, Verdict, Within, claim
from linnet_papers.reproduction.fits import exponent, highest, lowest, slopes
from linnet_papers.watanabe.settings import AT_PAIR, EVERYWHERE, NETWORKS, PAIR, POINTS, SCALE, SLOPE, SMALL
from linnet_papers.watanabe.training.phases import (
    Networks,
    paper_starts,
    runs_by_scale,
    scale_exponents,
    train_batch,
    trained_networks,
)

OF_THE_START = Limit(10.0, "O(s): a few times s, where a component that grows reaches 10 000 s")
APPROXIMATELY = Limit(0.02, "approximately: what has grown of w2 moves the peak by up to 1%")
SATURATING = ((20.0, 0.3), (20.0, 0.05), (50.0, 0.1), (100.0, 0.8))
FRACTIONS = (0.5, 2 / 3, 0.8, 0.9)  # of t1


def growing(run: Networks) -> np.ndarray:
    """Return whether w1^2 has been below 90% of its plateau up to a time (time, seed)."""
    return np.cumsum(run.w1**2 > 0.9 * run.moments.plateau**2, axis=0) == 0


@claim(
    "eq35",
    says="While the weights are small, w1 and a follow the linear equations and the other w_i rest, to O(s^3).",
    assumes=SMALL,
    tried=f"{NETWORKS}; s from 1e-2 to 1e-3, t up to 0.3 (two e-foldings)",
    holds=Above(
        2.9,
        "least",
        what="least slope in s",
        because="what (13) neglects is of third order in the weights, so of O(s^3) at a fixed time",
    ),
    reads="error of (35) for t <= 0.3: slope {slope:.3f} in s; change of w_i, i >= 2: slope {others:.3f}",
)
def linearized(trial: Trial) -> Numbers:
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
    slope, least = slopes(used, sizes)
    rest, least_rest = slopes(used, others)
    return {"least": [least, least_rest], "slope": slope, "others": rest}


@claim(
    "eq15",
    says="For t << t1, w1 and a both grow exponentially along r1, at the rate |Sigma_xy|, up to O(s).",
    assumes=f"{SMALL}; t << t1",
    tried=f"{NETWORKS}; s from 1e-2 to 1e-6, judged for all times up to 2 t1/3, up to where the neglected cube of "
    "s e^(ct) is O(s)",
    holds=Above(SLOPE, what="least slope in s up to 2 t1/3"),
    reads="slope in s of the exponential's error up to {slopes:.2f}",
)
def linear_growth(trial: Trial) -> Numbers:
    runs = runs_by_scale(trial)
    sizes: dict[float, list[float]] = {}
    for s, run in runs.items():
        grown = run.predicted(run.theory.growth)[..., None] * run.r
        gaps = np.abs(np.stack([run.first[..., 0] - grown, run.second - grown])).max((0, 2, 3))
        for fraction in FRACTIONS:
            sizes.setdefault(fraction, []).append(gaps[run.times <= fraction * run.moments.early_time(s)].max())
    by_time = {f"{fraction:.2f} t1": slopes(list(runs), own)[0] for fraction, own in sizes.items()}
    return {"value": slopes(list(runs), sizes[FRACTIONS[1]])[1], "slopes": by_time}


@claim(
    "eq37",
    says="The Bernoulli equation for u is solved by the sigmoid (37).",
    assumes="none: an identity",
    tried="(36) integrated at three pairs of spike and alignment",
    holds=Below(
        1e-8,
        what="largest error",
        form=".1e",
        because="a closed form against an integrator of tolerance 1e-12, through growth over five decades",
    ),
    reads="(37) against the integrated (36), at three pairs of spike and alignment",
)
def sigmoid_solution(trial: Trial) -> Numbers:
    from scipy.integrate import solve_ivp

    errors = []
    for spike, alignment, u0 in ((20.0, 0.3, 1e-5), (1.0, 0.9, 1e-3), (0.0, 0.5, 1e-4)):
        theory = TwoPhase(spike, alignment)
        c = (1 + spike * (2 + spike) * alignment**2) ** 0.5
        lam = 1 + spike * (1 + spike) ** 2 * alignment**2 / c**2
        times = np.linspace(0, 25 / c, 60)

        def rate(_: float, u: np.ndarray, c: float = c, lam: float = lam) -> np.ndarray:
            return c * u - lam * u**3

        run = solve_ivp(rate, (0, times[-1]), [u0], t_eval=times, method="DOP853", rtol=1e-12, atol=1e-16)
        errors.append(np.abs(run.y[0] - theory.early(u0, times)).max())
    return {"value": highest(errors)}


@claim(
    "eq17",
    says="Through its whole growth w1 follows a sigmoid up to O(s), while all other components stay O(s).",
    assumes=SMALL,
    tried=f"{NETWORKS}; s from 1e-3 to 1e-6, until w1^2 is 90% of its plateau",
    expected=Verdict.REFUTED,
    holds=Above(
        0.9,
        what="lesser slope in s of the error and of w2",
        because="O(s) is slope 1; a limit that does not depend on s has slope 0",
        otherwise="they do not vanish with s in proportion",
    ),
    reads="slope in s of the error {error:.2f}, of w2 {other:.2f}, until w1^2 is 90% of its plateau; at s = {scale:g} "
    "the error is {last error:.2%} of the plateau and w2 = {last w2:.3f}",
)
def sigmoid(trial: Trial) -> Numbers:
    runs = runs_by_scale(trial, largest=1e-3)
    errors, others = [], []
    for run in runs.values():
        errors.append((np.abs(run.w1 - run.predicted(run.theory.early)) * growing(run)).max() / run.moments.plateau)
        others.append((np.abs(run.w2) * growing(run)).max())
    error, other = (exponent(list(runs), sizes)[0] for sizes in (errors, others))
    return {
        "value": lowest(error, other),
        "error": error,
        "other": other,
        "scale": min(runs),
        "last error": errors[-1],
        "last w2": others[-1],
    }


@claim(
    "symmetry",
    says="The equations of w1 and a are symmetric while the other components are negligible, so that a = w1 up to O(s) "
    "through the growth of w1.",
    assumes=SMALL,
    tried=f"{NETWORKS}; s from 1e-3 to 1e-6, a and w1 along r1 where w1^2 is 90% of its plateau; beside it spike 0",
    expected=Verdict.REFUTED,
    given=Below(
        OF_THE_START, "alike", what="(a - w1)/s without a spike", because="without w2 the symmetry must be seen at all"
    ),
    holds=Above(
        0.9,
        what="slope in s of a - w1",
        because="O(s) is slope 1; a limit that does not depend on s has slope 0",
        otherwise="a - w1 does not vanish with s: w2 is of order 1 by then",
    ),
    reads="a - w1 along r1 for s = {scales:g}: {gaps:.5f}",
)
def symmetry(trial: Trial) -> Numbers:
    def largest_gap(run: Networks) -> float:
        a = np.einsum("sh,tsh->ts", run.r, run.second)
        return (np.abs(a - run.w1) * growing(run)).max()

    runs = runs_by_scale(trial, largest=1e-3)
    gaps = [largest_gap(run) for run in runs.values()]
    alike = largest_gap(trained_networks(trial, (0.0, 0.5))) / SCALE
    return {"value": exponent(list(runs), gaps)[0], "gaps": gaps, "scales": list(runs), "alike": alike}


@claim(
    "eq11",
    says="The components w_i with i >= 3 never grow and stay of the scale of the start.",
    assumes=SMALL,
    tried=f"{EVERYWHERE}; the whole run",
    holds=AllOf(
        Above(SLOPE, "least", what="least slope in s", form=".4f"),
        Below(
            1 + 1e-6,
            "growth",
            what="largest |w_i| over its start",
            form=".6f",
            because="a norm that never grows, up to the integrator's tolerance of 1e-10 at each step",
        ),
    ),
    reads="size of the w_i, i >= 3: slope {slope:.4f} in s",
)
def other_components(trial: Trial) -> Numbers:
    growth = []

    def size(run: Networks) -> float:
        norms = np.linalg.norm(run.first[..., 2:], axis=-2)
        growth.append((norms / norms[0]).max())
        return norms.max()

    return {**scale_exponents(trial, size), "growth": growth}


@claim(
    "projection",
    says="The projection of each w_i, i >= 3, on the direction of a decays, at the rate sigma^2 |a|^2.",
    assumes=f"{SMALL}; the later phase, when a has its direction",
    tried=f"{NETWORKS}; from t1 to t1 + 4",
    holds=AllOf(
        Below(
            0.02,
            what="error of exp(-sigma^2 int |a|^2)",
            form=".1%",
            because="the integral of |a|^2 is taken on the saved times by trapezia, worth up to 1%",
        ),
        AtMost(0, "rise", what="largest change from one saved time to the next", because="what decays never rises"),
    ),
    reads="the part of all w_i, i >= 3, along a goes down to {left:.1%} of itself within 4 time units after t1",
)
def projection(trial: Trial) -> Numbers:
    from scipy.integrate import cumulative_trapezoid

    run = trained_networks(trial)
    early = run.moments.early_time(SCALE)
    late = (run.times >= early) & (run.times <= early + 4)  # later it is too small to be told from rounding
    along = np.linalg.norm(np.einsum("sh,tshi->tsi", run.r, run.first[late][..., 2:]), axis=-1)
    power = (run.second[late] ** 2).sum(-1)
    decay = np.exp(-run.theory.variance * cumulative_trapezoid(power, run.times[late], axis=0, initial=0))
    return {
        "value": np.abs(along / along[0] / decay - 1).max(),
        "rise": np.diff(along, axis=0).max() / along.max(),
        "left": decay[-1].max(),
    }


@claim(
    "saturation",
    says="In the early phase w1 goes from O(s) to its saturation value, approximately sqrt(|Sigma_xy|/lambda1).",
    assumes=SMALL,
    tried=f"{NETWORKS}; (spike, alignment) = {', '.join(map(str, SATURATING))}",
    holds=Within(APPROXIMATELY, "heights", of=1, what="largest w1 over that value", form=".3f"),
    corrected=AllOf(
        Within(APPROXIMATELY, "peaks", of=1, what="the same where w1 has a peak", form=".3f"),
        Above(1, "seen", what="pairs where it has one", form=".0f", because="one pair is no region"),
    ),
    correction="so it does where it then falls again, to a limit below; where (1 + rho) A is not large it goes on to "
    "its limit, up to {heights.highest:.2f} times as high",
    reads="largest w1 of the run over sqrt(|Sigma_xy|/lambda1), by spike and alignment: {heights:.3f}",
)
def saturation(trial: Trial) -> Numbers:
    heights, peaks = {}, {}
    for pair in SATURATING:
        run = trained_networks(trial, pair)
        heights[str(pair)] = run.w1.max(axis=0).mean() / run.theory.plateau
        if (run.w1.max(axis=0) > 1.002 * run.w1[-1]).all():
            peaks[str(pair)] = heights[str(pair)]
    return {"heights": heights, "peaks": peaks, "seen": len(peaks)}


@claim(
    "one-phase",
    says="Without a spike, or with one parallel or orthogonal to the target, w2 stays O(s): there is no later phase.",
    assumes=SMALL,
    tried=f"{NETWORKS}; spike 20 with alignment 0 and 1, spike 0; beside them {AT_PAIR}",
    holds=AllOf(
        Below(OF_THE_START, "sizes", what="largest w2/s"),
        Below(OF_THE_START, "miss", what="distance of w1 from the sigmoid (17), over s"),
        Above(0.5, "second", what="w2 with a later phase", because="w2 is of order 1 at the end of a later phase"),
    ),
    reads="largest w2/s at alignment 0, alignment 1 and spike 0: {sizes:.2f}, and w1 is the sigmoid (17) to "
    f"{{miss.highest:.2f}} s through the whole run; at {AT_PAIR} w2 ends at {{second:.3f}}",
)
def one_phase(trial: Trial) -> Numbers:
    sizes, misses = [], []
    for pair in ((20.0, 0.0), (20.0, 1.0), (0.0, 0.5)):
        run = trained_networks(trial, pair)
        sizes.append(np.abs(run.w2).max() / SCALE)
        misses.append(np.abs(run.w1 - run.predicted(run.theory.early)).max() / SCALE)
    return {"sizes": sizes, "miss": misses, "second": trained_networks(trial).w2[-1].min()}
