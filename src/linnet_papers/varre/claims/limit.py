"""Where training ends: Theorem 3.1 and Corollary 3.1, from orthogonal starts and from Gaussian ones."""

from __future__ import annotations

import numpy as np

import linnet as ln
from linnet_papers.reproduction import Above, AllOf, Below, Limit, Numbers, Trial, claim
from linnet_papers.reproduction.fits import highest, lowest
from linnet_papers.varre.settings import FLOWS, INTERPOLATED, OUTPUTS, REGRESSION, STATIONARITY
from linnet_papers.varre.tables import flows
from linnet_papers.varre.tables.flows import limit_error, predicted_final_values
from linnet_papers.varre.training.path import Path, by_gamma
from linnet_papers.varre.training.regression import plain_flow

ERROR = Limit(1e-8, "the flows are integrated to a relative tolerance of 1e-11 and end at 1e-21 of their loss")


SEEN = Limit(5e-3, "a Gaussian start moves what no sample sees: by 1% or more, or the distance could not be seen")
LOSS = Limit(1e-16, "a loss that is zero but for rounding; flows end at 1e-21 of theirs")


@claim(
    "theorem-3.1-limit",
    says="Gradient flow interpolates the data, and the predictor tends to the minimum-norm solution at any scale.",
    assumes=INTERPOLATED,
    tried=f"{REGRESSION}, and k = 1 from 1e-10 on; on all 10 inputs, of which the samples see 5",
    holds=AllOf(
        Below(ERROR, what="largest distance of the predictor from the minimum-norm solution", form=".1e"),
        Below(LOSS, "loss", what="largest final loss", form=".1e"),
        Above(SEEN, "gaussian", what="least distance from Gaussian starts, of its norm", form=".1%"),
    ),
    reads="{flows} flows from orthogonal starts, and those of the table of Gaussian starts beside them",
)
def solution(trial: Trial) -> Numbers:
    paths = [*flows.LIMITS.rows(trial), *flows.ONE_OUTPUT.rows(trial)]
    return {
        "value": highest(path.solution_error for path in paths),
        "loss": highest(float(path.loss[-1]) for path in paths),
        "gaussian": lowest(_relative_solution_error(path) for path in flows.GAUSSIAN_STARTS.rows(trial)),
        "flows": len(paths),
    }


def _relative_solution_error(path: Path) -> float:
    """Return the distance of the final predictor from the minimum-norm solution, relative to that one's norm, on all
    inputs."""
    return float(np.linalg.norm(path.off_solution) / np.linalg.norm(path.solution))


NEAR_ORTHOGONAL = Limit(0.22, "Gaussian layers of width l are sqrt(d/l) = 0.22 from orthogonal ones")


@claim(
    "gaussian-aligns",
    says="From a Gaussian first layer the singular values closely align with the analysis for orthogonal ones.",
    assumes="second layer at zero, l = 200 much larger than d = 10",
    tried=f"{FLOWS}, Gaussian starts of standard deviation 0.01 and 0.1, 48 seeds (24 in quick mode)",
    holds=AllOf(
        Below(NEAR_ORTHOGONAL, "large", what="largest distance of a value that grows, std 0.1", form=".1%"),
        Below(
            0.02,
            "small",
            what="the same, std 0.01",
            form=".1%",
            because="0.22 of an effective gamma of 0.01 is little beside the values of the solution, near 1",
        ),
        Below(NEAR_ORTHOGONAL, what="largest distance of the predictor from the minimum-norm solution", form=".1%"),
    ),
    reads="final singular values of W1 against Corollary 3.1 at the effective gamma; the predictor ends "
    "{off_small:.1%} (std 0.01) and {off_large:.1%} (std 0.1) from the minimum-norm solution",
)
def gaussian_aligns(trial: Trial) -> Numbers:
    rows = by_gamma(flows.GAUSSIAN_STARTS.rows(trial))

    def distances(row: list[Path]) -> tuple[float, list[float]]:
        """Return the largest distance of a value that grows, and the least and largest of the predictor."""
        away = highest(np.abs(path.values / predicted_final_values(path)[0] - 1)[:OUTPUTS].max() for path in row)
        off = [_relative_solution_error(path) for path in row]
        return away, [lowest(off), highest(off)]

    (small, off_small), (large, off_large) = (distances(rows[gamma]) for gamma in (min(rows), max(rows)))
    value = highest(*off_small, *off_large)
    return {"value": value, "small": small, "large": large, "off_small": off_small, "off_large": off_large}


BY_SCIPY = Limit(1e-6, "a flow of every weight by SciPy, to a relative tolerance of 1e-9")


@claim(
    "any-shape",
    says="The analysis holds for any pair of output and input dimensions, also for more outputs than inputs.",
    assumes=INTERPOLATED,
    tried="gradient flow, (n, d, k) = (4, 6, 12) and (6, 6, 6), singular values of X and of the truth from 1 to 2, "
    "width 30, gamma = 1e-4, 1 and 10",
    holds=AllOf(
        Below(BY_SCIPY, "errors", what="largest distance of the predictor from the minimum-norm solution", form=".1e"),
        Below(BY_SCIPY, "values", what="largest distance of a singular value of W1 from Corollary 3.1", form=".1e"),
    ),
    reads="{errors.count} flows",
)
def any_shape(trial: Trial) -> Numbers:
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
    return {"errors": errors, "values": values}


@claim(
    "theorem-3.1-variational",
    says="The trained layers minimize the sum of their squared norms minus gamma times a log-determinant: (3.1).",
    assumes=INTERPOLATED,
    tried=f"{REGRESSION}; on all 10 inputs and 200 hidden units",
    holds=AllOf(
        Below(STATIONARITY, what="KKT residual of the trained layers", form=".1e"),
        Below(
            STATIONARITY,
            "gap",
            what="value above the dual bound of the convex form, of its size",
            form=".1e",
            then="a global minimum",
        ),
    ),
    reads="{flows} flows",
)
def variational(trial: Trial) -> Numbers:
    """On all 10 inputs and 200 hidden units, where the multiplier could leave the span of the 5 samples."""
    theory = ln.theories.spectral_bias
    residuals, gaps = [], []
    for path in flows.LIMITS.rows(trial):
        state = (path.whole_first, path.whole_second, path.whole_cov, path.whole_cross, path.gamma)
        residuals.append(theory.kkt_residual(*state))
        size = 1 + abs(theory.variational_potential(*state[:2], path.gamma))
        gaps.append(abs(theory.duality_gap(*state)) / size)
    return {"value": highest(residuals), "gap": highest(gaps), "flows": len(gaps)}


@claim(
    "corollary-3.1",
    says="The final singular values of both layers follow from those of the solution and from gamma.",
    assumes=INTERPOLATED,
    tried=REGRESSION,
    holds=Below(ERROR, what="largest distance of a singular value of either layer from the formula", form=".1e"),
    reads="{flows} flows",
)
def singular_values(trial: Trial) -> Numbers:
    paths = flows.LIMITS.rows(trial)
    return {"value": highest(limit_error(path) for path in paths), "flows": len(paths)}
