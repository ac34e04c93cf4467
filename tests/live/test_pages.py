"""The pages as a reader has them: addresses, controls, frozen runs, touches, files, access; in Chromium."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("live")]

ROOT = Path(__file__).parents[2]
PHONE, TABLET, SCREEN = (390, 844), (820, 1180), (1440, 900)
NODE_MODULES = Path(os.environ.get("LINNET_NODE_MODULES", ROOT / ".venv" / "node_modules"))  # `make test-browser`


def pages(tab):
    return tab.evaluate("linnet['pages/all.js'].PAGES.map((p) => p.name)")


def until(tab, condition):
    """Waits until a condition holds; Playwright's own waiting evaluates text in the page, which the page forbids."""
    for _ in range(2000):
        if tab.evaluate(f"!!({condition})"):
            return
        tab.wait_for_timeout(30)
    pytest.fail(f"never came true: {condition}")


def settled(tab):
    """Waits until every picture of the page is there."""
    until(
        tab,
        "[...document.querySelectorAll('.view:not([hidden]) .picture')].every((p) => p.children.length"
        " && !p.textContent.startsWith('Computing')) && !document.querySelector('.busy')",
    )


def state(tab):
    return tab.evaluate("linnet['view/app.js'].app.current().state()")


def set_box(tab, name, text):
    box = tab.locator(f"#box-{name}")
    box.fill(text)
    box.press("Enter")
    box.blur()


def test_every_page_draws_in_three_sizes_light_and_dark(visit):
    names = pages(visit())
    for size in (PHONE, TABLET, SCREEN):
        for theme in ("light", "dark"):
            tab = visit(size=size, theme=theme)
            for name in names:
                tab.evaluate("(name) => (location.hash = `#/${name}`)", name)
                settled(tab)
                assert tab.locator(".picture svg").count() >= 1, name
                wide = tab.evaluate("document.documentElement.scrollWidth")
                assert wide <= size[0], (name, size)
                cut = tab.evaluate(
                    """[...document.querySelectorAll('.panel svg text')].filter((t) => {
                    const a = t.getBoundingClientRect(), b = t.closest('.view').getBoundingClientRect();
                    return a.width && (a.left < b.left - 1 || a.right > b.right + 1); }).map((t) => t.textContent)"""
                )
                assert cut == [], (name, size, cut)
            tab.close()


def nonsense(names, controls, at):
    """An address that means nothing, or nearly something."""
    values = [
        "",
        "NaN",
        "1e999",
        "-1",
        "0",
        "abc",
        "1,2,3",
        "<b>x</b>",
        "%00",
        "é",
        "1e-400",
        "9" * 500,
        "on",
        "%",
        "{}",
        "null",
    ]
    page = at.choice([*names, *names, *names, "lecture", "nowhere", "..", "%2e", "<script>"])
    fields = [
        f"{at.choice([*controls, 'zzz', 'frozen', 'step', 'present', '__proto__', 'constructor'])}={at.choice(values)}"
        for _ in range(at.randint(0, 6))
    ]
    return f"#/{page}?{'&'.join(fields)}"


def test_100_addresses_of_nonsense_leave_no_error_in_the_console(visit):
    tab = visit()
    names = pages(tab)
    controls = tab.evaluate("linnet['pages/all.js'].PAGES.flatMap((p) => p.controls.map((c) => c.name))")
    at = random.Random(0)
    for _ in range(100):
        address = nonsense(names, controls, at)
        tab.evaluate("(to) => (location.hash = to)", address)
        until(tab, "document.querySelector('main').children.length > 0")
        tab.wait_for_timeout(20)
    tab.evaluate("(to) => (location.hash = to)", "#/train?width=1e6&depth=3&scale=-2")
    tab.wait_for_selector(".page[data-page=train]")
    said = tab.locator(".results > .error").first.inner_text()
    assert "no control “depth”" in said and "Initialization scale must be between" in said
    assert state(tab)["width"] == 1e6 and state(tab)["scale"] == 0.01


