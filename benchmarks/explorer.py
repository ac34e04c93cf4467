"""The explorer: from slider to picture, twenty clients at once, memory over a thousand interactions, start.

    python -m benchmarks.explorer [PAGE ...]

Each line ends with the limit it should keep. A server of its own is started, as `linnet explore` starts it. Without
Playwright and a Chromium, what needs a browser is left out.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
from website.browser import chromium

from linnet_papers.explorer import controls as control
from linnet_papers.explorer.controls import Control
from linnet_papers.explorer.page import Page, Part
from linnet_papers.explorer.pages import PAGES

STARTS = 3  # of a server
MOVES = 40  # of a slider on each page
CLIENTS, ASKED = 20, 5  # at once, and how often each
INTERACTIONS = 1000
# Median and 95% in milliseconds: what shows formulas, what trains networks, and the map of the whole plane.
FORMULA, TRAINING, MAP = (120, 250), (400, 400), (1000, 1500)
TRAINS = ("train", "depth", "two-phases", "spectral-bias", "feature-learning", "your-data")
# The slider that is moved, where it is not the page's first one: sizes of the defaults stay.
MOVED = {"train": "first_std", "depth": "width", "your-data": "init_scale", "claims": "sheet"}

# Time from the slider's event to the end of Plotly's drawing of the page's first picture.
_WATCH = """([slider, graph]) => {
    const box = document.getElementById(slider), drawn = document.querySelector("#" + graph + " .js-plotly-plot");
    window.measured = new Promise(done => {
        let began = null;
        box.addEventListener("input", () => { began = performance.now(); }, {once: true, capture: true});
        const ended = () => { if (began !== null) {
            drawn.removeListener("plotly_afterplot", ended); done(performance.now() - began); } };
        drawn.on("plotly_afterplot", ended);
    });
}"""

# The same for words that are searched for: from the key to the list that answers it.
_SEARCH = """([box, shown]) => {
    const text = () => document.getElementById(shown)?.textContent, before = text();
    window.measured = new Promise(done => {
        let began = null;
        document.getElementById(box).addEventListener("keydown", event => {
            if (event.key === "Enter") began = performance.now(); }, {capture: true});
        const watch = new MutationObserver(() => { const now = text(); if (began !== null && now && now !== before) {
            watch.disconnect(); requestAnimationFrame(() => done(performance.now() - began)); } });
        watch.observe(document.body, {childList: true, subtree: true, characterData: true});
    });
}"""


@contextmanager
def served() -> Iterator[tuple[str, int]]:
    """The address and the process of a server."""
    words = [sys.executable, "-m", "linnet", "explore", "--port", "0", "--no-browser"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        yield process.stderr.readline().split("linnet explore: ")[1].split()[0].rstrip("/"), process.pid
    finally:
        process.terminate()
        process.communicate()


def first_picture(browser: Any, what: str, path: str, seen: str) -> None:
    """From the command to the first picture, each time a new server and a browser that has seen nothing."""
    found, used = [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        with served() as (address, process):
            window = browser.new_context()
            tab = window.new_page()
            tab.goto(address + path, wait_until="commit")
            tab.wait_for_selector(seen, timeout=60_000)
            found.append(time.perf_counter() - began)
            used.append(processor(process))
            window.close()
    each = ", ".join(f"{seconds:.2f}" for seconds in found)
    print(f"start to {what:18} {np.median(found):6.2f} s    (limit 4 s)   [{each}; the server's own ", end="")
    print(f"{np.median(used):.2f} s of processor]", flush=True)


def slider_to_picture(browser: Any, address: str, process: int, page: Page) -> None:
    """A slider moved step by step about its default, to values that nobody has asked for yet: median and 95%."""
    one = next(c for c in page.controls if c.has_slider and c.name == MOVED.get(page.name, c.name))
    view = page.first_view
    if page.name == "claims":  # the list follows at once, the bars stay: a paper changes both
        return claims(browser, address, process, page)
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(120_000)
    tab.goto(f"{address}/{page.name}?{one.name}={below(one)}")
    tab.wait_for_selector(f"#{page.name}-view-{view.name} .main-svg .trace")
    tab.wait_for_load_state("networkidle")
    found, used = [], processor(process)
    for _ in range(MOVES):
        tab.evaluate(_WATCH, [f"{page.name}-{one.name}-slider", f"{page.name}-view-{view.name}"])
        tab.locator(f"#{page.name}-{one.name}-slider").press("ArrowRight")
        found.append(tab.evaluate("() => window.measured"))
        tab.wait_for_timeout(30)
    _told(page, one.name, found, (processor(process) - used) / MOVES)
    tab.close()


def below(one: Control) -> str:
    """Where a slider is half of the moves before its default."""
    low, high, step = one.slider_range
    if high - low < (MOVES + 1) * step:  # a slider that cannot move draws nothing, and would be waited for
        raise ValueError(f"{one.name} has fewer than {MOVES} values: move another slider of its page (MOVED).")
    start = max(low, one.slider_position(float(str(one.default))) - (MOVES // 2 + 1) * step)
    value = float(f"{10**start if one.kind == 'log' else start:.4g}")
    return one.write(int(value) if one.is_whole else value)


def claims(browser: Any, address: str, process: int, page: Page) -> None:
    """The list of claims, searched."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(f"{address}/{page.name}")
    tab.wait_for_selector("#claims-shown")
    found, used = [], processor(process)
    for word in ("kernel", "rate", "width", "flow", "loss", "spike", "noise", "rank") * 5:
        tab.locator("#claims-words").fill(word)
        tab.evaluate(_SEARCH, ["claims-words", "claims-shown"])
        tab.locator("#claims-words").press("Enter")
        found.append(tab.evaluate("() => window.measured"))
        tab.wait_for_timeout(30)
    _told(page, "words", found, (processor(process) - used) / len(found))
    tab.close()


