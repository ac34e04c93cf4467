"""One door for phase diagrams: formula and training agree, and what training cannot do is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln

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
