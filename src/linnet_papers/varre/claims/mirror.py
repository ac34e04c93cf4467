"""The mirror flows of training: Theorem 3.2, the rates that follow from it, and what is said not to be a gradient."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.reproduction.rows import above, at_most, below, corrected, fact, printed, within
from linnet_papers.varre import misprints
from linnet_papers.varre.grids import flows
from linnet_papers.varre.grids.flows import loss_over_bound
from linnet_papers.varre.settings import ONE_OUTPUT, REGRESSION, START
from linnet_papers.varre.training.path import Path, by_gamma, transposed
from linnet_papers.varre.training.regression import plain_flow

CONDITIONED = r"two inputs with condition numbers 1, $10^3$ and $10^6$, $\gamma$ from $10^{-6}$ to 10"
CONDITIONED_SOLUTION = np.array([0.8, 0.6])
CONDITIONED_TIMES = np.geomspace(0.01, 100.0, 60)
MIRROR = below(
    1e-6, "the velocity of the mirror image is a central difference, of relative error $10^{-10}$ and rounding"
)
GRADIENT = below(1e-6, "central differences of width $10^{-5}$ leave an asymmetry of $10^{-10}$ and rounding")
NO_GRADIENT = above(1e-2, "ten thousand times what central differences leave of a symmetric Jacobian")


@claim(
    "theorem-3.2a",
    says="The singular values of the predictor follow a mirror flow with the hyperbolic entropy as "
    r"potential, $D \mathrm{asinh}(D/\gamma)/2 - \sqrt{D^2 + \gamma^2}$.",
    assumes=START,
    tried=REGRESSION,
    correction="1/2 on both terms of the potential",
    no_region="a misprint in a formula: the 1/2 is lost on one term, and the proof has its gradient right",
)
def singular_value_mirror(trial: Trial) -> Rows:
    rows = flows.regression(trial)
    wrong, right = (
        highest(_mirror_error(path, image) for path in rows)
        for image in (misprints.mirror, ln.theories.spectral_bias.mirror)
    )
    of_alpha = highest(_alpha_velocity_error(path) for path in rows if path.gamma >= 1e-3)
    yield printed("error of the mirror flow with the printed potential", wrong, MIRROR)
    yield corrected("error of the mirror flow with 1/2 on both terms", right, MIRROR)
    yield corrected(r"error of (C.36), the velocity of the singular values of $\alpha$", of_alpha, MIRROR)


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


SLOPE = partial(within, 0.05, "an integral by trapezoids over a hundred states whose times grow by 8% each")


@claim(
    "potential-limit",
    says=r"As $\gamma$ tends to 0 the potential tends to $\ln(1/\gamma)$ nuclear norms.",
    assumes=f"{START}, whitened data",
    tried=r"gradient flow on whitened data, $\gamma$ from $10^{-12}$ to $10^{-3}$: the time integral of "
    r"$\mathrm{diag}(U^\top R V)$, which is the gradient of the potential at the end, for every mode",
    correction="half of that, as the 1/2 stands before both terms",
    no_region="a misprint in a formula: the missing 1/2 of Theorem 3.2(a), in its limit of vanishing scale",
)
def potential_limit(trial: Trial) -> Rows:
    from scipy.integrate import trapezoid

    rows = {gamma: row for gamma, row in by_gamma(flows.whitened(trial)).items() if gamma <= 1e-3}
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
    slope = r"median slope of that gradient against $\ln(1/\gamma)$", np.median(slopes)
    yield printed(*slope, SLOPE(of=1))
    yield corrected(*slope, SLOPE(of=0.5))
    yield fact("slopes of all modes", slopes)


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


WARPED = above(1e-2, "ten thousand times the error with the warp, or the warp would decide nothing")


@claim(
    "theorem-3.2b",
    says="With one output the predictor itself follows a mirror flow in a warped time.",
    assumes=f"{START}, one output",
    tried=ONE_OUTPUT,
)
def predictor_mirror(trial: Trial) -> Rows:
    theory = ln.theories.spectral_bias
    errors, plain = [], []
    for path in flows.one_output(trial):
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
    yield printed("error of the mirror flow in the warped time", highest(errors), MIRROR)
    yield printed("error of the mirror flow without the warp", highest(plain), WARPED)


@claim(
    "lemma-C.7-hessian",
    says=r"$I + \alpha \alpha^\top/(1 - \lvert \alpha \rvert^2)$ is no Hessian of a function of "
    r"$\alpha$; times $(1 - \lvert \alpha \rvert^2)^{-1/2}$ it is.",
    assumes=r"$\lvert \alpha \rvert < 1$",
    tried="third derivatives at five points of length 0.7 in four dimensions",
)
def hessian(trial: Trial) -> Rows:
    """Third derivatives of the two would-be Hessians of Lemma C.7: a Hessian's are symmetric in all indices."""
    random = np.random.default_rng([trial.seed, 31])
    points = random.standard_normal((5, 4))
    points *= 0.7 / np.linalg.norm(points, axis=1, keepdims=True)

    def asymmetries(power: float) -> list[float]:
        return [_asymmetry(lambda a: _metric(a, power), point) for point in points]

    yield printed("asymmetry of the third derivatives after the factor, by point", asymmetries(0.5), GRADIENT)
    yield printed("asymmetry of the third derivatives as it stands, by point", asymmetries(0.0), NO_GRADIENT)


