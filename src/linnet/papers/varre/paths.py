"""One flow of Varre et al. as it was trained, and what is read off it: errors against the theory, rank, alignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import linnet as ln
from linnet.papers.varre.flows import INPUTS, OUTPUTS
from linnet.reproduction.fits import highest

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Path:
    """One flow in the eigenbasis of its data: `first` (time, hidden, direction), `second` (time, output, hidden).

    `values` are the final singular values of the whole first layer, `outside` the part of the final alpha outside the
    span of the data, of its norm.
    """

    gamma: float
    times: np.ndarray
    first: np.ndarray
    second: np.ndarray
    cov: np.ndarray
    cross: np.ndarray
    values: np.ndarray
    loss: np.ndarray
    outside: float

    @property
    def product(self) -> np.ndarray:
        return self.second @ self.first

    @property
    def solution(self) -> np.ndarray:
        """The minimum-norm solution in these coordinates."""
        return self.cross / np.diag(self.cov)

    @property
    def modes(self) -> np.ndarray:
        """Singular values of the minimum-norm solution."""
        return np.linalg.svd(self.solution, compute_uv=False)

    @property
    def residual(self) -> np.ndarray:
        """R = Gamma - A Sigma along the flow."""
        return self.cross - self.product @ self.cov

    @property
    def velocity(self) -> np.ndarray:
        """dA/dt = W2 W2^T R + R W1^T W1 along the flow."""
        r = self.residual
        return self.second @ np.swapaxes(self.second, -1, -2) @ r + r @ np.swapaxes(self.first, -1, -2) @ self.first

    @property
    def solution_error(self) -> float:
        """Largest entry of the final predictor minus the minimum-norm solution."""
        return float(np.abs(self.product[-1] - self.solution).max())

    @property
    def limit_error(self) -> float:
        """Largest distance of the final singular values of both layers from Corollary 3.1."""
        first, second = ln.theories.spectral_bias.final_singular_values(self.modes, self.gamma, INPUTS)
        measured = np.linalg.svd(self.second[-1], compute_uv=False)
        return highest(float(np.abs(self.values - first).max()), float(np.abs(measured - second).max()))

    @property
    def excess(self) -> float:
        """Final squared norms of the layers over twice the nuclear norm of the solution, minus 1."""
        cost = 0.5 * (self.values**2).sum() + 0.5 * (self.second[-1] ** 2).sum()
        return float(cost / self.modes.sum() - 1)

    @property
    def across(self) -> float:
        """With one output, the part of the final first layer outside the direction of the predictor, of its norm."""
        direction = self.solution[0] / np.linalg.norm(self.solution[0])
        along = np.linalg.norm(self.first[-1] @ direction) ** 2
        return float(np.sqrt(max(1 - along / (self.values**2).sum(), 0)))

    @property
    def rank(self) -> int:
        """Final singular values of the first layer above a tenth of the largest."""
        return int(ln.observables.numerical_rank(self.values))

    @property
    def turn(self) -> float:
        """Largest sine between a right singular vector on the way and at the end, for modes that arithmetic can tell
        apart."""
        _, values, right = np.linalg.svd(self.product, full_matrices=False)
        final = np.linalg.svd(self.solution, full_matrices=False)[2]
        along = np.einsum("tid,id->ti", right, final)
        sines = np.linalg.norm(right - along[..., None] * final, axis=-1)
        return float(sines[values > 1e-6 * values[:, :1]].max())

    @property
    def evolution_error(self) -> float:
        """Largest distance of the predictor's singular values from Theorem C.12 along the flow; for whitened data."""
        expected = ln.theories.spectral_bias.singular_values(self.modes, self.gamma, self.times)
        return float(np.abs(np.linalg.svd(self.product, compute_uv=False) - expected).max())

    @property
    def bound_share(self) -> float:
        """With one output, the loss over its bound of Lemma C.8, where that is largest."""
        bound = ln.theories.spectral_bias.convergence_bound(self.solution[0], self.gamma, self.times)
        return float((self.loss / bound).max())


def read(flows: xr.Dataset, outputs: int = OUTPUTS) -> Iterator[Path]:
    """One path for every gamma and replicate of the sweep, of its first `outputs` outputs."""
    names = ("times", "first", "second", "scales", "target", "first_values", "loss", "outside")
    # views into the arrays: a lookup by label for each flow would take longer than all else
    whole = {name: flows[name].transpose("gamma", "replicate", ...).values for name in names}
    for i, gamma in enumerate(flows["gamma"].values.tolist()):
        for j in range(flows.sizes["replicate"]):
            at = {name: array[i, j] for name, array in whole.items()}
            yield Path(
                gamma=gamma,
                times=at["times"],
                first=at["first"],
                second=at["second"][:, :outputs],
                cov=np.diag(at["scales"] ** 2),
                cross=(at["target"] * at["scales"])[:outputs],
                values=at["first_values"],
                loss=at["loss"],
                outside=float(at["outside"]),
            )


def by_gamma(paths: Iterable[Path]) -> dict[float, list[Path]]:
    """The paths of each gamma, from the smallest on."""
    found = list(paths)
    return {gamma: [path for path in found if path.gamma == gamma] for gamma in sorted({path.gamma for path in found})}
