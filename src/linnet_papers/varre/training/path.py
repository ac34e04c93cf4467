"""One flow as it was trained, and what is read off it without any theory: rank, alignment, turning vectors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from linnet_papers.reproduction.datasets import Dataset
from linnet_papers.varre.settings import OUTPUTS


@dataclass(frozen=True)
class Path:
    """One flow in the eigenbasis of its data: `first` (time, hidden, direction), `second` (time, output, hidden).

    `values` are the final singular values of the whole first layer. The rest is in all inputs and hidden units:
    `whole_first`, `whole_second`, `whole_cov`, `whole_cross`, and `projected_first`, `projected_second` in the frame of
    the start.
    """

    gamma: float
    times: np.ndarray
    first: np.ndarray
    second: np.ndarray
    cov: np.ndarray
    cross: np.ndarray
    values: np.ndarray
    loss: np.ndarray
    whole_first: np.ndarray
    whole_second: np.ndarray
    whole_cov: np.ndarray
    whole_cross: np.ndarray
    projected_first: np.ndarray
    projected_second: np.ndarray
    off_frame: float

    @property
    def product(self) -> np.ndarray:
        """The predictor A = W2 W1 along the flow."""
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
        return self.second @ transposed(self.second) @ r + r @ transposed(self.first) @ self.first

    @property
    def alpha(self) -> np.ndarray:
        """alpha^T = A (W1^T W1)^-1 along the flow, in the layers' own coordinates."""
        return self.product @ np.linalg.inv(transposed(self.first) @ self.first)

    @property
    def off_solution(self) -> np.ndarray:
        """The final predictor minus the minimum-norm solution, on all inputs, also those that no sample sees."""
        predictor = self.whole_second @ self.whole_first
        return predictor - self.whole_cross @ np.linalg.pinv(self.whole_cov, rcond=1e-10, hermitian=True)

    @property
    def nuclear_norm_excess(self) -> float:
        """Final squared norms of the layers over twice the nuclear norm of the solution, minus 1."""
        cost = 0.5 * (self.values**2).sum() + 0.5 * (self.second[-1] ** 2).sum()
        return float(cost / self.modes.sum() - 1)

    @property
    def neuron_sines(self) -> np.ndarray:
        """With one output, the sine of the angle of every neuron's input weights with the predictor, at the end."""
        along, across = self._neuron_parts()
        return across / np.hypot(along, across)

    @property
    def neuron_tangents(self) -> np.ndarray:
        """With one output, the tangent of that angle."""
        along, across = self._neuron_parts()
        return across / np.abs(along)

    def _neuron_parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, of every neuron's input weights, the part along the final predictor and the length of the rest."""
        predictor = self.whole_second[0] @ self.whole_first
        direction = predictor / np.linalg.norm(predictor)
        along = self.whole_first @ direction
        return along, np.linalg.norm(self.whole_first - along[:, None] * direction, axis=1)

    @property
    def alpha_outside_span(self) -> float:
        """The part of the final alpha outside the span of the data, as a share of its norm, in all inputs."""
        a = self.whole_second @ self.whole_first @ np.linalg.inv(self.whole_first.T @ self.whole_first)
        eigenvalues, vectors = np.linalg.eigh(self.whole_cov)
        basis = vectors[:, eigenvalues > 1e-10 * eigenvalues[-1]]
        return float(np.linalg.norm(a - a @ basis @ basis.T) / np.linalg.norm(a))

    @property
    def largest_turn(self) -> float:
        """Largest sine between a singular vector of the predictor on the way and that of the solution, on either side,
        for modes that arithmetic can tell apart."""
        left, values, right = np.linalg.svd(self.product, full_matrices=False)
        last, _, final = np.linalg.svd(self.solution, full_matrices=False)
        sides = ((right, final), (transposed(left), last.T))
        kept = values > 1e-6 * values[:, :1]
        return max(float(_sines(moving, fixed)[kept].max()) for moving, fixed in sides)


def transposed(matrices: np.ndarray) -> np.ndarray:
    """Return the transpose of each matrix."""
    return np.swapaxes(matrices, -1, -2)


def _sines(vectors: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Return the sines of the angles of unit vectors (time, mode, entry) with fixed ones (mode, entry)."""
    along = np.einsum("tid,id->ti", vectors, fixed)
    return np.linalg.norm(vectors - along[..., None] * fixed, axis=-1)


def read(flows: Dataset, outputs: int = OUTPUTS) -> list[Path]:
    """Return one path for every gamma and replicate of the sweep, of its first `outputs` outputs."""
    # views into the arrays: a lookup by label for each flow would take longer than all else
    chosen = flows.isel(output=slice(outputs)).transpose("gamma", "replicate", ...)
    whole = {field.name: chosen[field.name].values for field in fields(Path) if field.name != "gamma"}
    places = [(gamma, i, j) for i, gamma in enumerate(flows["gamma"].values) for j in range(flows.sizes["replicate"])]
    return [Path(float(gamma), **{name: array[i, j] for name, array in whole.items()}) for gamma, i, j in places]


def by_gamma(paths: Iterable[Path]) -> dict[float, list[Path]]:
    """Return the paths of each gamma, from the smallest on."""
    groups: dict[float, list[Path]] = {}
    for path in sorted(paths, key=lambda path: path.gamma):
        groups.setdefault(path.gamma, []).append(path)
    return groups
