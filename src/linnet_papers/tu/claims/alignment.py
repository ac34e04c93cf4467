"""Claims on singular vectors: the tools of appendix A, and how the alignment measure x moves (appendix C)."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.fits import exponent, highest
from linnet_papers.reproduction.rows import at_least, at_most, below, both, corrected, fact, printed, within
from linnet_papers.tu import misprints
from linnet_papers.tu.grids.timeline import EVERYWHERE, PLACES
from linnet_papers.tu.settings import BOUND
from linnet_papers.tu.training.starts import active_start, threshold_of


def trace_identity_sides(a: np.ndarray, r: np.ndarray, b: np.ndarray) -> tuple[float, float, float, float]:
    """Return both sides of the identity of A.1, its upper bound, and the lower bound over its left side (for |r|)."""
    size = np.abs(r).max() * np.linalg.norm(a) * np.linalg.norm(b)
    low = np.abs(r).min() * (a**2).sum() / np.trace(a.T @ (np.abs(r) * a))
    return np.trace(a @ (r * b)), np.trace(b @ (r.T * a)), size, low


def product_norm_bounds(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """Return the three sides of A.2: sigma_min |B|, |AB| and sigma_max |B|."""
    values = np.linalg.svd(a, compute_uv=False) * np.linalg.norm(b)
    return values[-1], float(np.linalg.norm(a @ b)), values[0]


def diagonal_distance_bound(blocks: int, x: float) -> float:
    """Return the bound of Lemma A.5 over |Sigma|, for so many blocks of alignment x."""
    return blocks**3 * (np.sqrt(x) + 2 * x)


def sin_theta_share(draw: np.random.Generator, size: int) -> float:
    """Return |sin Theta|_F of the eigenvectors r .. s over the bound of Theorem A.3, for any r <= s."""
    base, change = draw.normal(size=(size, size)), draw.normal(size=(size, size))
    base, change = base + base.T, 10 ** draw.uniform(-3, 0.5) * (change + change.T)
    (values, vectors), (_, near) = np.linalg.eigh(base), np.linalg.eigh(base + change)
    first = int(draw.integers(0, size))
    block = slice(first, int(draw.integers(first, size)) + 1)
    cosines = np.linalg.svd(near[:, block].T @ vectors[:, block], compute_uv=False)
    sines = np.sqrt(np.maximum(0.0, 1 - cosines**2).sum())
    padded = np.concatenate([[-np.inf], values, [np.inf]])
    gap = min(padded[block.start + 1] - padded[block.start], padded[block.stop + 1] - padded[block.stop])
    moved = min(np.sqrt(len(cosines)) * np.linalg.norm(change, 2), np.linalg.norm(change))
    return 0.0 if np.isinf(gap) else float(sines * gap / (2 * moved))


IDENTITY = below(1e-10, r"rounding in float64 matrices up to $8 \times 8$")


@claim(
    "tools",
    says="Matrix identities and the sin-theta theorem that the proofs use.",
    tried=r"200 random matrices up to $8 \times 8$; A.3 for every block of eigenvectors $r$ to $s$, perturbations of "
    "$10^{-3}$ to 3",
)
def tools(trial: Trial) -> Rows:
    draw = generator(key=trial.seed)
    trace, norms, angles = 0.0, 0.0, 0.0
    for _ in range(200):
        n = int(draw.integers(2, 9))
        a, b, r = (draw.normal(size=(n, n)) for _ in range(3))
        left, right, bound, low = trace_identity_sides(a, r, b)
        trace = highest(trace, abs(left - right) / bound, abs(left) / bound - 1, low - 1)
        least, size, most = product_norm_bounds(a, b)
        norms = highest(norms, least / size - 1, size / most - 1)
        angles = highest(angles, sin_theta_share(draw, n))
    yield printed("largest excess over the trace identity and the bounds of Lemma A.1", trace, IDENTITY)
    yield printed("largest excess over the bounds of Lemma A.2", norms, IDENTITY)
    yield printed(r"largest distance $\lvert \sin \Theta \rvert_F$ over the bound of Theorem A.3", angles, BOUND)


@claim(
    "lemma-a4",
    says="The alignment measure $x$ is bounded by the distance from a diagonal matrix, and bounds how far "
    r"$U^\top \Sigma V$ is from $\Sigma$.",
    assumes="trailing singular values of the reference equal",
    tried="diag(1, t) and a matrix in which the two values cross; random perturbations, 20 (full: 200) in each "
    "setting, $d = 4$ to 19, $K = 3$, simple and repeated values, the $K$-th value near the next one in half of them",
    correction="$x$ is at most four times its printed bound, and no smaller factor will do",
    region={"size": Range(1e-4, 3.0, log=True), "trailing": Range(0.0, 0.99)},
)
def distance_from_diagonal(trial: Trial) -> Rows:
    crossing = {f"$t = {t:g}$": _shares_of_bounds(*_crossing(t), 1) for t in (0.0, 0.5, 0.9, 0.99)}
    draws = 20 if trial.quick else 200
    found = {label: _largest_shares(trial.seed, draws, **setting) for label, setting in trial.region(4).items()}
    x_over = "$x$ over the printed bound of Lemma A.4"
    at_crossing = r"where the values of $\mathrm{diag}(1, t)$ cross"
    yield printed(f"{x_over}, {at_crossing}", {t: one[0] for t, one in crossing.items()}, BOUND)
    yield corrected(f"$x$ over four times it, {at_crossing}", {t: one[1] for t, one in crossing.items()}, BOUND)
    yield corrected("largest $x$ over four times it", {label: one[1] for label, one in found.items()}, BOUND)
    yield both(
        r"largest $\lvert \Sigma - U^\top \Sigma V \rvert/\lvert \Sigma \rvert$ over the bound of Lemma A.5",
        {label: one[2] for label, one in found.items()},
        BOUND,
    )


def _crossing(trailing: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a matrix whose larger value is where diag(1, t) has its smaller one, and diag(1, t)."""
    middle = (1 + trailing) / 2
    return middle * np.diag([1 - 1e-9, 1 + 1e-9]), np.diag([1.0, trailing])


