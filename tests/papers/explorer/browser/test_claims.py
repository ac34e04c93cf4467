"""The claims in a browser: chosen in the list, measured on demand with progress, canceled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from explored import Explored, words
from linnet_papers.explorer.computing import claims
from linnet_papers.explorer.computing.measuring import ClaimRunner
from linnet_papers.explorer.pages.claims import _typeset
from linnet_papers.explorer.panels import measuring
from linnet_papers.reproduction import record

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("claims")]


def test_a_click_in_the_list_and_in_the_picture_choose(visit: Callable[..., Explored]) -> None:
    seen = visit("claims", "verdict=refuted")
    names = claims.filtered_claims(verdict="refuted").claim.values.tolist()
    buttons = seen.tab.locator("ul.claims .pick")
    buttons.first.wait_for()
    assert buttons.all_inner_texts() == names[:20]
    buttons.nth(3).click()
    seen.moved_to(f"verdict=refuted&claim={names[3]}")
    detail = seen.tab.locator("#claims-view-claim")
    detail.get_by_text(f"linnet verify --quick {names[3]}", exact=True).wait_for()
    told = detail.locator("dd").nth(4).inner_text().split()  # formulas are drawn: the words around them are the same
    assert told and set(words(_typeset(record.last_measured()[names[3]].measured))) <= set(told)
    assert detail.locator("code").inner_text() == f"linnet verify --quick {names[3]}"
    share = record.shares()[names[3]]
    assert f"{share.kept} of {share.seeds} seeds" in detail.inner_text()
    seen.open()
    seen.tab.wait_for_selector("#claims-view-verdict_counts .bars path")
    place = seen.tab.locator("#claims-view-verdict_counts .bars .point path").first.bounding_box()
    seen.tab.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    seen.tab.mouse.down()
    seen.tab.mouse.up()
    seen.tab.wait_for_function("() => window.location.search.includes('paper=')")
    assert seen.state["paper"] == claims.paper_names()[0]
    assert seen.said == []


def test_a_theorem_is_answered_in_typeset_mathematics(visit: Callable[..., Explored]) -> None:
    seen = visit("claims", "words=theorem+1+of+paper+4")
    answers = seen.tab.locator("#claims-view-answers")
    answers.get_by_text("and hardly exceeds what it is at the start").wait_for()
    answers.locator("mjx-container").first.wait_for()
    assert "sigma" not in answers.locator("dd").first.inner_text()  # a letter now
    answers.locator(".pick").first.click()
    seen.tab.wait_for_function("() => window.location.search.includes('claim=tu-thm1')")
    assert seen.said == []


class Held(ClaimRunner):
    """Nothing is measured before the file `gate` is there, however fast the machine."""

    def __init__(self, gate: Path) -> None:
        super().__init__()
        self.gate = gate

    def _command(self, name: str) -> list[str]:
        wait = "while not os.path.exists(sys.argv[1]): time.sleep(0.05)"
        code = f"import os, sys, time\n{wait}\nos.execv(sys.argv[2], sys.argv[2:])"
        return [sys.executable, "-c", code, str(self.gate), *super()._command(name)]


def test_a_claim_is_measured_on_demand_and_can_be_canceled(
    visit: Callable[..., Explored], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = tmp_path / "gate"
    monkeypatch.setattr(measuring, "CLAIM_RUNNER", Held(gate))
    seen = visit("claims", "claim=watanabe-eq9")
    run, cancel = seen.tab.locator("#claims-run"), seen.tab.locator("#claims-cancel")
    run.click()
    cancel.click()
    seen.tab.wait_for_function("() => document.querySelector('#claims-progress').innerText.includes('canceled')")
    run.click()
    seen.tab.wait_for_selector("#claims-progress progress")
    seen.tab.wait_for_selector("#claims-run:disabled")
    gate.touch()
    seen.tab.wait_for_selector("#claims-outcome")
    told = seen.tab.locator("#claims-outcome").inner_text()
    assert "holds, as expected" in told and record.last_measured()["watanabe-eq9"].measured in told
    seen.tab.wait_for_selector("#claims-run:enabled")
    cancel.wait_for(state="hidden")
    assert seen.said == []