def test_address_box_and_slider_agree(visit):
    tab = visit("#/train")
    settled(tab)
    slider = tab.locator(".control:has(#box-scale) input[type=range]")
    slider.focus()
    for _ in range(8):
        slider.press("ArrowRight")
    box = float(tab.locator("#box-scale").input_value())
    assert box > 0.01 and state(tab)["scale"] == box
    assert slider.get_attribute("aria-valuetext") == str(box).rstrip("0")
    until(tab, f"location.hash.includes('scale={box}')")
    set_box(tab, "width", "1000000000000")
    until(tab, "location.hash.includes('width=1000000000000')")
    assert tab.locator(".control:has(#box-width) input[type=range]").input_value() == "12"
    settled(tab)
    again = visit("#" + tab.evaluate("location.hash").lstrip("#"))
    settled(again)
    assert state(again) == state(tab)
    set_box(tab, "width", "many")
    assert tab.locator(".control:has(#box-width) .error").inner_text() == "Width h must be a number: got “many”."
    assert state(tab)["width"] == 10**12


def test_a_frozen_run_stands_beside_one_of_another_length(visit):
    tab = visit("#/train?scale=0.0005")
    settled(tab)
    tab.get_by_role("button", name="Freeze this run").click()
    tab.locator(".control:has(#box-scale)").get_by_role("button", name="large").click()
    modes = tab.locator("[data-view=modes]")
    until(tab, "document.querySelectorAll('[data-view=modes] .panel').length === 2")
    assert modes.locator(".panel").first.get_by_text("frozen", exact=True).count() == 1
    until(tab, "location.hash.includes('frozen=scale%3D0.0005')")
    again = visit(tab.evaluate("location.hash"))
    until(again, "document.querySelectorAll('[data-view=modes] .panel').length === 2")
    set_box(tab, "scale", "0.0007")  # nearly the same length: one axis, the frozen run paler
    until(tab, "document.querySelectorAll('[data-view=modes] .panel').length === 1")
    assert "frozen run (paler)" in modes.inner_text()
    tab.get_by_role("button", name="Unfreeze").click()
    until(tab, "!document.querySelector('[data-view=modes]').textContent.includes('frozen run')")


def test_the_cursor_plays_and_colors_modes(visit):
    tab = visit("#/train?cursor=0")
    settled(tab)
    lazy = tab.locator("[data-view=cursor] td:text-is('lazy')")
    before = lazy.count()
    tab.get_by_role("button", name="Play", exact=True).click()
    until(tab, "linnet['view/app.js'].app.current().state().cursor > 0.6")
    tab.get_by_role("button", name="Pause", exact=True).click()
    stopped = state(tab)["cursor"]
    tab.wait_for_timeout(300)
    assert state(tab)["cursor"] == stopped and lazy.count() < before


def test_two_touched_cells_are_trained_and_a_third_replaces_the_second(visit):
    tab = visit("#/phase-diagram?dim=24&rank=2", size=PHONE)
    settled(tab)
    canvas = tab.locator("[data-view=map] canvas")
    box = canvas.bounding_box()
    spots = [(0.3, 0.3), (0.6, 0.1), (0.2, 0.5)]
    for x, y in spots[:2]:
        tab.touchscreen.tap(box["x"] + x * box["width"], box["y"] + y * box["height"])
    until(
        tab,
        "(() => { const r = linnet['view/app.js'].app.current().results; return r.first?.done && r.second?.done; })()",
    )
    cells = state(tab)["cells"]
    assert len(cells) == 4 and tab.locator("[data-view=cells] svg").count() == 1
    assert "by formula" in tab.locator("[data-view=cells] .about").inner_text()
    tab.touchscreen.tap(box["x"] + spots[2][0] * box["width"], box["y"] + spots[2][1] * box["height"])
    until(tab, "linnet['view/app.js'].app.current().state().cells.length === 4")
    assert state(tab)["cells"][:2] == cells[:2] and state(tab)["cells"] != cells


