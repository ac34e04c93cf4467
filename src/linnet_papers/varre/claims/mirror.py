"""The mirror flows of training: Theorem 3.2, the rates that follow from it, and what is said not to be a gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Above, AllOf, AtMost, Below, Limit, Numbers, Trial, Within, claim
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.varre import misprints
from linnet_papers.varre.settings import ONE_OUTPUT, REGRESSION, START
from linnet_papers.varre.tables import flows
from linnet_papers.varre.tables.flows import loss_over_bound
from linnet_papers.varre.training.path import Path, by_gamma, transposed
from linnet_papers.varre.training.regression import plain_flow

CONDITIONED = "two inputs with condition numbers 1, 1e3 and 1e6, gamma from 1e-6 to 10"
CONDITIONED_SOLUTION = np.array([0.8, 0.6])
CONDITIONED_TIMES = np.geomspace(0.01, 100.0, 60)
MIRROR = Limit(1e-6, "the velocity of the mirror image is a central difference, of relative error 1e-10 and rounding")
GRADIENT = Limit(1e-6, "asymmetry of a Jacobian by central differences of width 1e-5")
NO_GRADIENT = Limit(1e-2, "an asymmetry far above the differences' error")


@claim(
    "theorem-3.2a",
    says="The singular values of the predictor follow a mirror flow with the hyperbolic entropy as potential, "
    "D asinh(D/gamma)/2 - sqrt(D^2 + gamma^2).",
    assumes=START,
    tried=REGRESSION,
    holds=Below(MIRROR, "printed", what="error of the mirror flow with the printed potential", form=".2g"),
    corrected=AllOf(
        Below(MIRROR, what="error with 1/2 on both terms", form=".1e"),
        Below(MIRROR, "alpha", what="error of (C.36), the velocity of the singular values of alpha", form=".1e"),
    ),
    correction="1/2 on both terms of the potential",
    reads="velocity of the mirror image against the gradient in the singular basis, of the first gradient",
)
def singular_value_mirror(trial: Trial) -> Numbers:
    theory = ln.theories.spectral_bias
    rows = flows.LIMITS.rows(trial)
    return {
        "value": highest(_mirror_error(path, theory.mirror) for path in rows),
        "printed": highest(_mirror_error(path, misprints.mirror) for path in rows),
        "alpha": highest(_alpha_velocity_error(path) for path in rows if path.gamma >= 1e-3),
    }


def _alpha_velocity_error(path: Path) -> float:
    """Return the error of (C.36): the velocity of the singular values of alpha, from those of the layers, against
    (1 - D^2) diag(U^T R V)."""
    inverse = np.linalg.inv(transposed(path.first) @ path.first)
    a, residual = path.alpha, path.residual
    moving = transposed(path.first) @ transposed(path.second) @ residual
    speed = (path.velocity - a @ (moving + transposed(moving))) @ inverse
    left, values, right = np.linalg.svd(a, full_matrices=False)
    measured, wanted = (np.einsum("tki,tkd,tid->ti", left, matrix, right) for matrix in (speed, residual))
    return float(np.abs(measured - (1 - values**2) * wanted).max() / np.abs(wanted[0]).max())


SLOPE = Limit(0.05, "an integral by trapezoids over a hundred states whose times grow by 8% each")


@claim(
    "potential-limit",
    says="As gamma tends to 0 the potential tends to ln(1/gamma) nuclear norms.",
    assumes=f"{START}, whitened data",
    tried="gradient flow on whitened data, gamma from 1e-12 to 1e-3: the time integral of diag(U^T R V), which is the "
    "gradient of the potential at the end, for every mode",
    holds=Within(SLOPE, of=1, what="its slope against ln(1/gamma)", form=".3f"),
    corrected=Within(SLOPE, of=0.5, what="its slope against ln(1/gamma)", form=".3f"),
    correction="half of that, as the 1/2 stands before both terms",
    reads="slopes of {modes} modes: {least:.3f} to {most:.3f}, median {value:.3f}",
)
def potential_limit(trial: Trial) -> Numbers:
    from scipy.integrate import trapezoid

    rows = {gamma: row for gamma, row in by_gamma(flows.WHITENED.rows(trial)).items() if gamma <= 1e-3}
    images = []
    for row in rows.values():
        for path in row:
            left, _, right = np.linalg.svd(path.solution, full_matrices=False)
            pushes = np.einsum("ki,tkd,id->ti", left, path.residual, right)
            times, pushes = np.append(0.0, path.times), np.concatenate([pushes[:1], pushes])
            images.append(trapezoid(pushes, times, axis=0))
    reshaped = np.array(images).reshape(len(rows), -1)
    logs = np.log(1 / np.array(list(rows)))
    slopes = (reshaped[0] - reshaped[-1]) / (logs[0] - logs[-1])
    return {"value": np.median(slopes), "least": slopes.min(), "most": slopes.max(), "modes": slopes.size}


def _mirror_error(path: Path, image: Callable[[np.ndarray, float], np.ndarray]) -> float:
    """Return the error of the velocity of `image` along the flow's own velocity against diag(U^T R V), relative to the
    first residual."""
    left, values, right = np.linalg.svd(path.product, full_matrices=False)
    speeds = np.einsum("tki,tkd,tid->ti", left, path.velocity, right)
    wanted = np.einsum("tki,tkd,tid->ti", left, path.residual, right)
    stride = 1e-5 * (values + path.gamma) / np.maximum(np.abs(speeds), 1e-300)
    ahead, behind = (image(np.abs(values + sign * stride * speeds), path.gamma) for sign in (1, -1))
    slopes = (ahead - behind) / (2 * stride)
    moving = np.abs(wanted) > 1e-7 * np.abs(wanted[0]).max()  # beyond it the residual is rounding
    return float((np.abs(slopes - wanted) * moving).max() / np.abs(wanted[0]).max())


WARPED = Limit(1e-2, "without the warp the mirror flow must fail visibly")


@claim(
    "theorem-3.2b",
    says="With one output the predictor itself follows a mirror flow in a warped time.",
    assumes=f"{START}, one output",
    tried=ONE_OUTPUT,
    holds=AllOf(
        Below(MIRROR, what="error of the mirror flow", form=".1e"),
        Above(WARPED, "plain", what="error without the warp"),
    ),
    reads="velocity of the mirror image against the warped gradient, of its size",
)
def predictor_mirror(trial: Trial) -> Numbers:
    theory = ln.theories.spectral_bias
    errors, plain = [], []
    for path in flows.ONE_OUTPUT.rows(trial):
        beta, speed, residual = path.product[:, 0], path.velocity[:, 0], path.residual[:, 0]
        stride = 1e-5 * (np.linalg.norm(beta, axis=1) + path.gamma) / np.maximum(np.linalg.norm(speed, axis=1), 1e-300)
        nudge = stride[:, None] * speed
        ahead, behind = (theory.predictor_mirror(beta + sign * nudge, path.gamma) for sign in (1, -1))
        slope = (ahead - behind) / (2 * stride[:, None])
        expected = theory.predictor_warp(beta, path.gamma)[:, None] * residual
        keep = np.linalg.norm(residual, axis=1) > 1e-7 * np.linalg.norm(residual[0])
        size = np.abs(expected).max()
        errors.append(np.abs((slope - expected)[keep]).max() / size)
        plain.append(np.abs((slope - residual)[keep]).max() / size)
    return {"value": highest(errors), "plain": highest(plain)}


@claim(
    "lemma-C.7-hessian",
    says="I + alpha alpha^T/(1 - |alpha|^2) is no Hessian of a function of alpha; times (1 - |alpha|^2)^-1/2 it is.",
    assumes="|alpha| < 1",
    tried="third derivatives at five points of length 0.7 in four dimensions",
    holds=AllOf(
        Below(GRADIENT, "scaled", what="largest asymmetry after the factor", form=".0e"),
        Above(NO_GRADIENT, "plain", what="least asymmetry as it stands", form=".2f"),
    ),
    reads="asymmetry of the third derivatives",
)
def hessian(trial: Trial) -> Numbers:
    """Third derivatives of the two would-be Hessians of Lemma C.7: a Hessian's are symmetric in all indices."""
    random = np.random.default_rng([trial.seed, 31])
    points = random.standard_normal((5, 4))
    points *= 0.7 / np.linalg.norm(points, axis=1, keepdims=True)

    def asymmetries(power: float) -> list[float]:
        return [_asymmetry(lambda a: _metric(a, power), point) for point in points]

    return {"scaled": asymmetries(0.5), "plain": asymmetries(0.0)}


