"""One start under three names: the orthogonal start, isotropic imbalance, and the threshold of the mixed dynamics.

Here networks are trained; that the formulas of two papers agree is `one-equation`, in `diagram`.
"""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.own.settings import SAME
from linnet_papers.reproduction import Above, AllOf, Below, Numbers, Trial, claim
from linnet_papers.reproduction.datasets import by_name

INPUTS, OUTPUTS, WIDTH = 6, 4, 15


@claim(
    "one-start",
    says="The orthogonal start of scale gamma, a zero product with isotropic imbalance 2 gamma, and the mixed dynamics "
    "at threshold sigma^2 w = gamma are one start: networks from it have the same products at all times.",
    assumes="whitened inputs, at least as many inputs as outputs, gradient flow",
    tried=f"{INPUTS} inputs, {OUTPUTS} outputs, {WIDTH} hidden units; scales 0.01, 0.3 and 3",
    holds=AllOf(
        Below(SAME, "starts", what="largest difference of networks from the two starts", form=".1e"),
        Below(SAME, "mixed", what="largest difference from the mixed dynamics", form=".1e"),
        Above(
            1e-2,
            "control",
            what="least difference from the mixed dynamics at twice the threshold",
            form=".2g",
            because="another scale must be told apart, or the measure sees nothing",
        ),
    ),
    reads="products of networks trained from the two starts, beside each other and beside the mixed dynamics at "
    "thresholds gamma and 2 gamma",
)
def one_start(trial: Trial) -> Numbers:
    random = np.random.default_rng([trial.seed, 17])
    target = random.standard_normal((OUTPUTS, INPUTS))
    problem = ln.Problem.from_target(target)
    zero = np.zeros((OUTPUTS, INPUTS))
    times = np.linspace(0, 4, 30)

    def differences(scale: float) -> Numbers:
        """Return how far networks from the two starts are apart, and from the mixed dynamics at both thresholds."""
        orthogonal = ln.inits.orthogonal(key=trial.seed, scale=scale, in_dim=INPUTS, out_dim=OUTPUTS, width=WIDTH)
        imbalanced = ln.inits.balanced(zero, imbalance=2 * scale, width=INPUTS)
        trained, other = (ln.gradient_flow(problem, start, times=times).products for start in (orthogonal, imbalanced))
        mixed, control = (
            ln.theories.lazy_active.self_consistent(target, zero, factor * scale, times) for factor in (1, 2)
        )
        products = {"starts": other, "mixed": mixed, "control": control}
        return {name: np.abs(trained - product).max() for name, product in products.items()}

    return by_name(differences(scale) for scale in (0.01, 0.3, 3.0))
