"""A few of the draws that `make fuzz` makes many of."""

from __future__ import annotations

import pytest

from fuzz import found_before


def test_starts_of_any_sign_and_scale() -> None:
    assert found_before.starts(300) == []


def test_digits_that_cancel_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: an error in units of the start, as where a difference is formed."""
    from linnet.theories import mixed

    right = mixed.aligned_modes

    def cancelling(targets, starts, threshold, times):
        return right(targets, starts, threshold, times) + 1e-14 * abs(starts[0])

    monkeypatch.setattr(mixed, "aligned_modes", cancelling)
    assert found_before.starts(300)


def test_ragged_files_are_read_right_or_refused() -> None:
    pytest.importorskip("pandas")
    assert found_before.ragged_files(60) == []


@pytest.mark.slow
def test_a_module_that_changes_between_two_runs_is_told() -> None:
    assert found_before.changed_modules(len(found_before.WAYS)) == []
