"""The report page: whole in itself, nothing asked of the network, everything that belongs to a picture beside it."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from linnet_papers.reproduction import Result as Measured
from linnet_papers.reproduction import below, claims, papers, printed, report, runner
from linnet_papers.reproduction.formulas import plain
from linnet_papers.reproduction.report import FigureFailure
from linnet_papers.reproduction.request import FigureRequest
from linnet_papers.reproduction.result import Result


class Page(HTMLParser):
    """Every address, identifier and visible text of a page; tags must close in order."""

    VOID = ("meta", "link", "img", "br", "input")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "action", "poster", "data"):
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("style", "script"):
            self.text += data


FAILURE = FigureFailure("tu-fig2", "tu", "The phase diagram", "linnet run tu-fig2 --quick", "no <memory> left")


@pytest.fixture(scope="module")
def results(toys: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    out = tmp_path_factory.mktemp("report")
    strict: dict[str, dict[str, Any]] = {"watanabe-fig2": {"limit": 1e-12}}
    return [
        runner.make(FigureRequest.from_figure(f, quick=True, **strict.get(f.name, {})), out)
        for f in toys.FIGURES.values()
    ]


@pytest.fixture(scope="module")
def written(results: list[Result]) -> Path:
    return report.write(results[0].folder.parent, results, [FAILURE])


def test_every_address_is_inside_the_page_or_beside_it(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    page = Page(text)
    pictures = [address for address in page.addresses if address.startswith("data:image/png;base64,")]
    assert len(pictures) == 6  # each large, and small in the list
    assert all(base64.b64decode(picture.split(",")[1])[:4] == b"\x89PNG" for picture in pictures)
    for address in page.addresses:
        if address.startswith("#"):
            assert address[1:] in page.ids
        elif not address.startswith("data:"):
            assert (written.parent / address).is_file()
    without_pictures = re.sub(r"base64,[A-Za-z0-9+/=]+", "", text)
    assert not re.search(r"https?:|//|@import|url\(", without_pictures)
    assert page.tags.count("script") == 1


def test_each_picture_comes_with_all_that_belongs_to_it(results: list[Result], written: Path) -> None:
    text = Page(written.read_text(encoding="utf-8")).text
    for result in results:
        for part in (result.name, result.title, result.caption, result.command, f"seed {result.seed}"):
            assert part in text
        assert all(row.quantity in text for row in result.checks)
        assert all(setting in text for setting in result.settings)


def test_failures_and_checks_beyond_the_limit_stand_on_top(written: Path) -> None:
    text = Page(written.read_text(encoding="utf-8")).text
    top = text[: text.index("The Impact of Anisotropic")]
    assert "3 of 4" in top and "2 of 3" in top
    assert "tu-fig2 could not be made" in top and "watanabe-fig2: 1 of 2 checks beyond the limit" in top
    assert "no <memory> left" in text


def test_the_list_shows_each_figure_small_with_its_title(results: list[Result], written: Path) -> None:
    listed = re.search(r"<nav.*?</nav>", written.read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    cards = re.findall(r"<li>(.*?)</li>", listed.group())
    assert len(cards) == len(results) + 1
    items: list[Any] = [*results, FAILURE]
    for item in items:
        (card,) = [card for card in cards if f'href="#{item.name}"' in card]
        assert item.title in Page(card).text
        assert ("data:image/png" in card) == isinstance(item, Result)
    pictures = [base64.b64decode(found) for found in re.findall(r"base64,([A-Za-z0-9+/=]+)", listed.group())]
    assert all(int.from_bytes(png[16:20], "big") <= 320 for png in pictures)


def test_a_page_without_failures_raises_no_alarm(results: list[Result]) -> None:
    good = [result for result in results if not result.failed]
    text = Page(report.build(good, [], results[0].folder.parent)).text
    assert "2 of 2" in text and "Not as it should be" not in text and "Not made" not in text


def test_each_theorem_has_its_answer_where_its_claims_were_measured() -> None:
    paper = papers()["tu"]
    claim = Measured("tu-thm1", "holds", (printed("distance $x_1$", 2.2, below(3, "it says so")),))
    text = Page(report.build([], [], Path(), [(claims()["tu-thm1"], claim)])).text
    answer = next(one for one in paper.answers if one.theorem == "Theorem 1")
    assert "Is it true?" in text and plain(answer.answer) in text and "distance x_12.2below 3yesit says so" in text
    assert next(one for one in paper.answers if one.theorem == "Theorem E.5").answer not in text  # none of its claims
    assert "Is it true?" not in Page(report.build([], [], Path())).text
