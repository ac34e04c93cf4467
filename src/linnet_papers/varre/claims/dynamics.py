"""How training gets there: the projection, the invariant, the Riccati equation, rates, discrete steps."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.reproduction import AllOf, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest
from linnet_papers.varre import misprints
from linnet_papers.varre.settings import INPUTS, OUTPUTS, REGRESSION, SAMPLES, SIZES, START, WIDTH
from linnet_papers.varre.tables import flows
from linnet_papers.varre.training.path import Path, transposed
from linnet_papers.varre.training.regression import draw_regression, plain_flow, plain_step

DERIVATIVE = Limit(1e-10, "derivatives by complex steps are exact but for rounding, over sums of a hundred terms")
TRAINER = Limit(1e-9, "the difference of weights of about ten over a step that moves them by a thousandth")


@claim(
    "equations-2.4",
    says="Gradient flow on (2.2) moves the layers by X^T (Y - X W1 W2) W2^T and W1^T X^T (Y - X W1 W2).",
    assumes="none: an identity, with 1/N in the data",
    tried=f"Gaussian layers of size 0.1, 1 and 10, {SIZES}, width 12; derivatives by complex steps",
    holds=AllOf(
        Below(
            DERIVATIVE,
            "formula",
            what="largest distance of (2.4) from minus the derivative of (2.2), of its size",
            form=".1e",
        ),
        Below(DERIVATIVE, "plain", what="the same of a step of descent in NumPy, over the step", form=".1e"),
        Below(TRAINER, "trainer", what="the same of a step of the trainer", form=".1e"),
    ),
    reads=f"all {12 * (INPUTS + OUTPUTS)} weights of three networks",
)
def gradients(trial: Trial) -> Numbers:
    """(2.2) from the samples alone; the step is so small that a step is a velocity, to rounding."""
    problem = draw_regression([trial.seed, 26])
    x, y = np.asarray(problem.inputs), np.asarray(problem.outputs)
    random = generator(trial.seed, 27)

    def errors(size: float) -> Numbers:
        """Return the relative errors of (2.4), of a plain step and of the trainer's, for weights of that size."""
        layers = size * random.standard_normal((12, INPUTS)), size * random.standard_normal((OUTPUTS, 12))
        wanted = [-slopes for slopes in _derivatives(layers, x, y)]
        scale = highest(np.abs(part).max() for part in wanted)
        left = (y - x @ layers[0].T @ layers[1].T) / SAMPLES  # of the paper's Y - X W1 W2, with 1/N
        rate = 1e-3 / scale
        run = ln.gradient_descent(problem, ln.Weights(*layers), learning_rate=rate, steps=1, save_every=1)
        steps = {"plain": plain_step(layers, problem, rate), "trainer": (run.weights.first[-1], run.weights.second[-1])}
        speeds = {name: [(b - a) / rate for a, b in zip(layers, to, strict=True)] for name, to in steps.items()}
        speeds["formula"] = [(x.T @ left @ layers[1]).T, (layers[0] @ x.T @ left).T]
        return {
            name: highest(np.abs(v - w).max() / scale for v, w in zip(each, wanted, strict=True))
            for name, each in speeds.items()
        }

    return by_name(errors(size) for size in (0.1, 1.0, 10.0))


