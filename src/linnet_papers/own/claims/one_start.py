"""One initialization under three names: orthogonal, isotropic imbalance, and the threshold of the mixed dynamics.

Here networks are trained; that the formulas of two papers agree is `one-equation`, in `diagram`.
"""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.own.settings import SAME
from linnet_papers.reproduction import Rows, Trial, above, claim, printed

INPUTS, OUTPUTS, WIDTH = 6, 4, 15
SEEN = above(1e-2, "a hundred thousand times the distance at the right threshold: another one is told apart")


@claim(
    "one-start",
    says=r"The orthogonal initialization of scale $\gamma$, a zero product with isotropic imbalance $2 \gamma$, and "
    r"the mixed dynamics at threshold $\sigma^2 w = \gamma$ are one initialization: networks from it have the same "
    "products at all times.",
    assumes="whitened inputs, at least as many inputs as outputs, gradient flow",
    tried=f"{INPUTS} inputs, {OUTPUTS} outputs, {WIDTH} hidden units; scales 0.01, 0.3 and 3; 30 times up to $t = 4$",
)
def one_start(trial: Trial) -> Rows:
    random = np.random.default_rng([trial.seed, 17])
    target = random.standard_normal((OUTPUTS, INPUTS))
    problem = ln.Problem.from_target(target)
    zero = np.zeros((OUTPUTS, INPUTS))
    times = np.linspace(0, 4, 30)
    starts, mixed, control = {}, {}, {}
    for scale in (0.01, 0.3, 3.0):
        orthogonal = ln.inits.orthogonal(key=trial.seed, scale=scale, in_dim=INPUTS, out_dim=OUTPUTS, width=WIDTH)
        imbalanced = ln.inits.balanced(zero, imbalance=2 * scale, width=INPUTS)
        trained, other = (ln.gradient_flow(problem, start, times=times).products for start in (orthogonal, imbalanced))
        expected = [ln.theories.lazy_active.self_consistent(target, zero, k * scale, times) for k in (1, 2)]
        name = rf"$\gamma = {scale:g}$"
        starts[name], mixed[name], control[name] = (np.abs(trained - one).max() for one in (other, *expected))
    yield printed("largest difference of networks from the two initializations", starts, SAME)
    yield printed("largest difference of a network from the mixed dynamics", mixed, SAME)
    yield printed("largest difference from the mixed dynamics at twice the threshold", control, SEEN)
