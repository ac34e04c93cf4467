"""The self-consistent dynamics in closed form against integrating it with an SVD at every evaluation, in one run.

    d = 100, a noisy low-rank target, threshold a tenth of its norm, 20 times until signal and noise are learned;
    the integration at two tolerances, a usual one and that of an exact reference: the ratio depends on which is meant.

Asserts nothing.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.integrate import solve_ivp

import linnet as ln

DIM = 100


def svd_form(target: np.ndarray, start: np.ndarray, g: float, times: np.ndarray, tolerance: float) -> np.ndarray:
    """Eq. (1) of Tu et al. as it stands: two square roots by an SVD, at every evaluation of DOP853."""

    def velocity(_: float, state: np.ndarray) -> np.ndarray:
        product = state.reshape(target.shape)
        left, values, right = np.linalg.svd(product)
        pull, root = target - product, np.hypot(values, g)
        return ((left * root) @ (left.T @ pull) + (pull @ right.T * root) @ right).ravel()

    run = solve_ivp(velocity, (0, times[-1]), start.ravel(), "DOP853", t_eval=times, rtol=tolerance, atol=tolerance)
    return run.y.T.reshape(-1, *target.shape)


def main() -> None:
    problem = ln.problems.low_rank_plus_noise(DIM, rank=5, key=0)
    size = float(np.linalg.norm(problem.cross, 2))
    start = 0.01 * size / DIM * np.random.default_rng(1).standard_normal((DIM, DIM))
    times = np.linspace(0, 40 / size, 20)
    fast = np.inf
    for _ in range(10):
        began = time.perf_counter()
        exact = ln.theories.lazy_active.self_consistent(problem.cross, start, 0.1 * size, times)
        fast = min(fast, time.perf_counter() - began)
    print(f"eq. (1), d = {DIM}, {len(times)} times: {1e3 * fast:.0f} ms in closed form")
    for tolerance in (1e-9, 1e-11):
        slow = np.inf
        for _ in range(2):
            began = time.perf_counter()
            integrated = svd_form(problem.cross, start, 0.1 * size, times, tolerance)
            slow = min(slow, time.perf_counter() - began)
        gap = np.abs(exact - integrated).max() / np.abs(problem.cross).max()
        print(
            f"integrated with SVDs at {tolerance:g}: {slow:.2f} s, ratio {slow / fast:.0f} (target: 50); apart by "
            f"{gap:.0e}"
        )
    long = ln.theories.lazy_active.self_consistent(problem.cross, start, 0.1 * size, [1e6])[0]
    print(f"at t = 1e6 the closed form is {np.abs(long - problem.cross).max():.0e} from the target")


if __name__ == "__main__":
    main()
