"""The figures of the spiked-covariance paper, tiny: computed, drawn and checked; and what Figure 5 trains against the
core."""

import numpy as np
import pytest

import linnet as ln
from linnet._randomness import generator
from linnet_papers.watanabe.figures import fig3 as watanabe_fig3
from linnet_papers.watanabe.figures import fig5 as watanabe_fig5
from linnet_papers.watanabe.paper import PAPER
from linnet_papers.watanabe.settings import RunSettings
from linnet_papers.watanabe.training import figure_runs
from linnet_papers.watanabe.training.few_samples import FewSamples

FIGURES = {figure.name: figure for figure in PAPER.figures}


def unnamed(ds):
    """Variables and coordinates without a `long_name`."""
    return [name for name, variable in ds.variables.items() if not variable.attrs.get("long_name")]


def test_figure_5_trains_the_law_of_the_full_network():
    # A start of scale 1 leaves much of itself in the predictor, so that every part of the reduction counts.
    dim, samples, width, spike, alignment, trials = 20, 8, 25, 4.0, 0.6, 150
    settings = {"scale": 1.0, "loss": 1e-10, "tolerance": 1e-3, "dtype": "float64"}
    reduced = [
        FewSamples(dim, samples, width, spike, alignment, **settings).flow_end(seed)["error"] for seed in range(trials)
    ]
    random = np.random.default_rng(0)
    X = random.standard_normal((trials, samples, dim))
    X[:, :, 0] *= np.sqrt(1 + spike)
    beta = np.zeros(dim)
    beta[:2] = alignment, np.sqrt(1 - alignment**2)
    cov = np.diag([1 + spike] + [1.0] * (dim - 1))
    problem = ln.Problem.from_data(X, X @ beta, truth=beta, test_cov=cov)
    start = ln.inits.gaussian(key=1, in_dim=dim, out_dim=1, width=width, stds=(dim**-0.5, width**-0.5), batch=trials)
    run = ln.gradient_descent(
        problem, start, learning_rate=0.01, steps=6000, save_every=ln.trajectories.last(), keep="losses"
    )
    full = 2 * run.test_loss[-1] / (1 + spike * alignment**2)
    error = np.sqrt(np.var(reduced, ddof=1) / trials + np.var(full, ddof=1) / trials)
    assert abs(np.mean(reduced) - full.mean()) < 3 * error
    small = [
        FewSamples(dim, samples, width, spike, alignment, **(settings | {"scale": 1e-5})).flow_end(seed)["error"]
        for seed in range(trials)
    ]
    assert abs(np.mean(small) - full.mean()) > 5 * error  # the control: a small initialization is told apart


def test_figure_5_measures_the_error_of_the_predictor_it_describes():
    # From a start of no size the network ends at the minimum-norm solution of its own data, which NumPy finds again.
    dim, samples, spike, alignment = 30, 12, 6.0, 0.4
    random = generator(7, 0)
    X = random.standard_normal((samples, dim))
    X[:, 0] *= np.sqrt(1 + spike)
    beta = np.zeros(dim)
    beta[:2] = alignment, np.sqrt(1 - alignment**2)
    miss = np.linalg.pinv(X) @ X @ beta - beta
    wanted = (miss @ miss + spike * miss[0] ** 2) / (1 + spike * alignment**2)
    trained = FewSamples(dim, samples, 40, spike, alignment, scale=1e-8, loss=1e-14, tolerance=1e-3).flow_end(7)
    assert trained["error"] == pytest.approx(wanted, rel=1e-6)
    assert trained["distance"] < 1e-5


def test_joint_test_tells_right_from_wrong():
    random = np.random.default_rng(0)
    errors = 1 + 0.1 * random.standard_normal((40, 10))
    assert watanabe_fig5.joint_test(errors, np.ones(40))[0] < watanabe_fig5.joint_test(errors, np.ones(40))[1]
    wrong = np.ones(40)
    wrong[7] = 1.5
    assert watanabe_fig5.joint_test(errors, wrong)[0] > watanabe_fig5.joint_test(errors, wrong)[1]


def test_figure_5():
    figure = FIGURES["watanabe-fig5"]
    tiny = {"dim": 60, "width": 60, "ratios": (2.0, 4.0), "spikes": (0.0, 20.0), "alignments": (0.8,), "trials": 3}
    ds = figure.compute(figure.configure(**tiny), ())
    assert ds.error_a.dims == ("ratio", "spike_a", "trial")
    assert ds.error_b.shape == (2, 1, 3)
    assert unnamed(ds) == []
    assert float(ds.loss_a.max()) <= 1e-8
    np.testing.assert_allclose(ds.predicted_a.sel(ratio=2.0, spike_a=20.0), 0.066116, atol=1e-6)
    assert len(figure.plot(ds).axes) == 2
    assert figure.rows(ds)[0].met
    only = figure.compute(figure.configure(**tiny), ("b",))
    assert "error_a" not in only
    np.testing.assert_allclose(only.error_b, ds.error_b)
    assert len(figure.plot(only).axes) == 1


