"""The networks of the table of phase times, against SciPy at full width."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.watanabe.training import phases
from reference import flow


def test_phase_times_are_those_of_the_full_network() -> None:
    """One cell of the table against SciPy at full width."""
    dim, width, scale, spike, alignment = 6, 9, 1e-5, 5.0, 0.5
    fixed = {"dim": dim, "width": width, "scale": scale}
    found = phases.phase_cells({"spike": np.array([spike]), "alignment": np.array([alignment])}, np.array([7]), **fixed)
    times, w1, w2 = (found[name][1][0] for name in ("times", "w1", "w2"))
    beta = np.zeros(dim)
    beta[:2] = alignment, np.sqrt(1 - alignment**2)
    cov = np.eye(dim)
    cov[0, 0] += spike
    cross = (cov @ beta)[None]
    weights = ln.inits.gaussian(key=7, in_dim=dim, out_dim=1, width=width, stds=(scale / dim**0.5, scale / width**0.5))
    first, _ = flow(cov, cross, weights.layers, times)
    v1 = cross[0] / np.linalg.norm(cross)
    v2 = np.zeros(dim)
    v2[0], v2[1] = -v1[1], v1[0]
    r = weights.first @ v1 + weights.second[0]
    r /= np.linalg.norm(r)
    np.testing.assert_allclose(found["u0"], np.linalg.norm(weights.first @ v1 + weights.second[0]) / 2, rtol=1e-12)
    np.testing.assert_allclose(w1, first @ v1 @ r, atol=1e-8)
    np.testing.assert_allclose(np.abs(w2), np.abs(first @ v2 @ r), atol=1e-8)
    assert w2[-1] > 0.2
