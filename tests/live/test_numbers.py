"""What the pages compute in Chromium, against Python: draws, modes, spectra, maps and trained networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linnet as ln
from linnet._randomness import generator
from linnet.theories.lazy_active import mode_values, predicted_diagram, self_consistent, task_spectrum

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("live")]

FLOW = {"how": "flow", "decay": 0}
TRAIN = {
    "target": "values",
    "values": [8, 4, 2, 1],
    "in_dim": 6,
    "out_dim": 6,
    "rank": 2,
    "noise_std": 0.5,
    "spike": 5,
    "alignment": 0.7,
    "samples": 0,
    "scale": 0.01,
    "imbalance": 1,
    "width": 1000,
    "seed": 0,
    "how": "flow",
    "decay": 0,
    "learning_rate": 0.05,
    "until": 1,
    "products": True,
}


def array(nested: Any) -> np.ndarray:
    """Numbers as the page sent them: what is not finite comes as a word."""
    words = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
    flat = [words.get(x, x) if isinstance(x, str) else x for x in nested]
    return np.array(flat, dtype=float)


@pytest.mark.parametrize(("key", "path"), [(0, ()), (7, (1,)), ([3, 5], ()), (999, (0,))])
def test_a_seed_draws_what_it_draws_in_python(numbers, key, path):
    draw = generator(key, *path)
    assert np.allclose(numbers_of(numbers, key, path, 20_000), draw.standard_normal(20_000), rtol=1e-14, atol=0)


def numbers_of(numbers, key, path, count):
    tab_call = "((key, path, count) => linnet['numbers/random.js'].generator(key, ...path).normals(count))"
    return array(numbers.evaluate(tab_call, key, list(path), count))


def test_chi_squares_of_all_degrees_are_those_of_numpy(numbers):
    degrees = [1, 2, 3, 10, 1e6, 1e12] * 500
    found = numbers.evaluate(
        "((d) => { const g = linnet['numbers/random.js'].generator(4); return d.map(g.chisquare); })", degrees
    )
    assert np.allclose(found, generator(4).chisquare(degrees), rtol=1e-13, atol=0)


def test_modes_are_those_of_python_in_200_random_settings(numbers):
    random = np.random.default_rng(0)
    S = 10 ** random.uniform(-3, 3, 200)
    g = S * 10 ** random.uniform(-12, 12, 200)
    ends = np.array([ln.theories.lazy_active.crossing_times([s], [0.0], h, level=0.97 * s)[0] for s, h in zip(S, g)])
    t = ends[:, None] * np.concatenate(
        [10 ** random.uniform(-8, 0, (200, 25)), random.uniform(0, 2, (200, 25))], axis=1
    )
    t.sort(axis=1)
    found = numbers.evaluate(
        "((S, g, t) => S.map((s, i) => t[i].map((x) => linnet['numbers/modes.js'].modeValue(s, g[i], x))))",
        S.tolist(),
        g.tolist(),
        t.tolist(),
    )
    wanted = np.stack([mode_values([s], h, x)[:, 0] for s, h, x in zip(S, g, t)])
    assert np.abs(np.array(found) / wanted - 1).max() < 1e-13
    shares = numbers.evaluate(
        "((S, g) => S.map((s, i) => linnet['numbers/modes.js'].timeOfShare(s, g[i], 0.97)))", S.tolist(), g.tolist()
    )
    assert np.allclose(shares, ends, rtol=1e-12, atol=0)


def random_run(random: np.random.Generator) -> dict[str, Any]:
    """Settings of the page Train, from all over their ranges."""
    target = str(random.choice(["values", "low_rank", "spiked"]))
    sides = {"in_dim": int(random.integers(2, 9)), "out_dim": 1 if target == "spiked" else int(random.integers(1, 9))}
    least = min(sides.values())
    return TRAIN | {
        "target": target,
        **sides,
        "values": np.round(10 ** random.uniform(-0.7, 1, int(random.integers(1, least + 1))), 3).tolist(),
        "rank": int(random.integers(1, least + 1)),
        "noise_std": float(random.uniform(0, 2)),
        "spike": float(random.uniform(0, 30)),
        "alignment": float(random.uniform(0, 1)),
        "samples": int(random.choice([0, 5, 40, 200])),
        "scale": float(10 ** random.uniform(-4, -0.5)),
        "imbalance": float(10 ** random.uniform(-1, 1)),
        "width": int(10 ** random.uniform(0, 12)),
        "seed": int(random.integers(1000)),
        "how": str(random.choice(["flow", "descent"])),
        "until": float(random.uniform(0.2, 1.5)),
    }


def python_run(s: dict[str, Any], found: dict[str, Any]) -> tuple[ln.Problem, ln.Weights, Any]:
    """The same run by linnet: problem, initial weights and trajectory."""
    d, k = s["in_dim"], s["out_dim"]
    if s["target"] == "values":
        matrix = np.zeros((k, d))
        matrix[: len(s["values"]), : len(s["values"])] = np.diag(sorted(s["values"], reverse=True))
        problem = ln.Problem.from_target(matrix, truth=matrix)
    elif s["target"] == "low_rank":
        problem = ln.problems.low_rank_plus_noise(d, out_dim=k, rank=s["rank"], noise_std=s["noise_std"], key=s["seed"])
    else:
        problem = ln.problems.spiked_covariance(
            d,
            spike=s["spike"],
            alignment=s["alignment"],
            samples=s["samples"] or None,
            noise_std=s["noise_std"] if s["samples"] else 0.0,
            key=s["seed"],
        )
    stds = (s["scale"] / s["imbalance"] ** 0.5, s["scale"] * s["imbalance"] ** 0.5)
    start = ln.inits.reduced_gaussian(key=s["seed"], in_dim=d, out_dim=k, width=s["width"], stds=stds)
    times = np.array(found["time"])
    if s["how"] == "flow":
        return problem, start, ln.gradient_flow(problem, start, times=times, rtol=1e-12)
    rate = s["learning_rate"] * float(ln.stable_learning_rate(problem, start))
    every = round(times[1] / rate)
    return (
        problem,
        start,
        ln.gradient_descent(problem, start, learning_rate=rate, steps=round(times[-1] / rate), save_every=every),
    )


@pytest.mark.parametrize("seed", range(12))
def test_trained_networks_are_those_of_python(numbers, seed):
    s = random_run(np.random.default_rng(seed))
    found = numbers("numbers/train.js", "train", s)
    problem, start, run = python_run(s, found)
    products = np.array(found["products"]).reshape(run.products.shape)
    # weights of size sqrt(g) are rounded, so their product is off by 1e-16 g on both sides
    limit = max(1e-9 * np.abs(run.products).max(), 1e-14 * found["threshold"])
    assert np.abs(products - run.products).max() < limit, s
    assert np.allclose(found["loss"], run.loss, rtol=1e-8, atol=10 * limit * (1 + s["spike"]))
    assert np.allclose(found["test"], run.test_loss, rtol=1e-8, atol=10 * limit * (1 + s["spike"]))
    assert found["units"] == start.width
    if problem.whitened:
        theory = self_consistent(problem.cross, start.product, found["threshold"], run.times)
    else:
        theory = ln.theories.lazy_active.integrate(problem, start.product, found["threshold"], run.times, rtol=1e-13)
    modes = np.linalg.svd(theory, compute_uv=False)
    assert np.abs(np.array(found["predicted"]) - modes).max() < max(1e-7 * modes.max(), 100 * limit), s


@pytest.mark.parametrize("target", ["values", "low_rank", "spiked"])
def test_weight_decay_is_that_of_python(numbers, target):
    s = TRAIN | {"target": target, "decay": 0.3, "scale": 0.05, "seed": 4, "samples": 40, "out_dim": 5}
    s |= {"out_dim": 1} if target == "spiked" else {}
    found = numbers("numbers/train.js", "train", s)
    problem, start, _ = python_run(s, found)
    run = ln.gradient_flow(problem, start, times=found["time"], rtol=1e-12, weight_decay=0.3)
    products = np.array(found["products"]).reshape(run.products.shape)
    assert np.abs(products - run.products).max() < 1e-9 * np.abs(run.products).max()
    solve = self_consistent if problem.whitened else ln.theories.lazy_active.integrate
    theory = solve(problem, start.product, found["threshold"], run.times, weight_decay=0.3)
    modes = np.linalg.svd(theory, compute_uv=False)
    assert np.abs(np.array(found["predicted"]) - modes).max() < 1e-6 * modes.max()
    assert found["thresholds"][-1] == pytest.approx(found["threshold"] * np.exp(-0.6 * found["time"][-1]))


def test_spectral_descent_is_that_of_python(numbers):
    s = TRAIN | {"how": "spectral", "scale": 0.001, "width": 10**6}
    found = numbers("numbers/train.js", "train", s)
    problem, start, _ = python_run(s | {"how": "flow"}, found)
    times = np.array(found["time"])
    update = ln.trainers.updates.SpectralDescent()
    run = ln.gradient_descent(
        problem, start, learning_rate=times[-1] / 600, steps=600, save_every=5, update=update, throw=False
    )
    products = np.array(found["products"]).reshape(run.products.shape)
    # the target has rank 4 of 6: once a mode is learned, rounding decides the direction of the others' steps
    sure = run.times < 0.3 * times[-1]
    assert sure.sum() > 20 and np.abs(products - run.products)[sure].max() < 1e-6
    modes = ln.theories.spectral_descent.mode_values([8.0, 4.0, 2.0, 1.0], found["threshold"], times)
    assert np.allclose(np.array(found["predicted"])[:, :4], modes, rtol=1e-9, atol=1e-9)
    assert np.abs(np.array(found["trained"])[:, :4] - modes).max() < 0.1  # finite steps and width
    level = numbers("numbers/modes.js", "levelAt", 0.7, 0.03)
    assert level == pytest.approx(ln.theories.spectral_descent.level(0.03, [0.7])[0], rel=1e-12)


@pytest.mark.parametrize(
    ("dim", "rank", "noise", "key"), [(20, 1, 0.3, 3), (45, 10, 2.5, 17), (100, 5, 1.0, 0), (150, 4, 0.05, 8)]
)
def test_the_map_is_the_formula_of_python(numbers, dim, rank, noise, key):
    found = numbers("numbers/phase.js", "map", {"dim": dim, "rank": rank, "noise": noise, "key": key, **FLOW})
    task = task_spectrum(ln.problems.low_rank_plus_noise(dim, rank=rank, noise_std=noise, key=key))
    assert np.allclose(found["values"], task.values, rtol=0, atol=1e-11 * task.values[0])
    assert np.allclose(found["overlaps"], task.overlaps, rtol=0, atol=1e-11 * task.values[0])
    formula = predicted_diagram(task, found["variances"], found["widths"], draws=0)
    shape = formula.min_test_loss.shape
    off = np.abs(array(found["test"]).reshape(shape) - 2 * formula.min_test_loss)
    # a small error is the difference of large numbers: nothing computes it beyond their rounding
    assert (off < 1e-11 * 2 * formula.min_test_loss + 1e-13 * task.truth_power).all()
    assert np.abs(array(found["rank"]).reshape(shape) / formula.stable_rank - 1).max() < 1e-10
    uncertainty = array(found["uncertainty"]).reshape(shape)
    assert (np.isnan(uncertainty) == np.isnan(formula.uncertainty)).all()
    assert np.nanmax(np.abs(uncertainty / formula.uncertainty - 1)) < 1e-7


def test_cells_that_are_not_hatched_are_those_of_drawn_networks(numbers):
    """Python's default draws networks where the formula is not sure: the page hatches those cells."""
    found = numbers("numbers/phase.js", "map", {"dim": 60, "rank": 4, "noise": 1.0, "key": 5, **FLOW})
    task = task_spectrum(ln.problems.low_rank_plus_noise(60, rank=4, noise_std=1.0, key=5))
    shape = (len(found["widths"]), len(found["variances"]))
    rows = slice(0, None, 4)
    full = predicted_diagram(task, found["variances"], found["widths"][rows], draws=8)
    off = np.abs(array(found["test"]).reshape(shape)[rows] / (2 * full.min_test_loss) - 1)
    sure = array(found["uncertainty"]).reshape(shape)[rows] <= 0.01
    assert sure.mean() > 0.4 and off[sure].max() < 0.01
    assert off[~sure].max() > 0.05  # or hatching would be needless


