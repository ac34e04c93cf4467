"""The exact solutions for one mode: equal layers, and unequal ones on their hyperbola."""

import numpy as np

from linnet_papers.reproduction import Rows, Trial, below, claim, printed
from linnet_saxe import networks, theory
from linnet_saxe.settings import START, STRENGTHS

DISTANCE = below(1e-7, "a hundred times the relative tolerance of the integrator")
STARTS = ((0.3, 0.01), (0.05, 0.2), (1.5, 0.5))  # of the first and the second layer
ASSUMES = "whitened inputs, layers decoupled in the target's singular basis, gradient flow"
TRIED = "three modes of strengths 5, 3 and 1.5, 16 hidden units"


@claim(
    "sigmoid",
    says="From equal layers every mode follows $u(t) = s/(1 + (s/u_0 - 1) e^{-2 s t})$.",
    assumes=ASSUMES,
    tried=f"{TRIED}, several initial strengths",
)
def sigmoid(trial: Trial) -> Rows:
    gaps = {}
    for start in (START, 0.1) if trial.quick else (1e-6, START, 0.03, 0.3):
        layer = np.full(len(STRENGTHS), np.sqrt(start))
        trained, times = _trained(trial.seed, layer, layer)
        exact = np.stack([theory.balanced(s, start, times) for s in STRENGTHS], axis=1)
        gaps[f"$u_0 = {start:g}$"] = np.abs(trained - exact).max()
    yield printed("largest distance of the trained modes from the solution", gaps, DISTANCE)


@claim(
    "hyperbola",
    says="From unequal layers $a^2 - b^2$ is conserved, and the mode follows the solution on that hyperbola.",
    assumes=ASSUMES,
    tried=f"{TRIED}, three pairs of initial strengths",
)
def hyperbola(trial: Trial) -> Rows:
    gaps = {}
    for first, second in STARTS:
        ones = np.ones(len(STRENGTHS))
        trained, times = _trained(trial.seed, first * ones, second * ones)
        exact = np.stack([theory.unequal(s, first, second, times) for s in STRENGTHS], axis=1)
        gaps[f"$a_0 = {first:g}$, $b_0 = {second:g}$"] = np.abs(trained - exact).max()
    yield printed("largest distance of the trained modes from the solution", gaps, DISTANCE)


def _trained(seed: int, first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    problem, left, right = networks.task(seed)
    times = np.linspace(0, 6, 120)
    start = networks.decoupled(left, right, first, second, seed)
    return networks.mode_strengths(problem, left, right, start, times)[0], times
