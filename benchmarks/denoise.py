"""Denoising against optimal shrinkage, thresholds and hindsight: true errors as ratios, and the time of one SVD.

    python benchmarks/denoise.py               20 draws of each setting; prints the table of docs/denoising.md
    python benchmarks/denoise.py --draws 5

Ratios are to the best spectral filter in hindsight (each singular value replaced by what the truth holds of it), which
nobody can reach. Optimal shrinkage, hard and soft thresholds know the noise; so does the first column of ours.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import linnet as ln

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
        filters = {
            "ours": ln.denoise(noisy, noise_std=1.0).filtered,
            "ours, noise estimated": ln.denoise(noisy).filtered,
            "optimal shrinkage": unit * shrunk(s / unit, ratio),
            "hard threshold": unit * hard(s / unit, ratio),
            "soft threshold": unit * soft(s / unit, ratio),
        }
        for name, f in filters.items():
            ratios.setdefault(name, []).append(float((f * f - 2 * f * held).sum() + power) / best)
    return {name: float(np.mean(values)) for name, values in ratios.items()}


def main() -> None:
    draws = int(sys.argv[sys.argv.index("--draws") + 1]) if "--draws" in sys.argv else 20
    rows = [(shape, rank, strength, compared(shape, rank, strength, draws)) for shape, rank, strength in SETTINGS]
    names = list(rows[0][3])
    print("| matrix | rank | strength | " + " | ".join(names) + " |")
    print("|---" * (3 + len(names)) + "|")
    for shape, rank, strength, found in rows:
        least = min(found.values())
        entries = [f"**{found[name]:.3f}**" if found[name] == least else f"{found[name]:.3f}" for name in names]
        print(f"| {shape[0]} x {shape[1]} | {rank} | {strength:g} | " + " | ".join(entries) + " |")
    matrix = np.random.default_rng(0).normal(size=(1000, 1000))
    began = time.process_time()
    np.linalg.svd(matrix)
    plain = time.process_time() - began
    began = time.process_time()
    ln.denoise(matrix)
    print(f"1000 x 1000: {(time.process_time() - began) / plain:.2f} times its SVD ({plain:.2f} s; target 3 times)")


if __name__ == "__main__":
    main()