@pytest.mark.parametrize(("dim", "noise", "key"), [(20, 0.3, 3), (60, 1.0, 5), (120, 2.0, 1)])
def test_the_map_under_spectral_descent_is_that_of_python(numbers, dim, noise, key):
    settings = {"dim": dim, "rank": 3, "noise": noise, "key": key, "how": "spectral", "decay": 0}
    found = numbers("numbers/phase.js", "map", settings)
    task = task_spectrum(ln.problems.low_rank_plus_noise(dim, rank=3, noise_std=noise, key=key))
    update = ln.trainers.updates.SpectralDescent()
    formula = predicted_diagram(task, found["variances"], found["widths"], update=update)
    shape = formula.min_test_loss.shape
    known = np.isfinite(formula.min_test_loss)
    assert known.any() and (np.isfinite(array(found["test"]).reshape(shape)) == known).all()
    for name, theirs in (("test", 2 * formula.min_test_loss), ("rank", formula.stable_rank)):
        assert np.abs(array(found[name]).reshape(shape)[known] / theirs[known] - 1).max() < 1e-9, name
    assert np.abs(array(found["uncertainty"]).reshape(shape)[known] / formula.uncertainty[known] - 1).max() < 1e-7


@pytest.mark.parametrize(("dim", "noise", "key", "decay"), [(30, 1.0, 3, 4.0), (60, 0.5, 5, 12.0), (60, 1.5, 6, 0.3)])
def test_the_map_under_weight_decay_is_that_of_python(numbers, dim, noise, key, decay):
    """The page looks at fewer times and modes, and interpolates between thresholds."""
    settings = {"dim": dim, "rank": 3, "noise": noise, "key": key, "how": "flow", "decay": decay}
    found = numbers("numbers/phase.js", "map", settings)
    task = task_spectrum(ln.problems.low_rank_plus_noise(dim, rank=3, noise_std=noise, key=key))
    rows, columns = slice(2, None, 6), slice(0, None, 6)
    formula = predicted_diagram(task, found["variances"][columns], found["widths"][rows], weight_decay=decay)
    shape = (len(found["widths"]), len(found["variances"]))
    test, uncertainty = (array(found[name]).reshape(shape)[rows, columns] for name in ("test", "uncertainty"))
    sure = uncertainty <= 0.01
    assert sure.sum() > 3 and np.isfinite(formula.min_test_loss[sure]).all()
    assert np.abs(test[sure] / (2 * formula.min_test_loss[sure]) - 1).max() < 0.01