def _metric(a: np.ndarray, power: float) -> np.ndarray:
    """Return (I + a a^T/(1 - |a|^2)) (1 - |a|^2)^-power."""
    rest = 1 - a @ a
    return (np.eye(a.size) + np.outer(a, a) / rest) / rest**power


def _asymmetry(field: Callable[[np.ndarray], np.ndarray], point: np.ndarray, width: float = 1e-5) -> float:
    """Return how far the derivatives of a field, by central differences, are from those of a gradient, where that by
    the i-th variable of the j-th entry is that by the j-th of the i-th; relative to the largest of them."""
    steps = width * np.eye(point.size).reshape(-1, *point.shape)
    slopes = np.stack([(field(point + step) - field(point - step)) / (2 * width) for step in steps])
    slopes = slopes.reshape(point.size, point.size, -1)
    return float(np.abs(slopes - np.swapaxes(slopes, 0, 1)).max() / np.abs(slopes).max())


@claim(
    "lemma-C.4-potential",
    says="If the imbalance is diagonal but no multiple of the identity, there is no potential for the first layer.",
    assumes="an invertible first layer",
    tried="Jacobians at five points, 3 x 3, with the imbalance on either side",
    holds=AllOf(
        Above(NO_GRADIENT, "others", what="least asymmetry for other diagonal imbalances", form=".3f"),
        Below(GRADIENT, "isotropic", what="largest for 2 gamma I", form=".0e"),
    ),
    reads="asymmetry of the Jacobian",
)
def potential(trial: Trial) -> Numbers:
    """Jacobians of Z - Z^-T D and Z - D Z^-T, which are symmetric exactly if these are gradients."""
    random = np.random.default_rng([trial.seed, 32])

    def asymmetries(point: np.ndarray, imbalance: np.ndarray) -> list[float]:
        sides = (False, True)
        return [_asymmetry(partial(_without_imbalance, imbalance=imbalance, on_left=side), point) for side in sides]

    isotropic, others = [], []
    for _ in range(5):
        point = random.standard_normal((3, 3)) + 2 * np.eye(3)
        other = np.diag(random.uniform(0.2, 0.5, 3)) + np.diag([0.0, 0.4, 0.8])
        isotropic += asymmetries(point, 0.6 * np.eye(3))
        others += asymmetries(point, other)
    return {"others": others, "isotropic": isotropic}


