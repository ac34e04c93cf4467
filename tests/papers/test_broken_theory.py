"""A deliberately broken theory turns exactly its claims red: the alarm works, and it points at the right place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linnet.theories.spiked as spiked
from linnet_papers.huang.claims import appendix_a as huang_appendix
from linnet_papers.reproduction import Claim, Trial, verify
from linnet_papers.watanabe.claims import error as watanabe_error
from linnet_papers.watanabe.claims import proofs as watanabe_proofs
from linnet_papers.watanabe.claims import ridgeless as watanabe_ridgeless

# The claims of the part that stands on this formula, those of another part of the paper, and those of another paper.
CLAIMS = [
    *(
        part
        for module in (watanabe_ridgeless, watanabe_error, watanabe_proofs)
        for part in vars(module).values()
        if isinstance(part, Claim)
    ),
    huang_appendix.gram_matrix,
    huang_appendix.size_of_gamma,
]
RIGHT = spiked.generalization_error


def misprinted(spike: Any, alignment: Any, ratio: Any, *, variance: float = 1.0, normalized: bool = False) -> Any:
    """Eq. (27) as printed: kappa in its bracket, where the spike belongs."""
    return RIGHT(
        np.asarray(ratio) - 1 + 0 * np.asarray(spike), alignment, ratio, variance=variance, normalized=normalized
    )


def inflated(spike: Any, alignment: Any, ratio: Any, *, variance: float = 1.0, normalized: bool = False) -> Any:
    """A fifth too much everywhere."""
    return 1.2 * RIGHT(spike, alignment, ratio, variance=variance, normalized=normalized)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formula", "red"),
    [
        (RIGHT, set()),
        (misprinted, {"eq27", "isotropic", "normalized-error"}),
        (inflated, {"eq27", "isotropic", "normalized-error"}),
    ],
)
def test_exactly_the_claims_of_a_broken_formula_turn_red(
    formula: Callable[..., Any], red: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spiked, "generalization_error", formula)
    assert {found.name for found in verify(CLAIMS, Trial(quick=True)) if not found.as_expected} == red
