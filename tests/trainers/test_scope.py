"""What linnet does not have is refused in words, with the page that says what it has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linnet as ln

PROBLEM = ln.Problem.from_data(np.eye(3), np.ones((3, 1)))
START = ln.Weights(np.ones((2, 3)), np.ones((1, 2)))


@pytest.mark.parametrize(
    ("call", "trainer", "name"),
    [
        (
            lambda **more: ln.gradient_descent(PROBLEM, START, learning_rate=0.1, steps=1, **more),
            "descent",
            "optimizer",
        ),
        (lambda **more: ln.gradient_descent(PROBLEM, START, learning_rate=0.1, steps=1, **more), "descent", "nesterov"),
        (lambda **more: ln.gradient_flow(PROBLEM, START, times=[1.0], **more), "gradient_flow", "momentum"),
        (
            lambda **more: ln.stochastic_descent(
                PROBLEM, START, learning_rate=0.1, steps=1, batch_size=1, key=0, **more
            ),
            "stochastic_descent",
            "momentum",
        ),
        (
            lambda **more: ln.label_noise_descent(
                PROBLEM, START, learning_rate=0.1, steps=1, noise_std=0.1, key=0, **more
            ),
            "label_noise_descent",
            "weight_decay",
        ),
    ],
)
def test_keywords_that_a_trainer_does_not_have_name_the_page(call, trainer, name):
    with pytest.raises(TypeError, match=rf"{trainer}` has no argument `{name}`.*docs/scope\.md"):
        call(**{name: 0.9})


def test_a_misspelt_keyword_is_answered_with_the_near_one():
    with pytest.raises(TypeError, match=r"`momentun`; did you mean momentum\?"):
        ln.gradient_descent(PROBLEM, START, learning_rate=0.1, steps=1, momentun=0.9)


def test_an_update_by_the_name_of_an_optimizer_names_the_page():
    with pytest.raises(ValueError, match=r"got 'adam' \(docs/scope\.md\)"):
        ln.gradient_descent(PROBLEM, START, learning_rate=0.1, steps=1, update="adam")


@pytest.mark.parametrize("matrix", [1j * np.ones((2, 2)), [[1.0, 2j], [0.0, 1.0]]])
def test_complex_numbers_are_refused_by_their_name(matrix):
    with pytest.raises(ValueError, match=r"`W1` must be .* real numbers: got complex numbers"):
        ln.Weights(matrix, np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"`target` must be .* real numbers: got complex numbers"):
        ln.Problem.from_target(matrix)


def test_the_page_has_what_the_refusals_send_for():
    page = Path(__file__).parents[2].joinpath("docs", "scope.md").read_text(encoding="utf-8")
    for word in ("Adam", "Nesterov", "omentum", "Depth", "complex numbers", "theories.lazy_active.integrate"):
        assert word in page