def _derivatives(layers: tuple[np.ndarray, np.ndarray], x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return the derivatives of (2.2) by every weight: the imaginary part of the loss a tiny imaginary step away."""
    derivatives = []
    for which, layer in enumerate(layers):
        slopes = np.empty(layer.shape)
        for place in np.ndindex(*layer.shape):
            moved = [one.astype(complex) for one in layers]
            moved[which][place] += 1e-30j
            slopes[place] = (((x @ moved[0].T @ moved[1].T - y) ** 2).sum() / (2 * len(x))).imag / 1e-30
        derivatives.append(slopes)
    return derivatives


EQUAL = Limit(1e-12, "500 steps of plain arithmetic, each with rounding of 1e-16")


@claim(
    "lemma-3.1",
    says="A wide network from this start stays in the span of its start: it is a network of width d, lifted.",
    assumes=START,
    tried="descent in plain NumPy, width 200 against width 10, 500 steps",
    holds=Below(EQUAL, "apart", what="largest difference", form=".1e"),
    reads="width 200 against width 10, 500 steps",
)
def projection(trial: Trial) -> Numbers:
    """Descent at full width and at width d, in plain NumPy: the projection commutes with any step."""
    problem = draw_regression(trial.seed)
    start = ln.inits.orthogonal(key=trial.seed, in_dim=INPUTS, out_dim=OUTPUTS, width=WIDTH, scale=0.1)
    frame = start.first / np.sqrt(0.2)  # h x d, orthonormal columns: the paper's P transposed
    wide, narrow = (start.first, start.second), (frame.T @ start.first, start.second @ frame)
    for _ in range(500):
        wide, narrow = (plain_step(layers, problem, 0.02) for layers in (wide, narrow))
    lifted = frame @ narrow[0], narrow[1] @ frame.T
    return {"apart": [np.abs(one - other).max() for one, other in zip(lifted, wide, strict=True)]}


INVARIANT = Limit(1e-8, "drift of a flow integrated to a relative tolerance of 1e-11")
OF_GAMMA = Limit(1e-3, "the invariant is 2 gamma I itself: at gamma = 1e-6 a drift of 1e-8 would hide it")
FRAME = Limit(1e-10, "the part outside the start's frame is an equilibrium of the flow: rounding alone")


@claim(
    "lemma-3.2",
    says="The difference of the layers' Gram matrices stays 2 gamma times the identity.",
    assumes=START,
    tried=REGRESSION,
    holds=AllOf(
        Below(INVARIANT, what="largest distance of Z1^T Z1 - Z2 Z2^T from 2 gamma I", form=".1e"),
        Below(OF_GAMMA, "share", what="the same over 2 gamma, gamma >= 1e-6", form=".1e"),
        Below(FRAME, "off_frame", what="part of the layers outside the start's frame", form=".0e"),
    ),
    reads="all 10 inputs of {flows} flows",
)
def invariant(trial: Trial) -> Numbers:
    """Z1^T Z1 - Z2 Z2^T against 2 gamma I on all ten inputs, in the frame of the start; what leaves the frame."""
    drifts, shares, outside = [], [], []
    for path in [*flows.LIMITS.rows(trial), *flows.ONE_OUTPUT.rows(trial)]:
        first, second = path.projected_first, path.projected_second
        gram = first @ transposed(first) - transposed(second) @ second
        drifts.append(np.abs(gram - 2 * path.gamma * np.eye(INPUTS)).max())
        outside.append(path.off_frame)
        if path.gamma >= 1e-6:
            shares.append(drifts[-1] / (2 * path.gamma))
    return {"value": highest(drifts), "share": highest(shares), "off_frame": highest(outside), "flows": len(drifts)}


RICCATI = Limit(1e-6, "alpha is divided by gamma >= 1e-3, which leaves about seven digits")
PRINTED = Limit(1e-3, "a printed formula this near would pass for right")
SPAN = Limit(1e-8, "outside the span of the data alpha never moves: rounding, over gamma")


@claim(
    "lemma-3.3",
    says="The matrix alpha follows a Riccati equation in the span of the data, and gives the predictor as "
    "(1 - alpha alpha^T)^-1 alpha.",
    assumes=START,
    tried=f"{REGRESSION}; of them gamma >= 1e-3 alone",
    holds=Below(PRINTED, what="largest error of the printed predictor", form=".1e"),
    corrected=AllOf(
        Below(RICCATI, "back", what="error of the predictor", form=".1e"),
        Below(RICCATI, "speed", what="error of the Riccati equation", form=".1e"),
        Below(RICCATI, "gram", what="error of (C.12), Z1 Z1^T = 2 gamma (1 - alpha alpha^T)^-1", form=".1e"),
        Below(RICCATI, "gram_speed", what="error of (C.9)-(C.11), its velocity", form=".1e"),
        Below(SPAN, "leak", what="part of alpha outside the span of the data", form=".0e"),
    ),
    correction="2 gamma (1 - alpha alpha^T)^-1 alpha, with the factor of Lemma C.2",
    reads="alpha from the trained layers, its velocity, and the predictor from it",
)
def alpha(trial: Trial) -> Numbers:
    """alpha from the trained layers, its velocity against the Riccati equation, the predictor with and without 2
    gamma."""
    rows = flows.LIMITS.rows(trial)
    # 1 - |alpha| is of order gamma: below, it is lost
    kept = [(path, i) for path in rows if path.gamma >= 1e-3 for i in range(0, len(path.times), 7)]
    errors = by_name(_alpha_errors(path, i) for path, i in kept)
    others = [*flows.ONE_OUTPUT.rows(trial), *flows.WHITENED.rows(trial)]
    # the inverse in alpha is as badly conditioned as gamma is small
    leak = highest(path.alpha_outside_span for path in [*rows, *others] if path.gamma >= 1e-3)
    return {**{name: highest(each) for name, each in errors.items()}, "leak": leak}


def _alpha_errors(path: Path, i: int) -> Numbers:
    """Return the relative errors of Lemma 3.3 at one state of a flow; `value` is that of the printed predictor."""
    theory, first, second, product = ln.theories.spectral_bias, path.first[i], path.second[i], path.product[i]
    squares = first.T @ first  # the paper's Z1 Z1^T; alpha is `a` transposed
    inverse = np.linalg.inv(squares)
    a = product @ inverse
    moving = first.T @ (second.T @ path.residual[i])
    velocity = (path.velocity[i] - a @ (moving + moving.T)) @ inverse
    claimed = 2 * path.gamma * np.linalg.inv(np.eye(a.shape[1]) - a.T @ a)
    turned = path.residual[i].T @ a @ claimed
    expected = theory.alpha_velocity(a, path.cov, path.cross, path.gamma)
    size = np.abs(product).max()
    return {
        "value": np.abs(misprints.predictor(a) - product).max() / size,
        "back": np.abs(theory.predictor(a, path.gamma) - product).max() / size,
        "speed": np.abs(velocity - expected).max() / np.abs(path.cross).max(),
        "gram": np.abs(claimed - squares).max() / np.abs(squares).max(),
        "gram_speed": np.abs(turned + turned.T - (moving + moving.T)).max() / np.abs(moving).max(),
    }


RISE = Limit(1e-4, "a rise of |R|^2 far above the flow's tolerance")
SLACK = Limit(1e-12, "the inequality has no slack but rounding, in units of the first loss")


@claim(
    "lemma-C.6-rate",
    says="The squared norm of the residual decays at least at the rate 2 gamma lambda, lambda the least eigenvalue: it "
    "never rises.",
    assumes=START,
    tried=f"{REGRESSION}; 12 seeds at gamma = 1e-4 (6 if quick), a case built for it",
    holds=AllOf(
        Below(RISE, what="rise of |R|^2 for Sigma = diag(9, 0.09), A = [[1, 0], [1, 5]]", form=".1%"),
        Below(RISE, "largest_rise", what="largest rise in the regression", form=".1%"),
    ),
    corrected=Below(SLACK, "slack", what="largest excess of dL/dt over -4 gamma lambda L", form=".0e"),
    correction="the loss falls at least at that rate, dL/dt <= -4 gamma lambda L",
    reads="{rising} of {draws} seeds of the regression rise at gamma = 1e-4; dL/dt on {flows} flows",
)
def rate(trial: Trial) -> Numbers:
    theory = ln.theories.spectral_bias
    rises, slack = [], []
    for path in flows.LIMITS.rows(trial):
        square = (path.residual**2).sum(axis=(-1, -2))
        square = square[square > 1e-16 * square[0]]
        if path.gamma == 1e-4:
            rises.append((square / np.minimum.accumulate(square)).max() - 1)
        falling = -(path.residual * path.velocity).sum(axis=(-1, -2))
        keep = path.loss > 1e-16 * path.loss[0]
        excess = falling + theory.loss_rate(path.cov, path.gamma) * path.loss
        slack.append(excess[keep].max() / path.loss[0])
    return {
        "value": _rise_on_two_inputs(),
        "rising": sum(rise > RISE for rise in rises),
        "draws": len(rises),
        "largest_rise": highest(rises),
        "slack": highest(slack),
        "flows": len(slack),
    }


def _rise_on_two_inputs() -> float:
    """Return the share by which |R|^2 rises above its least earlier value, gamma = 1e-4, by SciPy on two inputs and two
    outputs."""
    cov, target = np.diag([9.0, 0.09]), np.array([[1.0, 0.0], [1.0, 5.0]])
    start = ln.Weights(np.sqrt(2e-4) * np.eye(2), np.zeros((2, 2)))
    problem = ln.Problem.from_moments(cov, target @ cov)
    products = plain_flow(problem, start, np.linspace(0, 15, 300), rtol=1e-11, atol=1e-13).product
    squares = (((target - products) @ cov) ** 2).sum(axis=(-1, -2))
    return float((squares / np.minimum.accumulate(squares)).max() - 1)


ONE_DIRECTION = Limit(1e-12, "rank one is exact: rounding alone")
TRAINED = Limit(0.1, "share of the loss that may be left by descent that trains")


@claim(
    "discrete-step",
    says="On whitened data, descent with any step changes the first layer by a matrix of rank one.",
    assumes="one output, W1 = I, a = 0, whitened data",
    tried="descent, d = 6, steps 0.01 to 0.8",
    holds=Below(TRAINED, "printed", what="loss left with the printed a + eta W^T a", form=".0%"),
    corrected=AllOf(
        Below(ONE_DIRECTION, what="second over first singular value of W - W(0)", form=".0e"),
        Below(ONE_DIRECTION, "turned", what="turn of R and a", form=".0e"),
        Below(TRAINED, "left", what="loss left", form=".0e"),
    ),
    correction="a + eta W^T R; the printed step never leaves a = 0",
    reads="200 steps of size 0.01, 0.1, 0.4 and 0.8",
)
def discrete_step(trial: Trial) -> Numbers:
    """One output, whitened data, W1 = I: the second singular value of W1 - I under descent with any step, and the
    directions of R and a."""
    target = generator(trial.seed, 8).standard_normal((1, 6))
    problem = ln.Problem.from_target(target / np.linalg.norm(target))
    rates = np.array([0.01, 0.1, 0.4, 0.8])
    starts = ln.Weights(np.repeat(np.eye(6)[None], 4, 0), np.zeros((4, 1, 6)))
    run = ln.gradient_descent(problem, starts, learning_rate=rates, steps=200, save_every=20)
    values = np.linalg.svd(run.weights.first - np.eye(6), compute_uv=False)[1:]
    direction = problem.cross[0] / np.linalg.norm(problem.cross)
    vectors = np.concatenate([problem.cross - run.products[:-1], run.weights.second[1:]])[..., 0, :]
    along = vectors @ direction
    turned = np.linalg.norm(vectors - along[..., None] * direction, axis=-1).max()  # a and R at first have length one
    first, second = np.eye(6), np.zeros((1, 6))
    for _ in range(200):
        first, second = misprints.discrete_step(first, second, problem.cross - second @ first, 0.1)
    return {
        "value": (values[..., 1] / values[..., 0]).max(),
        "left": (run.loss[-1] / run.loss[0]).max(),
        "turned": turned,
        "printed": problem.loss(second @ first) / run.loss[0, 0],
    }
