"""The grids of Varre et al.: cells against plain NumPy and SciPy, alone or in company."""

import numpy as np
import pytest

import linnet as ln
from linnet_papers.reproduction.measurement import Trial
from linnet_papers.varre.grids import flows as flow_grids
from linnet_papers.varre.grids import label_noise as label_noise_grid
from linnet_papers.varre.grids import noise
from linnet_papers.varre.grids.relu_ranks import STARTS
from linnet_papers.varre.settings import INPUTS, MOMENTS, OUTPUTS, STATES
from linnet_papers.varre.training import flows, label_noise, noise_process, regression, students, volumes
from reference import descent, flow

QUICK = Trial(quick=True)


def flow_cells(gammas, replicates, kind="regression", seed=0):
    points = {"gamma": np.array(gammas), "replicate": np.array(replicates)}
    return flows.flow_cells(points, np.zeros(len(gammas), int), kind=kind, seed=seed)


def entry(results, name, cell):
    value = results[name]
    return (value[1] if isinstance(value, tuple) else value)[cell]


@pytest.mark.parametrize("kind", ["regression", "scalar", "white", "gaussian"])
def test_a_flow_is_that_of_the_whole_network(kind):
    """All 200 hidden units and ten inputs, by SciPy on the samples."""
    gamma, key = 1.0, [0, 2]
    inputs, outputs = flows.draw_data(kind, key)
    start = flows.draw_start(kind, key, gamma)
    cov, cross = inputs.T @ inputs / len(inputs), outputs.T @ inputs / len(inputs)
    results = flow_cells([gamma], [2], kind)
    times = entry(results, "times", 0)
    asked = [50, 75, 99]
    states = list(zip(*flow(cov, cross, start.layers, times[asked], tolerance=1e-9), strict=True))
    first, second = entry(results, "first", 0), entry(results, "second", 0)
    span = np.linalg.svd(inputs, full_matrices=False)[2]  # of the samples: cells hold what the data can see
    for state, whole in zip(asked, states, strict=True):
        product = np.linalg.svd(whole[1] @ whole[0] @ span.T, compute_uv=False)
        np.testing.assert_allclose(np.linalg.svd(second[state] @ first[state], compute_uv=False), product, atol=1e-7)
    loss = 0.5 * ((outputs - inputs @ (whole[1] @ whole[0]).T) ** 2).sum() / len(inputs)
    assert abs(entry(results, "loss", 0)[-1] - loss) < 1e-12
    np.testing.assert_allclose(entry(results, "values", 0), np.linalg.svd(whole[0], compute_uv=False), atol=1e-7)
    np.testing.assert_allclose(entry(results, "whole_first", 0), whole[0], atol=1e-7)
    np.testing.assert_allclose(entry(results, "whole_second", 0), whole[1], atol=1e-7)
    np.testing.assert_allclose(entry(results, "whole_cov", 0), cov, atol=1e-12)
    np.testing.assert_allclose(entry(results, "whole_cross", 0), cross, atol=1e-12)
    if kind != "gaussian":
        frame = start.first / np.sqrt(2 * gamma)
        np.testing.assert_allclose(entry(results, "projected_first", 0)[-1], frame.T @ whole[0], atol=1e-7)
        np.testing.assert_allclose(entry(results, "projected_second", 0)[-1], whole[1] @ frame, atol=1e-7)


def test_a_flow_does_not_see_its_neighbors():
    alone, together = flow_cells([1.0], [1]), flow_cells([1.0, 10.0, 1.0], [0, 3, 1])
    for name in alone:
        np.testing.assert_array_equal(entry(together, name, 2), entry(alone, name, 0))


def test_every_gamma_sees_the_same_data():
    found = flow_grids.regression_cells(QUICK)
    assert (found["cross"] == found["cross"].isel(gamma=0)).all()
    assert (found["cross"].isel(replicate=0) != found["cross"].isel(replicate=1)).any()


@pytest.mark.slow
def test_flows_are_trained_to_the_end():
    for kind in ("regression", "one_output", "whitened", "gaussian"):
        loss = getattr(flow_grids, f"{kind}_cells")(QUICK)["loss"]
        assert (loss.isel(state=-1) < 1e-20 * loss.isel(state=0)).all()


