"""One start under three names: the orthogonal start, isotropic imbalance, and the threshold of the mixed dynamics."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet.reproduction import Claim, Limit, Numbers, Trial, Verdict

SAME = Limit(1e-7, "a hundred times the relative tolerance of the flow's integrator")
FORMULAS = Limit(1e-10, "two closed forms in float64, of condition about 1e4 at these scales")
APART = Limit(1e-2, "another scale must be told apart, or the measure sees nothing")
SCALES = (0.01, 0.3, 3.0)
INPUTS, OUTPUTS, WIDTH = 6, 4, 15


def measure(trial: Trial) -> Numbers:
    """Products of networks trained from both starts, and the two papers' formulas at gamma = threshold."""
    random = np.random.default_rng([trial.seed, 17])
    target = random.standard_normal((OUTPUTS, INPUTS))
    problem = ln.Problem.from_target(target)
    values = np.linalg.svd(target, compute_uv=False)
    times = np.linspace(0, 4, 30)
    trained, formulas, control = [], [], []
    for scale in SCALES:
        options = {"in_dim": INPUTS, "out_dim": OUTPUTS, "width": WIDTH}
        orthogonal = ln.inits.orthogonal(trial.seed, scale=scale, **options)
        products = [
            ln.gradient_flow(problem, start, times=times).products
            for start in (orthogonal, ln.inits.balanced(np.zeros((OUTPUTS, INPUTS)), imbalance=2 * scale, width=INPUTS))
        ]
        trained.append(_gap(*products))
        mixed = ln.theories.mixed.self_consistent(target, np.zeros_like(target), scale, times)
        trained.append(_gap(products[0], mixed))
        spectra = np.linalg.svd(mixed, compute_uv=False)
        bias = ln.theories.spectral_bias.singular_values(values, scale, times)
        formulas.append(_gap(spectra, bias))
        control.append(_gap(spectra, ln.theories.spectral_bias.singular_values(values, 2 * scale, times)))
    return {"value": float(np.max(trained)), "formulas": float(np.max(formulas)), "control": float(np.min(control))}


def _gap(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).max())


def judge(numbers: Numbers) -> Verdict:
    """Networks and formulas are the same, and a scale twice as large is not."""
    same = numbers["value"] < SAME and numbers["formulas"] < FORMULAS and numbers["control"] > APART
    return Verdict.HOLDS if same else Verdict.REFUTED


def tell(numbers: Numbers) -> str:
    """The three distances."""
    return (
        f"networks from the two starts and the closed form differ by {numbers['value']:.1e} at most (limit "
        f"{SAME:.0e}), the two papers' formulas by {numbers['formulas']:.1e} (limit {FORMULAS:.0e}); with twice the "
        f"scale by {numbers['control']:.2g} at least"
    )


ONE_START = Claim(
    name="one-start",
    number="gamma = sigma^2 w",
    sentence=(
        "The orthogonal start of scale gamma and the mixed dynamics at threshold sigma^2 w are one object: gamma = "
        "sigma^2 w, and the theorem on its singular values solves the mixed equation from zero."
    ),
    assumptions="whitened inputs, at least as many inputs as outputs, gradient flow",
    setting=f"{INPUTS} inputs, {OUTPUTS} outputs, {WIDTH} hidden units; scales 0.01, 0.3 and 3",
    claimed="equality",
    expected=Verdict.HOLDS,
    measure=measure,
    judge=judge,
    tell=tell,
    limits={"networks": SAME, "formulas": FORMULAS, "control": APART},
)
