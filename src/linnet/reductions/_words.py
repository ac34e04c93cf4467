"""Hidden spaces spanned by words in the inner layers: Krylov spaces that are invariant once they stop growing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NEGLIGIBLE = 1e-12  # of a layer's norm: what a word adds below it is rounding


class Words:
    r"""Orthonormal bases of the hidden spaces of one network, grown letter by letter.

    Words of length 0 are the columns of $W_1(0)$ in the first hidden space and the rows of $W_L(0)$ in the last; a word
    through $W_l$ (or through $W_l^T$) lies in the space above (or below). When no space grows any more they hold every
    state that descent or flow can reach, and the reduction is exact.

    `order` is the longest word held, `closed` whether no longer one adds anything, `degenerate` whether any word so far
    added less than words in general position do.
    """

    def __init__(self, layers: Sequence[np.ndarray]) -> None:
        self.layers = layers
        self.frames = [np.zeros((layer.shape[0], 0)) for layer in layers[:-1]]
        self.sizes = [_norm(layer) for layer in layers]
        self.order, self.closed, self.degenerate = 0, False, False
        self._new = [np.zeros_like(frame) for frame in self.frames]
        self._add(0, layers[0], self.sizes[0])
        self._add(len(self.frames) - 1, layers[-1].T, self.sizes[-1])
        self.history = [[frame.shape[1] for frame in self.frames]]
        self.closed = len(self.frames) == 1

    def grow(self) -> None:
        """Hold words longer by one letter."""
        new, self._new = self._new, [np.zeros((frame.shape[0], 0)) for frame in self.frames]
        for space, words in enumerate(new):
            if space + 1 < len(new):
                self._add(space + 1, self.layers[space + 1] @ words, self.sizes[space + 1])
            if space > 0:
                self._add(space - 1, self.layers[space].T @ words, self.sizes[space])
        if all(words.shape[1] == 0 for words in self._new):
            self.closed = True
            return
        self.order += 1
        self.history.append([frame.shape[1] for frame in self.frames])

    @property
    def widths(self) -> list[int]:
        """The numbers of units of the hidden layers."""
        return [frame.shape[0] for frame in self.frames]

    def at(self, order: int) -> list[np.ndarray]:
        """The bases of words up to a length, the longest held at most."""
        counts = self.history[min(order, len(self.history) - 1)]
        return [frame[:, :count] for frame, count in zip(self.frames, counts, strict=True)]

    def projected(self, frames: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return the layers between the spaces of `frames`, in their coordinates."""
        first = frames[0].T @ self.layers[0]
        last = self.layers[-1] @ frames[-1]
        pairs = zip(self.layers[1:-1], frames[:-1], frames[1:], strict=True)
        return [first, *(above.T @ (layer @ below) for layer, below, above in pairs), last]

    def _add(self, space: int, vectors: np.ndarray, size: float) -> None:
        """Hold what is new in some vectors of a space."""
        frame = self.frames[space]
        left = frame.shape[0] - frame.shape[1]
        if not left or not vectors.size or not size > 0:
            self.degenerate |= vectors.shape[1] > 0
            return
        rest = vectors - frame @ (frame.T @ vectors)
        rest = rest - frame @ (frame.T @ rest)  # twice is enough
        basis, triangle = np.linalg.qr(rest)
        turned, values, _ = np.linalg.svd(triangle)
        kept = min(left, int((values > NEGLIGIBLE * size).sum()))
        self.degenerate |= kept < vectors.shape[1]
        if not kept:
            return
        basis = basis @ turned[:, :kept]
        basis, _ = np.linalg.qr(basis - frame @ (frame.T @ basis))  # weak words gain rounding along the frame
        self.frames[space] = np.concatenate([frame, basis], axis=1)
        self._new[space] = np.concatenate([self._new[space], basis], axis=1)


def _norm(layer: np.ndarray) -> float:
    """The spectral norm, or within a factor of two of it: ten power iterations."""
    if min(layer.shape) <= 64:
        return float(np.linalg.norm(layer, ord=2))
    vector = np.ones(layer.shape[1])
    for _ in range(10):
        length = np.linalg.norm(vector)
        if not length > 0:
            break
        vector = layer.T @ (layer @ (vector / length))
    return max(float(np.sqrt(np.linalg.norm(vector))), float(np.linalg.norm(layer) / np.sqrt(min(layer.shape))))
