"""Denoising against optimal shrinkage, thresholds and an oracle: true errors as ratios, and the time of one SVD.

    python benchmarks/denoise.py               20 draws of each setting; the tables of docs/benchmarks/denoising.md
    python benchmarks/denoise.py --draws 5
    python benchmarks/denoise.py --cases       the second table alone: noise that is not white, gaps, photographs

Ratios are to the best spectral filter, an oracle (each singular value is replaced by its part of the signal), and in
the second table to the best truncation, also chosen knowing the signal. In the first, optimal shrinkage, hard and
soft thresholds know the noise, as does the first column of `denoise`; in the second no method does.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import linnet as ln
from linnet.theories.noise_bulk import bulk_quantile

SETTINGS = [  # shape, rank, strength of the signals in units of the noise's own
    ((200, 200), 1, 2.0),
    ((200, 200), 5, 1.3),
    ((200, 200), 5, 2.0),
    ((200, 200), 5, 5.0),
    ((200, 200), 40, 2.0),
    ((100, 300), 5, 1.5),
    ((100, 300), 20, 1.5),
    ((100, 300), 20, 3.0),
    ((40, 400), 4, 2.0),
    ((60, 60), 3, 2.0),
    ((60, 60), 20, 1.5),
    ((60, 60), 20, 3.0),
    ((25, 25), 5, 2.0),
]


def shrunk(s: np.ndarray, ratio: float) -> np.ndarray:
    """Gavish and Donoho's optimal shrinkage for the Frobenius loss; s in units of the noise's own."""
    inside = np.maximum((s**2 - ratio - 1) ** 2 - 4 * ratio, 0)
    return np.where(s > 1 + np.sqrt(ratio), np.sqrt(inside) / s, 0.0)


def hard(s: np.ndarray, ratio: float) -> np.ndarray:
    """Their optimal hard threshold: 4/sqrt(3) for square matrices."""
    cut = np.sqrt(2 * (ratio + 1) + 8 * ratio / (ratio + 1 + np.sqrt(ratio**2 + 14 * ratio + 1)))
    return np.where(s > cut, s, 0.0)


def soft(s: np.ndarray, ratio: float) -> np.ndarray:
    """The soft threshold at the edge of the noise."""
    return np.maximum(s - 1 - np.sqrt(ratio), 0.0)


def compared(shape: tuple[int, int], rank: int, strength: float, draws: int) -> dict[str, float]:
    """Mean ratios of true squared errors to that of the best filter in hindsight."""
    draw = np.random.default_rng([*shape, rank, int(10 * strength)])
    unit, ratio = np.sqrt(max(shape)), min(shape) / max(shape)
    ratios: dict[str, list[float]] = {}
    for _ in range(draws):
        u, v = (np.linalg.qr(draw.normal(size=(n, rank)))[0] for n in shape)
        truth = strength * unit * (u * draw.uniform(0.7, 1.5, rank)) @ v.T
        noisy = truth + draw.normal(size=shape)
        left, s, right = np.linalg.svd(noisy, full_matrices=False)
        held, power = np.einsum("im,im->m", left, truth @ right.T), (truth**2).sum()
        best = power - (np.maximum(held, 0) ** 2).sum()
        estimates = {
            "ours": np.asarray(ln.denoise(noisy, noise_std=1.0).matrix),
            "ours, noise estimated": np.asarray(ln.denoise(noisy).matrix),
            "optimal shrinkage": (left * (unit * shrunk(s / unit, ratio))) @ right,
            "hard threshold": (left * (unit * hard(s / unit, ratio))) @ right,
            "soft threshold": (left * (unit * soft(s / unit, ratio))) @ right,
        }
        for name, estimate in estimates.items():
            ratios.setdefault(name, []).append(float(((estimate - truth) ** 2).sum() / best))
    return {name: float(np.mean(values)) for name, values in ratios.items()}


Case = tuple[np.ndarray, np.ndarray]  # the truth, and what is seen of it: NaN where an entry is missing


def low_rank(draw: np.random.Generator, shape: tuple[int, int], rank: int, strength: float) -> np.ndarray:
    u, v = (np.linalg.qr(draw.normal(size=(n, rank)))[0] for n in shape)
    return strength * np.sqrt(max(shape)) * (u * draw.uniform(0.7, 1.5, rank)) @ v.T


def white(draw: np.random.Generator) -> Case:
    truth = low_rank(draw, (100, 80), 3, 2.5)
    return truth, truth + draw.normal(size=truth.shape)


def uneven_rows(draw: np.random.Generator) -> Case:
    """Noise from 0.2 to 5 by rows."""
    truth = low_rank(draw, (100, 80), 3, 5.0)
    return truth, truth + np.geomspace(0.2, 5, 100)[:, None] * draw.normal(size=truth.shape)


def correlated(draw: np.random.Generator) -> Case:
    """Noise of one variance along rows that remember 0.6 of the entry before."""
    truth, noise = low_rank(draw, (100, 80), 3, 5.0), draw.normal(size=(100, 80))
    for j in range(1, 80):
        noise[:, j] = 0.6 * noise[:, j - 1] + 0.8 * noise[:, j]
    return truth, truth + noise


def missing(draw: np.random.Generator) -> Case:
    """Half of the entries, at random."""
    truth, noisy = white(draw)
    return truth, np.where(draw.random(truth.shape) < 0.5, np.nan, noisy)


def ratings(draw: np.random.Generator) -> Case:
    """A recommender's matrix: levels of users and items, rank 2 of tastes, a fifth seen, some often."""
    users, items = 120, 90
    truth = 3.5 + 0.4 * draw.normal(size=(users, 1)) + 0.5 * draw.normal(size=(1, items))
    truth = truth + 0.4 * draw.normal(size=(users, 2)) @ draw.normal(size=(2, items))
    seen = draw.random(truth.shape) < np.clip(
        0.2 * draw.gamma(2, 0.5, (users, 1)) * draw.gamma(2, 0.5, (1, items)), 0.06, 1
    )
    seen[np.arange(users), draw.integers(items, size=users)] = True
    seen[draw.integers(users, size=items), np.arange(items)] = True
    return truth, np.where(seen, np.clip(np.round(truth + 0.7 * draw.normal(size=truth.shape)), 1, 5), np.nan)


