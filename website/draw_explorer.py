"""Draws docs/images/explorer/*.png, every page of the explorer at its defaults as Chromium shows it, and the thumbnails
of its first page.

    python -m website.draw_explorer [PAGE...]

Needs the extras `explorer` and `browser`, and a Chromium (`website/browser.py` says where it is looked for).
"""

from __future__ import annotations

import sys
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page
from waitress import create_server

from linnet_papers.explorer import create_app
from linnet_papers.explorer.controls import defaults
from linnet_papers.explorer.layout import view_id
from linnet_papers.explorer.pages import PAGES
from website.browser import chromium

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images" / "explorer"
THUMBNAILS = ROOT / "src" / "linnet_papers" / "explorer" / "assets" / "thumbnails"
THUMBNAIL_SIZE = (640, 400)  # pixels: twice what a card shows
WIDTH, HIGHEST = 1280, 1500  # pixels of a page; longer ones are cut
TIMEOUT_SECONDS = 120.0  # a first visit compiles


@contextmanager
def explorer_tab() -> Iterator[tuple[Page, str]]:
    """Serve the explorer and open a browser: give its tab and the address; both end with the block, errors or not."""
    server = create_server(create_app().server, host="127.0.0.1", port=0)
    threading.Thread(target=server.run, daemon=True).start()
    try:
        with chromium() as browser:
            if browser is None:
                raise SystemExit(
                    "no Playwright or no Chromium: pip install 'linear-networks[browser]', or set CHROMIUM"
                )
            tab = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
            yield tab, f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()


def main(names: list[str]) -> None:
    IMAGES.mkdir(exist_ok=True)
    THUMBNAILS.mkdir(exist_ok=True)
    with explorer_tab() as (tab, address):
        for page in PAGES:
            if names and page.name not in names:
                continue
            tab.goto(f"{address}/{page.name}")
            shown = [part for part in page.parts if not part.waits(defaults(page.controls))]
            pictures = [view_id(page, view) for part in shown for view in part.views if view.kind == "figure"]
            wait(tab, pictures)
            keep(tab, page.name)
            thumbnail(tab, pictures[0]).save(THUMBNAILS / f"{page.name}.webp", quality=80, method=6)
        if not names or "home" in names:
            tab.goto(f"{address}/")
            tab.wait_for_selector("#moving-picture svg")
            tab.wait_for_timeout(4500)  # until three of the modes are learned
            keep(tab, "home")


def keep(tab: Page, name: str) -> None:
    """The page as it is seen now, as a picture of the documentation."""
    size = tab.evaluate("document.documentElement.scrollHeight")
    shot = tab.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": min(size, HIGHEST)})
    few = Image.open(BytesIO(shot)).convert("RGB").quantize(256, Image.Quantize.FASTOCTREE)  # a third of the size
    few.save(IMAGES / f"{name}.png", optimize=True)


def thumbnail(tab: Page, picture: str) -> Image.Image:
    """A picture of a page drawn small, without its legend."""
    draw = """async ([id, width, height]) => {
        const graph = document.querySelector('#' + id + ' .js-plotly-plot');
        const layout = {...graph.layout, showlegend: false, paper_bgcolor: '#fff', plot_bgcolor: '#fff',
                        margin: {l: 66, r: 16, t: 16, b: 56}, font: {size: 17}};
        const options = {format: 'png', width: width, height: height};
        return await Plotly.toImage({data: graph.data, layout: layout}, options);
    }"""
    drawn = tab.evaluate(draw, [picture, *THUMBNAIL_SIZE])
    return Image.open(BytesIO(b64decode(drawn.partition(",")[2]))).convert("RGB")


def wait(tab: Page, pictures: list[str]) -> None:
    """Wait until every picture has been drawn; an error that the page shows is raised at once."""
    drawn = """ids => ids.every(id => {
        const plot = document.querySelector('#' + id + ' .js-plotly-plot');
        return plot && plot.data && plot.data.length;
    })"""
    until = time.monotonic() + TIMEOUT_SECONDS
    while not tab.evaluate(drawn, pictures):
        if errors := tab.locator(".error:not(:empty)").all_inner_texts():
            raise RuntimeError(f"{tab.url}: {' '.join(errors)}")
        if time.monotonic() > until:
            raise TimeoutError(f"not drawn after {TIMEOUT_SECONDS:g} s: {', '.join(pictures)}")
        tab.wait_for_timeout(200)
    tab.wait_for_timeout(1500)  # the other parts, and what moves


if __name__ == "__main__":
    main(sys.argv[1:])