def _metric(a: np.ndarray, power: float) -> np.ndarray:
    """Return (I + a a^T/(1 - |a|^2)) (1 - |a|^2)^-power."""
    rest = 1 - a @ a
    return (np.eye(a.size) + np.outer(a, a) / rest) / rest**power


def _asymmetry(field: Callable[[np.ndarray], np.ndarray], point: np.ndarray, width: float = 1e-5) -> float:
    """Return how far the derivatives of a field, by central differences, are from those of a gradient, where that by
    the i-th variable of the j-th entry is that by the j-th of the i-th; relative to the largest of them."""
    slopes = _jacobian(field, point, width).reshape(point.size, point.size, -1)
    return float(np.abs(slopes - np.swapaxes(slopes, 0, 1)).max() / np.abs(slopes).max())


def _jacobian(field: Callable[[np.ndarray], np.ndarray], point: np.ndarray, width: float) -> np.ndarray:
    """Return the derivatives of a field by each variable, by central differences of that width."""
    steps = width * np.eye(point.size).reshape(-1, *point.shape)
    return np.stack([(field(point + step) - field(point - step)) / (2 * width) for step in steps])


@claim(
    "lemma-C.4-potential",
    says="If the imbalance is diagonal but no multiple of the identity, there is no potential for the first layer.",
    assumes="an invertible first layer",
    tried=r"Jacobians at five points, $3 \times 3$ with singular values from 1 to 3, the imbalance on either side",
)
def potential(trial: Trial) -> Rows:
    """Jacobians of Z - Z^-T D and Z - D Z^-T, which are symmetric exactly if these are gradients."""
    random = np.random.default_rng([trial.seed, 32])

    def asymmetries(point: np.ndarray, imbalance: np.ndarray) -> list[float]:
        sides = (False, True)
        return [_asymmetry(partial(_without_imbalance, imbalance=imbalance, on_left=side), point) for side in sides]

    isotropic, others = [], []
    for _ in range(5):
        left, right = np.linalg.qr(random.standard_normal((2, 3, 3)))[0]
        point = (
            left * random.uniform(1.0, 3.0, 3) @ right
        )  # differences of an inverse need one that is well conditioned
        other = np.diag(random.uniform(0.2, 0.5, 3)) + np.diag([0.0, 0.4, 0.8])
        isotropic += asymmetries(point, 0.6 * np.eye(3))
        others += asymmetries(point, other)
    yield printed("asymmetry of the Jacobian for other diagonal imbalances", others, NO_GRADIENT)
    yield printed(r"asymmetry of the Jacobian for $2 \gamma I$", isotropic, GRADIENT)


def _without_imbalance(first: np.ndarray, *, imbalance: np.ndarray, on_left: bool) -> np.ndarray:
    """Return Z - Z^-T D, or Z - D Z^-T as printed."""
    inverse = np.linalg.inv(first).T
    return first - (imbalance @ inverse if on_left else inverse @ imbalance)


CONVEX = above(0, "a potential is convex where its Hessian has no eigenvalue below 0")


@claim(
    "potentials-convex",
    says=r"The potentials of both mirror flows are convex: $\Psi_\gamma$ of the singular values, and $\psi_\gamma$ of "
    "the predictor.",
    assumes="none: an inequality",
    tried="Jacobians of both gradients by central differences, five points for each setting",
    region={
        "scale": Range(1e-6, 10.0, log=True),
        "size": Range(0.1, 10.0, log=True),
        "inputs": Range(2, 10, whole=True),
    },
)
def convex(trial: Trial) -> Rows:
    theory = ln.theories.spectral_bias
    random = np.random.default_rng([trial.seed, 33])

    def least(scale: float, size: float, inputs: int) -> dict[str, float]:
        """Return the least eigenvalue of each Hessian over five points, in units of the largest."""
        gradients = {
            r"$\Psi_\gamma$": lambda x: theory.mirror(np.abs(x), scale) * np.sign(x),
            r"$\psi_\gamma$": lambda x: theory.predictor_mirror(x, scale),
        }
        found = {}
        for name, gradient in gradients.items():
            points = random.standard_normal((5, inputs))
            points *= size / np.linalg.norm(points, axis=1, keepdims=True)
            slopes = [_jacobian(gradient, point, 1e-4 * size) for point in points]
            ends = [np.linalg.eigvalsh(0.5 * (slope + slope.T)) for slope in slopes]
            found[name] = lowest(one[0] / np.abs(one).max() for one in ends)
        return found

    for name, values in by_name({label: least(**setting) for label, setting in trial.region(5).items()}).items():
        yield printed(f"smallest over largest eigenvalue of the Hessian of {name}", values, CONVEX)


