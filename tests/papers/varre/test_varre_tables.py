"""The tables of Varre et al.: cells against plain NumPy and SciPy, alone or in company, and read with a wrong
theory."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linnet as ln
from linnet.papers.varre import flows as varre_flows
from linnet.papers.varre import noise_paths as varre_noise_paths
from linnet.papers.varre import paths as varre_paths
from linnet.papers.varre import runs as varre_runs
from linnet.papers.varre.claims import label_noise as varre_label_noise
from linnet.papers.varre.claims import noise as varre_noise
from linnet.papers.varre.claims import relu as varre_relu
from linnet.reproduction.claim import Trial, Verdict

QUICK = Trial(quick=True)


def flow_cells(gammas, replicates, kind="regression", seed=0):
    points = {"gamma": np.array(gammas), "replicate": np.array(replicates)}
    return varre_flows.cells(points, np.zeros(len(gammas), int), kind=kind, seed=seed)


def entry(results, name, cell):
    value = results[name]
    return (value[1] if isinstance(value, tuple) else value)[cell]


@pytest.mark.parametrize("kind", ["regression", "scalar", "white", "gaussian"])
def test_a_flow_is_that_of_the_whole_network(kind):
    """All 200 hidden units and ten inputs, by SciPy on the samples."""
    gamma, key = 1.0, [0, 2]
    inputs, outputs = varre_flows.data(kind, key)
    start = varre_flows.start(kind, key, gamma)
    split = start.first.size

    def layers(flat):
        return flat[:split].reshape(start.first.shape), flat[split:].reshape(start.second.shape)

    def velocity(_, flat):
        first, second = layers(flat)
        error = outputs - inputs @ first.T @ second.T
        residual = error.T @ inputs / len(inputs)
        return np.concatenate([(second.T @ residual).ravel(), (residual @ first.T).ravel()])

    results = flow_cells([gamma], [2], kind)
    times = entry(results, "times", 0)
    asked = [50, 75, 99]
    flat = np.concatenate([start.first.ravel(), start.second.ravel()])
    run = solve_ivp(velocity, (0, times[-1]), flat, t_eval=times[asked], method="DOP853", rtol=1e-9, atol=1e-11)
    first, second = entry(results, "first", 0), entry(results, "second", 0)
    span = np.linalg.svd(inputs, full_matrices=False)[2]  # of the samples: cells hold what the data can see
    for state, moment in zip(asked, run.y.T, strict=True):
        whole = layers(moment)
        product = np.linalg.svd(whole[1] @ whole[0] @ span.T, compute_uv=False)
        np.testing.assert_allclose(np.linalg.svd(second[state] @ first[state], compute_uv=False), product, atol=1e-7)
    loss = 0.5 * ((outputs - inputs @ (whole[1] @ whole[0]).T) ** 2).sum() / len(inputs)
    assert abs(entry(results, "loss", 0)[-1] - loss) < 1e-12
    values = np.linalg.svd(layers(run.y[:, -1])[0], compute_uv=False)
    np.testing.assert_allclose(entry(results, "first_values", 0), values, atol=1e-7)


def test_a_flow_does_not_see_its_neighbours():
    alone, together = flow_cells([1.0], [1]), flow_cells([1.0, 10.0, 1.0], [0, 3, 1])
    for name in alone:
        np.testing.assert_array_equal(entry(together, name, 2), entry(alone, name, 0))


def test_every_gamma_sees_the_same_data():
    flows = varre_runs.FLOWS["regression"].results(QUICK)
    assert (flows["target"] == flows["target"].isel(gamma=0)).all()
    assert (flows["target"].isel(replicate=0) != flows["target"].isel(replicate=1)).any()


def test_flows_are_trained_to_the_end():
    for table in varre_runs.TABLES:
        loss = table.results(QUICK)["loss"]
        assert (loss.isel(state=-1) < 1e-20 * loss.isel(state=0)).all()


def test_what_theory_says_is_not_in_the_cells(monkeypatch):
    import linnet.theories.spectral_bias as theory

    table = varre_runs.FLOWS["regression"]
    flows = table.results(QUICK)
    before = table.columns(flows)
    right = theory.final_singular_values
    monkeypatch.setattr(theory, "final_singular_values", lambda values, gamma, dim: right(values, 1.5 * gamma, dim))
    after = table.columns(flows)
    measured = "squared norms / 2 nuclear norms - 1"
    assert before[measured] == after[measured]
    predicted = "the same by Corollary 3.1"
    assert before[measured] == before[predicted]
    ratios = [float(new) / float(old) for new, old in zip(after[predicted], before[predicted], strict=True)]
    assert min(ratios) > 1.3 and max(ratios) < 1.6
    assert max(float(entry) for entry in before["singular values to Corollary 3.1"]) < 1e-8
    assert min(float(entry) for entry in after["singular values to Corollary 3.1"]) > 1e-5


def test_one_output_moves_alone():
    second = varre_runs.FLOWS["scalar"].results(QUICK)["second"]
    assert np.abs(second.isel(output=slice(1, None))).max() == 0
    found = list(varre_paths.read(varre_runs.FLOWS["scalar"].results(QUICK), outputs=1))
    assert all(path.product.shape == (varre_flows.STATES, 1, 5) for path in found)


def students(start, replicates, steps=300):
    points = {"start": np.array([start] * len(replicates)), "replicate": np.array(replicates)}
    fixed = {name: {**setting, "steps": steps} for name, setting in varre_relu.STARTS.items()}
    return varre_relu.cells(points, np.zeros(len(replicates), int), **fixed, seed=0)


@pytest.mark.parametrize("start", ["small", "large"])
def test_a_student_is_trained_by_plain_descent(start):
    std, rate = varre_relu.STARTS[start]["std"], varre_relu.STARTS[start]["rate"]
    teacher = ln.problems.relu_teacher([0, 3], samples=10, in_dim=5, neurons=2)
    weights = ln.inits.gaussian([0, 3], in_dim=5, out_dim=1, width=20, first_std=std, second_std=std)
    first, second = weights.first, weights.second
    x, y = np.asarray(teacher.inputs), np.asarray(teacher.outputs)
    for _ in range(300):
        hidden = np.maximum(x @ first.T, 0)
        error = hidden @ second.T - y
        back = (error @ second) * (hidden > 0)
        first, second = first - rate * back.T @ x / len(x), second - rate * error.T @ hidden / len(x)
    loss = 0.5 * ((np.maximum(x @ first.T, 0) @ second.T - y) ** 2).sum() / len(x)
    found = students(start, [3, 1])
    np.testing.assert_allclose(entry(found, "values", 0), np.linalg.svd(first, compute_uv=False), rtol=1e-9)
    np.testing.assert_allclose(entry(found, "loss", 0), loss, rtol=1e-9)


def test_students_of_a_batch_do_not_see_each_other():
    ten, other = students("large", list(range(10))), students("large", [20, 21, 2, *range(23, 30)])
    for name in ten:
        np.testing.assert_array_equal(entry(ten, name, 2), entry(other, name, 2))
    with pytest.raises(ValueError, match="`start` must be one for all cells"):
        varre_relu.cells(
            {"start": np.array(["small", "large"]), "replicate": np.zeros(2, int)},
            np.zeros(2, int),
            small={},
            large={},
            seed=0,
        )


def test_ranks_are_counted_when_the_table_is_read(monkeypatch):
    import linnet.observables as observables

    monkeypatch.setattr(observables, "numerical_rank", lambda values: np.full(values.shape[:-1], 2))
    assert varre_relu.measure_rank_two(QUICK).verdict == Verdict.HOLDS
    assert varre_relu.measure_low_rank(QUICK).verdict == Verdict.REFUTED


def test_students_that_have_not_learned_are_left_out(monkeypatch):
    table = varre_relu.TABLES[0].results(QUICK)
    for unlearned, verdict in (([4], Verdict.HOLDS), ([4, 7], Verdict.OUTSIDE)):
        students = table.copy(deep=True)
        students["loss"].loc[{"start": "small", "replicate": unlearned}] = [0.013, np.nan][: len(unlearned)]
        students["values"].loc[{"start": "small", "replicate": unlearned}] = (
            1.0  # of full rank: seen, if they were judged
        )
        monkeypatch.setattr(type(varre_relu.TABLES[0]), "results", lambda table, trial, students=students: students)
        found = varre_relu.measure_low_rank(QUICK)
        assert found.verdict == verdict and f"{len(unlearned)} of 10 left out" in found.measured
        assert found.value == 1.0


def noisy(deltas, replicates, seeds, steps=200):
    points = {"delta": np.array(deltas), "replicate": np.array(replicates)}
    return varre_label_noise.cells(points, np.array(seeds), rate=0.02, steps=steps, seed=0)


def test_without_noise_it_is_plain_descent_at_full_width():
    problem = ln.problems.orthogonal_regression([0, 4], in_dim=5)
    weights = ln.inits.orthogonal([0, 4], in_dim=5, out_dim=1, width=200, scale=1.0)
    first, second = weights.first, weights.second
    x, y = np.asarray(problem.inputs), np.asarray(problem.outputs)
    for _ in range(200):
        residual = (y - x @ first.T @ second.T).T @ x / len(x)
        first, second = first + 0.02 * second.T @ residual, second + 0.02 * residual @ first.T
    found = noisy([0.0], [4], [7])
    np.testing.assert_allclose(entry(found, "start_values", 0), np.full(5, np.sqrt(2)), rtol=1e-12)
    np.testing.assert_allclose(entry(found, "end_values", 0), np.linalg.svd(first, compute_uv=False), rtol=1e-10)


def test_the_noise_of_a_network_is_that_of_its_seed():
    together = noisy([1.0, 1.0, 0.0], [4, 4, 4], [7, 8, 7])
    alone = noisy([1.0], [4], [7])
    np.testing.assert_array_equal(entry(together, "end_values", 0), entry(alone, "end_values", 0))
    ends = [entry(together, "end_values", cell) for cell in range(3)]
    assert np.abs(ends[0] - ends[1]).max() > 1e-3 and np.abs(ends[0] - ends[2]).max() > 1e-3


def test_small_values_that_stay_refute_the_decay(monkeypatch):
    right = varre_label_noise.shares
    monkeypatch.setattr(varre_label_noise, "shares", lambda networks, delta: right(networks, 0.0))
    assert varre_label_noise.measure_label_noise(QUICK).verdict == Verdict.REFUTED


def test_a_decay_at_another_rate_is_refuted(monkeypatch):
    right = varre_label_noise.decay
    monkeypatch.setattr(varre_label_noise, "decay", lambda networks, delta: right(networks, delta) ** 2)
    assert varre_label_noise.measure_label_noise(QUICK).verdict == Verdict.REFUTED


def test_statistics_are_those_of_the_paths():
    """Two inputs from a tilted start, three batches: areas are determinants, singular values come from the Gram
    matrix."""
    seed, batch = 5, 40
    found = varre_noise_paths.statistics(2, True, seed, paths=3 * batch, step=0.05, batch=batch)
    a = np.random.default_rng(np.random.SeedSequence([seed], spawn_key=(7,))).standard_normal((1, 2))
    start = ln.Weights(np.eye(2), a / np.linalg.norm(a))
    runs = [
        ln.noise_sde(start, times=varre_noise_paths.TIMES, step=0.05, key=[seed, number], paths=batch)
        for number in range(3)
    ]
    first, second = (
        np.concatenate([getattr(run.reduced, part) for run in runs], axis=1) for part in ("first", "second")
    )
    at = {1.0: 10, 3.0: 30, 6.0: 31}
    np.testing.assert_allclose(runs[0].times[list(at.values())], list(at))
    for place, index in enumerate(at.values()):
        w, a = first[index][:, :, 0], second[index][:, 0]  # weights from the first input, and to the output
        area = np.abs(w[:, 0] * a[:, 1] - w[:, 1] * a[:, 0])
        assert_close(found["area"][place], area.mean())
        assert_close(found["area_error"][place], area.std() / np.sqrt(120))
        assert_close(found["area_median"][place], np.median(area))
        assert_close(found["sine"][place], (area / np.hypot(*w.T) / np.hypot(*a.T)).mean())
        squares = (first[index] ** 2).sum(axis=(1, 2))
        assert_close(found["first_square"][place], squares.mean())
        assert_close(found["second_square"][place], (a**2).sum(axis=1).mean())
        assert_close(found["largest_share"][place], squares.max() / squares.sum())
    logs = [0.5 * np.log(np.linalg.eigvalsh(first[i].transpose(0, 2, 1) @ first[i])[:, ::-1]) for i in (30, 31)]
    np.testing.assert_allclose(found["log_value_change"][:2], (logs[1] - logs[0]).mean(axis=0), rtol=1e-6)
    assert np.isnan(found["log_value_change"][2:]).all()
    rows = (first[:31] ** 2).sum(axis=-1)
    assert_close(found["growth"], np.log(rows[-1] / rows[0]).mean())
    speed = second[:31, :, 0] ** 2 / rows
    assert_close(found["clock"], (0.1 * (speed[1:] + speed[:-1]) / 2).sum(axis=0).mean())
    assert_close(found["area_start"], abs(start.second[0, 1]))


def assert_close(one, other):
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_noise_process_is_euler_maruyama_in_numpy():
    """Three inputs from a = 0, with other random numbers: means and medians within standard errors."""
    random, paths, step = np.random.default_rng(1), 4000, 0.02
    first, second = np.repeat(np.eye(3)[None], paths, 0), np.zeros((paths, 1, 3))
    for _ in range(150):
        push = np.sqrt(step) * random.standard_normal((paths, 1, 3))
        first, second = first + second.transpose(0, 2, 1) @ push, second + push @ first.transpose(0, 2, 1)
    area = np.linalg.norm(np.cross(first[:, :, 0], second[:, 0]), axis=1)
    growth = np.log((first**2).sum(axis=2)).mean(axis=1)
    table = varre_noise.process(QUICK, 3)
    for name, moment, sample in (("area", 3.0, area), ("growth", None, growth)):
        mean, error = varre_noise.sampled(table, name, moment)
        assert abs(mean - sample.mean()) < 4.5 * np.hypot(error, sample.std() / np.sqrt(paths))
        assert mean > 10 * error


def test_paths_come_in_whole_batches():
    with pytest.raises(ValueError, match="`paths` must be a multiple of `batch` = 6: got 10"):
        varre_noise_paths.statistics(2, False, 0, paths=10, step=0.05, batch=6)
