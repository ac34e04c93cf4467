"""Claims on singular vectors: the tools of appendix A, and how the alignment measure x moves (appendix C)."""

from __future__ import annotations

import numpy as np

from linnet._randomness import generator
from linnet.theories import lazy_active
from linnet_papers.reproduction import (
    Rows,
    Trial,
    at_least,
    below,
    claim,
    corrected,
    fact,
    printed,
    within,
)
from linnet_papers.reproduction.fits import highest
from linnet_papers.tu import misprints
from linnet_papers.tu.settings import BOUND


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
    tried="150 (full: 1500) random perturbations of size $10^{-4}$ to 3, $d = 4$ to 19, $K = 3$, simple and repeated "
    "values",
)
def distance_from_diagonal(trial: Trial) -> Rows:
    draw = generator(key=trial.seed)
    first, second = 0.0, 0.0
    for _ in range(150 if trial.quick else 1500):
        dim = int(draw.integers(4, 20))
        values = np.zeros(dim)
        values[:3] = [(5, 5, 2), (5, 4, 3), (3, 3, 3)][draw.integers(3)]
        reference = np.diag(values)
        near = reference + 10 ** draw.uniform(-4, 0.5) * draw.normal(size=(dim, dim)) / np.sqrt(dim)
        x = float(lazy_active.alignment_defect(near, reference, 3))
        first = highest(first, x / lazy_active.alignment_bound(near, reference, 3))
        left, _, right = np.linalg.svd(near)
        blocks = len(np.unique(values[:3])) + 1
        moved = np.linalg.norm(reference - left.T @ reference @ right.T, 2) / values[0]
        second = highest(second, moved / diagonal_distance_bound(blocks, x))
    yield printed("largest $x$ over the bound of Lemma A.4", first, BOUND)
    yield printed(
        r"largest $\lvert \Sigma - U^\top \Sigma V \rvert/\lvert \Sigma \rvert$ over the bound of Lemma A.5",
        second,
        BOUND,
    )


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


DIFFERENCES = "central differences with $h = 10^{-5}$ of a smooth flow"


@claim(
    "lemma-c5",
    says=r"The rate of change of $\mathrm{tr}(U_{kk}^\top U_{kk})$ is $\mathrm{tr}(U_{kk}^\top \sum_j U_{kj} D_{jk})$.",
    assumes="self-consistent dynamics",
    tried=r"$4 \times 4$, simple spectrum, central differences of the closed form",
    correction="twice the printed right side, as its proof has it",
)
def rotation_rate(trial: Trial) -> Rows:
    draw = generator(key=trial.seed)
    target = np.diag([4.0, 2.5, 1.0, 0.0]) + 0.1 * draw.normal(size=(4, 4))
    start = np.diag([1.5, 0.8, 0.4, 0.1]) + 0.05 * draw.normal(size=(4, 4))
    g, h = 0.5, 1e-5
    before, here, after = lazy_active.self_consistent(target, start, g, [0.1 - h, 0.1, 0.1 + h])
    measured = (sign_fixed_svd(after)[0] ** 2 - sign_fixed_svd(before)[0] ** 2)[range(4), range(4)] / (2 * h)
    ratio = (measured / printed_rotation_rates(*sign_fixed_svd(here), target, g))[:3]
    yield printed(
        "rate of each mode over the printed right side", ratio, within(1e-4, DIFFERENCES, of=misprints.ROTATION)
    )
    yield corrected("rate of each mode over twice the printed right side", ratio / 2, within(5e-5, DIFFERENCES, of=1))


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
