"""One start under three names: the orthogonal start, isotropic imbalance, and the threshold of the mixed dynamics.

Here networks are trained; that the formulas of two papers agree is `one-equation`, in `diagram`.
"""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim

SAME = Limit(1e-7, "a hundred times the relative tolerance of the flow's integrator")
APART = Limit(1e-2, "another scale must be told apart, or the measure sees nothing")
SCALES = (0.01, 0.3, 3.0)
INPUTS, OUTPUTS, WIDTH = 6, 4, 15


def measure(trial: Trial) -> Numbers:
    """Products of networks trained from both starts, beside each other and beside the mixed dynamics from zero."""
    random = np.random.default_rng([trial.seed, 17])
    target = random.standard_normal((OUTPUTS, INPUTS))
    problem = ln.Problem.from_target(target)
    zero, times = np.zeros((OUTPUTS, INPUTS)), np.linspace(0, 4, 30)
    starts, mixed, control = [], [], []
    for scale in SCALES:
        orthogonal = ln.inits.orthogonal(trial.seed, scale=scale, in_dim=INPUTS, out_dim=OUTPUTS, width=WIDTH)
        imbalanced = ln.inits.balanced(zero, imbalance=2 * scale, width=INPUTS)
        products = [ln.gradient_flow(problem, start, times=times).products for start in (orthogonal, imbalanced)]
        starts.append(_gap(*products))
        mixed.append(_gap(products[0], ln.theories.mixed.self_consistent(target, zero, scale, times)))
        control.append(_gap(products[0], ln.theories.mixed.self_consistent(target, zero, 2 * scale, times)))
    return {"value": float(np.max(starts)), "mixed": float(np.max(mixed)), "control": float(np.min(control))}


def _gap(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).max())


def judge(numbers: Numbers) -> Verdict:
    """Networks from both starts and the mixed dynamics are the same, and a threshold twice as large is not."""
    same = numbers["value"] < SAME and numbers["mixed"] < SAME and numbers["control"] > APART
    return Verdict.HOLDS if same else Verdict.REFUTED


def tell(numbers: Numbers) -> str:
    """The three distances."""
    return (
        f"products of networks from the two starts differ by {numbers['value']:.1e} at most, from the mixed dynamics "
        f"at threshold gamma by {numbers['mixed']:.1e} (limit {SAME:.0e}); at twice the threshold by "
        f"{numbers['control']:.2g} at least"
    )


ONE_START = Claim(
    name="one-start",
    number="gamma = sigma^2 w",
    sentence=(
        "The orthogonal start of scale gamma, a zero product with isotropic imbalance 2 gamma, and the mixed dynamics "
        "at threshold sigma^2 w = gamma are one start: networks from it have the same products at all times."
    ),
    assumptions="whitened inputs, at least as many inputs as outputs, gradient flow",
    setting=f"{INPUTS} inputs, {OUTPUTS} outputs, {WIDTH} hidden units; scales 0.01, 0.3 and 3",
    claimed="equal at all times",
    expected=Verdict.HOLDS,
    measure=measure,
    judge=judge,
    tell=tell,
    limits={"same": SAME, "control": APART},
)
