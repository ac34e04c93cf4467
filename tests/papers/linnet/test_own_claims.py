"""One start under three names, and the flattest interpolator: their verdicts, and the mistakes that turn them."""

import numpy as np
import pytest

import linnet as ln
from linnet.papers.linnet.claims.flattest import FLATTEST
from linnet.papers.linnet.claims.one_start import ONE_START
from linnet.reproduction import Trial

QUICK = Trial(quick=True, seed=3)


@pytest.mark.parametrize("claim", [ONE_START, FLATTEST], ids=lambda claim: claim.name)
def test_verdicts(claim) -> None:
    found = claim.measurement(QUICK)
    assert found.verdict == claim.expected, found.measured


def test_half_the_imbalance_is_not_the_same_start(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ln.inits.balanced
    monkeypatch.setattr(
        ln.inits, "balanced", lambda product, imbalance=0.0, **rest: right(product, imbalance / 2, **rest)
    )
    assert ONE_START.measurement(QUICK).verdict != ONE_START.expected


def test_a_threshold_of_another_scale_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ln.theories.mixed.self_consistent
    monkeypatch.setattr(
        ln.theories.mixed,
        "self_consistent",
        lambda target, start, threshold, times: right(target, start, 1.01 * threshold, times),
    )
    assert ONE_START.measurement(QUICK).verdict != ONE_START.expected


def test_weaker_noise_is_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    right = ln.label_noise_descent
    monkeypatch.setattr(
        ln, "label_noise_descent", lambda *args, noise_std, **rest: right(*args, noise_std=0.7 * noise_std, **rest)
    )
    assert FLATTEST.measurement(QUICK).verdict != FLATTEST.expected
    assert np.isfinite(FLATTEST.measurement(QUICK).value)
