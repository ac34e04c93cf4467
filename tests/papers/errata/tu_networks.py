"""Networks, tasks and descent as Tu et al. have them, in NumPy alone: what the tests of their errata train.

Descent moves the weights of a wide network by combinations of the rows of W_1 and the columns of W_2: a QR
decomposition of [W_1, W_2^T] leaves a network of width 2d with the same products, and its triangular factor for
Gaussian weights is drawn directly (Bartlett), at any width.
"""

from __future__ import annotations

import numpy as np


def task(d, strengths, seed=0):
    """A*, with singular values a_i d, and E with standard normal entries."""
    rng = np.random.default_rng([seed, d])
    sides = [np.linalg.qr(rng.standard_normal((d, len(strengths))))[0] for _ in range(2)]
    return sides[0] * (np.array(strengths) * d) @ sides[1].T, rng.standard_normal((d, d))


def start(d, w, variance, seed=0):
    """W_1 (2d, d), W_2 (d, 2d) with the law of reduced Gaussian layers of width w; plain ones where w < 2d."""
    rng = np.random.default_rng([seed, d, 1])
    if w < 2 * d:
        return np.sqrt(variance) * rng.standard_normal((w, d)), np.sqrt(variance) * rng.standard_normal((d, w))
    R = np.triu(rng.standard_normal((2 * d, 2 * d)), 1) + np.diag(np.sqrt(rng.chisquare(w - np.arange(2 * d))))
    return np.sqrt(variance) * R[:, :d], np.sqrt(variance) * R[:, d:].T


def scaled(d, gammas):
    """sigma^2 and w."""
    return d ** gammas[0], round(d ** gammas[1])


def train(W1, W2, Y, rate, steps):
    """Eq. (2) with the canonical loss 1/2|A - Y|^2: products."""
    for _ in range(steps):
        A = W2 @ W1
        yield A
        gap = Y - A
        W1, W2 = W1 + rate * W2.T @ gap, W2 + rate * gap @ W1.T


def roots(A, threshold):
    """sqrt(A A^T + threshold^2) and sqrt(A^T A + threshold^2)."""
    U, s, Vt = np.linalg.svd(A)
    r = np.sqrt(s**2 + threshold**2)
    return U * r @ U.T, Vt.T * r @ Vt
