"""How training gets there: the projection, the invariant, the Riccati equation, rates, discrete steps."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet._randomness import generator
from linnet_papers.reproduction import Range, Rows, Trial, claim
from linnet_papers.reproduction.datasets import by_name
from linnet_papers.reproduction.fits import highest
from linnet_papers.reproduction.rows import above, at_least, below, both, corrected, fact, printed
from linnet_papers.varre import misprints
from linnet_papers.varre.grids import flows
from linnet_papers.varre.settings import INPUTS, OUTPUTS, REGRESSION, SAMPLES, SIZES, START, WIDTH
from linnet_papers.varre.training.path import Path, transposed
from linnet_papers.varre.training.regression import draw_regression, plain_flow, plain_step

DERIVATIVE = below(1e-10, "derivatives by complex steps are exact but for rounding, over sums of a hundred terms")
TRAINER = below(1e-9, "the difference of weights of about ten over a step that moves them by a thousandth")


@claim(
    "equations-2.4",
    says=r"Gradient flow on (2.2) moves the layers by $X^\top (Y - X W_1 W_2) W_2^\top$ and "
    r"$W_1^\top X^\top (Y - X W_1 W_2)$.",
    assumes="none: an identity, with $1/N$ in the data",
    tried=f"Gaussian layers of size 0.1, 1 and 10, {SIZES}, width 12; derivatives by complex steps",
)
def gradients(trial: Trial) -> Rows:
    """(2.2) from the samples alone; the step is so small that a step is a velocity, to rounding."""
    problem = draw_regression([trial.seed, 26])
    x, y = np.asarray(problem.inputs), np.asarray(problem.outputs)
    random = generator(trial.seed, 27)

    def errors(size: float) -> dict[str, float]:
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

    found = by_name(errors(size) for size in (0.1, 1.0, 10.0))
    largest = "largest distance of"
    yield printed(f"{largest} (2.4) from minus the derivative of (2.2), over its size", found["formula"], DERIVATIVE)
    yield printed(f"{largest} a step of descent in NumPy from it, over step and size", found["plain"], DERIVATIVE)
    yield printed(f"{largest} a step of the trainer from it, over step and size", found["trainer"], TRAINER)


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


EQUAL = below(1e-12, "500 steps of plain arithmetic, each with rounding of $10^{-16}$")


@claim(
    "lemma-3.1",
    says="A wide network stays in the span of its orthogonal initialization: it is a network of width $d$, lifted.",
    assumes=START,
    tried="descent in plain NumPy, width 200 against width 10, 500 steps",
)
def projection(trial: Trial) -> Rows:
    """Descent at full width and at width d, in plain NumPy: the projection commutes with any step."""
    problem = draw_regression(trial.seed)
    start = ln.inits.orthogonal(key=trial.seed, in_dim=INPUTS, out_dim=OUTPUTS, width=WIDTH, scale=0.1)
    frame = start.first / np.sqrt(0.2)  # h x d, orthonormal columns: the paper's P transposed
    wide, narrow = (start.first, start.second), (frame.T @ start.first, start.second @ frame)
    for _ in range(500):
        wide, narrow = (plain_step(layers, problem, 0.02) for layers in (wide, narrow))
    lifted = frame @ narrow[0], narrow[1] @ frame.T
    differences = [np.abs(one - other).max() for one, other in zip(lifted, wide, strict=True)]
    yield printed("largest difference of the wide network and the lifted one, by layer", differences, EQUAL)


INVARIANT = below(1e-8, "drift of a flow integrated to a relative tolerance of $10^{-11}$")
OF_GAMMA = below(
    1e-3, r"the invariant is $2 \gamma I$ itself: at $\gamma = 10^{-6}$ a drift of $10^{-8}$ would hide it"
)
FRAME = below(1e-10, "the part outside the frame of the initialization is an equilibrium of the flow: rounding alone")


@claim(
    "lemma-3.2",
    says=r"The difference of the layers' Gram matrices stays $2 \gamma$ times the identity.",
    assumes=START,
    tried=REGRESSION,
)
def gram_difference_is_conserved(trial: Trial) -> Rows:
    """Z1^T Z1 - Z2 Z2^T against 2 gamma I on all ten inputs, in the frame of the start; what leaves the frame."""
    drifts, shares, outside = [], [], []
    for path in [*flows.regression(trial), *flows.one_output(trial)]:
        first, second = path.projected_first, path.projected_second
        gram = first @ transposed(first) - transposed(second) @ second
        drifts.append(np.abs(gram - 2 * path.gamma * np.eye(INPUTS)).max())
        outside.append(path.off_frame)
        if path.gamma >= 1e-6:
            shares.append(drifts[-1] / (2 * path.gamma))
    yield printed(r"largest distance of $Z_1^\top Z_1 - Z_2 Z_2^\top$ from $2 \gamma I$", highest(drifts), INVARIANT)
    yield printed(r"the same distance over $2 \gamma$, for $\gamma \ge 10^{-6}$", highest(shares), OF_GAMMA)
    yield printed("part of the layers outside the frame of the initialization", highest(outside), FRAME)
    yield fact("number of flows", len(drifts))


RICCATI = below(1e-6, r"$\alpha$ is divided by $\gamma \ge 10^{-3}$, which leaves about seven digits")
PRINTED = below(1e-3, "a printed formula this near would pass for right")
SPAN = below(1e-8, r"outside the span of the data $\alpha$ never moves: rounding, over $\gamma$")


@claim(
    "lemma-3.3",
    says=r"The matrix $\alpha$ follows a Riccati equation in the span of the data, and gives the "
    r"predictor as $(1 - \alpha \alpha^\top)^{-1} \alpha$.",
    assumes=START,
    tried=rf"{REGRESSION}; of these the ones with $\gamma \ge 10^{{-3}}$",
    correction=r"$2 \gamma (1 - \alpha \alpha^\top)^{-1} \alpha$, with the factor of Lemma C.2",
    no_region=r"a misprint in a formula: the factor $2 \gamma$, which Lemma C.2 has",
)
def alpha(trial: Trial) -> Rows:
    """alpha from the trained layers, its velocity against the Riccati equation, the predictor with and without 2
    gamma."""
    rows = flows.regression(trial)
    # 1 - |alpha| is of order gamma: below, it is lost
    kept = [(path, i) for path in rows if path.gamma >= 1e-3 for i in range(0, len(path.times), 7)]
    errors = by_name(_alpha_errors(path, i) for path, i in kept)
    others = [*flows.one_output(trial), *flows.whitened(trial)]
    # the inverse in alpha is as badly conditioned as gamma is small
    leak = highest(path.alpha_outside_span for path in [*rows, *others] if path.gamma >= 1e-3)
    found = {name: highest(each) for name, each in errors.items()}
    yield printed("largest error of the printed predictor", found["value"], PRINTED)
    yield corrected("error of the predictor", found["back"], RICCATI)
    yield corrected("error of the Riccati equation", found["speed"], RICCATI)
    yield corrected(r"error of (C.12), $Z_1 Z_1^\top = 2 \gamma (1 - \alpha \alpha^\top)^{-1}$", found["gram"], RICCATI)
    yield corrected("error of (C.9)-(C.11), its velocity", found["gram_speed"], RICCATI)
    yield corrected(r"part of $\alpha$ outside the span of the data", leak, SPAN)


def _alpha_errors(path: Path, i: int) -> dict[str, float]:
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


RISE = below(1e-4, r"a rise of $\lvert R \rvert^2$ far above the flow's tolerance")
SLACK = below(1e-12, "the inequality has no slack but rounding, in units of the first loss")


@claim(
    "lemma-C.6-rate",
    says=r"The squared norm of the residual decays at least at the rate $2 \gamma \lambda$, $\lambda$ "
    "the smallest eigenvalue: it never rises.",
    assumes=f"{START}, labels that can be fitted",
    tried=rf"{REGRESSION}; 12 seeds at $\gamma = 10^{{-4}}$ (6 if quick), a case built for it; the region by "
    "SciPy, with two inputs and outputs",
    correction=r"the loss falls at least at that rate, $dL/dt \le -4 \gamma \lambda L$, with the smallest nonzero "
    "eigenvalue",
    region={
        "scale": Range(1e-4, 10.0, log=True, paper=(1e-4, 1.0)),
        "condition": Range(1.0, 100.0, log=True),
        "target": Range(0.5, 5.0, log=True),
    },
)
def rate(trial: Trial) -> Rows:
    theory = ln.theories.spectral_bias
    rises, slack = [], []
    for path in flows.regression(trial):
        square = (path.residual**2).sum(axis=(-1, -2))
        square = square[square > 1e-16 * square[0]]
        if path.gamma == 1e-4:
            rises.append((square / np.minimum.accumulate(square)).max() - 1)
        falling = -(path.residual * path.velocity).sum(axis=(-1, -2))
        keep = path.loss > 1e-16 * path.loss[0]
        excess = falling + theory.loss_rate(path.cov, path.gamma) * path.loss
        slack.append(excess[keep].max() / path.loss[0])
    over_region = {label: _excess_on_two_inputs(**setting) for label, setting in trial.region(4).items()}
    case = r"rise of $\lvert R \rvert^2$ for $\Sigma = \mathrm{diag}(9, 0.09)$, $A = [[1, 0], [1, 5]]$"
    excess = r"excess of $dL/dt$ over $-4 \gamma \lambda L$"
    yield printed(case, _rise_on_two_inputs(), RISE)
    yield printed(r"largest rise of $\lvert R \rvert^2$ in the regression at $\gamma = 10^{-4}$", highest(rises), RISE)
    yield corrected(f"largest {excess} in the regression", highest(slack), SLACK)
    yield corrected(excess, over_region, SLACK)
    yield fact("seeds of the regression at which it rises", sum(rise > RISE.number for rise in rises))


def _two_inputs(cov: np.ndarray, target: np.ndarray, gamma: float, end: float) -> ln.Weights:
    """Return the flow from orthogonal layers on two inputs and two outputs, by SciPy."""
    start = ln.Weights(np.sqrt(2 * gamma) * np.eye(2), np.zeros((2, 2)))
    problem = ln.Problem.from_moments(cov, target @ cov)
    return plain_flow(problem, start, np.linspace(0, end, 300), rtol=1e-11, atol=1e-13)


def _rise_on_two_inputs() -> float:
    """Return the share by which |R|^2 rises above its least earlier value, gamma = 1e-4."""
    cov, target = np.diag([9.0, 0.09]), np.array([[1.0, 0.0], [1.0, 5.0]])
    products = _two_inputs(cov, target, 1e-4, 15.0).product
    squares = (((target - products) @ cov) ** 2).sum(axis=(-1, -2))
    return float((squares / np.minimum.accumulate(squares)).max() - 1)


def _excess_on_two_inputs(scale: float, condition: float, target: float) -> float:
    """Return the largest excess of the loss's velocity over the bound, in units of the first loss."""
    cov, truth = np.diag([1.0, 1 / condition]), target * np.array([[1.0, 0.0], [1.0, 5.0]])
    run = _two_inputs(cov, truth, scale, 5.0)
    residual = (truth - run.product) @ cov
    moving = run.second @ transposed(run.second) @ residual + residual @ transposed(run.first) @ run.first
    loss = 0.5 * (((truth - run.product) @ np.sqrt(cov)) ** 2).sum(axis=(-1, -2))
    excess = ln.theories.spectral_bias.loss_rate(cov, scale) * loss - (residual * moving).sum(axis=(-1, -2))
    return float(excess.max() / loss[0])


