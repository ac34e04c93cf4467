"""Data and descent as Huang et al. have them, in NumPy alone: what the tests of their errata train.

Descent (2) moves w_r within the span of the samples, so that X w_r says all that is needed of it: with K = XX' a
network of any number of inputs is (P, v), P the matrix of the X w_r, (neuron, sample), which starts as N(0, s0^2 K).
"""

from __future__ import annotations

import numpy as np

N, D, M = 10, 10_000, 1024


class Data:
    """n samples of d standard normal inputs, a teacher of length `signal` (None: as drawn), noisy labels."""

    def __init__(self, signal=1.0, seed=0, n=N, d=D, noise=0.1):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        beta = rng.standard_normal(d)
        signal = np.linalg.norm(beta) if signal is None else signal
        self.y = X @ beta * (signal / np.linalg.norm(beta)) + noise * rng.standard_normal(n)
        self.K = X @ X.T
        self.n, self.d, self.signal, self.trace = n, d, signal, float(d)
        self.gamma = self.y @ self.K @ self.y

    def scales(self, *, share=0.1, r=None):
        """sigma_0 and v_0: that share of what (2) and (3) allow with constants 1; or v_0 from r."""
        size = self.n * self.signal**2 * self.trace
        s0 = share * min(1 / np.sqrt(size * self.d), 0.1 / size**0.25)
        return s0, (share / np.sqrt(size) if r is None else r * s0 * np.sqrt(np.log(M)))


class Run:
    """Descent (2), growth per step eta sqrt(gamma)/(n m) = `growth`."""

    def __init__(self, data, s0, v0, *, seed=0, growth=0.02, m=M, left=1e-4, steps=3000):
        rng = np.random.default_rng([seed, 1])
        y, K = data.y, data.K
        P = s0 * rng.standard_normal((m, data.n)) @ np.linalg.cholesky(K + 1e-9 * np.trace(K) * np.eye(data.n)).T
        v = v0 * rng.choice([-1.0, 1.0], m)
        rate = growth / np.sqrt(data.gamma)  # eta/(n m)
        self.data, self.P0, self.v0, self.rate = data, P, v.copy(), rate
        self.states = []
        for _ in range(steps):
            gap = y - v @ P / m
            self.states.append((P, v, gap @ gap / (y @ y)))
            if gap @ gap < left * (y @ y):
                break
            P, v = P + rate * np.outer(v, K @ gap), v + rate * P @ gap

    def rho(self, k):
        return (self.states[k][0] - self.P0) @ self.data.y

    def first(self):
        """The first step at which the median |rho| is 1 or more."""
        return next(k for k in range(len(self.states)) if np.median(np.abs(self.rho(k))) >= 1)

    def kernel(self, k):
        """m times (4)."""
        P, v, _ = self.states[k]
        return (v @ v * self.data.K + P.T @ P) / len(v)

    @property
    def loss(self):
        return np.array([state[2] for state in self.states])


def aligned(data):
    """The target-aligned kernel over v^2."""
    Ky = data.K @ data.y
    return data.K + np.outer(Ky, Ky) / data.gamma
