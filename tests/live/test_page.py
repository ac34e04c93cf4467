"""The page as a file, the server and the command, without a browser; the data as `website.live_data` writes them."""

from __future__ import annotations

import http.client
import json
import re
import socket
from importlib.resources import files

import numpy as np
import pytest

from linnet.live import page, script
from linnet.live.serving import served
from linnet.theories.lazy_active import predicted_diagram
from website import live_data

APP = files("linnet.live") / "app"


def test_the_page_is_whole_in_itself_and_may_ask_for_nothing():
    text = page()
    assert "STYLE" not in text[:3000] and "default-src 'none'" in text and "connect-src" not in text
    assert not re.search(r"(?:src|href)=\"(?!data:|#)[^\"$]*\"", text)
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert not re.search(r"\b(?:fetch|XMLHttpRequest|WebSocket|importScripts|sendBeacon)\b", text)
    assert not re.search(r"^(?:import \{|export )", script(), re.MULTILINE)


def test_every_module_is_part_of_the_page():
    text = script()
    for folder in ("numbers", "view", "pages"):
        for module in (APP / folder).iterdir():
            if module.name != "kinds.js":  # types alone
                assert f'modules["{folder}/{module.name}"]' in text, module.name


def test_the_compressed_page_is_small():
    import gzip

    assert len(gzip.compress(page().encode())) < 150_000


def test_the_command_writes_a_folder(linnet, tmp_path):
    said = linnet("explore", "--out", tmp_path / "live")
    assert said.status == 0 and "index.html" in said.out
    assert (tmp_path / "live" / "index.html").read_text(encoding="utf-8") == page()


def test_the_server_answers_with_the_page_and_nothing_else():
    with served() as address:
        host = address.removeprefix("http://").rstrip("/")
        for path, status in (("/", 200), ("/index.html?x=1", 200), ("/../pyproject.toml", 404), ("/etc/passwd", 404)):
            line = http.client.HTTPConnection(host, timeout=60)
            line.request("GET", path)
            answer = line.getresponse()
            assert answer.status == status and (answer.read() == page().encode()) == (status == 200)
            line.close()


def test_a_port_that_is_in_use_is_a_sentence(refused):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refused("explore", "--no-browser", "--port", port, status=1)
        assert f"port {port} is in use: take another one with --port {port + 1}." in said


def test_a_folder_that_cannot_be_written_is_a_sentence(refused, tmp_path):
    (tmp_path / "file").write_text("")
    refused("explore", "--out", tmp_path / "file", status=1)


@pytest.mark.parametrize("name", live_data.TASKS)
def test_the_named_tasks_are_what_python_computes_now(name):
    """A few cells of each, drawn networks among them: all of them take a minute."""
    held = json.loads((live_data.DATA / "tasks.json").read_text(encoding="utf-8"))[name]
    spectrum = live_data.spectrum_of(name)
    widths, variances = live_data.axes(held["dim"])
    unit = 2 / spectrum.truth_power
    rows, columns = [4], [2, 12, 22]
    full = predicted_diagram(spectrum, variances[columns], widths[rows])
    wide = predicted_diagram(spectrum, variances, widths, draws=0)
    assert held["narrow"]["cells"] == np.flatnonzero(~(wide.uncertainty <= live_data.LIMIT)).tolist()
    test = dict(zip(held["narrow"]["cells"], held["narrow"]["test"]))
    for i, row in enumerate(rows):
        kept = [test[row * live_data.POINTS + j] for j in columns]
        assert np.allclose(kept, full.min_test_loss[i] * unit, rtol=2e-3)
    if "spectrum" in held:
        assert (
            np.allclose(held["spectrum"]["values"], spectrum.values)
            and held["spectrum"]["apart"] == spectrum.num_outliers
        )


def test_the_maps_are_those_of_the_papers():
    from linnet_papers.own.training.trained import trained_diagram
    from linnet_papers.tu.published import phase_diagram_cells

    held = json.loads((live_data.DATA / "maps.json").read_text(encoding="utf-8"))
    assert set(held) == {"published", "50", "200", "1000", "2000"}
    for name, one in held.items():
        if name == "published":
            cells = phase_diagram_cells().transpose("gamma_width", "gamma_variance")["test_error"].values
        else:
            cells = trained_diagram(int(name))["min_test_loss"].values
        assert one["trained"] == live_data.short(cells)
        assert len(one["x"]) * len(one["y"]) == len(one["trained"]) == len(one["predicted"])
        if name == "50":
            assert one == live_data.own_map(50)
        known = [(p, t) for p, t in zip(one["predicted"], one["trained"]) if p is not None and t is not None]
        assert np.median([abs(p / t - 1) for p, t in known]) < 0.02


def test_the_maps_of_each_depth_are_what_python_computes_now():
    held = json.loads((live_data.DATA / "depth.json").read_text(encoding="utf-8"))
    assert set(held) == {str(depth) for depth in live_data.DEPTHS}
    for depth in (2, 3):
        assert held[str(depth)] == {"map": live_data.depth_map(depth), "half": live_data.half_times(depth)}


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("theme", [":root {", ':root[data-theme="dark"] {'])
def test_every_color_of_a_curve_is_seen_on_its_ground(theme):
    style = (APP / "live.css").read_text(encoding="utf-8")
    block = style[style.index(theme) :].partition("}")[0]
    colors = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
    ground = luminance(colors["paper"])
    curves = [n for n in colors if re.match(r"order|blue|orange|green|pink|amber|sky|gray|lazy|active|test|guide", n)]
    assert len(curves) == 19
    for name in curves:
        low, high = sorted([luminance(colors[name]), ground])
        assert (high + 0.05) / (low + 0.05) >= 3, (name, colors[name])
