"""Words kept by their weight: hidden spaces that hold what training uses of them, above a share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linnet.reductions.trial_descent import CURVATURE_EVERY_STEPS, SETTLED, TrialDescent

DENSE_STEPS = 20  # first steps of a descent, at all of which words are looked for; then at every fifth
LOOK_EVERY_STEPS = 5
ROUNDING = 1e-14  # of the longest of some vectors: less is rounding


class WordsByWeight:
    r"""Orthonormal bases of the hidden spaces that grow along descents, by the words that these use.

    The gradient of $W_l$ is $b_l p_{l-1}^T$, where $p_l = W_l \cdots W_1 R^T$ is how a space is reached (from the
    inputs, seen through the residual R) and $b_l = (W_L \cdots W_{l+1})^T$ how it is read. Spaces that hold $W_l(0)
    p_{l-1}(t)$ and $W_{l+1}(0)^T b_{l+1}(t)$ at all times carry the whole dynamics. A descent is run in the spaces
    held; where one lacks more than `share` of its largest word, the missing part is added before the descent continues.
    With few outputs the spaces stay small, however many inputs there are.

    `frames` are the bases. `complete` is False once more than `max_units` units of all hidden layers were needed.
    """

    def __init__(self, layers: Sequence[np.ndarray], share: float, max_units: float) -> None:
        self.layers, self.share, self.max_units, self.complete = layers, share, max_units, True
        self.rest: float
        self.rest_velocity: float
        spaces = len(layers) - 1
        self.frames = [np.zeros((layer.shape[0], 0)) for layer in layers[:-1]]
        # what lies outside of the next space in the image of a frame, through the layer above and the one below
        self.upwards = [np.zeros((layer.shape[0], 0)) for layer in layers[1:-1]]
        self.downwards = [np.zeros((layer.shape[1], 0)) for layer in layers[1:-1]]
        self.start = [np.zeros((0, layers[0].shape[1])), *(np.zeros((0, 0)) for _ in layers[1:-1])]
        self.start.append(np.zeros((layers[-1].shape[0], 0)))
        self.largest = np.zeros((2, spaces))
        self._begin()
        self._hold(spaces - 1, layers[-1].T, 0.0)

    def follow(self, trial: TrialDescent) -> None:
        """Run a descent in the spaces, which grow by the words it needs."""
        self._begin()
        path, rates = trial.path, trial.rates
        first, before, rate, chosen = 0.0, None, 0.0, path.rates is None
        if chosen:
            rates.clear()
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(path.max_steps + 1):  # the last look is at the state that the last step leaves
                look = step < DENSE_STEPS or step % LOOK_EVERY_STEPS == 0 or step == path.max_steps
                read = self._read(look)
                product = read[0].T @ _pad_rows(self.now[0], len(read[0]))
                residual = trial.problem.residual(np.nan_to_num(product))
                reached = self._reached(residual.T, look)
                self.complete = sum(frame.shape[1] for frame in self.frames) <= self.max_units
                if step == path.max_steps or not (self.complete and np.isfinite(residual).all()):
                    return
                if chosen:
                    change = 0.0 if before is None else float(np.abs(product - before).max())
                    first, before = max(first, change), product
                    if step > CURVATURE_EVERY_STEPS and change <= SETTLED * first:
                        return
                    if step % CURVATURE_EVERY_STEPS == 0:
                        if step == 0:
                            sharpness = trial.sharpness(product)
                        rate = trial.rate(self.now, sharpness)
                    rates.append(rate)
                else:
                    rate = rates[step]
                ends = [*read, np.eye(len(residual))]
                for at, layer in enumerate(self.now):  # the spaces may have grown since a word was read
                    push = _pad_rows(ends[at], layer.shape[0]) @ _pad_rows(reached[at], layer.shape[1]).T
                    self.velocity[at] = path.momentum * self.velocity[at] + push - path.decay * layer
                    self.now[at] = layer + rate * path.of_layer(at) * self.velocity[at]
                self.rest_velocity = path.momentum * self.rest_velocity - path.decay * self.rest
                self.rest += rate * self.rest_velocity

    def _begin(self) -> None:
        """Back to the initialization: `rest` is what decay leaves of the weights outside of the spaces."""
        self.now = list(self.start)
        self.velocity = [np.zeros_like(layer) for layer in self.start]
        self.rest, self.rest_velocity = 1.0, 0.0

    def _read(self, look: bool) -> list[np.ndarray]:
        """b_1 to b_{L-1} in the spaces held, which grow where a look finds something missing."""
        read = [self.now[-1].T]
        for space in range(len(self.frames) - 2, -1, -1):
            if look:
                self._grow(space, self.downwards[space] @ read[0], 1)
            image = self.now[space + 1].T @ read[0]
            self.largest[1, space] = max(self.largest[1, space], _longest_length(image))
            read.insert(0, image)
        return read

    def _reached(self, inputs: np.ndarray, look: bool) -> list[np.ndarray]:
        """Return p_0 to p_{L-1} of the class's docstring in the spaces held, which grow where a look finds something
        missing."""
        reached = [inputs]
        for space in range(len(self.frames)):
            if look:
                words = self.layers[0] @ inputs if space == 0 else self.upwards[space - 1] @ reached[-1]
                self._grow(space, words, 0)
            image = self.now[space] @ reached[-1]
            self.largest[0, space] = max(self.largest[0, space], _longest_length(image))
            reached.append(image)
        return reached

    def _grow(self, space: int, words: np.ndarray, side: int) -> None:
        """Hold what is missing of some words in a space."""
        frame = self.frames[space]
        words = words - frame @ (frame.T @ words)
        self._hold(space, words, self.share * max(self.largest[side, space], _longest_length(words)))

    def _hold(self, space: int, vectors: np.ndarray, least: float) -> None:
        """Hold the directions of a space in which vectors outside of it are longer than `least`."""
        frame = self.frames[space]
        left = frame.shape[0] - frame.shape[1]
        if not left or not _longest_length(vectors) > least:
            return
        basis, triangle = np.linalg.qr(vectors)
        turned, values, _ = np.linalg.svd(triangle)
        basis = basis @ turned[:, : min(left, int((values > max(least, ROUNDING * values[0])).sum()))]
        basis, _ = np.linalg.qr(basis - frame @ (frame.T @ basis))  # weak words gain rounding along the frame
        self.frames[space] = np.concatenate([frame, basis], axis=1)
        below, above = self.layers[space].T @ basis, self.layers[space + 1] @ basis
        if space > 0:
            known = self.frames[space - 1].T @ below
            outside = below - self.frames[space - 1] @ known
            self.downwards[space - 1] = np.concatenate([self.downwards[space - 1], outside], axis=1)
            self.upwards[space - 1] -= basis @ (basis.T @ self.upwards[space - 1])
            below = known
        if space + 1 < len(self.frames):
            known = self.frames[space + 1].T @ above
            outside = above - self.frames[space + 1] @ known
            self.upwards[space] = np.concatenate([self.upwards[space], outside], axis=1)
            self.downwards[space] -= basis @ (basis.T @ self.downwards[space])
            above = known
        # training has not touched what lies outside of the spaces, but for decay
        for layers, share in ((self.start, 1.0), (self.now, self.rest), (self.velocity, self.rest_velocity)):
            layers[space] = np.concatenate([layers[space], share * below.T], axis=0)
            layers[space + 1] = np.concatenate([layers[space + 1], share * above], axis=1)


def _pad_rows(vectors: np.ndarray, rows: int) -> np.ndarray:
    """The same vectors in a space that has grown."""
    return vectors if len(vectors) == rows else np.pad(vectors, [(0, rows - len(vectors)), (0, 0)])


def _longest_length(vectors: np.ndarray) -> float:
    """Return the length of the longest of some vectors, columns of a matrix."""
    return float(np.sqrt((vectors**2).sum(axis=0).max())) if vectors.size else 0.0