@pytest.mark.parametrize("more", [{"how": "spectral", "decay": 0}, {"how": "flow", "decay": 3.0}])
def test_a_touched_cell_is_trained_by_other_means(numbers, more):
    """The curve by formula is beside that of the network, which was trained in the page."""
    settings = {"dim": 24, "rank": 3, "noise": 0.6, "key": 2, "cell": [-2.4, 2.6], **more}
    found = numbers("numbers/phase.js", "cell", settings)
    trained, formula = array(found["test"]), np.interp(found["trainedTime"], found["time"], found["predictedTest"])
    assert found["done"] and found["wide"] and len(trained) > 50
    assert np.abs(trained - formula).max() < 0.05
    assert abs(found["predictedLeast"] / found["least"] - 1) < 0.06


@pytest.mark.parametrize("cell", [[-2.2, 2.0], [-1.3, 2.2], [-2.0, 0.5]])
def test_a_touched_cell_is_trained_as_in_python(numbers, cell):
    found = numbers("numbers/phase.js", "cell", {"dim": 24, "rank": 3, "noise": 1.0, "key": 2, "cell": cell, **FLOW})
    problem = ln.problems.low_rank_plus_noise(24, rank=3, noise_std=1.0, key=2)
    std = found["variance"] ** 0.5
    start = ln.inits.reduced_gaussian(key=[2, 1], in_dim=24, out_dim=24, width=found["width"], stds=std)
    run = ln.gradient_flow(problem, start, times=found["trainedTime"], rtol=1e-10)
    test = 2 * run.test_loss / found["unit"]
    assert found["done"] and np.abs(np.array(found["test"]) / test - 1).max() < 3e-3  # Runge and Kutta at a coarse step
    assert abs(found["least"] / test.min() - 1) < 2e-3
    if found["wide"]:
        assert abs(found["predictedLeast"] / found["least"] - 1) < 0.05
