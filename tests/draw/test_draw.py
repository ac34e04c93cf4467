"""What `ln.draw` puts on its axes: the right numbers at the right places, trained thick and predicted dashed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linnet as ln
from linnet import style
from linnet.draw.planes import cell_edges

pytest.importorskip("matplotlib")
TASK = ln.problems.low_rank_plus_noise(20, rank=1, key=0)


@pytest.fixture(scope="module")
def pair():
    problem = ln.Problem.from_target(np.diag([2.0, 1.0]), truth=np.diag([2.0, 0.0]))
    weights = ln.inits.gaussian(key=0, in_dim=2, out_dim=2, width=900, stds=0.01)
    run = ln.gradient_flow(problem, weights, times=np.linspace(0, 4, 7))
    return run, ln.predict(problem, weights, run.times)


def test_modes_of_a_run_are_thick_and_of_a_prediction_dashed(pair):
    run, prediction = pair
    trained, predicted = ln.draw.modes(run, prediction).lines[:2], ln.draw.modes(run, prediction).lines[2:4]
    for mode in range(2):
        assert_allclose(trained[mode].get_ydata(), run.singular_values[:, mode])
        assert_allclose(predicted[mode].get_ydata(), prediction.modes[:, mode])
        assert trained[mode].get_linewidth() > predicted[mode].get_linewidth()
        assert trained[mode].get_linestyle() == "-" and predicted[mode].get_linestyle() == "--"


def test_losses_have_training_and_test(pair):
    axis = ln.draw.losses(*pair)
    labels = {line.get_label(): line.get_ydata() for line in axis.lines}
    assert_allclose(labels["test, predicted"], pair[1].test_loss)
    assert_allclose(labels["training"], pair[0].loss)
    assert len(pair[1].plot().axes) == 2


def test_axes_that_are_given_are_drawn_on(pair):
    with style.applied():
        picture, axes = style.subplots(1, 2)
    assert ln.draw.modes(pair[0], ax=axes[0]) is axes[0] and ln.draw.losses(pair[0], ax=axes[1]) is axes[1]
    with pytest.raises(ValueError, match="`ax` must be"):
        ln.draw.modes(pair[0], ax=picture)
    for wrong in (np.eye(2), ln.Problem.from_target(np.eye(2))):  # a problem has a loss, too
        with pytest.raises(ValueError, match="`run` must be a trajectory or a prediction"):
            ln.draw.losses(wrong)


def test_cells_meet_half_way_on_a_logarithmic_axis():
    assert_allclose(cell_edges(np.array([1.0, 100.0, 400.0])), [0.1, 10.0, 200.0, 800.0])
    assert_allclose(cell_edges(np.array([3.0])), [3 / 2**0.5, 3 * 2**0.5])


def test_a_phase_diagram_hatches_what_is_uncertain_and_shows_the_threshold():
    diagram = ln.phase_diagram(TASK, [1e-4, 1e-2], [400, 2000])
    uncertain = np.array([[0.01, 0.2], [0.01, 0.01]])
    unsure = ln.PhaseDiagram(**{**vars(diagram), "uncertainty": uncertain})
    axis = ln.draw.phase_diagram(unsure, diagram)
    hatched = [one for one in axis.collections if one.get_hatch()]
    assert len(hatched) == 1 and len(hatched[0].get_paths()) == 1
    assert_allclose(
        hatched[0].get_paths()[0].vertices.min(axis=0),
        [cell_edges(diagram.variances)[1], cell_edges(diagram.widths)[0]],
    )
    line = axis.lines[0]
    assert_allclose(line.get_xdata() * line.get_ydata(), np.linalg.norm(TASK.cross, 2))
    assert not [one for one in diagram.plot().collections if one.get_hatch()]


def test_an_animation_shows_the_product_of_each_time(pair):
    animation = ln.draw.animate(pair[1])
    animation._func(3)  # type: ignore[attr-defined]
    assert_allclose(animation._fig.axes[0].images[0].get_array(), pair[1].products[3])  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="`run` must be a single one"):
        ln.draw.animate(ln.predict(ln.Problem.from_target(np.zeros((2, 1, 1))), ln.Weights([[1.0]], [[1.0]]), [1.0]))


@pytest.mark.parametrize("draw", [ln.draw.modes, ln.draw.losses, ln.draw.animate, ln.draw.phase_diagram])
@pytest.mark.parametrize("value", [3, "a", [1.0], ln.Weights([[1.0]], [[1.0]])])
def test_what_is_no_result_is_refused_by_name(draw, value):
    with pytest.raises(ValueError, match=r"`(run|diagram)` must be a"):
        draw(value)
