"""Phase diagrams under spectral descent, Muon and weight decay, against trained networks."""

import numpy as np
import pytest

import linnet as ln
from linnet.theories.lazy_active import predicted_diagram
from linnet.trainers.updates import Muon, NormalizedDescent, SpectralDescent

TASK = ln.problems.low_rank_plus_noise(16, rank=2, key=3)
TOP = float(np.linalg.norm(TASK.cross, 2))
WIDTHS, THRESHOLDS = [40, 10_000], [0.01, 2.0]


def start(width, threshold, key=0):
    return ln.inits.reduced_gaussian(key=key, in_dim=16, out_dim=16, width=width, stds=np.sqrt(threshold / width))


@pytest.mark.parametrize(
    "update",
    [
        pytest.param(SpectralDescent(), marks=pytest.mark.slow, id="spectral"),
        pytest.param(Muon(scaling=None), id="muon"),
    ],
)
def test_clipping_is_what_spectral_descent_and_muon_do_in_every_cell(update):
    for width in WIDTHS:
        told = predicted_diagram(TASK, np.array(THRESHOLDS) / width, [width], update=update)
        for column, threshold in enumerate(THRESHOLDS):
            time = 1.3 * np.sqrt(TOP)
            run = ln.gradient_descent(
                TASK, start(width, threshold), learning_rate=time / 1500, steps=1500, update=update, keep="losses"
            )
            off = abs(run.test_loss.min() / told.min_test_loss[0, column] - 1)
            assert off < told.uncertainty[0, column] < 0.5
    descent = predicted_diagram(TASK, [1e-6], [10_000])
    assert descent.min_test_loss[0, 0] < 0.4 * told.min_test_loss[0, 0]  # the control: descent is another matter


@pytest.mark.parametrize("decay", [pytest.param(0.5, marks=pytest.mark.slow), 4.0])
def test_weight_decay_in_every_cell(decay):
    for width in (200, 10_000):
        told = predicted_diagram(TASK, np.array(THRESHOLDS) / width, [width], weight_decay=decay)
        assert (told.uncertainty < 0.2).all()
        for column, threshold in enumerate(THRESHOLDS):
            starts = ln.Weights.stack([start(width, threshold, key) for key in range(6)])
            times = np.append(np.geomspace(0.01, 8, 100), 50.0)
            run = ln.gradient_flow(TASK, starts, times=times, weight_decay=decay, rtol=1e-7)
            least = run.test_loss.min(axis=0)
            error = least.std(ddof=1) / np.sqrt(6) / least.mean()
            off = abs(least.mean() / told.min_test_loss[0, column] - 1)
            assert off < told.uncertainty[0, column] + 3 * error + 0.002  # the last of the grid of times
    plain = predicted_diagram(TASK, [2e-4], [10_000])
    assert decay == 0.5 or told.min_test_loss[0, 1] < 0.9 * plain.min_test_loss[0, 0]  # the control


def test_the_end_is_the_soft_threshold():
    told = predicted_diagram(TASK, [1e-6], [10**6], weight_decay=9.0)
    left, values, right = np.linalg.svd(TASK.cross)
    soft = (left * np.maximum(values - 9.0, 0)) @ right
    assert np.isinf(told.best_time[0, 0])
    assert told.min_test_loss[0, 0] == pytest.approx(0.5 * ((soft - TASK.truth) ** 2).sum(), rel=1e-10)


def test_cells_without_a_formula_are_nan_and_nonsense_is_refused():
    for options in ({"update": SpectralDescent()}, {"weight_decay": 0.1}):
        narrow = predicted_diagram(TASK, [1e-3], [8], **options)
        assert np.isnan(narrow.min_test_loss).all() and np.isinf(narrow.uncertainty).all()
        assert not narrow.covered.any()
        with pytest.raises(ValueError, match="`update` and `weight_decay` are for two layers"):
            predicted_diagram(TASK, [1e-3], [50], depth=3, **options)
    for update in (NormalizedDescent(), Muon(weight_decay=0.1), "adam"):
        with pytest.raises(ValueError, match=r"`update` must be `trainers\.updates\.SpectralDescent"):
            predicted_diagram(TASK, [1e-3], [50], update=update)
    assert np.isnan(predicted_diagram(TASK, [1e-3], [50], update=Muon()).best_time).all()
