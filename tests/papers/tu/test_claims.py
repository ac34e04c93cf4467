"""The claims of Tu et al.: their verdicts at the quick settings, and rules that judge numbers nobody measured."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from linnet.theories import lazy_active
from linnet_papers.reproduction import Trial, Verdict, verify
from linnet_papers.tu import misprints
from linnet_papers.tu.grids import regions
from linnet_papers.tu.paper import PAPER

QUICK = Trial(quick=True)
ALL = {claim.name.removeprefix("tu-"): claim for claim in PAPER.claims}


@pytest.mark.parametrize(("spoilt", "verdict"), [(False, Verdict.HOLDS), (True, Verdict.REFUTED)])
def test_one_network_without_an_error_turns_the_verdict(
    spoilt: bool, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = np.full((2, 3), 0.6)
    if spoilt:
        error[1, 2] = np.nan  # xarray would leave it out of the minimum
    lazy = xr.Dataset({"min_test_loss": (("case", "replicate"), error), "signal": 1.0, "noise": 1.1})
    monkeypatch.setattr(regions, "groups", lambda trial: {"lazy": lazy})
    assert verify([ALL["thm2-lazy"]], QUICK)[0].verdict == verdict


def test_printed_forms_are_other_numbers() -> None:
    spectrum, gammas = [2.0, 1.0], (-1.75, 2.5)  # Delta = 1/4: printed max(1, 1/2) = 1
    unit = np.log(100) / 100
    printed = misprints.stage_lengths(spectrum, *gammas, dim=100)
    np.testing.assert_allclose(sum(printed.values()), (0.25 + 2 * 3 + 0.5) * unit)  # c(a) = 1/3
    assert sum(printed.values()) != pytest.approx(lazy_active.stopping_time(spectrum, *gammas, dim=100))
    with pytest.raises(ValueError, match="two different values"):
        misprints.spectrum_constant([1.0, 1.0])
    assert misprints.descent_bound(0.1, 1) == 0 and misprints.final_alignment(2.0) == 4