def test_the_keys_reach_every_cell_of_the_map(visit):
    tab = visit("#/phase-diagram?dim=24&rank=2")
    settled(tab)
    picture = tab.locator("[data-view=map] .picture")
    picture.focus()
    picture.press("ArrowLeft")
    picture.press("ArrowUp")
    assert "minimum test error" in tab.locator(".unseen").inner_text()
    picture.press("Enter")
    until(tab, "linnet['view/app.js'].app.current().results.first?.done")
    assert len(state(tab)["cells"]) == 2


def test_a_named_task_brings_the_narrow_cells_of_python(visit):
    tab = visit("#/phase-diagram?task=d100")
    settled(tab)
    said = tab.locator("[data-view=map] .about").inner_text()
    tab.goto(tab.url.replace("task=d100", "dim=100"))
    tab.reload()
    settled(tab)
    share = [
        float(text.partition("Hatched (")[2].partition("%")[0])
        for text in (said, tab.locator("[data-view=map] .about").inner_text())
    ]
    assert share[0] < share[1] - 20  # percent of the cells


def test_files_hold_what_is_shown(visit):
    tab = visit("#/train")
    settled(tab)
    for kind in ("CSV", "SVG", "PNG"):
        with tab.expect_download() as waiting:
            tab.get_by_role("button", name=f"{kind} of Singular values").click()
        content = Path(waiting.value.path()).read_bytes()
        if kind == "CSV":
            rows = list(csv.reader(io.StringIO(content.decode())))
            run = tab.evaluate("linnet['view/app.js'].app.current().results.run")
            assert [float(row[1]) for row in rows[1:]] == [row[0] for row in run["trained"]]
        elif kind == "SVG":
            assert content.startswith(b"<svg") and b"var(" not in content and b"<path" in content
        else:
            assert content.startswith(b"\x89PNG") and len(content) > 10_000
    tab = visit("#/phase-diagram?dim=20")
    settled(tab)
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name="SVG of Every cell").click()
    assert b"<image" in Path(waiting.value.path()).read_bytes()


def test_the_newest_request_wins(visit):
    tab = visit("#/phase-diagram?dim=150")
    settled(tab)
    slider = tab.locator(".control:has(#box-dim) input[type=range]")
    slider.focus()
    for _ in range(12):
        slider.press("ArrowLeft")
    values = "linnet['view/app.js'].app.current().results.map.values"
    until(tab, f"Object.values({values}).length === 138")
    assert state(tab)["dim"] == 138


def python_of(tab):
    """The script under "As Python", run: its variables."""
    tab.locator(".as-python summary").click()
    until(tab, "document.querySelector('.script').textContent.includes('import linnet')")
    held: dict = {}
    exec(tab.locator(".script").inner_text(), held)  # what a reader would do with it
    return held


def modes_of(products):
    return np.linalg.svd(products, compute_uv=False)


def results(tab, part):
    return tab.evaluate(f"linnet['view/app.js'].app.current().results.{part}")


@pytest.mark.parametrize(
    ("address", "part", "name", "theirs"),
    [
        ("train?scale=0.02", "run", "trained", lambda v: v["trained"]),
        ("train?target=low_rank&how=descent&seed=3&width=5&scale=0.2", "run", "trained", lambda v: v["trained"]),
        ("train?target=spiked&samples=30&imbalance=3", "run", "trained", lambda v: v["trained"]),
        ("train?decay=0.2&seed=1", "run", "trained", lambda v: v["trained"]),
        ("train?how=spectral&in_dim=4&out_dim=4", "run", "predicted", lambda v: modes_of(v["predicted"])),
        ("two-phases?samples=100&seed=2", "run", "trained", lambda v: v["trained"]),
        ("spectral-bias?values=3,1&gamma=0.0001", "run", "trained", lambda v: v["run"].singular_values[:, :2]),
        ("depth?depth=4&seed=1&values=3,1", "run", "trained", lambda v: v["run"].singular_values[:, :2]),
    ],
)
def test_as_python_computes_the_numbers_that_are_shown(visit, address, part, name, theirs):
    tab = visit(f"#/{address}")
    settled(tab)
    wanted = np.array(theirs(python_of(tab)))
    assert np.abs(np.array(results(tab, part)[name]) - wanted).max() < 1e-5 * np.abs(wanted).max()


