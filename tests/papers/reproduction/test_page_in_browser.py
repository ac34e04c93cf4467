"""The report page in a real browser: pictures load, nothing leaves the machine, phones can read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from linnet_papers.reproduction import Claim, Result, below, printed, report, runner
from linnet_papers.reproduction.report import FigureFailure
from linnet_papers.reproduction.request import FigureRequest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("report")]


def row(name: str, verdict: str, sentence: str, *, expected: str | None = None) -> tuple[Claim, Result]:
    expected = expected or verdict
    rows = (printed("off by", 1e-9 if verdict == "holds" else 1.0, below(1e-6, "equality but for rounding")),)
    words = {"where": "Eq. (1)", "says": sentence, "tried": "once", "expected": expected, "paper": "tu"}
    return Claim(name=name, measure=lambda trial: rows, **words), Result(name, expected, rows)


CLAIMS = [
    row("tu-thm1", "holds", "Gram matrices follow <Theorem 1>."),
    row("tu-thm2", "refuted", "The error at T* is small."),
    row("tu-thm3", "refuted", "Something else.", expected="holds"),
]


@pytest.fixture(scope="module")
def page_file(toys: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    results = [
        runner.make(FigureRequest.from_figure(toys.FIGURES[name], quick=True), out)
        for name in ("watanabe-fig1", "tu-fig1")
    ]
    failure = FigureFailure(
        "tu-fig2", "tu", "The phase diagram", "linnet run tu-fig2", "it did not fit into memory " * 5
    )
    return report.write(out, results, [failure], CLAIMS)


@pytest.fixture(params=[(1280, "light"), (1280, "dark"), (390, "light")], ids=["wide", "dark", "phone"])
def seen(request: pytest.FixtureRequest, browser: Any, page_file: Path) -> Iterator[tuple[Any, list[str], list[str]]]:
    width, scheme = request.param
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(page_file.as_uri())
    page.wait_for_load_state("networkidle")
    yield page, said, asked
    context.close()


def test_every_picture_loads_and_nothing_leaves_the_machine(
    seen: tuple[Any, list[str], list[str]], page_file: Path
) -> None:
    page, said, asked = seen
    widths = page.evaluate("Array.from(document.images, image => image.complete ? image.naturalWidth : 0)")
    assert len(widths) == 4 and min(widths) > 150
    large = page.evaluate("Array.from(document.querySelectorAll('.picture img'), image => image.naturalWidth)")
    assert len(large) == 2 and min(large) > 300
    assert [url for url in asked if not url.startswith("data:")] == [page_file.as_uri()]
    assert said == []


def test_text_fits_the_width_and_is_large_enough(seen: tuple[Any, list[str], list[str]]) -> None:
    page = seen[0]
    page.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('figcaption')).fontSize)") >= 15
    # Letters of 7 points in a picture of 220 dots an inch are still 8 pixels high or more on the screen.
    pictures = "document.querySelectorAll('.picture img')"
    scale = page.evaluate(f"Math.min(...Array.from({pictures}, image => image.width / image.naturalWidth))")
    assert 7 / 72 * 220 * scale >= 8


def test_links_reach_their_figures(seen: tuple[Any, list[str], list[str]]) -> None:
    from playwright.sync_api import expect

    page = seen[0]
    page.click("nav a[href='#tu-fig2']")
    expect(page.locator("#tu-fig2 h3")).to_be_in_viewport(timeout=120_000)
    assert page.locator("#tu-fig2").bounding_box()["width"] > 300


def test_sections_fold_and_a_link_unfolds_them(seen: tuple[Any, list[str], list[str]]) -> None:
    page = seen[0]
    assert not page.is_visible("#tu-thm3") and page.is_visible("#tu-fig1")
    page.evaluate("document.querySelectorAll('details.paper').forEach(part => part.open = false)")
    assert not page.is_visible("#tu-fig1")
    page.click("header a[href='#tu-thm3']")
    page.wait_for_selector("#tu-thm3", state="visible")
    assert page.is_visible("#tu-fig1") and not page.is_visible("#watanabe-fig1")


def shown(page: Any) -> list[str]:
    return page.evaluate("Array.from(document.querySelectorAll('.claim:not([hidden])'), claim => claim.id)")


def test_claims_are_filtered_by_verdict_and_by_words(seen: tuple[Any, list[str], list[str]]) -> None:
    page, said, _ = seen
    assert shown(page) == ["tu-thm1", "tu-thm2", "tu-thm3"]
    page.click("button[data-kind='refuted']")
    assert shown(page) == ["tu-thm2", "tu-thm3"] and not page.is_visible("#tu-fig1")
    assert page.is_visible("#tu-thm2")  # the folded table is open while one looks for claims
    page.fill("#search", "SMALL error")
    assert shown(page) == ["tu-thm2"] and page.inner_text("#shown") == "1 of 3 shown"
    page.click("button[data-kind='']")
    page.fill("#search", "<theorem 1>")
    assert shown(page) == ["tu-thm1"]
    page.fill("#search", "")
    page.click("button[data-kind='alarm']")
    assert shown(page) == ["tu-thm3"] and page.get_attribute("button[data-kind='alarm']", "aria-pressed") == "true"
    page.click("button[data-kind='']")
    assert page.is_visible("#tu-fig1")
    assert said == []


def test_light_and_dark_differ_and_both_have_contrast(browser: Any, page_file: Path) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(page_file.as_uri())
        style = "getComputedStyle(document.body)"
        ink, ground = (page.evaluate(f"{style}.{name}") for name in ("color", "backgroundColor"))
        assert contrast(ink, ground) >= 7
        grounds.append(ground)
        page.close()
    assert grounds[0] != grounds[1]


def contrast(first: str, second: str) -> float:
    """WCAG's contrast ratio of two CSS colors `rgb(r, g, b)`."""

    def luminance(color: str) -> float:
        parts = [int(part) / 255 for part in color.strip("rgb()").split(",")]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