def _shares_of_bounds(near: np.ndarray, reference: np.ndarray, rank: int) -> tuple[float, float, float]:
    """Return x over the printed bound of Lemma A.4 and over four times it, and the distance over Lemma A.5's bound."""
    x = float(lazy_active.alignment_defect(near, reference, rank))
    left, _, right = np.linalg.svd(near)
    values = np.diag(reference)
    moved = np.linalg.norm(reference - left.T @ reference @ right.T, 2) / values[0]
    shares = [x / bound(near, reference, rank) for bound in (misprints.alignment_bound, lazy_active.alignment_bound)]
    return *shares, moved / diagonal_distance_bound(len(np.unique(values)), x)


def _largest_shares(seed: int, draws: int, size: float, trailing: float) -> np.ndarray:
    """Return the largest of these three numbers over random perturbations of a size, trailing values in units of
    s_K."""
    draw = generator(seed)
    found = []
    for number in range(draws):
        dim = int(draw.integers(4, 20))
        leading = np.array([(5.0, 5.0, 2.0), (5.0, 4.0, 3.0), (3.0, 3.0, 3.0)][draw.integers(3)])
        reference = np.diag(np.append(leading, np.full(dim - 3, trailing * leading[-1])))
        near = reference + size * draw.normal(size=(dim, dim)) / np.sqrt(dim)
        if number % 2:
            near[[2, 3], [2, 3]] = (near[2, 2] + near[3, 3]) / 2
        found.append(_shares_of_bounds(near, reference, 3))
    return np.max(found, axis=0)