def _without_imbalance(first: np.ndarray, *, imbalance: np.ndarray, on_left: bool) -> np.ndarray:
    """Return Z - Z^-T D, or Z - D Z^-T as printed."""
    inverse = np.linalg.inv(first).T
    return first - (imbalance @ inverse if on_left else inverse @ imbalance)


THE_BOUND = Limit(1.0, "it is the bound itself")


@claim(
    "lemma-C.8",
    says="With one output the loss is at most a Bregman divergence over sqrt(2 gamma) t, whatever the data.",
    assumes=f"{START}, one output",
    tried=f"{ONE_OUTPUT}; {CONDITIONED}",
    holds=AllOf(
        AtMost(THE_BOUND, "by_gamma", what="largest loss over its bound"),
        AtMost(THE_BOUND, "by_condition", what="the same on data of a given conditioning", form=".3f"),
    ),
    reads="loss over its bound where that is largest: {by_gamma:.2g}; by condition number: {by_condition:.3f}",
)
def bound(trial: Trial) -> Numbers:
    rows = by_gamma(flows.ONE_OUTPUT.rows(trial))
    bounds = partial(ln.theories.spectral_bias.convergence_bound, CONDITIONED_SOLUTION, times=CONDITIONED_TIMES)
    return {
        "by_gamma": {f"gamma = {g:g}": highest(loss_over_bound(path) for path in row) for g, row in rows.items()},
        "by_condition": {
            condition: highest((loss / bounds(gamma)).max() for gamma, loss in row.items())
            for condition, row in _losses_by_condition().items()
        },
    }


@cache  # two claims read it
def _losses_by_condition() -> dict[str, dict[float, np.ndarray]]:
    """Return the losses at `CONDITIONED_TIMES` of flows to `CONDITIONED_SOLUTION`, by condition number and gamma."""

    def losses(problem: ln.Problem, gamma: float) -> np.ndarray:
        start = ln.Weights(np.sqrt(2 * gamma) * np.eye(2), np.zeros((1, 2)))
        return np.asarray(problem.loss(plain_flow(problem, start, CONDITIONED_TIMES).product))

    rows = {}
    for condition in (1.0, 1e3, 1e6):
        x = np.sqrt(2) * np.diag([1.0, condition**-0.5])
        problem = ln.Problem.from_data(x, x @ CONDITIONED_SOLUTION)
        rows[f"{condition:.0e}"] = {gamma: losses(problem, gamma) for gamma in (1e-6, 1e-3, 1.0, 10.0)}
    return rows


QUARTER = Limit(0.25, "the constant of |beta|^2/(4 gamma t), which Lemma C.8's own bound implies")


@claim(
    "gamma-rate",
    says="With one output the loss falls like O(1/(gamma t)), whatever the conditioning of the data.",
    assumes=f"{START}, one output",
    tried=f"{ONE_OUTPUT}; {CONDITIONED}",
    holds=AllOf(
        AtMost(QUARTER, what="largest gamma t L/|beta|^2", form=".3f"),
        AtMost(QUARTER, "by_condition", what="the same on data of a given conditioning", form=".3f"),
        AtMost(QUARTER, "bound", what="largest bound of Lemma C.8 in that unit", form=".3f"),
    ),
    reads="{flows} flows, and by condition number {by_condition:.3f}; the bound of Lemma C.8 is {least_bound:.1e} to "
    "{bound:.3f} in units of |beta|^2/(gamma t)",
)
def gamma_rate(trial: Trial) -> Numbers:
    """gamma t L/|beta_*|^2 along the flows, and the same of Lemma C.8's own bound."""
    theory = ln.theories.spectral_bias
    size = CONDITIONED_SOLUTION @ CONDITIONED_SOLUTION
    losses, bounds = [], []
    for path in flows.ONE_OUTPUT.rows(trial):
        unit = (path.solution[0] ** 2).sum() / (path.gamma * path.times)
        losses.append((path.loss / unit).max())
        bounds.append((theory.convergence_bound(path.solution[0], path.gamma, path.times) / unit).max())
    return {
        "value": highest(losses),
        "by_condition": {
            condition: highest((loss * gamma * CONDITIONED_TIMES).max() / size for gamma, loss in row.items())
            for condition, row in _losses_by_condition().items()
        },
        "bound": highest(bounds),
        "least_bound": lowest(bounds),
        "flows": len(losses),
    }