def test_a_flow_that_keeps_its_loss_is_an_error(monkeypatch):
    monkeypatch.setattr(flows, "LONGEST_TIME", 50.0)
    monkeypatch.setattr(flows, "LEFT_LOSS", 1e-300)
    words = r"regression flow with key \[0, 1\] and gamma = 0.5 has .* of its loss left at the time 50, where less than"
    with pytest.raises(RuntimeError, match=words):
        flows.flow_to_end("regression", [0, 1], 0.5)


def test_one_output_moves_alone():
    results = flow_grids.one_output_cells(QUICK)
    assert np.abs(results["second"].isel(output=slice(1, None))).max() == 0
    found = flow_grids.one_output(QUICK)
    assert all(path.product.shape == (STATES, 1, 5) for path in found)
    path = found[0]
    predictor = path.whole_second[0] @ path.whole_first
    cosine = path.whole_first[7] @ predictor / np.linalg.norm(path.whole_first[7]) / np.linalg.norm(predictor)
    np.testing.assert_allclose(path.neuron_sines[7], np.sqrt(1 - cosine**2), atol=1e-7)
    np.testing.assert_allclose(path.neuron_tangents[7], np.tan(np.arcsin(path.neuron_sines[7])), rtol=1e-9)


def test_both_layers_of_an_orthogonal_start_of_two_frames():
    start = regression.orthogonal_layers([0, 1], width=40, first_gamma=0.3, second_gamma=2.0)
    np.testing.assert_allclose(start.first.T @ start.first, 0.6 * np.eye(INPUTS), atol=1e-12)
    np.testing.assert_allclose(start.second @ start.second.T, 4.0 * np.eye(OUTPUTS), atol=1e-12)
    np.testing.assert_allclose(start.product, 0.0, atol=1e-12)


def student_cells(start, replicates, steps=300):
    points = {"start": np.array([start] * len(replicates)), "replicate": np.array(replicates)}
    starts = {name: {**setting, "steps": steps} for name, setting in STARTS.items()}
    return students.student_cells(points, np.zeros(len(replicates), int), starts=starts, seed=0)


@pytest.mark.parametrize("start", ["small", "large"])
def test_a_student_is_trained_by_plain_descent(start):
    std, rate = STARTS[start]["std"], STARTS[start]["rate"]
    teacher = ln.problems.relu_teacher(key=[0, 3], samples=10, in_dim=5, neurons=2)
    weights = ln.inits.gaussian(key=[0, 3], in_dim=5, out_dim=1, width=20, stds=std)
    first, second = weights.first, weights.second
    x, y = np.asarray(teacher.inputs), np.asarray(teacher.outputs)
    for _ in range(300):
        hidden = np.maximum(x @ first.T, 0)
        error = hidden @ second.T - y
        back = (error @ second) * (hidden > 0)
        first, second = first - rate * back.T @ x / len(x), second - rate * error.T @ hidden / len(x)
    loss = 0.5 * ((np.maximum(x @ first.T, 0) @ second.T - y) ** 2).sum() / len(x)
    found = student_cells(start, [3, 1])
    np.testing.assert_allclose(entry(found, "values", 0), np.linalg.svd(first, compute_uv=False), rtol=1e-9)
    np.testing.assert_allclose(entry(found, "loss", 0), loss, rtol=1e-9)


def test_the_teachers_directions_are_those_that_label_its_samples():
    """The labels are linear in max(x.w, 0) of exactly these two directions."""
    teacher = ln.problems.relu_teacher(key=[0, 3], samples=10, in_dim=5, neurons=2)
    inputs, outputs = np.asarray(teacher.inputs), np.asarray(teacher.outputs)
    features = np.maximum(inputs @ students.teacher_directions([0, 3]).T, 0)
    rest = outputs - features @ np.linalg.lstsq(features, outputs, rcond=None)[0]
    assert np.abs(rest).max() < 1e-12
    wrong = np.maximum(inputs @ students.teacher_directions([0, 4]).T, 0)
    assert np.abs(outputs - wrong @ np.linalg.lstsq(wrong, outputs, rcond=None)[0]).max() > 0.1


