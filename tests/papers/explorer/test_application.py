"""The server: what it answers, what it refuses, and that no failure becomes a traceback."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from linnet.cli import failures
from linnet_papers.explorer import serving

pytest.importorskip("dash", reason="the explorer needs dash: pip install 'linear-networks[explorer]'")

from linnet_papers.explorer.application import create_app
from linnet_papers.explorer.layout import content
from linnet_papers.explorer.pages import PAGES

HERE = {"Host": "127.0.0.1:8050"}


@pytest.fixture(scope="module")
def app():
    return create_app()


@pytest.fixture(scope="module")
def client(app):
    return app.server.test_client()


def told(component):
    """All text of a component."""
    if isinstance(component, (list, tuple)):
        return " ".join(map(told, component))
    return told(component.children) if hasattr(component, "children") else str(component or "")


def test_every_page_has_a_layout_with_all_its_controls(app):
    service = app.server.extensions["linnet"]
    for page in PAGES:
        made = content(service, f"/{page.name}", "")
        ids = {component.id for component in made._traverse() if getattr(component, "id", None)}
        assert {f"{page.name}-{control.name}" for control in page.controls} <= ids
        assert {f"{page.name}-view-{view.name}" for part in page.parts for view in part.views} <= ids
        for control in page.controls:
            assert control.hidden or (control.help.endswith(".") and control.help in told(made))


def test_an_address_sets_the_controls_and_a_wrong_one_is_said(app):
    service = app.server.extensions["linnet"]
    made = content(service, "/train", "?width=1e6&frozen=width%3D10")
    by_id = {component.id: component for component in made._traverse() if getattr(component, "id", None)}
    assert by_id["train-width"].value == "1000000" and by_id["train-width-slider"].value == 6
    assert by_id["train-frozen"].data == "width=10" and by_id["train-freeze"].children == "Unfreeze"
    assert "must be between" in told(content(service, "/train", "?width=1e99"))
    assert "no control 'widht'" in told(content(service, "/train", "?widht=3"))
    assert "No such page" in told(content(service, "/nowhere", ""))


def test_everything_that_is_wrong_with_an_address_is_said(app):
    service = app.server.extensions["linnet"]
    made = content(service, "/train", "?width=1e99&seed=3&frozen=seed%3D-1")
    by_id = {component.id: component for component in made._traverse() if getattr(component, "id", None)}
    wrong = by_id["train-address-error"].children
    assert wrong.startswith("Width") and "The rest of the address is kept. The frozen run is left out: Seed" in wrong
    assert by_id["train-seed"].value == "3" and by_id["train-frozen"].data is None


def test_files_are_the_page_s_numbers_and_wrong_ones_are_refused(client):
    found = client.get("/data/phase-diagram/main.csv?dim=30", headers=HERE)
    assert found.status_code == 200 and found.text.startswith("variable,gamma_width,gamma_variance,value\n")
    assert "attachment" in found.headers["Content-Disposition"]
    assert client.get("/data/phase-diagram/main.nc?dim=30", headers=HERE).data[:3] == b"CDF"
    unset = client.get("/data/phase-diagram/compared.csv", headers=HERE)
    assert (
        unset.status_code == 400
        and unset.text == "There is nothing in this file before `compare` is set on the page.\n"
    )
    wrong = client.get("/data/phase-diagram/main.csv?dim=1", headers=HERE)
    assert wrong.status_code == 400 and wrong.text == "Dimension d must be between 20 and 1000000: got 1.\n"
    for path in ("/data/nothing/main.csv", "/data/train/nothing.csv", "/data/train/main.exe"):
        assert client.get(path, headers=HERE).status_code == 404


def test_requests_of_others_are_refused(client):
    assert client.get("/", headers=HERE).status_code == 200
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 403
    crossed = client.post("/_dash-update-component", json={}, headers=HERE | {"Origin": "http://evil.example"})
    assert crossed.status_code == 403
    open_to_all = create_app(only_local=False).server.test_client()
    assert open_to_all.get("/", headers={"Host": "lab.example"}).status_code == 200


def test_pages_may_load_nothing_from_elsewhere(client):
    page = client.get("/", headers=HERE)
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert "http://" not in page.text and "https://" not in page.text and 'src="//' not in page.text


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"output": "nothing.children", "inputs": [], "changedPropIds": []},
        {"output": "content.children", "outputs": {"id": "content", "property": "children"}, "inputs": "?"},
        [1, 2],
        "text",
    ],
)
def test_payloads_that_no_page_sends_are_refused_in_a_line(client, payload):
    answer = client.post("/_dash-update-component", json=payload, headers=HERE)
    assert 400 <= answer.status_code < 500 and "Traceback" not in answer.text and len(answer.text.splitlines()) == 1


def test_a_request_that_is_too_large_is_refused(client):
    answer = client.post("/_dash-update-component", data=b"x" * (13 * 2**20), headers=HERE)
    assert 400 <= answer.status_code < 500


def test_what_is_missing_is_said_before_anything_starts(monkeypatch):
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match="the explorer needs dash") as caught:
        serving.serve(open_browser=False)
    assert "pip install 'linear-networks[explorer]'" in failures.cause(caught.value)


def test_a_port_in_use_is_told_in_one_line():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        command = [sys.executable, "-m", "linnet", "explore", "--no-browser", "--port", str(port)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (
        done.returncode == 1
        and done.stderr == f"linnet: port {port} is in use: take another one with --port {port + 1}.\n"
    )