TWO = at_least(-1e-12, "an inequality of two matrices, up to rounding")
THREE = at_least(-1e-12, "an inequality of three matrices, as printed, up to rounding")


@claim(
    "trace-inequality",
    says=r"For three positive matrices $\mathrm{tr}(A B C) \ge \lambda_{\min}(A) \lambda_{\min}(B) \mathrm{tr}(C)$.",
    assumes="positive definite matrices (used in Lemma C.6)",
    tried="diag(1, 100), the same turned by 45 degrees, and a projection; a hundred random triples at each setting",
    correction=r"it holds for two, $\mathrm{tr}(A C) \ge \lambda_{\min}(A) \mathrm{tr}(C)$",
    region={"inputs": Range(2, 10, whole=True), "condition": Range(10.0, 1000.0, log=True)},
)
def traces(trial: Trial) -> Rows:
    turned = np.array([[50.5, 49.5], [49.5, 50.5]])
    _, vectors = np.linalg.eigh(np.diag([1.0, 100.0]) @ turned + turned @ np.diag([1.0, 100.0]))
    across = np.outer(vectors[:, 0], vectors[:, 0]) + 1e-6 * np.eye(2)
    drawn = {label: _random_triples(trial.seed, **setting) for label, setting in trial.region(4).items()}
    for_two = {label: _slack(a, c).min() for label, (a, _, c) in drawn.items()}
    failing = {label: np.mean(_slack(*triple) < 0) for label, triple in drawn.items()}
    less = "left side over the right one, less 1, for"
    yield printed(f"{less} three matrices", float(_slack(np.diag([1.0, 100.0]), turned, across)), THREE)
    yield corrected(f"{less} two", for_two, TWO)
    yield fact("fraction of the random triples at which it fails for three", failing)


