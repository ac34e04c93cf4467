"""Sentences of a diagnosis that were wrong on tables on which somebody followed them."""

import numpy as np
import pytest

import linnet as ln
from linnet.forecasts import read, threshold_curve


@pytest.fixture(scope="module")
def untrained():
    """Three targets of twenty rows, of which nothing can be learned: the error is least before the first step."""
    from sklearn.datasets import load_linnerud

    table = load_linnerud()
    return ln.diagnose(table.data, table.target, folds=3, seeds=1, steps=400)


def test_step_zero_means_do_not_train(untrained):
    """It said to stop at step 0, and that the network beats ridge."""
    assert untrained.stop == 0
    said = str(untrained)
    assert said.startswith("Do not train the network: its held-out error is smallest before the first step")
    assert "stop at step" not in said and "Use the network" not in said
    from linnet.forecasts._diagnosis_sentences import headline

    assert headline(untrained.to_dataset())["stop at step"] == "do not train"


def test_the_rate_is_said_to_belong_to_one_initialization(untrained):
    """ "5% above diverges, 5% below does not" was false for three of ten other initializations."""
    rate = untrained.forecast.largest_stable_rate.rate
    assert f"Take at most {0.8 * rate:.3g}, 0.8 of it." in str(untrained)


def test_a_difference_that_is_not_significant_is_not_equality():
    """ "No different from ridge (-17.6% +- 11.8%)"."""
    draw = np.random.default_rng(3)
    X = draw.normal(size=(24, 6))
    noisy = ln.diagnose(X, X @ draw.normal(size=(6, 1)) + 3 * draw.normal(size=(24, 1)), seeds=1, steps=200)
    X = draw.normal(size=(600, 4))
    clear = ln.diagnose(X, X @ draw.normal(size=(4, 1)) + draw.normal(size=(600, 1)), seeds=1, steps=400)
    assert "cannot be decided here" in str(noisy) and "as good" not in str(noisy)
    assert "The network is as good but not better" in str(clear)


@pytest.mark.slow
def test_the_initial_product_is_tried_too():
    """ "Does the scale matter? Hardly", although the network went from 0.782 to 0.745 with 0.3 of the scale."""
    problem = ln.problems.spiked_covariance(100, spike=20.0, alignment=1.0, samples=200, noise_std=21**0.5, key=0)
    diagnosis = ln.diagnose(problem.inputs, problem.outputs)
    assert diagnosis.trial.init_scale == 0.3 and diagnosis.trial.helps
    assert "help little apart from their initial product" in str(diagnosis)
    curve = diagnosis.comparison.thresholds
    assert curve.errors_at(curve.thresholds[2]) == pytest.approx(curve.errors[2])


@pytest.mark.parametrize("text", ["a;y\n1,234;1\n987;2\n2,500;5\n", "a\ty\n-1,234\t1\n12,345\t3\n"])
def test_commas_before_three_digits_are_not_guessed(tmp_path, text):
    """1,234 was read as 1.234, with a remark."""
    path = tmp_path / "table.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"numbers like '-?1,234', which may be -?1234 or -?1.234"):
        read(path)
    path.write_text(text + text.splitlines()[1].replace("1,234", "0,123") + "\n")
    assert 1.234 in np.abs(read(path).inputs)


def test_standardizing_columns_hides_a_strong_direction():
    """Standardized, a spike along which the target lies is divided by its own strength."""
    problem = ln.problems.spiked_covariance(100, spike=20.0, alignment=1.0, samples=200, noise_std=21**0.5, key=0)
    X, y = problem.inputs, problem.outputs
    curve = threshold_curve(ln.forecasts.all_folds(X, y, preprocess="center"))
    assert curve.mean[[0, -1]] == pytest.approx([0.518, 0.521], abs=6e-4)
    standardized = threshold_curve(ln.forecasts.all_folds(X, y))
    assert standardized.mean.min() == pytest.approx(0.7166, abs=6e-4)
