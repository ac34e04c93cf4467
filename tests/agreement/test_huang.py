"""Feature learning: the reduced network against the full one at the paper's size, and theory against training."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet_papers.huang import misprints
from linnet_papers.huang.grids.equations import relative_errors
from linnet_papers.huang.training.runs import train_inside, train_section_six


@pytest.fixture(scope="module")
def run():
    return train_section_six(3)


def test_reduced_run_is_the_full_network_of_ten_million_weights(run):
    """Section 6 at its own size, d = 10 000 and m = 1024, past t1 to the end of the drop, by the paper's eq. (2) in
    NumPy."""
    X, y, m, n, eta = run.data.inputs, run.data.outputs, 1024, 10, 0.1
    W, v = 32 * run.start.first, 32 * run.start.second[0]  # sqrt(m) times the canonical weights
    feature, gram = X.T @ y, X @ X.T
    overlaps = W @ feature
    history, losses, worst = run.history, [], {"alignments": 0.0, "magnitudes": 0.0, "kernels": 0.0}
    for step in range(26):
        images = X @ W.T
        residual = y - images @ v / m
        losses.append(residual @ residual / (2 * n))
        seen = {
            "alignments": W @ feature - overlaps,
            "magnitudes": v,
            "kernels": ((v @ v) * gram + images @ images.T) / m,
        }
        for name, value in seen.items():
            scale = np.linalg.norm(getattr(history, name)[26])
            worst[name] = max(worst[name], float(np.linalg.norm(getattr(history, name)[step] - value) / scale))
        W, v = W + eta / (m * n) * np.outer(v, X.T @ residual), v + eta / (m * n) * (W @ (X.T @ residual))
    assert losses[-1] < 1e-3 * losses[0]
    assert_allclose(history.loss[:26], losses, atol=1e-10 * losses[0])
    assert max(worst.values()) < 1e-10


def test_section_6_reference_numbers(run):
    history, share = run.history, run.loss_share
    last = np.flatnonzero(share > 0.95)[-1]
    assert abs(history.median_ratio[last] - 1) < 0.05
    assert abs(history.median_ratio[-1] - 1) < 0.01
    assert abs(history.mean_square[-1] / run.stages.limit - 1) < 0.02
    assert history.kernel_cosine[last:].min() > 0.999


def test_plane_tracks_every_neuron_from_the_start(run):
    history = run.history
    zero = np.zeros(run.start.width)
    predicted = run.stages.two_variable(zero, history.magnitudes[0], run.steps[:30], overlaps=history.overlaps)
    assert relative_errors(predicted[0], history.alignments[:30]).max() < 2e-3
    assert relative_errors(predicted[1], history.magnitudes[:30]).max() < 2e-3
    begin = run.first_state_at_share(0.95)  # the control: the printed system, from the end of stage 1
    since = run.steps[begin:] - run.steps[begin]
    alone = misprints.plane(run.stages, history.alignments[begin], history.magnitudes[begin], since)
    assert relative_errors(alone[0], history.alignments[begin:]).max() > 0.2


def test_first_times_on_data_inside_the_assumption():
    run = train_inside(1, dim=2000, width=128)
    checked = ln.theories.feature_learning.assumption(run.data, epsilon=0.01, **run.scales)
    assert checked.holds, str(checked)
    assert misprints.assumption(run.data, epsilon=0.01, **run.scales).holds
    measured = run.history.alignment_time()
    assert_allclose(run.stages.first_time(), measured, rtol=0.01)
    printed = misprints.first_time(run.scales["magnitude"], samples=10, signal=run.data.signal, trace=run.data.trace)
    assert abs(printed / measured - 1) > 0.2  # the control


def test_second_time_by_the_proxy():
    run = train_inside(1, dim=2000, width=128)
    history, stages = run.history, run.stages
    first = history.alignment_time()
    for share in (0.5, 0.1):
        # the proxy knows the aligned part only: right to a few percent while that is most of what is left
        wait = stages.second_time(
            share, initial_alignment=float(np.sqrt(np.interp(first, history.times, history.mean_square)))
        )
        assert_allclose(first + wait, history.loss_time(1 - share), rtol=0.03)


def test_a_start_that_is_mostly_first_layer_needs_its_scale():
    heavy = train_section_six(2, dim=1500, width=100, first_std=1e-5, magnitude=1e-7, eta=1e-3, steps=4000)
    measured = heavy.history.alignment_time()
    stages = heavy.stages
    assert_allclose(stages.first_time(), measured, rtol=0.03)
    assert np.arcsinh(1 / (stages.magnitude * np.sqrt(stages.gamma))) / stages.rate > 1.3 * measured  # the control