def _told(page: Page, name: str, found: list[float], used: float) -> None:
    middle, late = np.percentile(found, [50, 95])
    limits = MAP if page.name == "phase-diagram" else TRAINING if page.name in TRAINS else FORMULA
    print(
        f"{page.name:18} {name:14} median {middle:5.0f} ms, 95% {late:5.0f} ms    (limits {limits[0]}, {limits[1]} "
        "ms)   "
        f"[the server's own {1000 * used:.0f} ms of processor each]",
        flush=True,
    )


def settled(browser: Any, address: str, process: int) -> None:
    """Waits until the server, seen by a first reader, has compiled what others will ask for."""
    tab = browser.new_page()
    tab.goto(f"{address}/train")
    tab.wait_for_selector(".js-plotly-plot .main-svg .trace", timeout=60_000)
    tab.close()
    began, used = time.perf_counter(), [0.0, processor(process)]
    while time.perf_counter() - began < 60 and (len(used) < 5 or used[-1] - used[-2] > 0.05):
        time.sleep(2.5)
        used.append(processor(process))
    print(f"compiled ahead after        {time.perf_counter() - began:6.0f} s", flush=True)


def asked(address: str, page: Page, part: Part, chance: random.Random) -> float:
    """One interaction as the browser has it: a slider somewhere, the page computed. Returns the seconds."""
    state = control.defaults(page.controls)
    one = next((c for c in page.controls if c.has_slider and c.name == MOVED.get(page.name, c.name)), None)
    if one is not None:
        low, high = one.bounds
        share = chance.random()
        center = float(str(state[one.name]))
        value = center * 2 ** (2 * share - 1) if one.kind == "log" else low + share * (high - low)
        value = min(max(value, low), high)
        state[one.name] = int(value) if one.is_whole else float(f"{value:.4g}")
    inputs = [{"id": f"{page.name}-frozen", "property": "data", "value": None}]
    inputs += [
        {"id": f"{page.name}-{c.name}", "property": "value", "value": c.write(state[c.name])} for c in page.controls
    ]
    output = f"{page.name}-{part.name}-answer"
    body = {
        "output": f"{output}.data",
        "outputs": {"id": output, "property": "data"},
        "inputs": inputs,
        "changedPropIds": [f"{page.name}-{page.controls[0].name}.value"],
        "state": [],
    }
    request = Request(
        f"{address}/_dash-update-component", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    began = time.perf_counter()
    with urlopen(request) as answer:
        told = json.loads(answer.read())["response"][output]["data"]
    seconds = time.perf_counter() - began
    if "error" in told:  # what is refused costs nothing: it would be no measurement
        raise RuntimeError(f"{page.name}: {told['error']}")
    return seconds


def many_clients(address: str, pages: list[Page]) -> None:
    """Twenty clients at once, each with a page of its own choice."""

    def client(number: int) -> list[float]:
        chance, page = random.Random(number), pages[number % len(pages)]
        return [asked(address, page, page.parts[0], chance) for _ in range(ASKED)]

    for page in pages:
        asked(address, page, page.parts[0], random.Random(0))  # compiled by whoever came first
    with ThreadPoolExecutor(CLIENTS) as pool:
        found = [seconds for held in pool.map(client, range(CLIENTS)) for seconds in held]
    print(f"{CLIENTS} clients at once         95% {np.percentile(found, 95):.2f} s    (limit 2 s)", flush=True)


def memory(address: str, process: int, pages: list[Page]) -> None:
    """How the server grows over a thousand interactions, after the first two hundred."""
    chance = random.Random(0)
    for number in range(200 + INTERACTIONS):
        if number == 200:
            before = resident(process)
        page = pages[number % len(pages)]
        asked(address, page, page.parts[0], chance)
    print(f"{INTERACTIONS} interactions        {resident(process) - before:+6.1f} MB    (limit 50 MB)", flush=True)


def processor(process: int) -> float:
    """Seconds of processor that a process has used; it says more than the clock where others compute too."""
    if not Path(f"/proc/{process}/stat").exists():
        return float("nan")
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> float:
    """Megabytes of a process in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def main(names: list[str]) -> None:
    pages = [page for page in PAGES if not names or page.name in names]
    with chromium() as browser:
        if browser is None:
            print("no Playwright or no Chromium: nothing is seen in a browser")
        if browser is not None and not names:
            first_picture(browser, "moving picture", "/", "#moving-picture .mode")
            first_picture(browser, "trained network", "/train", ".js-plotly-plot .main-svg .trace")
        with served() as (address, process):
            if browser is not None:
                settled(browser, address, process)
                for page in pages:
                    slider_to_picture(browser, address, process, page)
            many_clients(address, pages)
            if Path("/proc/self/status").exists():
                memory(address, process, pages)


if __name__ == "__main__":
    main(sys.argv[1:])
