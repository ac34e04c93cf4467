"""Every page in a browser: it loads without a word or a foreign request, fits a phone, is seen in the dark, has a
link."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from explored import Explored, expected
from linnet_papers.explorer import controls
from linnet_papers.explorer.page import Page
from linnet_papers.explorer.pages import PAGES

pytestmark = pytest.mark.browser
Visit = Callable[..., Explored]
TOOLS = {"Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes"}
EVERY = pytest.mark.parametrize(
    "page", [pytest.param(page, id=page.name, marks=pytest.mark.xdist_group(page.name)) for page in PAGES]
)


@EVERY
def test_a_page_loads_without_a_word_and_nothing_leaves_the_machine(page: Page, visit: Visit, address: str) -> None:
    seen = visit(page.name)
    assert seen.shows(expected(page, controls.defaults(page.controls))) == [], seen.error()
    seen.tab.wait_for_load_state("networkidle")
    assert seen.said == []
    assert [url for url in seen.asked if not url.startswith((f"{address}/", "data:", "blob:"))] == []
    assert seen.query == "" and seen.error() == ""
    offered = "Array.from(document.querySelectorAll('.modebar-btn'), one => one.dataset.title)"
    assert set(seen.tab.evaluate(offered)) == TOOLS  # Plotly's own have one that uploads the picture's numbers
    assert page.script(controls.defaults(page.controls)) == seen.tab.locator(f"#{page.name}-script").text_content()


@EVERY
def test_a_phone_can_read_it(page: Page, visit: Visit) -> None:
    seen = visit(page.name, size=(390, 844))
    seen.tab.wait_for_selector(".js-plotly-plot .main-svg")
    seen.tab.wait_for_load_state("networkidle")
    assert seen.tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    narrow = "Array.from(document.querySelectorAll('.js-plotly-plot'), one => one.getBoundingClientRect().right)"
    assert max(seen.tab.evaluate(narrow)) <= 390
    assert not seen.tab.locator(".modebar-container").first.is_visible()  # it would cover the legend
    assert seen.said == []


@EVERY
def test_dark_and_light_differ_and_both_have_contrast(page: Page, visit: Visit) -> None:
    grounds = []
    seen = visit(page.name, theme="dark")
    for _ in ("dark", "light"):
        seen.tab.wait_for_selector(".js-plotly-plot text.xtitle")
        style = "getComputedStyle(document.body)"
        ink, ground = (seen.tab.evaluate(f"{style}.{name}") for name in ("color", "backgroundColor"))
        assert contrast(ink, ground) >= 7
        title = seen.tab.evaluate("getComputedStyle(document.querySelector('.js-plotly-plot text.xtitle')).fill")
        assert contrast(title, ground) >= 4.5
        grounds.append(ground)
        seen.tab.click("#theme-switch")
        seen.tab.wait_for_function(f"() => getComputedStyle(document.body).backgroundColor !== '{ground}'")
        seen.tab.wait_for_function(  # pictures follow the ground when they are drawn anew
            "old => [...document.querySelectorAll('.js-plotly-plot text.xtitle')].slice(0, 1)"
            ".some(title => getComputedStyle(title).fill !== old)",
            arg=title,
        )
    assert grounds[0] != grounds[1]
    assert seen.said == []


@EVERY
def test_every_control_is_reached_by_the_tab_key_and_has_words(page: Page, visit: Visit) -> None:
    seen = visit(page.name)
    seen.tab.wait_for_selector(".js-plotly-plot .main-svg")
    seen.tab.keyboard.press("Tab")
    assert seen.tab.evaluate("document.activeElement.className") == "skip"
    reached = []
    for _ in range(40 + 6 * len(page.controls)):
        seen.tab.keyboard.press("Tab")
        reached.append(seen.tab.evaluate("[document.activeElement.id, document.activeElement.closest('.control')?.id]"))
    holders = {holder for _, holder in reached}
    shown = {f"{page.name}-{one.name}-control" for one in page.controls if not one.hidden and not one.when}
    assert shown <= holders
    for one in page.controls:
        if one.hidden:
            continue
        told = seen.tab.locator(f"#{page.name}-{one.name}-control").text_content()
        assert one.label in told and one.help in told


@EVERY
def test_a_wrong_address_is_told_in_a_sentence(page: Page, visit: Visit) -> None:
    seen = visit(page.name, "nothing=of+this")
    seen.tab.wait_for_selector(f"#{page.name}-address-error:not(:empty)")
    told = seen.tab.locator(f"#{page.name}-address-error").inner_text()
    assert "no control 'nothing'" in told and "rest of the address is kept" in told
    assert seen.said == []


def test_a_lecture_needs_no_scrolling(visit: Visit) -> None:
    seen = visit("train", size=(1280, 800))
    seen.tab.wait_for_selector(".js-plotly-plot .main-svg")
    shown = ("cursor-play", "cursor-slider", "freeze", "view-modes", "view-losses", "how", "until", "until-slider")
    for ident in (f"train-{name}" for name in shown):
        box = seen.tab.locator(f"#{ident}").bounding_box()
        assert box["y"] >= 0 and box["y"] + box["height"] <= 800, ident
    assert seen.tab.title() == "Train · linnet"
    width = seen.tab.locator("#train-width")
    width.fill("1000000000000")
    assert width.evaluate("box => box.scrollWidth <= box.clientWidth")
    assert seen.said == []


@EVERY
def test_a_phone_keeps_the_picture_in_view_while_controls_move(page: Page, visit: Visit) -> None:
    name, seen = page.name, visit(page.name, size=(390, 800))
    seen.tab.wait_for_selector(".js-plotly-plot .main-svg")
    first = f"#{name}-view-{page.first_view.name}-view"
    assert seen.tab.locator(first).bounding_box()["y"] < 450
    about = seen.tab.locator(".about.of-first")  # what is said of it is read in full, above the controls
    assert about.is_visible() == bool(page.first_view.about) and about.text_content() == page.first_view.about
    assert not seen.tab.locator(f"{first} > .about").is_visible()
    here = seen.tab.locator(f"#go-{name}").bounding_box()  # the row of pages scrolls sideways to the one that is open
    assert here["x"] >= 0 and here["x"] + here["width"] <= 390
    last = [one for one in seen.page.controls if not one.hidden and not one.plays and not one.when][-1]
    control_box = seen.tab.locator(f"#{name}-{last.name}-control")
    control_box.evaluate("one => one.scrollIntoView({block: 'end'})")
    picture, box = seen.tab.locator(first).bounding_box(), control_box.bounding_box()
    assert -1 <= picture["y"] <= 1 and box["y"] >= picture["y"] + picture["height"] - 1
    assert seen.said == []


def test_an_error_stands_beside_its_control_and_the_rest_of_the_address_is_kept(visit: Visit) -> None:
    seen = visit("train", "width=1e99&how=flow")
    seen.tab.wait_for_selector("#train-address-error:not(:empty)")
    assert seen.tab.locator("#train-how input").nth(1).is_checked()
    seen.tab.wait_for_selector(".js-plotly-plot .main-svg")
    seen.set(next(one for one in seen.page.controls if one.name == "width"), "0")
    seen.tab.wait_for_selector("#train-width-wrong:not(:empty)")
    assert "must be between 1 and" in seen.tab.locator("#train-width-wrong").inner_text()
    seen.set(next(one for one in seen.page.controls if one.name == "width"), "10")
    seen.tab.wait_for_selector("#train-width-wrong:empty", state="attached")


def test_pages_are_reached_by_their_links(visit: Visit) -> None:
    seen = visit(PAGES[0].name)
    for page in PAGES[::-1]:
        seen.tab.click(f"#go-{page.name}")
        seen.tab.wait_for_selector(f"#{page.name}-page")
        assert seen.tab.locator(f"#go-{page.name}").get_attribute("aria-current") == "page"
        assert seen.tab.locator("h1").inner_text() == page.title
    assert seen.said == []


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_pictures_are_saved(visit: Visit, kind: str, tmp_path: Path) -> None:
    seen = visit("claims")
    assert seen.shows(expected(seen.page, seen.state)) == [], seen.error()  # an empty picture has the same frame
    with seen.tab.expect_download() as found:
        seen.tab.locator(f"[data-save='{kind}']").first.click()
    found.value.save_as(tmp_path / "picture")
    data = (tmp_path / "picture").read_bytes()
    assert data.startswith(b"\x89PNG" if kind == "png" else b"<svg")
    assert found.value.suggested_filename.endswith(f".{kind}")


def test_the_command_serves_the_first_page(browser: object, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "linnet", "explore", "--port", "0", "--no-browser"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = line.split("linnet explore: ")[1].split()[0].rstrip("/")
        seen = Explored(browser.new_page(), address, PAGES[0]).open()  # type: ignore[attr-defined]
        seen.tab.wait_for_selector(".js-plotly-plot .main-svg")
        assert seen.said == []
        seen.tab.close()
    finally:
        process.terminate()
        process.communicate(timeout=120)


def contrast(first: str, second: str) -> float:
    """WCAG's contrast ratio of two CSS colors `rgb(r, g, b)`."""

    def luminance(color: str) -> float:
        parts = [float(part) / 255 for part in color.strip("rgba()").split(",")[:3]]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)
