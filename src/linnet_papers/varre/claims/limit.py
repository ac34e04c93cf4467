"""Where training ends: Theorem 3.1 and Corollary 3.1, from orthogonal starts and from Gaussian ones."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Rows, Trial, above, below, claim, fact, printed
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.varre.grids import flows
from linnet_papers.varre.grids.flows import limit_error, predicted_final_values
from linnet_papers.varre.settings import FLOWS, INTERPOLATED, OUTPUTS, REGRESSION, STATIONARITY
from linnet_papers.varre.training.path import Path, by_gamma
from linnet_papers.varre.training.regression import plain_flow

ERROR = below(
    1e-8, "the flows are integrated to a relative tolerance of $10^{-11}$ and end at $10^{-21}$ of their loss"
)


SEEN = above(5e-3, "a Gaussian initialization moves what no sample sees by 1% or more: the distance can be seen")
LOSS = below(1e-16, "rounding of a loss near one; flows end at $10^{-21}$ of theirs")


@claim(
    "theorem-3.1-limit",
    says="Gradient flow interpolates the data, and the predictor tends to the minimum-norm solution at any scale.",
    assumes=INTERPOLATED,
    tried=f"{REGRESSION}, and $k = 1$ from $10^{{-10}}$ on; on all 10 inputs, of which the samples see 5",
)
def solution(trial: Trial) -> Rows:
    paths = [*flows.regression(trial), *flows.one_output(trial)]
    yield printed(
        "largest distance of the predictor from the minimum-norm solution",
        highest(path.solution_error for path in paths),
        ERROR,
    )
    yield printed("largest final loss", highest(float(path.loss[-1]) for path in paths), LOSS)
    yield printed(
        "smallest distance of the predictor from it from Gaussian initializations, over its norm",
        lowest(_relative_solution_error(path) for path in flows.gaussian(trial)),
        SEEN,
    )
    yield fact("number of flows from orthogonal initializations", len(paths))


def _relative_solution_error(path: Path) -> float:
    """Return the distance of the final predictor from the minimum-norm solution, relative to that one's norm, on all
    inputs."""
    return float(np.linalg.norm(path.off_solution) / np.linalg.norm(path.solution))


NEAR_ORTHOGONAL = below(0.22, r"Gaussian layers of width $l$ are $\sqrt{d/l} = 0.22$ from orthogonal ones")


@claim(
    "gaussian-aligns",
    says="From a Gaussian first layer the singular values closely align with the analysis for orthogonal ones.",
    assumes="second layer at zero, $l = 200$ much larger than $d = 10$",
    tried=f"{FLOWS}, Gaussian initializations of standard deviation 0.01 and 0.1, 48 seeds (24 in quick mode)",
)
def gaussian_aligns(trial: Trial) -> Rows:
    rows = by_gamma(flows.gaussian(trial))

    def distances(row: list[Path]) -> tuple[float, list[float]]:
        """Return the largest distance of a value that grows, and the least and largest of the predictor."""
        away = highest(np.abs(path.values / predicted_final_values(path)[0] - 1)[:OUTPUTS].max() for path in row)
        off = [_relative_solution_error(path) for path in row]
        return away, [lowest(off), highest(off)]

    (small, off_small), (large, off_large) = (distances(rows[gamma]) for gamma in (min(rows), max(rows)))
    growing = "largest relative distance of a value that grows from Corollary 3.1 at the effective $\\gamma$"
    yield printed(f"{growing}, standard deviation 0.1", large, NEAR_ORTHOGONAL)
    yield printed(
        f"{growing}, standard deviation 0.01",
        small,
        below(0.02, r"0.22 of an effective $\gamma$ of 0.01 is little beside the values of the solution, near 1"),
    )
    off = {"standard deviation 0.01": off_small[1], "standard deviation 0.1": off_large[1]}
    yield printed(
        "largest distance of the predictor from the minimum-norm solution, over its norm", off, NEAR_ORTHOGONAL
    )
    least = {"standard deviation 0.01": off_small[0], "standard deviation 0.1": off_large[0]}
    yield fact("smallest distance of the predictor from it, over its norm", least)


BY_SCIPY = below(1e-6, "a flow of every weight by SciPy, to a relative tolerance of $10^{-9}$")


@claim(
    "any-shape",
    says="The analysis holds for any pair of output and input dimensions, also for more outputs than inputs.",
    assumes=INTERPOLATED,
    tried="gradient flow, $(n, d, k) = (4, 6, 12)$ and (6, 6, 6), singular values of $X$ and of the "
    r"truth from 1 to 2, width 30, $\gamma = 10^{-4}$, 1 and 10",
)
def any_shape(trial: Trial) -> Rows:
    errors, values = [], []
    random = np.random.default_rng([trial.seed, 25])
    for samples, inputs, outputs in ((4, 6, 12), (6, 6, 6)):
        shape = {"in_dim": inputs, "out_dim": outputs}
        least = min(inputs, outputs)
        frames = [
            np.linalg.qr(random.standard_normal((size, columns)))[0]
            for size, columns in ((inputs, samples), (inputs, least), (outputs, least))
        ]
        x = np.sqrt(samples) * np.linspace(1.0, 2.0, samples)[:, None] * frames[0].T
        y = x @ (frames[1] * np.linspace(1.0, 2.0, least)) @ frames[2].T
        problem = ln.Problem.from_data(x, y)
        solution = np.linalg.lstsq(x, y, rcond=None)[0].T
        modes = np.linalg.svd(solution, compute_uv=False)
        for gamma in (1e-4, 1.0, 10.0):
            start = ln.inits.orthogonal(key=trial.seed, width=30, scale=gamma, **shape)
            end = plain_flow(problem, start, np.array([60.0]))[-1]
            errors.append(np.abs(end.product - solution).max())
            expected = ln.theories.spectral_bias.final_singular_values(modes, gamma, inputs)[0]
            values.append(np.abs(np.linalg.svd(end.first, compute_uv=False) - np.sort(expected)[::-1]).max())
    yield printed("distance of the predictor from the minimum-norm solution, by flow", errors, BY_SCIPY)
    yield printed("distance of the singular values of $W_1$ from Corollary 3.1, by flow", values, BY_SCIPY)


@claim(
    "theorem-3.1-variational",
    says=r"The trained layers minimize the sum of their squared norms minus $\gamma$ times a log-determinant: (3.1).",
    assumes=INTERPOLATED,
    tried=f"{REGRESSION}; on all 10 inputs and 200 hidden units",
)
def variational(trial: Trial) -> Rows:
    """On all 10 inputs and 200 hidden units, where the multiplier could leave the span of the 5 samples."""
    theory = ln.theories.spectral_bias
    residuals, gaps = [], []
    for path in flows.regression(trial):
        state = (path.whole_first, path.whole_second, path.whole_cov, path.whole_cross, path.gamma)
        residuals.append(theory.kkt_residual(*state))
        size = 1 + abs(theory.variational_potential(*state[:2], path.gamma))
        gaps.append(abs(theory.duality_gap(*state)) / size)
    yield printed("residual of the stationarity conditions at the trained layers", highest(residuals), STATIONARITY)
    yield printed(
        "value above the dual bound of the convex form, over its size: 0 at a global minimum",
        highest(gaps),
        STATIONARITY,
    )
    yield fact("number of flows", len(gaps))


@claim(
    "corollary-3.1",
    says=r"The final singular values of both layers follow from those of the solution and from $\gamma$.",
    assumes=INTERPOLATED,
    tried=REGRESSION,
)
def singular_values(trial: Trial) -> Rows:
    paths = flows.regression(trial)
    yield printed(
        "largest distance of a singular value of either layer from the formula",
        highest(limit_error(path) for path in paths),
        ERROR,
    )
    yield fact("number of flows", len(paths))