def test_students_of_a_batch_do_not_see_each_other():
    ten, other = student_cells("large", list(range(10))), student_cells("large", [20, 21, 2, *range(23, 30)])
    for name in ten:
        np.testing.assert_array_equal(entry(ten, name, 2), entry(other, name, 2))
    points = {"start": np.array(["small", "large"]), "replicate": np.zeros(2, int)}
    with pytest.raises(ValueError, match="`start` must be one for all cells"):
        students.student_cells(points, np.zeros(2, int), starts={}, seed=0)


def noisy(deltas, replicates, seeds, time=4.0):
    points = {"delta": np.array(deltas), "rate": np.full(len(seeds), 0.02), "replicate": np.array(replicates)}
    return label_noise.noisy_cells(points, np.array(seeds), time=time, seed=0)


def test_without_noise_it_is_plain_descent_at_full_width():
    problem = ln.problems.orthogonal_regression(key=[0, 4], in_dim=5)
    weights = ln.inits.orthogonal(key=[0, 4], in_dim=5, out_dim=1, width=200, scale=1.0)
    x, y = np.asarray(problem.inputs), np.asarray(problem.outputs)
    *_, (first, _) = descent(weights.layers, x.T @ x / len(x), y.T @ x / len(x), 0.02, 200)
    found = noisy([0.0], [4], [7])
    np.testing.assert_allclose(entry(found, "start_values", 0), np.full(5, np.sqrt(2)), rtol=1e-12)
    np.testing.assert_allclose(entry(found, "end_values", 0), np.linalg.svd(first, compute_uv=False), rtol=1e-10)


def test_the_noise_of_a_network_is_that_of_its_seed():
    together = noisy([1.0, 1.0, 0.0], [4, 4, 4], [7, 8, 7])
    alone = noisy([1.0], [4], [7])
    np.testing.assert_array_equal(entry(together, "end_values", 0), entry(alone, "end_values", 0))
    ends = [entry(together, "end_values", cell) for cell in range(3)]
    assert np.abs(ends[0] - ends[1]).max() > 1e-3 and np.abs(ends[0] - ends[2]).max() > 1e-3


def test_data_too_weak_for_the_law_of_label_noise_have_no_rate():
    """One of the ten teachers of seed 12 is so short that noise of delta = 1 moves the second layer by its own size."""
    leading, second = label_noise_grid.predicted_rates(12, learning_rate=0.08, noise_std=1.0)
    assert np.isnan(second).sum() == 1 and np.array_equal(np.isnan(leading), np.isnan(second))
    assert np.isfinite(label_noise_grid.predicted_rates(12, learning_rate=0.02, noise_std=0.5)).all()


def test_statistics_are_those_of_the_paths():
    """Two inputs from a tilted start, three batches: areas are determinants, singular values come from the Gram
    matrix."""
    seed, batch = 5, 40
    found = noise_process.path_statistics(2, True, seed, paths=3 * batch, step=0.05, batch=batch)
    a = np.random.default_rng(np.random.SeedSequence([seed], spawn_key=(7,))).standard_normal((1, 2))
    start = ln.Weights(np.eye(2), a / np.linalg.norm(a))
    runs = [ln.noise_sde(None, start, times=MOMENTS, step=0.05, key=[seed, number], paths=batch) for number in range(3)]
    first, second = (
        np.concatenate([getattr(run.weights, part) for run in runs], axis=1) for part in ("first", "second")
    )
    for index in range(len(MOMENTS)):
        w, a = first[index][:, :, 0], second[index][:, 0]  # weights from the first input, and to the output
        signed = w[:, 0] * a[:, 1] - w[:, 1] * a[:, 0]
        area = np.abs(signed)
        assert_close(found["area"][index], area.mean())
        assert_close(found["area_error"][index], area.std(ddof=1) / np.sqrt(120))
        assert_close(found["area_median"][index], np.median(area))
        assert_close(found["signed"][index], signed.mean() / start.second[0, 1])
        sines = [area / np.hypot(*w.T) / np.hypot(*a.T)]
        v = first[index][:, :, 1]
        sines.append(np.abs(v[:, 0] * a[:, 1] - v[:, 1] * a[:, 0]) / np.hypot(*v.T) / np.hypot(*a.T))
        assert_close(found["worst_sine"][index], np.maximum(*sines).mean())
        squares = (first[index] ** 2).sum(axis=(1, 2))
        assert_close(found["first_square"][index], squares.mean())
        assert_close(found["second_square"][index], (a**2).sum(axis=1).mean())
        assert_close(found["largest_share"][index], squares.max() / squares.sum())
    assert_close(found["area_start"], abs(start.second[0, 1]))