def photograph(index: int) -> Callable[[np.random.Generator], Case]:
    """One of scikit-learn's two photographs, gray, every third pixel, with noise of a tenth of its range."""

    def case(draw: np.random.Generator) -> Case:
        from sklearn.datasets import load_sample_images

        truth = load_sample_images().images[index].mean(axis=2)[::3, ::3] / 255
        return truth, truth + 0.1 * draw.normal(size=truth.shape)

    return case


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "white, rank 3 of 100 x 80": white,
    "noise 0.2 to 5 by rows": uneven_rows,
    "correlated along rows, 0.6": correlated,
    "half of the entries missing": missing,
    "ratings, a fifth seen": ratings,
    "photograph (temple)": photograph(0),
    "photograph (flower)": photograph(1),
}


def filled_by(noisy: np.ndarray, estimate: Callable[[np.ndarray], np.ndarray], turns: int = 100) -> np.ndarray:
    """An estimate of a matrix with gaps: they are filled with it, in turns, from the mean."""
    seen = ~np.isnan(noisy)
    current = np.where(seen, noisy, np.nanmean(noisy))
    if seen.all():
        return estimate(current)
    found = current
    for _ in range(turns):
        before, found = found, estimate(current)
        current = np.where(seen, noisy, found)
        if np.linalg.norm(found - before) <= 1e-4 * np.linalg.norm(found):
            break
    return found


def estimate_at(estimate: Callable[[np.ndarray, Any], np.ndarray], choice: float, data: np.ndarray) -> np.ndarray:
    return estimate(data, choice)


def truncated(data: np.ndarray, rank: int) -> np.ndarray:
    left, s, right = np.linalg.svd(data, full_matrices=False)
    return (left[:, :rank] * s[:rank]) @ right[:rank]


def softened(data: np.ndarray, cut: float) -> np.ndarray:
    left, s, right = np.linalg.svd(data, full_matrices=False)
    return (left * np.maximum(s - cut, 0)) @ right


def gavish_donoho(data: np.ndarray) -> np.ndarray:
    """Optimal shrinkage with the noise from the median singular value, as published."""
    left, s, right = np.linalg.svd(data, full_matrices=False)
    unit, ratio = np.sqrt(max(data.shape)), min(data.shape) / max(data.shape)
    noise = np.median(s) / (unit * bulk_quantile(0.5, ratio))
    return (left * (noise * unit * shrunk(s / (noise * unit), ratio))) @ right