TINY = {
    "watanabe-fig1": {"samples": 400, "points": 60, "arrows": 9},
    "watanabe-fig2": {"samples": 400, "points": 60},
    "watanabe-fig3": {"samples": 400, "points": 60, "spikes": (1.0, 50.0), "alignments": (0.3, 0.9)},
    "watanabe-fig4": {"spikes": 26, "alignments": 11},
}


@pytest.fixture(scope="module")
def computed():
    return {name: FIGURES[name].compute(FIGURES[name].configure(**changes), ()) for name, changes in TINY.items()}


@pytest.mark.parametrize(
    ("name", "axes"), [("watanabe-fig1", 1), ("watanabe-fig2", 2), ("watanabe-fig3", 4), ("watanabe-fig4", 2)]
)
def test_drawn_and_checked(name, axes, computed):
    figure, ds = FIGURES[name], computed[name]
    assert unnamed(ds) == []
    assert len(figure.plot(ds).axes) == axes
    limited = [row for row in figure.rows(ds) if row.limit is not None]
    assert limited and all(row.met for row in limited)


def test_a_wrong_reduced_curve_fails_figure_1(computed):
    ds = computed["watanabe-fig1"].copy(deep=True)
    ds["population_reduced"] = ds.population_reduced + 2e-5
    assert not FIGURES["watanabe-fig1"].rows(ds)[0].met


def test_descent_tends_to_the_flow_of_the_figures():
    """The network the figures draw as dots, at two learning rates."""
    settings, times = RunSettings(samples=400), np.linspace(0, 4, 40)
    gaps = []
    with pytest.MonkeyPatch.context() as patch:
        for step in (0.1, 0.05):
            patch.setattr(figure_runs, "STEP", step)
            run = figure_runs.figure_run(settings, 5.0, 0.5, times, samples=400)
            assert run.learning_rate <= step / 6 and run.descent.shape == (40, 2)
            gaps.append(np.abs(run.descent - run.components).max())
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.15)


def test_figure_1_turns_at_the_plateau_and_ends_at_the_target(computed):
    ds = computed["watanabe-fig1"]
    np.testing.assert_allclose(ds.fixed_point, [0.3, np.sqrt(1 - 0.09)], atol=1e-12)
    np.testing.assert_allclose(ds.trained.values[-1], ds.fixed_point, atol=1e-3)
    furthest = ds.trained_components.values[:, 0].max()
    assert furthest == pytest.approx(ds.attrs["plateau"], rel=0.05)


def test_figure_2_has_one_zero_for_both_axes_and_names_every_curve(computed):
    left, right = FIGURES["watanabe-fig2"].plot(computed["watanabe-fig2"]).axes
    (low, high), (below, above) = left.get_ylim(), right.get_ylim()
    assert low / high == pytest.approx(below / above)
    names = [text.get_text() for text in left.get_legend().get_texts()]
    assert len(set(names)) == 8  # two components by flow, by descent and reduced, the early phase, the loss


def test_figure_2_marks_the_printed_times(computed):
    ds = computed["watanabe-fig2"]
    assert ds.attrs["early_time"] == pytest.approx(1.71496, abs=5e-6)
    assert ds.attrs["later_time"] == pytest.approx(5.87200, abs=5e-6)
    assert float(ds.loss[0]) == pytest.approx(2.8, rel=0.2)  # E[y^2] = 1 + 20 * 0.09, without the canonical half


def test_figure_3_draws_one_panel_alone():
    figure = FIGURES["watanabe-fig3"]
    ds = figure.compute(figure.configure(samples=400, points=60, alignments=(0.5,)), ("b",))
    assert ds.attrs["panels"] == "b" and "loss_a" not in ds
    assert len(figure.plot(ds).axes) == 2  # on a linear and on a logarithmic axis
    np.testing.assert_allclose(ds.loss_b.values[:, 0], 1)


def test_colors_of_figure_3_do_not_depend_on_how_many_curves_are_drawn():
    usual = watanabe_fig3.LossSettings().spikes
    assert watanabe_fig3.value_colors([1.0, 20.0], usual) == [
        color for spike, color in zip(usual, watanabe_fig3.value_colors(usual, usual)) if spike in (1.0, 20.0)
    ]


def test_phase_times():
    times = np.linspace(0, 10, 41)
    components = np.stack([np.sqrt(times / 10), times], axis=-1)
    found = figure_runs.phase_times(times, components, plateau=1.0, limit=8.0, delta=np.log(2))
    assert found == pytest.approx((5.0, 4.0), rel=1e-3)
