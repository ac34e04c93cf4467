"""Minima between three places, by the parabola through them."""

from __future__ import annotations

import numpy as np


def vertex(places: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the parabola through three values is smallest, between the outer ones; its second derivative, and value
    there.

    If it has no minimum, the result is the outer place with the lower value. Each (run,).
    """
    (a, b, c), (one, two, three) = places, values
    left, right = (two - one) / (b - a), (three - two) / (c - b)
    bend = 2 * (right - left) / (c - a)
    curved = bend > 0
    vertex = (a + b) / 2 - left / np.where(curved, bend, 1.0)
    vertex = np.where(curved, np.clip(vertex, a, c), np.where(one < three, a, c))
    return vertex, bend, one + (vertex - a) * (left + bend / 2 * (vertex - b))


def bracket(
    places: np.ndarray, values: np.ndarray, place: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Three of four places, in order: the lowest value, or the next one inside, between its neighbors."""
    # a new place on an old one would leave a parabola through two points
    gap = np.abs(places - place).min(axis=0)
    moved = np.where(gap < 1e-3, np.where(place > places[1], place - 2e-3, place + 2e-3), place)
    both, four = np.concatenate([places, moved[None]]), np.concatenate([values, value[None]])
    order = np.argsort(both, axis=0)
    both, four = np.take_along_axis(both, order, axis=0), np.take_along_axis(four, order, axis=0)
    middle = np.clip(np.argmin(four, axis=0), 1, 2) + np.array([[-1], [0], [1]])
    return np.take_along_axis(both, middle, axis=0), np.take_along_axis(four, middle, axis=0)


def vertex_of_even_places(values: np.ndarray, step: np.ndarray | float) -> np.ndarray:
    """Where the parabola through three equidistant values is smallest, from the middle one; at most two steps away."""
    before, middle, after = values.T
    bend = before - 2 * middle + after
    return step * np.where(bend > 0, np.clip((before - after) / (2 * np.where(bend > 0, bend, 1)), -2, 2), 0.0)
