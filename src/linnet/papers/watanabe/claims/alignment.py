"""Watanabe et al., section 3.2.2 and Appendix C: one hidden direction, two scalar equations, and what is conserved."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.watanabe.claims.early import SMALL
from linnet.papers.watanabe.claims.rules import SLOPE, above, below, corrected, scales, slopes
from linnet.papers.watanabe.networks import Networks, follow, pair_moments, phase_grid, plane_distance, trained
from linnet.papers.watanabe.settings import ALIGNMENT, DIM, NETWORKS, SAMPLES, SCALE, SEEDS, SPIKE, WIDTH
from linnet.randomness import generator
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.fits import exponent, highest
from linnet.reproduction.old_claim import old as Claim
from linnet.theories.reduced import aligned_flow
from linnet.theories.spiked import TwoPhase

REDUCED_SLOPE = Limit(0.9, "(18)-(19) neglect terms of O(s): the distance must fall in proportion to s")
REDUCED_ERROR = Limit(10.0, "O(s) with a constant of a few: starts differ in how far a(0) is from w1(0)")
PLANE = Limit(0.02, "the width of the drawn line, 3.4 pt on an axis of about 200 pt for 1.2 units")
EXACT = Limit(1e-9, "an exact identity, up to two integrators of tolerance 1e-12")
DRIFT = Limit(1e-6, "conserved exactly; the integrator's tolerance is 1e-10 of each weight at each step")
TRACE_SLOPE = Limit(1.9, "O(s^2) is slope 2")
LEVEL_SET = Limit(10.0, "no constant bounds the weights of one loss if one network has ten times those of another")
WEIGHT_BOUND = Limit(1 + 1e-9, "an inequality, up to rounding")
LARGE = 0.3  # a scale of the start at which nothing is small


def measure_alignment(trial: Trial) -> dict[str, float]:
    sizes = []
    for s in scales(trial):
        second, first = trained(SPIKE, ALIGNMENT, s, trial.seed).deviations
        sizes.append(float(np.sqrt((second**2).sum(-1) + (first[..., :2] ** 2).sum((-1, -2))).max()))
    overall, least = slopes(scales(trial), sizes)
    return {"value": least, "slope": overall, "last": sizes[-1], "scale": scales(trial)[-1]}


def tell_alignment(numbers: Numbers) -> str:
    return (
        f"deviation of a, w1, w2 from r1: slope {numbers['slope']:.4f} in s (least {numbers['value']:.4f}); "
        f"{numbers['last']:.1e} at s = {numbers['scale']:g}"
    )


def measure_rank(trial: Trial) -> dict[str, float]:
    sizes, last = [], 0.0
    for s in scales(trial):
        values = np.linalg.svd(trained(SPIKE, ALIGNMENT, s, trial.seed).first[::20], compute_uv=False)
        sizes.append(float(values[..., 1].max()))
        last = float((values[-1, :, 1] / values[-1, :, 0]).max())
    overall, least = slopes(scales(trial), sizes)
    return {"value": least, "slope": overall, "last": last, "scale": scales(trial)[-1]}


def tell_rank(numbers: Numbers) -> str:
    return (
        f"second singular value of W: slope {numbers['slope']:.4f} in s; at the end it is {numbers['last']:.1e} of the "
        f"first at s = {numbers['scale']:g}"
    )


def reduced_error(run: Networks, networks: int) -> float:
    """The largest distance of (18)-(19) from both components of the first `networks` of the batch, over the run."""
    theory = TwoPhase(run.spike, run.alignment)
    gaps = [run.components[:, i] - theory.reduced(run.u0[i], run.times) for i in range(networks)]
    return highest(np.abs(gap).max() for gap in gaps)


def measure_reduced(trial: Trial) -> dict[str, float]:
    pairs = [(5.0, 0.8)] if trial.quick else [(20.0, 0.3), (5.0, 0.8), (1.0, 0.5), (100.0, 0.5), (2.0, 0.95)]
    networks = 2 if trial.quick else SEEDS
    used = [1e-4, 1e-6]
    along = [reduced_error(trained(SPIKE, ALIGNMENT, s, trial.seed), networks) for s in used]
    errors = [reduced_error(trained(*pair, SCALE, trial.seed), networks) / SCALE for pair in pairs]
    errors += [error / s for error, s in zip(along, used, strict=True)]
    return {"value": highest(errors), "slope": exponent(used, along)[0], "runs": len(errors), "networks": networks}


def judge_reduced(numbers: Numbers) -> Verdict:
    small = numbers["value"] < REDUCED_ERROR
    return Verdict.HOLDS if small and numbers["slope"] > REDUCED_SLOPE else Verdict.REFUTED


def tell_reduced(numbers: Numbers) -> str:
    return (
        f"largest error in both components over the whole run {numbers['value']:.2f} s, {numbers['networks']} networks "
        f"at each of {numbers['runs']} settings; slope {numbers['slope']:.3f} in s between 1e-4 and 1e-6"
    )


def measure_sampled(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, SCALE, trial.seed, samples=SAMPLES)
    plane, in_time, own = [], [], []
    for i in range(2 if trial.quick else SEEDS):
        curve, u0 = run.components[:, i], run.u0[i]
        reduced = TwoPhase(SPIKE, ALIGNMENT).reduced(u0, run.times)
        plane.append(highest(plane_distance(curve, reduced), plane_distance(reduced, curve)))
        in_time.append(float(np.abs(curve - reduced).max()))
        own.append(float(np.abs(curve - aligned_flow(run.problem, u0, run.times) @ run.moments.basis[:2].T).max()))
    return {"value": highest(plane), "in time": highest(in_time), "own": highest(own)}


def tell_sampled(numbers: Numbers) -> str:
    return (
        f"in the plane the trajectories are at most {numbers['value']:.4f} apart; at equal times "
        f"{numbers['in time']:.3f}, which the figure does not show; the aligned flow of the sample's own covariance is "
        f"{numbers['own']:.1e} away: the sample makes the gap, not the reduction"
    )


def aligned_error(trial: Trial, excess: float) -> float:
    """The distance from (18)-(19) of networks with a, w1, w2 along one r and no other component, with
    |a| = `excess` |w|."""
    problem = ln.problems.spiked_covariance(DIM, spike=SPIKE, alignment=ALIGNMENT)
    found, theory = pair_moments(SPIKE, ALIGNMENT), TwoPhase(SPIKE, ALIGNMENT)
    random = generator(trial.seed)
    w = 0.01 * random.standard_normal((SEEDS, 2))
    r = random.standard_normal((SEEDS, WIDTH))
    r /= np.linalg.norm(r, axis=1, keepdims=True)
    w[:, 0] = np.abs(w[:, 0])  # r is then the direction of growth, not its negative
    size = excess * np.linalg.norm(w, axis=1)[:, None]
    weights = ln.Weights(r[:, :, None] * (w @ found.basis[:2])[:, None, :], (size * r)[:, None, :])
    run = follow(SPIKE, ALIGNMENT, problem, weights, phase_grid(found, 0.01), rtol=1e-12)
    predicted = np.stack([theory.reduced(pair, run.times) for pair in w], axis=1)
    return float(np.abs(np.einsum("sh,tshk->tsk", r, run.first[..., :2]) - predicted).max())


def measure_aligned(trial: Trial) -> dict[str, float]:
    return {"value": aligned_error(trial, 1.0), "printed": aligned_error(trial, 10.0)}


def tell_aligned(numbers: Numbers) -> str:
    return (
        f"aligned starts with |a|^2 = w1^2 + w2^2 follow (18)-(19) to {numbers['value']:.1e}; aligned ones with |a| "
        f"ten times that size leave them by {numbers['printed']:.2f}: the relation is a condition of its own, which "
        "the flow keeps but alignment does not give"
    )


def measure_conserved(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, LARGE, trial.seed)
    some = slice(None, None, 20)
    square = np.einsum("tsg,tsh->tsgh", run.second[some], run.second[some])
    imbalance = square - np.einsum("tsgi,tshi->tsgh", run.first[some], run.first[some])
    drift = float(np.abs(imbalance - imbalance[0]).max() / np.abs(imbalance[0]).max())
    sizes = []
    for s in scales(trial):
        one = trained(SPIKE, ALIGNMENT, s, trial.seed)
        sizes.append(float(np.abs((one.second**2).sum(-1) - (one.first[..., :2] ** 2).sum((-1, -2))).max()))
    moved = float(np.abs(square - square[0]).max() / np.abs(imbalance[0]).max())
    return {"value": drift, "slope": slopes(scales(trial), sizes)[1], "moved": moved}


def judge_conserved(numbers: Numbers) -> Verdict:
    return Verdict.HOLDS if numbers["value"] < DRIFT and numbers["slope"] > TRACE_SLOPE else Verdict.REFUTED


def tell_conserved(numbers: Numbers) -> str:
    return (
        f"at s = {LARGE:g} a a^T - W W^T drifts by {numbers['value']:.1e} of its size, while a a^T alone moves by "
        f"{numbers['moved']:.1f} of it; |a|^2 - w1^2 - w2^2 is O(s^{numbers['slope']:.2f}), the least slope"
    )


def weight_bound(imbalance: float, product: float) -> float:
    r"""What $|a|^2$ cannot exceed where $|a^T W| \le$ `product` and $|aa^T - WW^T|_{op} \le$ `imbalance`.

    $|W^T a|^2 = |a|^4 - a^T(aa^T - WW^T)a \ge |a|^4 - D|a|^2$, so $|a|^2 \le (D + \sqrt{D^2 + 4|a^T W|^2})/2$.
    """
    return 0.5 * (imbalance + np.hypot(imbalance, 2 * product))


def measure_bounded(trial: Trial) -> dict[str, float]:
    run = trained(SPIKE, ALIGNMENT, LARGE, trial.seed)
    factor = 100.0  # a -> K a, W -> W/K: the same function and so the same loss, however large K
    end, rescaled = run.overlaps[-1], np.einsum("sh,shi->si", run.second[-1] * factor, run.first[-1] / factor)
    same = float(np.abs(rescaled - end).max())
    shares = []
    for s in (LARGE, 1e-2):
        one = trained(SPIKE, ALIGNMENT, s, trial.seed)
        start = one.second[0][:, :, None] * one.second[0][:, None] - one.first[0] @ one.first[0].swapaxes(-1, -2)
        imbalance = np.abs(np.linalg.eigvalsh(start)).max(-1)
        for i, size in enumerate(imbalance):
            products = np.linalg.norm(one.overlaps[:, i], axis=-1)
            allowed = np.array([weight_bound(float(size), float(product)) for product in products])
            shares.append(float(((one.second[:, i] ** 2).sum(-1) / allowed).max()))
    return {"value": highest(shares), "printed": factor if same < EXACT else 1.0, "same": same}


def judge_bounded(numbers: Numbers) -> Verdict:
    if numbers["printed"] < LEVEL_SET:
        return Verdict.HOLDS
    return Verdict.CORRECTED if numbers["value"] < WEIGHT_BOUND else Verdict.REFUTED


def tell_bounded(numbers: Numbers) -> str:
    return (
        f"a K, W/K with K = {numbers['printed']:g} is the same function to {numbers['same']:.0e}, so a bounded loss "
        "alone bounds no weight; with the conserved a a^T - W W^T it does: |a|^2 reaches at most "
        f"{numbers['value']:.4f} of (D + sqrt(D^2 + 4|a^T W|^2))/2 along the runs"
    )


CLAIMS = [
    Claim(
        name="appC",
        number="Appendix C, conclusion",
        sentence="The vectors a, w1 and w2 stay aligned with r1 throughout training, up to O(s).",
        assumptions=SMALL,
        setting=f"{NETWORKS}; s from 1e-2 to 1e-6, the whole run",
        claimed="slope 1 in s",
        expected=Verdict.HOLDS,
        measure=measure_alignment,
        judge=above(value=SLOPE),
        tell=tell_alignment,
        limits={"least slope": SLOPE},
    ),
    Claim(
        name="rank-one",
        number="Section 3.2.2",
        sentence="The first layer is a matrix of rank one, up to O(s).",
        assumptions=SMALL,
        setting=f"{NETWORKS}; s from 1e-2 to 1e-6, the whole run",
        claimed="second singular value O(s)",
        expected=Verdict.HOLDS,
        measure=measure_rank,
        judge=above(value=SLOPE),
        tell=tell_rank,
        limits={"least slope": SLOPE},
    ),
    Claim(
        name="eq18",
        number="Eqs. (18)-(19)",
        sentence="Two scalar equations describe the whole training of the network, both phases, in the limit of a "
        "small start.",
        assumptions=SMALL,
        setting=f"{NETWORKS}; two to six pairs of spike and alignment",
        claimed="agreement up to O(s)",
        expected=Verdict.HOLDS,
        measure=measure_reduced,
        judge=judge_reduced,
        tell=tell_reduced,
        limits={"error/s": REDUCED_ERROR, "slope in s": REDUCED_SLOPE},
    ),
    Claim(
        name="fig1",
        number="Figure 1",
        sentence="In the phase plane the reduced dynamics follows a network trained on 10 000 samples closely.",
        assumptions="n = 10 000 samples stand for the population",
        setting=f"d = {DIM}, m = {WIDTH}, s = {SCALE:g}, n = {SAMPLES}, spike 20, alignment 0.3, gradient flow",
        claimed="close match",
        expected=Verdict.HOLDS,
        measure=measure_sampled,
        judge=below(value=PLANE),
        tell=tell_sampled,
        limits={"distance in the plane": PLANE},
    ),
    Claim(
        name="exact",
        number="Section 3.2.2, below Eq. (19)",
        sentence="From aligned starts without other components the relation a^2 = w1^2 + w2^2 holds and the two scalar "
        "equations are exact.",
        assumptions="w_i(0) = 0 for i >= 3; a, w1 and w2 parallel",
        setting=f"d = {DIM}, m = {WIDTH}, {SEEDS} aligned starts of size 0.01, with and without the relation",
        claimed="exact",
        expected=Verdict.CORRECTED,
        measure=measure_aligned,
        judge=corrected(EXACT),
        tell=tell_aligned,
        limits={"error": EXACT},
    ),
    Claim(
        name="conserved",
        number="Section 3.2.2",
        sentence="a a^T - W W^T is conserved, so that |a|^2 equals w1^2 + w2^2 up to O(s^2).",
        assumptions="gradient flow; small start for the second half",
        setting=f"d = {DIM}, m = {WIDTH}, {SEEDS} seeds, s = {LARGE:g}, and from 1e-2 to 1e-6",
        claimed="no drift; O(s^2)",
        expected=Verdict.HOLDS,
        measure=measure_conserved,
        judge=judge_conserved,
        tell=tell_conserved,
        limits={"relative drift": DRIFT, "least slope": TRACE_SLOPE},
    ),
    Claim(
        name="bounded-weights",
        number="Appendix C, below Eq. (51)",
        sentence="Since the loss is bounded, the weights remain in a bounded region.",
        assumptions="none printed",
        setting=f"d = {DIM}, m = {WIDTH}, {SEEDS} seeds, s = {LARGE:g} and 1e-2",
        claimed="bounded weights",
        expected=Verdict.CORRECTED,
        measure=measure_bounded,
        judge=judge_bounded,
        tell=tell_bounded,
        limits={"factor at equal loss": LEVEL_SET, "|a|^2 over the bound": WEIGHT_BOUND},
    ),
]