THE_BOUND = at_most(1.0, "a loss at its bound is as large as the lemma allows")


@claim(
    "lemma-C.8",
    says=r"With one output the loss is at most a Bregman divergence over $\sqrt{2 \gamma} t$, whatever the data.",
    assumes=f"{START}, one output",
    tried=f"{ONE_OUTPUT}; {CONDITIONED}",
)
def bound(trial: Trial) -> Rows:
    bounds = partial(ln.theories.spectral_bias.convergence_bound, CONDITIONED_SOLUTION, times=CONDITIONED_TIMES)
    by_scale = {
        rf"$\gamma = {gamma:g}$": highest(loss_over_bound(path) for path in row)
        for gamma, row in by_gamma(flows.one_output(trial)).items()
    }
    by_condition = {
        condition: highest((loss / bounds(gamma)).max() for gamma, loss in row.items())
        for condition, row in _losses_by_condition().items()
    }
    yield printed(r"largest loss over its bound, by $\gamma$", by_scale, THE_BOUND)
    yield printed("largest loss over its bound, by condition number", by_condition, THE_BOUND)


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


QUARTER = at_most(0.25, r"the constant of $\lvert \beta \rvert^2/(4 \gamma t)$, which Lemma C.8's own bound implies")


@claim(
    "gamma-rate",
    says=r"With one output the loss falls like $O(1/(\gamma t))$, whatever the conditioning of the data.",
    assumes=f"{START}, one output",
    tried=f"{ONE_OUTPUT}; {CONDITIONED}",
)
def gamma_rate(trial: Trial) -> Rows:
    """gamma t L/|beta_*|^2 along the flows, and the same of Lemma C.8's own bound."""
    theory = ln.theories.spectral_bias
    size = CONDITIONED_SOLUTION @ CONDITIONED_SOLUTION
    losses, bounds = [], []
    for path in flows.one_output(trial):
        unit = (path.solution[0] ** 2).sum() / (path.gamma * path.times)
        losses.append((path.loss / unit).max())
        bounds.append((theory.convergence_bound(path.solution[0], path.gamma, path.times) / unit).max())
    by_condition = {
        condition: highest((loss * gamma * CONDITIONED_TIMES).max() / size for gamma, loss in row.items())
        for condition, row in _losses_by_condition().items()
    }
    largest = r"largest $\gamma t L/\lvert \beta \rvert^2$"
    yield printed(f"{largest} of the flows in the regression", highest(losses), QUARTER)
    yield printed(f"{largest}, by condition number", by_condition, QUARTER)
    own = r"largest bound of Lemma C.8 in units of $\lvert \beta \rvert^2/(\gamma t)$"
    yield printed(own, highest(bounds), QUARTER)
    yield fact("smallest bound of Lemma C.8 in that unit", lowest(bounds))


SLOWER = above(1, "what is slower takes longer, on every data set")
BETTER = above(0, "a better bias is a smaller norm of the layers, on every data set")


@claim(
    "trade-off",
    says=r"With decreasing scale the convergence is slower and the bias better: with imbalance, speed and quality are "
    "not decoupled.",
    assumes=START,
    tried=f"{REGRESSION}; from one scale to the next, on the same data",
)
def trade_off(trial: Trial) -> Rows:
    """The time to half of the loss and the squared norms at the end, on data of any covariance."""
    rows = by_gamma(flows.regression(trial))
    halves = np.array([[_half_time(path) for path in row] for row in rows.values()])
    excess = np.array([[path.nuclear_norm_excess for path in row] for row in rows.values()])
    steps = [rf"$\gamma = {gamma:g}$" for gamma in list(rows)[1:]]
    slower = dict(zip(steps, (halves[:-1] / halves[1:]).min(axis=1), strict=True))
    better = dict(zip(steps, np.diff(excess, axis=0).min(axis=1), strict=True))
    yield printed("time to half of the loss at the next smaller scale, over that at this one", slower, SLOWER)
    gain = "what half the squared norms over the nuclear norm gain from the next smaller scale to this one"
    yield printed(gain, better, BETTER)


def _half_time(path: Path) -> float:
    """Return when half of the loss is left."""
    at = int(np.argmax(path.loss < 0.5 * path.loss[0]))
    logs = np.log(path.loss[[at, at - 1]] / path.loss[0])
    return float(np.interp(np.log(0.5), logs, path.times[[at, at - 1]]))
