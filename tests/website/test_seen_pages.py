"""Every page in a browser: nothing is wrong, nothing is fetched from elsewhere, nothing is wider than a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.site

# What a new reader asks, in the words one types, and where the answer must be among the first results.
QUESTIONS = {
    "Figure 2 of paper 4": ("gallery.html#tu-fig2", "linnet run tu-fig2"),
    "Tu figure 2": ("gallery.html#tu-fig2", "linnet run tu-fig2"),
    "Proposition 4.1(c) paper 2": ("claims/varre.html#varre-proposition-4.1c", "linnet verify varre-proposition-4.1c"),
    "Proposition 4.1(c)": ("claims/varre.html#varre-proposition-4.1c", "refuted"),
    "width 10^9": ("howto/width.html", "reduced_gaussian"),
    "when to stop CSV": ("howto/stop.html", "linnet diagnose"),
    "early stopping": ("howto/stop.html", "linnet diagnose"),
    "add my own paper": ("tutorials/new_paper.html", "linnet new-paper"),
    "time": ("concepts.html#time", "canonical time"),
    "definition of time": ("index.html#what-does-time-mean", "learning rate times the number of steps"),
    "canonical time": ("concepts.html#time", "canonical time"),
    "depth": ("scope.html#depth", "ln.Weights"),
    "depth three": ("index.html#can-it-do-depth-three", "ln.Weights(W1, W2, W3)"),
    "what does time mean": ("index.html#what-does-time-mean", "learning rate times the number of steps"),
    "can it do depth three": ("index.html#can-it-do-depth-three", "ln.Weights(W1, W2, W3)"),
    "where do I start with my CSV": ("index.html#where-do-i-start-with-my-csv", "linnet diagnose table.csv"),
    "what is it": ("index.html#what-is-linnet-and-what-is-it-for", "import linnet as ln"),
    "what is linnet": ("index.html#what-is-linnet-and-what-is-it-for", "import linnet as ln"),
    "Adam": ("scope.html#why-not-adam", "custom update"),
}
# Words that mean the same, questions that no page answers word for word, and names: guides come before the reference.
MEANT = {
    "lazy vs rich": ("concepts.html#lazy-and-active", "also called"),
    "overfitting": ("howto/stop.html", "Early stopping"),
    "early stopping when to stop": ("howto/stop.html", "Early stopping"),
    "slides for my lecture": ("tutorials/lecture.html", "lecture"),
    "width infinity mean field muP": ("concepts.html", "hidden units"),
    "learning rate too large diverges": ("troubleshooting.html#gradient-descent-diverges", "DivergedError"),
    "out of memory": ("troubleshooting.html#memory-runs-out", "memory"),
    "deep linear network saddle plateau": ("index.html", "plateaus"),
    "lazy learning": ("tutorials/", "lazy"),
    "how to cite": ("index.html#how-to-cite", "citation"),
    "stable_learning_rate": ("reference/linnet.trainers.html#linnet.trainers.stability.stable_learning_rate", "stable"),
}
ANSWER = ("claims.html#theorem-2-active-region-of-paper-4", "Not at any d")
THEOREM = dict.fromkeys(("Theorem 2 of paper 4", "is theorem 2 of paper 4 true"), ANSWER)


CUT = "[...document.querySelectorAll('pre > code')].some(code => code.scrollWidth > code.clientWidth + 1)"
LONGEST = 40_000  # pixels of a page at 1280: reading on takes longer than searching


def width_once_drawn(page: Any, width: int) -> int:
    """Return how wide a page is, as soon as it fits: the live pages draw their pictures anew for another width."""
    found = 0
    for _ in range(200):
        found = int(page.evaluate("document.documentElement.scrollWidth"))
        if found <= width:
            break
        page.wait_for_timeout(30)
    return found


def test_every_page_is_right_on_a_phone_and_on_a_screen(browser: Any, built: Path) -> None:
    page = browser.new_page()
    wrong, said, asked = list[str](), list[str](), list[str]()
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    for file in sorted(built.rglob("*.html")):
        name = str(file.relative_to(built))
        page.goto(file.as_uri())
        page.evaluate("document.fonts.ready.then(() => true)")
        for width, scheme in ((390, "dark"), (1280, "light")):
            page.set_viewport_size({"width": width, "height": 844})
            page.emulate_media(color_scheme=scheme)
            found = width_once_drawn(page, width)
            wrong += [f"{name} is {found} wide at {width}"] if found > width else []
        wrong += [f"{name} cuts its code at 1280"] if page.evaluate(CUT) else []
        height = page.evaluate("document.documentElement.scrollHeight")
        wrong += [f"{name} is {height} high"] if height > LONGEST else []
        lost = page.evaluate("[...document.images].filter(i => i.loading != 'lazy' && !i.naturalWidth).map(i => i.src)")
        wrong += [f"{name}: {url} does not show" for url in lost] + [f"{name}: {text}" for text in said]
        wrong += [f"{name} asks for {url}" for url in asked if not url.startswith(("file:", "data:", "blob:"))]
        said.clear()
        asked.clear()
    page.close()
    assert not wrong, "\n".join(wrong)


def test_a_laptop_sees_a_full_header_thumbnails_first(browser: Any, built: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((built / "gallery.html").as_uri())
    right = "name => document.querySelector(name).getBoundingClientRect().right"
    assert page.evaluate(right, ".md-search__button") > page.evaluate(right, ".md-content") - 60
    thumbnails = page.locator(".thumbnails img")
    assert thumbnails.count() == len(page.evaluate("[...document.querySelectorAll('h3[id]')]"))
    assert thumbnails.first.bounding_box()["y"] < 500
    page.close()


def test_a_network_is_trained_on_the_front_page(browser: Any, built: Path) -> None:
    page = browser.new_page()
    page.goto((built / "index.html").as_uri())
    page.locator("iframe[src*=live]").scroll_into_view_if_needed()
    frame = page.frame_locator("iframe[src*=live]")
    frame.locator("[data-view=modes] svg").wait_for()
    assert "Look at" in frame.locator("[data-view=modes] .about").inner_text()
    page.close()


def test_formulas_are_drawn_in_the_font_beside_the_pages(browser: Any, built: Path) -> None:
    page = browser.new_page()
    page.goto((built / "phase_diagram_formula.html").as_uri())
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready.then(() => true)")
    assert page.evaluate("document.fonts.check('16px \"Site Mathematics\"')")
    sizes = page.evaluate("[...document.querySelectorAll('math')].map(m => m.getBoundingClientRect().width)")
    assert len(sizes) > 20 and min(sizes) > 0
    fraction = page.evaluate("document.querySelector('math mfrac').getBoundingClientRect().height")
    assert fraction > 20  # a numerator stands over its denominator
    page.goto((built / "reference" / "linnet.inits.html").as_uri())
    page.wait_for_load_state("networkidle")
    page.evaluate("document.fonts.ready.then(() => true)")
    room = "m => m.getBoundingClientRect().width - m.firstElementChild.getBoundingClientRect().width"
    roots = page.evaluate(f"[...document.querySelectorAll('msqrt')].map({room})")
    assert len(roots) > 3 and min(roots) > 5  # a root has its sign
    page.close()


def test_the_filter_of_the_claims(browser: Any, built: Path) -> None:
    page = browser.new_page()
    page.goto((built / "claims.html").as_uri())
    shown = (
        "[...document.querySelectorAll('.filtered tbody tr')].filter(row => !row.hidden).map(row => row.textContent)"
    )
    everything = page.evaluate(shown)
    page.fill(".filter input", "Proposition 4.1(c)")
    found = page.evaluate(shown)
    assert 1 <= len(found) <= 4 and all("4.1(c)" in row for row in found) and "refuted" in found[0]
    page.fill(".filter input", "Theorem 3.2")
    assert all("3.2" in row for row in page.evaluate(shown))
    unfolded = "[...document.querySelectorAll('details.filtered')].map(fold => fold.open && !fold.hidden)"
    assert page.evaluate(unfolded).count(True) == 1
    page.fill(".filter input", "")
    assert not any(page.evaluate(unfolded))
    page.select_option(".filter select[data-name=verdict]", "refuted")
    assert 10 <= len(page.evaluate(shown)) < len(everything)
    page.select_option(".filter select[data-name=paper]", "4 Tu")
    assert all("paper 4" in row and "refuted" in row for row in page.evaluate(shown))
    page.close()


def open_search(page: Any) -> None:
    """Asks for the search until its line is there to be typed into: its keys are heard once its index is read."""
    from playwright.sync_api import TimeoutError as NotYetError

    typing = "[...document.querySelectorAll('*')].some(e => e.shadowRoot?.activeElement?.matches('input'))"
    for _ in range(12):
        page.keyboard.press("Control+k")
        try:
            page.wait_for_function(typing, timeout=10_000)
        except NotYetError:
            continue
        return
    raise AssertionError("the search does not open")


@pytest.mark.parametrize("served", ["folder", "server"])
def test_the_search_finds_the_answers(browser: Any, built: Path, served: str, request: pytest.FixtureRequest) -> None:
    root = built.as_uri() if served == "folder" else request.getfixturevalue("address")
    page = browser.new_page()
    page.goto(f"{root}/index.html")
    page.wait_for_load_state("networkidle")
    open_search(page)
    # Results are in the shadow of an element of the theme's.
    results = """[...document.querySelectorAll('*')].filter(e => e.shadowRoot)
        .flatMap(e => [...e.shadowRoot.querySelectorAll('a')]).map(a => a.href.replace(/[?][^#]*/, ''))"""
    for question, (place, words) in (QUESTIONS | THEOREM | MEANT).items():
        page.keyboard.press("Control+a")
        page.keyboard.type(question)
        page.wait_for_function(f"{results}.slice(0, 3).some(url => url.includes('{place}'))", timeout=120_000)
        if place.endswith("/"):
            continue
        text = (built / place.partition("#")[0]).read_text(encoding="utf-8")
        assert words in re.sub(r"<[^>]+>", "", text), question
    page.close()


def test_the_answers_are_one_click_from_the_start(browser: Any, built: Path) -> None:
    page = browser.new_page()
    page.goto((built / "index.html").as_uri())
    linked = page.evaluate("[...document.querySelectorAll('article a')].map(a => a.href)")
    for place, _ in QUESTIONS.values():
        assert place.startswith("index.html#") or any(link.endswith(place) for link in linked), place
    page.close()
