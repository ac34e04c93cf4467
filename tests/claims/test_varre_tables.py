"""The tables of Varre et al.: cells against plain NumPy and SciPy, alone or in company, and read with a wrong theory."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from linnet.claims import varre_flows, varre_paths, varre_runs
from linnet.claims.registry import Trial

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
    run = solve_ivp(
        velocity, (0, times[-1]), flat, t_eval=times[asked], method="DOP853", rtol=1e-9, atol=1e-11
    )  # fmt: skip
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
    right = theory.limit
    monkeypatch.setattr(theory, "limit", lambda values, gamma, dim: right(values, 1.5 * gamma, dim))
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