def cross_validated(
    noisy: np.ndarray, estimate: Callable[[np.ndarray, float], np.ndarray], choices: np.ndarray
) -> np.ndarray:
    """The estimate of the choice that predicts a tenth of the seen entries best, twice left out."""
    draw, errors = np.random.default_rng(0), np.zeros(len(choices))
    for _ in range(2):
        out = (draw.random(noisy.shape) < 0.1) & ~np.isnan(noisy)
        rest = np.where(out, np.nan, noisy)
        errors += [((filled_by(rest, partial(estimate_at, estimate, c), 30) - noisy)[out] ** 2).sum() for c in choices]
    best = choices[int(np.argmin(errors))]
    return filled_by(noisy, lambda a: estimate(a, best))


def compared_case(case: Callable[[np.random.Generator], Case], draws: int) -> dict[str, float]:
    """Mean ratios of squared errors to that of the best truncation in hindsight of the matrix without gaps."""
    ratios: dict[str, list[float]] = {}
    for seed in range(draws):
        truth, noisy = case(np.random.default_rng([seed, 7]))
        top = np.linalg.svd(np.where(np.isnan(noisy), np.nanmean(noisy), noisy), compute_uv=False)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of noise that is not of one variance
            ours = ln.denoise(noisy)
        ranks, cuts = np.arange(1, 16), top * np.geomspace(0.5, 0.01, 12)
        found = {
            "ours": np.asarray(ours.matrix),
            "optimal shrinkage": filled_by(noisy, gavish_donoho),
            "soft-impute, cross-validated": cross_validated(noisy, softened, cuts),
            "truncated SVD, cross-validated": cross_validated(noisy, lambda a, r: truncated(a, int(r)), ranks),
        }
        hindsight = min(
            ((filled_by(noisy, partial(estimate_at, truncated, r)) - truth) ** 2).sum() for r in range(1, 31)
        )
        for name, matrix in found.items():
            ratios.setdefault(name, []).append(float(((matrix - truth) ** 2).sum() / hindsight))
        gap = ((noisy - truth)[~np.isnan(noisy)] ** 2).mean() ** 0.5
        ratios.setdefault("noise found / true", []).append(ours.noise_std / gap)
    return {name: float(np.mean(values)) for name, values in ratios.items()}


def print_cases(draws: int) -> None:
    names: list[str] = []
    for label, case in CASES.items():
        found = compared_case(case, draws)
        if not names:
            names = list(found)
            print("| case | " + " | ".join(names) + " |\n" + "|---" * (1 + len(names)) + "|")
        least = min(found[name] for name in names[:-1])
        entries = [f"**{found[n]:.2f}**" if found[n] == least and n != names[-1] else f"{found[n]:.2f}" for n in names]
        print(f"| {label} | " + " | ".join(entries) + " |", flush=True)


def main() -> None:
    if "--cases" in sys.argv:
        return print_cases(int(sys.argv[sys.argv.index("--draws") + 1]) if "--draws" in sys.argv else 5)
    draws = int(sys.argv[sys.argv.index("--draws") + 1]) if "--draws" in sys.argv else 20
    rows = [(shape, rank, strength, compared(shape, rank, strength, draws)) for shape, rank, strength in SETTINGS]
    names = list(rows[0][3])
    print("| matrix | rank | strength | " + " | ".join(names) + " |")
    print("|---" * (3 + len(names)) + "|")
    for shape, rank, strength, found in rows:
        least = min(found.values())
        entries = [f"**{found[name]:.3f}**" if found[name] == least else f"{found[name]:.3f}" for name in names]
        print(f"| {shape[0]} x {shape[1]} | {rank} | {strength:g} | " + " | ".join(entries) + " |")
    print_cases(min(draws, 5))
    matrix = np.random.default_rng(0).normal(size=(1000, 1000))
    began = time.process_time()
    np.linalg.svd(matrix)
    plain = time.process_time() - began
    began = time.process_time()
    ln.denoise(matrix)
    print(f"1000 x 1000: {(time.process_time() - began) / plain:.2f} times its SVD ({plain:.2f} s; target 3 times)")


if __name__ == "__main__":
    main()
