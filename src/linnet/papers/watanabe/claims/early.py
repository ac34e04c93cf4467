"""Watanabe et al., section 3: growth from a small start, what stays small, and the alignment of the layers."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.papers.watanabe.networks import DIM, SCALE, SEEDS, SETTING, WIDTH, follow, phase_grid, trained
from linnet.randomness import generator
from linnet.reproduction.claim import Claim, Measurement, Trial, Verdict
from linnet.reproduction.fits import exponent, highest, lowest

SPIKE, ALIGNMENT = 20.0, 0.3
SMALL = "Gaussian start of scale s << 1, population covariance"


def scales(trial: Trial) -> list[float]:
    """The scales of the start over which slopes are taken."""
    return [1e-2, 1e-4, 1e-6] if trial.quick else [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]


def _slopes(sizes: list[float], used: list[float]) -> tuple[float, float]:
    """The overall slope and the smallest between neighbours: one steep pair must not hide a flat one."""
    pairs = [exponent(used[i : i + 2], sizes[i : i + 2])[0] for i in range(len(used) - 1)]
    return exponent(used, sizes)[0], lowest(pairs)


def measure_linear_growth(trial: Trial) -> Measurement:
    sizes = []
    for s in scales(trial):
        run = trained(SPIKE, ALIGNMENT, s, trial.seed)
        young = run.times <= 0.5 * run.theory.early_time(s)
        grown = np.exp(run.theory.correlation * run.times[young])[:, None, None] * (run.u0[:, None] * run.r)
        sizes.append(
            float(max(np.abs(run.first[young][..., 0] - grown).max(), np.abs(run.second[young] - grown).max()))
        )
    overall, least = _slopes(sizes, scales(trial))
    text = (
        f"error of the exponential up to t1/2: slope {overall:.3f} in s (least between neighbours {least:.3f}; 1 "
        "claimed)"
    )
    return Measurement(Verdict.HOLDS if least > 0.95 else Verdict.REFUTED, text, overall)


def measure_sigmoid(trial: Trial) -> Measurement:
    errors, others = [], []
    for s in scales(trial)[1:]:
        run = trained(SPIKE, ALIGNMENT, s, trial.seed)
        plateau = run.theory.correlation / run.theory.lambda1
        w1, w2 = run.components[..., 0], run.components[..., 1]
        sigmoid = np.stack([run.theory.early(u0, run.times) for u0 in run.u0], axis=1)
        young = np.cumsum(w1**2 > 0.9 * plateau, axis=0) == 0
        errors.append(float((np.abs(w1 - sigmoid) * young).max() / np.sqrt(plateau)))
        others.append(float((np.abs(w2) * young).max()))
    used = scales(trial)[1:]
    overall, other = exponent(used, errors)[0], exponent(used, others)[0]
    verdict = Verdict.HOLDS if overall > 0.9 and other > 0.9 else Verdict.REFUTED
    text = (
        f"slope in s of the error {overall:.2f}, of w2 {other:.2f} (1 claimed), until w1^2 is 90% of its plateau; "
        f"at s = {used[-1]:g} the error is {errors[-1]:.2%} of the plateau and w2 = {others[-1]:.3f}: small, but not "
        "O(s)"
    )
    return Measurement(verdict, text, overall)


def measure_other_components(trial: Trial) -> Measurement:
    sizes, growth = [], 0.0
    for s in scales(trial):
        run = trained(SPIKE, ALIGNMENT, s, trial.seed)
        norms = np.sqrt((run.first[..., 2:] ** 2).sum(-2))
        sizes.append(float(norms.max()))
        growth = max(growth, float((norms / norms[0]).max()))
    overall, least = _slopes(sizes, scales(trial))
    verdict = Verdict.HOLDS if least > 0.98 and growth < 1 + 1e-6 else Verdict.REFUTED
    text = (
        f"slope {overall:.4f} in s (least {least:.4f}); no |w_i|, i >= 3, ever exceeds its start (largest ratio "
        f"{growth:.6f})"
    )
    return Measurement(verdict, text, overall)


def measure_alignment(trial: Trial) -> Measurement:
    sizes = []
    for s in scales(trial):
        run = trained(SPIKE, ALIGNMENT, s, trial.seed)
        second, first = run.deviations
        sizes.append(float(np.sqrt((second**2).sum(-1) + (first[..., :2] ** 2).sum((-1, -2))).max()))
    overall, least = _slopes(sizes, scales(trial))
    text = (
        f"deviation of a, w1, w2 from r1: slope {overall:.4f} in s (least {least:.4f}); {sizes[-1]:.1e} at "
        f"s = {scales(trial)[-1]:g}"
    )
    return Measurement(Verdict.HOLDS if least > 0.98 else Verdict.REFUTED, text, overall)


def measure_reduced(trial: Trial) -> Measurement:
    pairs = (
        [(SPIKE, ALIGNMENT), (5.0, 0.8)]
        if trial.quick
        else [(20.0, 0.3), (5.0, 0.8), (1.0, 0.5), (100.0, 0.5), (-0.5, 0.6)]
    )
    errors = []
    for spike, alignment in pairs:
        run = trained(spike, alignment, SCALE, trial.seed)
        predicted = np.stack([run.theory.reduced(u0, run.times) for u0 in run.u0], axis=1)
        errors.append(float(np.abs(run.components - predicted).max()))
    worst = highest(errors)
    text = (
        f"largest error in both components over the whole run {worst:.1e} (limit {SCALE:g}); {SEEDS} seeds at each of "
        f"{len(pairs)} pairs of spike and alignment"
    )
    return Measurement(Verdict.HOLDS if worst < SCALE else Verdict.REFUTED, text, worst, SCALE)


def measure_sampled(trial: Trial) -> Measurement:
    run = trained(SPIKE, ALIGNMENT, SCALE, trial.seed, samples=10_000)
    basis = ln.theories.spiked.adapted_basis(run.problem.test_cov, run.problem.truth)
    own, population = 0.0, 0.0
    for i, u0 in enumerate(run.u0[: 2 if trial.quick else SEEDS]):
        flow = ln.theories.reduced.aligned_flow(run.problem, u0, run.times) @ basis.T
        own = max(own, float(np.abs(run.components[:, i] - flow).max()))
        reduced = run.theory.reduced(u0, run.times)
        population = max(population, float(np.abs(run.components[:, i] - reduced).max()))
    verdict = Verdict.HOLDS if own < SCALE and population < 0.05 else Verdict.REFUTED
    text = (
        f"distance to (18)-(19) of the population {population:.3f} (limit 0.05); to the aligned flow of the sampled "
        "covariance "
        f"{own:.1e} (limit {SCALE:g}): the sample makes the gap, not the reduction"
    )
    return Measurement(verdict, text, population)


def measure_aligned(trial: Trial) -> Measurement:
    theory = ln.theories.spiked.TwoPhase(SPIKE, ALIGNMENT)
    problem = ln.problems.spiked_covariance(DIM, spike=SPIKE, alignment=ALIGNMENT)
    plane = ln.theories.spiked.adapted_basis(problem.cov, problem.truth)
    random = generator(trial.seed)
    w = 0.01 * random.standard_normal((SEEDS, 2))
    r = random.standard_normal((SEEDS, WIDTH))
    r /= np.linalg.norm(r, axis=1, keepdims=True)
    w[:, 0] = np.abs(w[:, 0])  # r is then the direction of growth, not its negative
    start = ln.Weights(r[:, :, None] * (w @ plane)[:, None, :], (np.linalg.norm(w, axis=1)[:, None] * r)[:, None, :])
    run = follow(theory, problem, start, phase_grid(theory, 0.01), rtol=1e-12)
    predicted = np.stack([theory.reduced(pair, run.times) for pair in w], axis=1)
    error = float(np.abs(np.einsum("sh,tshk->tsk", r, run.first[..., :2]) - predicted).max())
    text = f"aligned starts against (18)-(19): largest error {error:.1e} (limit 1e-9), {SEEDS} starts of size 0.01"
    return Measurement(Verdict.HOLDS if error < 1e-9 else Verdict.REFUTED, text, error, 1e-9)


def measure_conserved(trial: Trial) -> Measurement:
    run = trained(SPIKE, ALIGNMENT, SCALE, trial.seed)
    some = slice(None, None, 20)
    square = np.einsum("tsg,tsh->tsgh", run.second[some], run.second[some])
    imbalance = square - np.einsum("tsgi,tshi->tsgh", run.first[some], run.first[some])
    drift, size = float(np.abs(imbalance - imbalance[0]).max()), float(np.abs(imbalance[0]).max())
    balance = np.abs((run.second**2).sum(-1) - (run.first[..., :2] ** 2).sum((-1, -2))).max() / SCALE**2
    verdict = Verdict.HOLDS if drift < 1e-8 and balance < 10 else Verdict.REFUTED
    text = (
        f"drift {drift:.1e} (limit 1e-8) of a matrix of size {size:.1e}; |a|^2 - |w1|^2 - |w2|^2 stays within "
        f"{balance:.2f} s^2"
    )
    return Measurement(verdict, text, drift, 1e-8)


CLAIMS = [
    Claim(
        name="eq15",
        number="Eqs. (13)-(15), (35)",
        sentence="While the weights are small, w1 and a both grow exponentially along r1, at the rate |Sigma_xy|.",
        assumptions=SMALL,
        setting=f"{SETTING}; s from 1e-2 to 1e-6, times up to half of t1",
        claimed="error O(s)",
        expected=Verdict.HOLDS,
        measure=measure_linear_growth,
    ),
    Claim(
        name="eq17",
        number="Eqs. (16)-(17), (36)-(38)",
        sentence="Through its whole growth w1 follows a sigmoid up to O(s), while all other components stay O(s).",
        assumptions=SMALL,
        setting=f"{SETTING}; s from 1e-3 to 1e-6, until w1^2 is 90% of its plateau",
        claimed="error and w2 of O(s)",
        expected=Verdict.REFUTED,
        measure=measure_sigmoid,
    ),
    Claim(
        name="eq11",
        number="Eq. (11)",
        sentence="The components w_i with i >= 3 never grow and stay of the scale of the start.",
        assumptions=SMALL,
        setting=f"{SETTING}; s from 1e-2 to 1e-6, the whole run",
        claimed="slope 1 in s",
        expected=Verdict.HOLDS,
        measure=measure_other_components,
    ),
    Claim(
        name="appC",
        number="Appendix C, Eqs. (43)-(46)",
        sentence="The vectors a, w1 and w2 stay aligned with r1 throughout training, up to O(s).",
        assumptions=SMALL,
        setting=f"{SETTING}; s from 1e-2 to 1e-6, the whole run",
        claimed="slope 1 in s",
        expected=Verdict.HOLDS,
        measure=measure_alignment,
    ),
    Claim(
        name="eq18",
        number="Eqs. (18)-(19)",
        sentence="Two scalar equations describe the whole training of the network, both phases, in the limit of a "
        "small start.",
        assumptions=SMALL,
        setting=SETTING,
        claimed="agreement of the trajectories",
        expected=Verdict.HOLDS,
        measure=measure_reduced,
    ),
    Claim(
        name="fig1",
        number="Figure 1",
        sentence="The reduced dynamics follows a network trained on 10 000 samples closely.",
        assumptions="n = 10 000 samples stand for the population",
        setting=f"d = {DIM}, m = {WIDTH}, s = {SCALE:g}, n = 10 000, spike 20, alignment 0.3",
        claimed="close match",
        expected=Verdict.HOLDS,
        measure=measure_sampled,
    ),
    Claim(
        name="exact",
        number="below Eq. (19)",
        sentence="From aligned starts without other components, the two scalar equations are exact.",
        assumptions="w_i(0) = 0 for i >= 3; a, w1 and w2 parallel with |a|^2 = w1^2 + w2^2",
        setting=f"d = {DIM}, m = {WIDTH}, aligned starts",
        claimed="exact",
        expected=Verdict.HOLDS,
        measure=measure_aligned,
    ),
    Claim(
        name="conserved",
        number="Section 3.2.2",
        sentence="a a^T - W W^T is conserved, so that |a|^2 equals w1^2 + w2^2 up to O(s^2).",
        assumptions=SMALL,
        setting=SETTING,
        claimed="no drift; O(s^2)",
        expected=Verdict.HOLDS,
        measure=measure_conserved,
    ),
]
