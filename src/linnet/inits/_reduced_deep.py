"""Deep Gaussian layers drawn directly in their reduced form, at any width.

The hidden spaces are spanned by words in the inner layers, applied to the range of $W_1(0)$ and to the rows of
$W_L(0)$. A Gaussian matrix that has shown its images of some directions, and its preimages of others, is a fresh
Gaussian matrix on what remains: each new word has Gaussian components along the directions already there and, beyond
them, the triangular factor of a Gaussian matrix of the remaining height (Bartlett). So only small blocks are drawn.
At depth 3 these are two interleaved block Golub-Kahan chains; from depth 4 on words branch, because an inner space is
reached from both sides.
"""

from __future__ import annotations

import math

import numpy as np

from linnet._arguments import count
from linnet._memory import check_fits

DEFAULT_ORDER = {3: 8, 4: 6}  # length of the longest word kept; 5 from depth 5 on, where words branch


def draw_reduced_layers(
    sizes: list[int], random: np.random.Generator, lead: tuple[int, ...], order: int | None
) -> list[np.ndarray]:
    """Return standard normal layers in the spaces that words of length up to `order` span.

    - `sizes`: numbers of units from inputs to outputs; the hidden widths are equal
    - `lead`: leading axes, the axes of a batch
    """
    depth = len(sizes) - 1
    shortest = (depth - 2) // 2  # letters from either end to the middle of the hidden layers
    longest = max(DEFAULT_ORDER.get(depth, 5), shortest) if order is None else count("order", order, least=0, most=1000)
    if longest < shortest:
        raise ValueError(
            f"`order` must be at least {shortest} at `depth` {depth}, or the layers in the middle keep nothing: got "
            f"{longest}."
        )
    held = word_counts(sizes, longest)
    check_fits(
        24 * math.prod(lead) * sum(a * b for a, b in zip([sizes[0], *held], [*held, sizes[-1]], strict=True)),
        f"a reduced network of hidden widths {held}",
        "Use a smaller `order`, fewer inputs or outputs, or a smaller `batch`.",
    )
    drawn = _LayersDrawnOnDemand(sizes, random, lead)
    for _ in range(longest):
        if not drawn.grow():
            break
    return drawn.all_layers()


def word_counts(sizes: list[int], order: int) -> list[int]:
    """The hidden widths that words up to `order` span in layers in general position, `sizes` at most."""
    hidden = sizes[1:-1]
    held = [0] * len(hidden)
    held[0] = min(sizes[0], hidden[0])
    new = list(held)
    added = min(sizes[-1], hidden[-1] - held[-1])
    held[-1] += added
    new[-1] += added
    for _ in range(order):
        if len(hidden) == 1:
            break
        after = [0] * len(hidden)
        for at in range(len(hidden)):
            for near in (at - 1, at + 1):
                if 0 <= near < len(hidden):
                    more = min(new[near], hidden[at] - held[at])
                    held[at] += more
                    after[at] += more
        new = after
    return held


class _LayersDrawnOnDemand:
    """Hidden spaces of width w as far as they have been seen, and standard normal layers between them.

    `inner[l]` holds the entries of the layer from space l to space l + 1 between the directions held there; NaN is an
    entry that has not been drawn. The first `up[l]` directions of a space have shown their images through the layer
    above, the first `down[l]` theirs through the transpose of the layer below: those images lie in what was held then,
    and have no part in any direction that comes later.
    """

    def __init__(self, sizes: list[int], random: np.random.Generator, lead: tuple[int, ...]) -> None:
        self.random, self.lead, self.width, spaces = random, lead, sizes[1], len(sizes) - 2
        self.held, self.up, self.down = [0] * spaces, [0] * spaces, [0] * spaces
        self.inner = [np.zeros((*lead, 0, 0)) for _ in range(spaces - 1)]
        self.first = self._new_directions(0, sizes[0])
        along = random.standard_normal((*lead, self.held[-1], sizes[-1]))
        self.last = np.concatenate([along, self._new_directions(spaces - 1, sizes[-1])], axis=-2)

    def grow(self) -> bool:
        """Words longer by one letter; False where there is none."""
        before, spaces = list(self.held), len(self.held)
        for space in range(spaces):  # the words of the last round, through the layer above and the one below
            if space + 1 < spaces:
                self._draw_images(space, before[space], upwards=True)
            if space > 0:
                self._draw_images(space, before[space], upwards=False)
        return self.held != before

    def all_layers(self) -> list[np.ndarray]:
        """Return all layers; what has not been drawn yet is drawn now."""
        between = [np.where(np.isnan(m), self.random.standard_normal(m.shape), m) for m in self.inner]
        first, last = (
            _pad_matrix(outer, held, outer.shape[-1])
            for outer, held in ((self.first, self.held[0]), (self.last, self.held[-1]))
        )
        return [first, *between, np.swapaxes(last, -1, -2)]

    def _draw_images(self, space: int, until: int, *, upwards: bool) -> None:
        """Show the images of the directions of `space` up to `until`, in the space next to it."""
        to, shown = (space + 1, self.up) if upwards else (space - 1, self.down)
        since, there = shown[space], self.held[to]
        if until == since:
            return
        layer = min(space, to)
        beyond = self._new_directions(to, until - since)
        known = self.inner[layer] if upwards else np.swapaxes(self.inner[layer], -1, -2)
        along = known[..., :there, since:until]
        known[..., :there, since:until] = np.where(np.isnan(along), self.random.standard_normal(along.shape), along)
        known[..., there:, since:until] = beyond
        shown[space] = until

    def _new_directions(self, space: int, columns: int) -> np.ndarray:
        """The triangular factor of Gaussian columns in what is left of `space`, whose directions are now held."""
        left = self.width - self.held[space]
        if left < columns:  # they fill the space
            self._hold_directions(space, left)
            return self.random.standard_normal((*self.lead, left, columns))
        triangle = np.triu(self.random.standard_normal((*self.lead, columns, columns)), 1)
        heights = np.array([float(left - j) for j in range(columns)])
        at = np.arange(columns)
        triangle[..., at, at] = np.sqrt(self.random.chisquare(heights, size=(*self.lead, columns)))
        self._hold_directions(space, columns)
        return triangle

    def _hold_directions(self, space: int, count: int) -> None:
        """Hold `count` more directions of a space: nothing is known of their images."""
        self.held[space] += count
        if space > 0:
            layer = _pad_matrix(self.inner[space - 1], self.held[space], self.held[space - 1], np.nan)
            layer[..., self.held[space] - count :, : self.up[space - 1]] = 0.0
            self.inner[space - 1] = layer
        if space + 1 < len(self.held):
            layer = _pad_matrix(self.inner[space], self.held[space + 1], self.held[space], np.nan)
            layer[..., : self.down[space + 1], self.held[space] - count :] = 0.0
            self.inner[space] = layer


def _pad_matrix(matrix: np.ndarray, rows: int, columns: int, fill: float = 0.0) -> np.ndarray:
    """The matrix in the upper left corner of a larger one."""
    whole = np.full((*matrix.shape[:-2], rows, columns), fill)
    whole[..., : matrix.shape[-2], : matrix.shape[-1]] = matrix
    return whole
