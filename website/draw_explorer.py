"""Draws docs/images/explorer/*.png: every page of the explorer at its defaults, as Chromium shows it.

    python -m website.draw_explorer [PAGE...]

Needs the extras `explorer` and `browser`, and a Chromium (`website/browser.py` says where it is looked for).
"""

from __future__ import annotations

import sys
import threading
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page
from waitress import create_server

from linnet.explorer import create_app
from linnet.explorer.pages import PAGES
from website.browser import chromium

IMAGES = Path(__file__).parents[1] / "docs" / "images" / "explorer"
WIDTH, HIGHEST = 1280, 1500  # pixels of a page; longer ones are cut
TIMEOUT_SECONDS = 120.0  # a first visit compiles


def main(names: list[str]) -> None:
    server = create_server(create_app().server, host="127.0.0.1", port=0)
    threading.Thread(target=server.run, daemon=True).start()
    IMAGES.mkdir(exist_ok=True)
    with chromium() as browser:
        if browser is None:
            raise SystemExit("no Playwright or no Chromium: pip install 'linnet[browser]', or set CHROMIUM")
        tab = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
        for page in PAGES:
            if names and page.name not in names:
                continue
            tab.goto(f"http://127.0.0.1:{server.effective_port}/{page.name}")
            wait(tab, [f"{page.name}-view-{view.name}" for view in page.views if view.kind == "figure"])
            size = tab.evaluate("document.documentElement.scrollHeight")
            shot = tab.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": min(size, HIGHEST)})
            few = (
                Image.open(BytesIO(shot)).convert("RGB").quantize(256, Image.Quantize.FASTOCTREE)
            )  # a third of the size
            few.save(IMAGES / f"{page.name}.png", optimize=True)
    server.close()


def wait(tab: Page, pictures: list[str]) -> None:
    """Until every picture has been drawn."""
    drawn = """ids => ids.every(id => {
        const plot = document.querySelector('#' + id + ' .js-plotly-plot');
        return plot && plot.data && plot.data.length;
    })"""
    until = time.monotonic() + TIMEOUT_SECONDS
    while not tab.evaluate(drawn, pictures):
        if time.monotonic() > until:
            raise TimeoutError(f"not drawn after {TIMEOUT_SECONDS:g} s: {', '.join(pictures)}")
        tab.wait_for_timeout(200)
    tab.wait_for_timeout(1500)  # the other parts, and what moves


if __name__ == "__main__":
    main(sys.argv[1:])