def test_as_python_of_the_map_and_of_the_neurons_too(visit):
    tab = visit("#/phase-diagram?dim=40&key=3")
    settled(tab)
    held = python_of(tab)
    test = np.array(results(tab, "map")["test"]).reshape(35, 35)
    assert np.allclose(test, 2 * held["diagram"].min_test_loss, rtol=1e-10)
    tab = visit("#/feature-learning?dim=60&width=32")
    settled(tab)
    held = python_of(tab)
    for row in results(tab, "run")["rows"]:
        assert np.isclose(row["loss"], held["run"].loss[row["step"]], rtol=1e-6)


def test_the_lecture_goes_from_step_to_step(visit):
    tab = visit("#/lecture?step=1&present=on")
    titles = []
    for number in range(1, 6):
        settled(tab)
        titles.append(tab.locator("h1").inner_text())
        assert f"Step {number} of 5" in tab.locator(".step").inner_text()
        assert tab.locator("nav").is_hidden() and tab.locator(".do li").count() == 2
        first = tab.locator(".view").first.bounding_box()
        assert first["y"] < 500 and first["height"] > 300
        tab.keyboard.press("ArrowRight")
        if number < 5:
            until(tab, f"document.querySelector('.step').textContent.includes('Step {number + 1} of')")
    assert len(set(titles)) == 5
    tab.keyboard.press("ArrowLeft")
    until(tab, "document.querySelector('.step').textContent.includes('Step 4 of')")


def test_the_qr_code_is_that_of_the_address(visit, folder):
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed: pip install opencv-python-headless")
    tab = visit("#/train")
    for text in ("https://linnet.example/live/#/train?scale=0.1", "x" * 40, "a?b=" + "0123456789" * 30):
        dark = np.array(tab.evaluate("(text) => linnet['view/qr.js'].code(text)", text))
        picture = np.pad(np.where(dark, 0, 255).astype(np.uint8), 4, constant_values=255)
        assert cv2.QRCodeDetector().detectAndDecode(np.kron(picture, np.ones((6, 6), np.uint8)))[0] == text


def test_the_types_of_the_modules_are_right(tmp_path):
    tsc = NODE_MODULES / ".bin" / "tsc"
    if not tsc.exists():
        pytest.skip("TypeScript is not installed: npm install --prefix .venv typescript axe-core")
    options = {
        "checkJs": True,
        "allowJs": True,
        "noEmit": True,
        "strict": True,
        "target": "ES2022",
        "module": "ES2022",
        "lib": ["ES2023", "DOM", "DOM.Iterable"],
        "useUnknownInCatchVariables": False,
    }
    settings = tmp_path / "tsconfig.json"
    settings.write_text(json.dumps({"compilerOptions": options, "include": [f"{ROOT}/src/linnet/live/app/**/*.js"]}))
    done = subprocess.run([shutil.which("node"), tsc, "-p", settings], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_axe_finds_nothing_serious_on_any_page(visit):
    axe = NODE_MODULES / "axe-core" / "axe.min.js"
    if not axe.exists():
        pytest.skip("axe is not installed: npm install --prefix .venv typescript axe-core")
    for theme in ("light", "dark"):
        for size in (PHONE, SCREEN):
            tab = visit(size=size, theme=theme)
            for name in ["", "lecture?step=1", *pages(tab)]:
                tab.evaluate("(name) => (location.hash = `#/${name}`)", name)
                settled(tab)
                tab.evaluate(axe.read_text(encoding="utf-8"))
                found = tab.evaluate(
                    "axe.run({ resultTypes: ['violations'] })"
                    ".then((r) => r.violations.map((v) => [v.impact, v.id, v.nodes[0].html]))"
                )
                assert [one for one in found if one[0] in ("serious", "critical")] == [], (name, theme, size)
            tab.close()
