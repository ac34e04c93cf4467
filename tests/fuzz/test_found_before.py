"""A few of the draws that `make fuzz` makes many of."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz import found_before


def test_starts_of_any_sign_and_scale() -> None:
    assert found_before.starts(300) == []


def before_it_was_mended(targets, starts, threshold, times):
    """`lazy_active.aligned_modes` as it once was: along the growing mode a start of the other sign cancels."""
    goal, first, clock = np.asarray(targets), np.asarray(starts), np.asarray(times)[:, None]
    big = np.sqrt(threshold + np.hypot(first, threshold))
    rate = np.hypot(goal, threshold)
    norm = np.hypot(goal, rate + threshold)
    near, far = (rate + threshold) / norm, goal / norm
    plus, minus = near * big + far * first / big, far * big - near * first / big
    decay, ratio = np.exp(-rate * clock), minus / plus
    spent = -np.expm1(-2 * rate * clock) / (2 * rate)
    turn = ratio * decay**2
    return (far - near * turn) * (near + far * turn) / ((decay / plus) ** 2 + spent * (1 + (ratio * decay) ** 2))


@pytest.mark.parametrize("seed", range(3))
def test_the_form_that_canceled_is_found(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """The control: the fault that was there, found by the draws of any seed."""
    from linnet.theories import lazy_active

    monkeypatch.setattr(lazy_active, "aligned_modes", before_it_was_mended)
    assert len(found_before.starts(300, seed)) > 5


def test_ragged_files_are_read_right_or_refused() -> None:
    pytest.importorskip("pandas")
    assert found_before.ragged_files(60) == []


@pytest.mark.slow
def test_a_module_that_changes_between_two_runs_is_told() -> None:
    assert found_before.changed_modules(len(found_before.WAYS)) == []