def _random_triples(seed: int, inputs: float, condition: float) -> np.ndarray:
    """Draw a hundred triples of positive matrices with eigenvalues from one over the condition to 1."""
    random, size = np.random.default_rng([seed, 34]), int(inputs)
    frames = np.linalg.qr(random.standard_normal((3, 100, size, size)))[0]
    values = condition ** -random.uniform(size=(3, 100, 1, size))
    return (frames * values) @ np.swapaxes(frames, -1, -2)


def _slack(*matrices: np.ndarray) -> np.ndarray:
    """Return the trace of a product over the least eigenvalues of all but the last times the trace of that, less 1."""
    *others, last = matrices
    product, right = last, np.trace(last, axis1=-2, axis2=-1)
    for matrix in reversed(others):
        product = matrix @ product
        right = np.linalg.eigvalsh(matrix)[..., 0] * right
    return np.asarray(np.trace(product, axis1=-2, axis2=-1) / right - 1)


ONE_DIRECTION = below(1e-12, "rank one is exact: rounding alone")
TRAINED = below(0.1, "descent that trains leaves less than a tenth of the loss in 200 steps")


GROWS = above(1, "what grows is longer at the end of a step than before it")
RANK_ONE = below(
    0.05, r"$\sigma_2/\sigma_1$ is about $\varepsilon = 0.01$ where $W(0) = \varepsilon I$ and $\sigma_1$ is one"
)