def assert_close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.slow
def test_noise_process_is_euler_maruyama_in_numpy():
    """Three inputs from a = 0, with other random numbers: means and medians within standard errors."""
    random, number, step = np.random.default_rng(1), 4000, 0.02
    first, second = np.repeat(np.eye(3)[None], number, 0), np.zeros((number, 1, 3))
    for _ in range(150):
        push = np.sqrt(step) * random.standard_normal((number, 1, 3))
        first, second = first + second.transpose(0, 2, 1) @ push, second + push @ first.transpose(0, 2, 1)
    area = np.linalg.norm(np.cross(first[:, :, 0], second[:, 0]), axis=1)
    mean, error = noise.sampled_mean(noise.paths(QUICK)[3, "zero"], "area", 3.0)
    assert abs(mean - area.mean()) < 4.5 * np.hypot(error, area.std() / np.sqrt(number))
    assert mean > 10 * error


def test_the_splitting_scheme_has_the_laws_of_the_process():
    """Mean squares at t = 1 against their exact equation: two columns of three inputs, unequal scales."""
    from scipy.linalg import expm

    scales, number, step = np.array([1.2, 0.8, 0.5]), 4000, 0.05
    random, d = np.random.default_rng(2), 3
    matrix = np.zeros((d + 1, d + 1))
    matrix[:d, d] = matrix[d, :d] = scales**2
    exact = expm(matrix)[:, 0]  # E w_i^2 and E a^2 of the neuron that starts as the first unit vector
    grown = volumes.growth_rates(scales, 3, paths=number, step=step, time=1 + volumes.BURN_IN_TIME)
    assert np.isfinite(list(grown.values())).all()
    first, a = np.zeros((d, number)), np.zeros(number)
    first[0] = 1.0
    order = [0, 1, 2, 1, 0]
    for _ in range(20):  # the scheme once more, neuron by neuron
        first, a = first * np.exp(-step / 4 * scales[:, None] ** 2), a * np.exp(-step / 4 * (scales**2).sum())
        for turn, i in enumerate(order):
            angle = scales[i] * np.sqrt(step if turn == 2 else step / 2) * random.standard_normal(number)
            turned = first[i] * np.cosh(angle) + a * np.sinh(angle)
            a = first[i] * np.sinh(angle) + a * np.cosh(angle)
            first[i] = turned
        first, a = first * np.exp(-step / 4 * scales[:, None] ** 2), a * np.exp(-step / 4 * (scales**2).sum())
    for sample, mean in zip([*first**2, a**2], exact, strict=True):
        assert abs(sample.mean() - mean) < 4.5 * sample.std() / np.sqrt(number)


def test_growth_of_lengths_is_that_of_long_paths():
    """One column of two inputs by Euler-Maruyama, renormalized: no drift; and the second rate by areas."""
    random, number, step = np.random.default_rng(4), 2000, 0.01
    first, a = np.repeat(np.eye(2)[:, :, None], number, 2), np.zeros((2, number))
    logs = []
    for count in range(1, 2001):
        push = np.sqrt(step) * random.standard_normal((2, number))
        first, a = first + push[:, None] * a[None], a + np.einsum("ihp,ip->hp", first, push)
        if count in (400, 2000):
            logs.append(np.log(np.abs(first[0, 0] * first[1, 1] - first[0, 1] * first[1, 0])))
    area = (logs[1] - logs[0]) / 16.0
    grown = volumes.growth_rates(np.ones(2), 5, paths=2000, step=0.05, time=20.0)
    error = np.hypot(area.std() / np.sqrt(number), np.hypot(grown["length_error"], grown["second_error"]))
    assert abs(area.mean() - grown["length"] - grown["second"]) < 4.5 * error + 0.005
    assert abs(grown["length"]) < 4.5 * grown["length_error"] + 0.002


def test_paths_come_in_whole_batches():
    with pytest.raises(ValueError, match="`paths` must be a multiple of `batch` = 6: got 10"):
        noise_process.path_statistics(2, False, 0, paths=10, step=0.05, batch=6)
