"""The exact solutions for one mode: equal layers, and unequal ones on their hyperbola."""

import numpy as np

from linnet.reproduction import Limit, Numbers, Trial, Verdict
from linnet.reproduction.old_claim import old as Claim
from linnet_saxe import networks, theory
from linnet_saxe.settings import START, STRENGTHS

DISTANCE = Limit(1e-7, "a hundred times the relative tolerance of the flow's integrator")
STARTS = ((0.3, 0.01), (0.05, 0.2), (1.5, 0.5))  # of the first and the second layer


def measure_balanced(trial: Trial) -> Numbers:
    """Decoupled networks from equal layers."""
    starts = (START, 0.1) if trial.quick else (1e-6, START, 0.03, 0.3)
    gaps = []
    for start in starts:
        layer = np.full(len(STRENGTHS), np.sqrt(start))
        trained, times = _trained(trial.seed, layer, layer)
        exact = np.stack([theory.balanced(s, start, times) for s in STRENGTHS], axis=1)
        gaps.append(float(np.abs(trained - exact).max()))
    return {"value": float(np.max(gaps)), "starts": starts, "gaps": gaps}


def measure_hyperbola(trial: Trial) -> Numbers:
    """Decoupled networks from unequal layers."""
    gaps = []
    for first, second in STARTS:
        ones = np.ones(len(STRENGTHS))
        trained, times = _trained(trial.seed, first * ones, second * ones)
        exact = np.stack([theory.unequal(s, first, second, times) for s in STRENGTHS], axis=1)
        gaps.append(float(np.abs(trained - exact).max()))
    return {"value": float(np.max(gaps)), "starts": STARTS, "gaps": gaps}


def _trained(seed: int, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    problem, left, right = networks.task(seed)
    times = np.linspace(0, 6, 120)
    start = networks.decoupled(left, right, first, second, seed)
    return networks.mode_strengths(problem, left, right, start, times)[0], times


def judge(numbers: Numbers) -> Verdict:
    """Exact means: as exact as the integrator."""
    return Verdict.HOLDS if numbers["value"] < DISTANCE else Verdict.REFUTED


def tell(numbers: Numbers) -> str:
    """The worst start."""
    return f"largest distance over {len(numbers['starts'])} starts {numbers['value']:.1e} (limit {DISTANCE:.0e})"


BALANCED = Claim(
    name="sigmoid",
    number="Section 1.3, the solution for a = b",
    sentence="From equal layers every mode follows u(t) = s / (1 + (s/u0 - 1) exp(-2 s t)).",
    assumptions="whitened inputs, layers decoupled in the target's singular basis, gradient flow",
    setting="three modes of strengths 5, 3 and 1.5, 16 hidden units, several starts",
    claimed="equality",
    expected=Verdict.HOLDS,
    measure=measure_balanced,
    judge=judge,
    tell=tell,
    limits={"largest distance": DISTANCE},
)
HYPERBOLA = Claim(
    name="hyperbola",
    number="Section 1.3 and the supplement, the solution for a != b",
    sentence="From unequal layers a^2 - b^2 is conserved, and the mode follows the solution on that hyperbola.",
    assumptions="whitened inputs, layers decoupled in the target's singular basis, gradient flow",
    setting="three modes of strengths 5, 3 and 1.5, 16 hidden units, three pairs of starts",
    claimed="equality",
    expected=Verdict.HOLDS,
    measure=measure_hyperbola,
    judge=judge,
    tell=tell,
    limits={"largest distance": DISTANCE},
)