@claim(
    "discrete-step",
    says="On whitened data, descent with any step changes the first layer by a matrix of rank one; $R$ and $a$ grow "
    "and keep their directions, and from a small initialization the first layer ends with rank about one.",
    assumes="one output, $W_1 = I$, $a = 0$, whitened data",
    tried="descent, $d = 6$, steps 0.01 to 0.8; $W_1 = 0.01 I$ for the rank at the end",
    correction=r"$a + \eta W^\top R$, as the printed step never leaves $a = 0$; $a$ grows and $R$ shrinks",
    no_region="a misprint in a formula: $a$ stands where the residual belongs",
)
def discrete_step(trial: Trial) -> Rows:
    """One output, whitened data, W1 = I: the second singular value of W1 - I under descent with any step, and the
    directions of R and a."""
    target = generator(trial.seed, 8).standard_normal((1, 6))
    problem = ln.Problem.from_target(target / np.linalg.norm(target))
    rates = np.array([0.01, 0.1, 0.4, 0.8])
    run = ln.gradient_descent(problem, _starts(1.0), learning_rate=rates, steps=200, save_every=20)
    values = np.linalg.svd(run.weights.first - np.eye(6), compute_uv=False)[1:]
    direction = problem.cross[0] / np.linalg.norm(problem.cross)
    residuals, outgoing = problem.cross - run.products, run.weights.second
    vectors = np.concatenate([residuals[:-1], outgoing[1:]])[..., 0, :]
    along = vectors @ direction
    turned = np.linalg.norm(vectors - along[..., None] * direction, axis=-1).max()  # a and R at first have length one
    first, second = np.eye(6), np.zeros((1, 6))
    for _ in range(200):
        first, second = misprints.discrete_step(first, second, problem.cross - second @ first, 0.1)
    small = ln.gradient_descent(problem, _starts(0.01), learning_rate=rates, steps=4000, save_every=4000)
    ends = np.linalg.svd(small.weights.first[-1], compute_uv=False)
    left = problem.loss(second @ first) / run.loss[0, 0]
    yield printed(r"fraction of the loss left with the printed $a + \eta W^\top a$", left, TRAINED)
    shrinking = np.linalg.norm(residuals[:2, 0], axis=(-1, -2))
    yield printed(r"$\lvert R \rvert$ after 20 steps of 0.01, over that at first", shrinking[1] / shrinking[0], GROWS)
    growing = np.linalg.norm(outgoing[1:3, 0], axis=(-1, -2))
    yield corrected(r"$\lvert a \rvert$ after 40 steps of 0.01, over that after 20", growing[1] / growing[0], GROWS)
    ratio = "second over first singular value of"
    yield corrected(f"{ratio} $W - W(0)$", (values[..., 1] / values[..., 0]).max(), ONE_DIRECTION)
    yield corrected("turn of $R$ and $a$", turned, ONE_DIRECTION)
    yield corrected("largest fraction of the loss left", (run.loss[-1] / run.loss[0]).max(), TRAINED)
    small = (ends[:, 1] / ends[:, 0]).max()
    yield both(f"largest {ratio} $W$ at the end, from $W(0) = 0.01 I$", small, RANK_ONE)


def _starts(size: float) -> ln.Weights:
    """Return W1 = size I and a = 0, once for each of four steps."""
    return ln.Weights(size * np.repeat(np.eye(6)[None], 4, 0), np.zeros((4, 1, 6)))
