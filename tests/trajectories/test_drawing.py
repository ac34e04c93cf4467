"""A run draws itself, and knows the singular values of its product."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln

pytest.importorskip("matplotlib")


@pytest.mark.parametrize("batch", [None, 3])
def test_losses_and_singular_values(batch):
    start = ln.inits.gaussian(key=0, in_dim=3, out_dim=2, width=5, stds=0.3, batch=batch)
    problem = ln.Problem.from_target(np.ones((2, 3)), truth=np.ones((2, 3))).with_validation(np.eye(3), np.ones((3, 2)))
    run = ln.gradient_descent(problem, start, learning_rate=0.05, steps=9)
    assert_allclose(run.singular_values, np.linalg.svd(run.products, compute_uv=False))
    losses, values = run.plot().axes
    assert [text.get_text() for text in losses.get_legend().get_texts()] == ["training", "test", "held out"]
    assert len(values.lines) == 2 * (batch or 1)
    assert_allclose(values.lines[0].get_ydata(), run.singular_values.reshape(10, -1, 2)[:, 0, 0])
    only = ln.gradient_descent(problem, start, learning_rate=0.05, steps=9, keep="losses")
    assert len(only.plot().axes) == 1
