"""The live pages in Chromium: a frame of Train, slider to map, first picture, and the size of the file.

    python -m benchmarks.live

Each line ends with its goal on a quiet machine. Times are medians, in milliseconds. The slowed processor is Chromium's,
which does not slow workers.
"""

from __future__ import annotations

import gzip
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from website.browser import chromium

from linnet.live import page, write

REPEATS = 15
# Moves a slider by one step, and waits until the picture that belongs to it is drawn.
MOVE = """([name, down]) => new Promise((done) => {
    const slider = document.querySelector(`.control:has(#box-${name}) input[type=range]`);
    const began = performance.now();
    slider.value = Number(slider.value) + (down ? -1 : 1) * Number(slider.step);
    const results = linnet["view/app.js"].app.current().results, before = { ...results };
    slider.dispatchEvent(new Event("input", { bubbles: true }));
    const wait = () => (Object.keys(results).some((k) => results[k] !== before[k])
        ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - began)))
        : setTimeout(wait, 1));
    wait();
})"""
# Redraws the page at another place of the cursor: what each frame of Play costs.
FRAME = """() => new Promise((done) => {
    const { app } = linnet["view/app.js"], page = app.current(), began = performance.now();
    page.change({ ...page.state(), cursor: Math.random() });
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began), 0));
})"""


def main() -> None:
    """Print every line."""
    size = len(gzip.compress(page().encode(), 9)) / 1000
    print(f"all files, compressed: {size:.0f} kB (150 kB)")
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        if browser is None:
            raise SystemExit("no Playwright or no Chromium: pip install 'linear-networks[browser]', or set CHROMIUM")
        measured(browser, write(Path(folder)).as_uri())


def measured(browser: Any, address: str) -> None:
    """Print the lines that need a browser."""
    first = []
    for _ in range(3):
        tab = browser.new_page()
        began = time.perf_counter()
        tab.goto(f"{address}#/train")
        tab.wait_for_selector("[data-view=modes] svg")
        first.append(1000 * (time.perf_counter() - began))
        tab.close()
    print(f"first picture of Train: {statistics.median(first):.0f} ms (1000 ms)")
    for slowed, goal in ((1, 10), (4, 25)):
        tab = opened(browser, f"{address}#/train", "modes")
        tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": slowed})
        frames = [tab.evaluate(FRAME) for _ in range(3 * REPEATS)]
        print(f"a frame of Train, processor slowed {slowed}-fold: {statistics.median(frames):.0f} ms ({goal} ms)")
        tab.close()
    for dim in (100, 199):
        tab = opened(browser, f"{address}#/phase-diagram?dim={dim}", "map")
        moves = [tab.evaluate(MOVE, ["dim", i % 2 == 1]) for i in range(REPEATS)]
        print(f"slider to map, d about {dim}: {statistics.median(moves):.0f} ms (120 ms at d = 200)")
        tab.close()
    tab = opened(browser, f"{address}#/train", "modes")
    moves = [tab.evaluate(MOVE, ["scale", i % 2 == 1]) for i in range(REPEATS)]
    print(f"slider to a trained network: {statistics.median(moves):.0f} ms")
    tab.close()


def opened(browser: Any, address: str, view: str) -> Any:
    """Return a tab in which a view is drawn."""
    tab = browser.new_page()
    tab.goto(address)
    tab.wait_for_selector(f"[data-view={view}] svg")
    tab.wait_for_timeout(1000)
    return tab


if __name__ == "__main__":
    main()
