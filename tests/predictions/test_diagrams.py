"""One door for phase diagrams: formula and training agree, and what training cannot do is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet.trainers.updates import Muon, SpectralDescent

TASK = ln.problems.low_rank_plus_noise(20, rank=1, key=0)


def test_formula_and_training_agree():
    """Cells of all regimes: the means over networks are within twice their uncertainties, and 1% for large steps."""
    plane = [1e-6, 1e-3, 1e-1], [8, 400]
    predicted = ln.phase_diagram(TASK, *plane)
    trained = ln.phase_diagram(TASK, *plane, method="train", networks=12)
    apart = np.abs(trained.min_test_loss / predicted.min_test_loss - 1)
    assert (apart < 2.5 * np.hypot(predicted.uncertainty, trained.uncertainty) + 0.01).all()
    assert_allclose(trained.best_time, predicted.best_time, rtol=0.1)
    assert_allclose(trained.stable_rank, predicted.stable_rank, rtol=0.1)
    assert (
        trained.min_test_loss.shape == (2, 3) and np.ptp(predicted.min_test_loss) > 0.3 * predicted.min_test_loss.min()
    )


def test_a_diagram_is_a_dataset():
    data = ln.phase_diagram(TASK, [1e-4], [400, 1000], depth=3).to_dataset()
    assert data["min_test_loss"].dims == ("width", "variance") and data.attrs["depth"] == 3
    assert set(data.data_vars) == {"min_test_loss", "best_time", "stable_rank", "uncertainty"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "`method` must be 'predict' or 'train'"),
        ({"method": "train", "depth": 3}, "`depth` must be 2 for method='train'"),
        ({"depth": 7}, "`depth` must be at most 6"),
    ],
)
def test_what_no_method_does_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ln.phase_diagram(TASK, [1e-4], [400], **options)


def test_a_problem_without_a_truth_is_refused():
    with pytest.raises(ValueError, match="`truth`"):
        ln.phase_diagram(ln.Problem.from_target(np.eye(2)), [1e-4], [400])


OTHERS = {
    "spectral": {"update": SpectralDescent()},
    "muon": {"update": Muon(scaling=None)},
    "decay": {"weight_decay": 3.0},
}


@pytest.mark.parametrize("options", OTHERS.values(), ids=OTHERS)
def test_other_updates_and_decay_are_trained_and_predicted(options):
    task, variances, widths = ln.problems.low_rank_plus_noise(12, rank=1, key=5), [1e-6, 2e-3], [2000]
    told = ln.phase_diagram(task, variances, widths, **options)
    trained = ln.phase_diagram(task, variances, widths, method="train", networks=2, **options)
    assert (abs(trained.min_test_loss / told.min_test_loss - 1) < told.uncertainty + 0.01).all()
    plain = ln.phase_diagram(task, variances, widths)
    assert abs(trained.min_test_loss / plain.min_test_loss - 1)[0, 1] > 0.05  # the control
    if options == OTHERS["spectral"]:
        assert (abs(trained.best_time / told.best_time - 1) < 0.1).all()