def sign_fixed_svd(product: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the SVD with signs fixed so that nearby matrices have nearby singular vectors."""
    left, values, right = np.linalg.svd(product)
    signs = np.sign(np.diag(left))
    return left * signs, values, right.T * signs


def printed_rotation_rates(
    left: np.ndarray, values: np.ndarray, right: np.ndarray, target: np.ndarray, g: float
) -> np.ndarray:
    """Return the right side of Lemma C.5 for a simple spectrum, one entry for each singular pair."""
    aim, root, size = left.T @ target @ right, np.hypot(values, g), len(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (values * root)[:, None] + values[:, None] * root[None, :]
        rates = np.where(np.eye(size) > 0, 0, rates / (values[:, None] ** 2 - values[None, :] ** 2))
    turn = rates.T * aim - rates * aim.T  # D of the lemma
    np.fill_diagonal(turn, 0)
    return np.einsum("kk,kj,jk->k", left, left, turn)


DIFFERENCES = within(1e-4, "central differences over a ten-thousandth of the time", of=1)


@claim(
    "lemma-c5",
    says=r"The rate of change of $\mathrm{tr}(U_{kk}^\top U_{kk})$ is $\mathrm{tr}(U_{kk}^\top \sum_j U_{kj} D_{jk})$.",
    assumes="self-consistent dynamics, simple spectrum",
    tried=r"$4 \times 4$, central differences of the closed form; size: that of the target, 4, 2.5, 1 and 0 times it",
    correction="twice the printed right side, as its proof has it",
    region={"threshold": Range(0.05, 5, log=True), "size": Range(0.3, 3, log=True)},
)
def rotation_rate(trial: Trial) -> Rows:
    found = {name: rotation_ratio(**setting, seed=trial.seed) for name, setting in trial.region(4).items()}
    of = "the printed right side, of the mode farthest off"
    yield printed(f"rate over {of}", {name: misprints.ROTATION * one for name, one in found.items()}, DIFFERENCES)
    yield corrected(f"rate over twice {of}", {name: one / 2 for name, one in found.items()}, DIFFERENCES)


def rotation_ratio(threshold: float, size: float, seed: int) -> float:
    """Return the rate of change of a mode over the printed one, of the mode that is farthest from twice it."""
    draw = generator(key=seed)
    target = size * (np.diag([4.0, 2.5, 1.0, 0.0]) + 0.1 * draw.normal(size=(4, 4)))
    start = size * (np.diag([1.5, 0.8, 0.4, 0.1]) + 0.05 * draw.normal(size=(4, 4)))
    time, h = 0.1 / size, 1e-5 / size
    before, here, after = lazy_active.self_consistent(target, start, threshold, [time - h, time, time + h])
    measured = (sign_fixed_svd(after)[0] ** 2 - sign_fixed_svd(before)[0] ** 2)[range(4), range(4)] / (2 * h)
    ratio = (measured / printed_rotation_rates(*sign_fixed_svd(here), target, threshold))[:3]
    return float(ratio[np.abs(ratio - 2).argmax()])


def slowest_pair_rates(values: np.ndarray, goals: np.ndarray, g: float) -> np.ndarray:
    """Return the minimum over pairs of Lemma C.6, with the largest noise value standing for all of the noise."""
    s = values[:, : len(goals)]
    root = np.hypot(s, g)
    rates = []
    for k in range(len(goals) - 1):
        for j in range(len(goals)):
            if j != k:
                both = (root[:, k] + root[:, j]) / (s[:, k] ** 2 - s[:, j] ** 2)
                rates.append((goals[k] - goals[j]) * (s[:, k] + s[:, j]) * both)
                rates.append((s[:, k] - s[:, j]) * (goals[k] + goals[j]) * both)
    return np.min(rates, axis=0)


@claim(
    "lemma-c6",
    says="Near alignment, $x$ decays at least at the rate of the slowest pair of modes.",
    assumes="self-consistent dynamics near alignment, no noise",
    tried="$d = 8$ (full: 20), $K = 3$, 10 starts, closed form",
)
def decay_of_misalignment(trial: Trial) -> Rows:
    draw = generator(key=trial.seed)
    goals, dim = np.array([4.0, 2.5, 1.0]), 8 if trial.quick else 20
    truth = np.diag(np.append(goals, np.zeros(dim - 3)))
    margins = []
    for _ in range(10):
        start = np.diag(np.append([1.2, 0.7, 0.35], np.full(dim - 3, 0.02))) + 1e-3 * draw.normal(size=(dim, dim))
        times = np.linspace(0, 0.6, 61)
        products = lazy_active.self_consistent(truth, start, 0.3, times)
        x = lazy_active.alignment_defect(products, truth, 3)
        rate = -np.gradient(np.log(x), times)[1:-1]
        values = np.linalg.svd(products, compute_uv=False)[1:-1]
        margins.append(rate / slowest_pair_rates(values, np.append(goals, 0.0), 0.3))
    differences = at_least(0.95, "the lemma's rate, read off by differences over a hundredth of a unit of time")
    yield printed("least rate of decay over that of the slowest pair", np.min(margins), differences)
    yield fact("largest rate of decay over it", np.max(margins))


WIDER = at_most(0.75, "the wider sense of Definition C.1")
HALVED = at_least(0.5, "the wider sense of Definition C.1 has half of the gap")


@claim(
    "lemma-c4",
    says=r"From $P_1$ the values stay in $P_1'$, its wider sense, for a time $\tau = \sigma^2 w/\sqrt{d}$.",
    assumes=r"self-consistent dynamics, $\sigma^2 w < d$, $d$ large against the squares of the inverse gaps",
    tried=r"closed form from the edge of $P_1$: $s_{K + 1} = s_K/2$, gaps of a fifth, random singular vectors; "
    "$a = (1, 1/2)$, $d = 60$ and 120, $\\sigma^2 w = d^{0.1}$, $d^{0.4}$ and $d^{0.9}$",
)
def kept_for_a_short_time(trial: Trial) -> Rows:
    draw = generator(key=trial.seed)
    ratios, gaps = {}, {}
    for dim in (60, 120):
        for power in (0.1, 0.4, 0.9):
            threshold = dim**power
            values = np.append([2.0, 1.6], np.full(dim - 2, 0.8)) * threshold
            left, right = (np.linalg.qr(draw.normal(size=(dim, dim)))[0] for _ in range(2))
            target = np.diag(np.append([dim, dim / 2], np.zeros(dim - 2))) + draw.normal(size=(dim, dim))
            times = np.linspace(0, threshold / dim**2.5, 5)  # tau on the canonical clock
            products = lazy_active.self_consistent(target, (left * values) @ right, threshold, times)
            found = np.linalg.svd(products, compute_uv=False)
            name = rf"$d = {dim}$, $\sigma^2 w = d^{{{power:g}}}$"
            ratios[name] = (found[:, 2] / found[:, 1]).max()
            gaps[name] = ((found[:, 0] - found[:, 1]) / found[:, 0]).min() / 0.2
    yield printed(r"largest $s_{K + 1}/s_K$ up to $\tau$", ratios, WIDER)
    yield printed(r"least gap $(s_1 - s_2)/s_1$ up to $\tau$ over that at initialization", gaps, HALVED)


DIAGONAL = below(
    3.0, "an $O(.)$: twice $2 c$, what the noise has learned at $d = 1$, and the initialization's own edge of 2"
)
FALLS = below(0.0, "the power that the lemma names")


@claim(
    "lemma-c9-sigma",
    says=r"At $t_2 = c d$ the network is within $O(\sigma^2 w) d^{-\min((\gamma_w - 1)/8, 1/4)}$ of a diagonal matrix "
    "with equal entries for equal $a_k$.",
    assumes="active region, $d$ large",
    tried=rf"descent to $t_2 = 0.2 d$ (paper's clock), $d = 40$, 90, $a = (1, 1/2)$ and $(1, 1)$, 3 tasks, "
    f"{EVERYWHERE}",
)
def near_a_diagonal(trial: Trial) -> Rows:
    constants, powers = {}, {}
    for place, gammas in PLACES.items():
        power = min((gammas[1] - 1) / 8, 0.25)
        for spectrum in ((1.0, 0.5), (1.0, 1.0)):
            apart = {
                dim: [distance_from_diagonal_at(dim, gammas, spectrum, [trial.seed, draw]) for draw in range(3)]
                for dim in (40, 90)
            }
            name = f"${place}$, $a = ({', '.join(f'{value:g}' for value in spectrum)})$"
            constants[name] = highest(highest(own) * dim**power for dim, own in apart.items())
            powers[name] = exponent(list(apart), list(apart.values()))[0] + power
    over = r"distance from the diagonal matrix over $\sigma^2 w$"
    yield printed(rf"largest {over}, times $d^{{\min((\gamma_w - 1)/8, 1/4)}}$", constants, DIAGONAL)
    yield printed(f"power of $d$ with which the {over} changes, less the claimed one", powers, FALLS)


def distance_from_diagonal_at(
    dim: int, gammas: tuple[float, float], spectrum: tuple[float, ...], key: list[int]
) -> float:
    """Return the distance of a network at t2 from the diagonal matrix of its own means over equal a_k, over the
    threshold."""
    task = ln.problems.low_rank_plus_noise(dim, rank=len(spectrum), key=[*key, 0], spectrum=spectrum)
    start = active_start(dim, gammas, key=[*key, 1])
    run = ln.gradient_descent(task, start, learning_rate=1 / (80 * dim), steps=16, keep="products")
    left, values, right = np.linalg.svd(np.asarray(task.truth))
    rotated = left.T @ run.products[-1] @ right.T
    entries = np.diag(rotated)[: len(spectrum)]
    equal = np.isclose(values[: len(spectrum), None], values[None, : len(spectrum)])
    diagonal = np.zeros(dim)
    diagonal[: len(spectrum)] = equal @ entries / equal.sum(axis=1)
    return float(np.linalg.norm(rotated - np.diag(diagonal), 2) / threshold_of(dim, gammas))
