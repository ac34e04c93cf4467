"""Before the application is there: the head of a page at once, the rest when it comes; nothing for strangers."""

from __future__ import annotations

import ast
import subprocess
import sys
import threading
from pathlib import Path

import pytest

pytest.importorskip("dash", reason="the explorer needs dash: pip install 'linear-networks[explorer]'")

import linnet_papers.explorer
from linnet_papers.explorer import serving
from linnet_papers.explorer.application import create_app
from linnet_papers.explorer.front import HEAD, HEADERS, PLOTLY, Front, is_loopback, refusal_reason, sec_fetch_site
from linnet_papers.explorer.loading import ALL, TRAINING
from linnet_papers.explorer.pages import PAGES


@pytest.fixture(scope="module")
def application():
    return create_app().server


def asked(front, path="/", **rest):
    """Status, headers and the parts of the body of an answer, as they come."""
    told = []
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "HTTP_HOST": "127.0.0.1:8050", "QUERY_STRING": ""} | rest
    environ |= {"SERVER_NAME": "127.0.0.1", "SERVER_PORT": "8050", "wsgi.url_scheme": "http", "wsgi.input": None}
    parts = iter(front(environ, lambda status, headers: told.extend([status, dict(headers)])))
    return told, parts


@pytest.mark.parametrize("path", ["/", *(f"/{page.name}" for page in PAGES), "/nowhere"])
def test_a_page_begins_before_the_application_is_there_and_is_the_same_then(path, application):
    front = Front()
    told, parts = asked(front, path)
    assert next(parts) == HEAD.encode()
    front.application.set_result(application)
    early = HEAD.encode() + b"".join(parts)
    assert early.count(b"<head>") == 1 and early.rstrip().endswith(b"</html>")
    later, body = asked(front, path)
    assert len(b"".join(body)) == len(early)  # but for a token of Dash
    assert told[0] == later[0] == "200 OK" and later[1]["Content-Type"] == told[1]["Content-Type"]
    assert HEADERS.items() <= told[1].items() and HEADERS.items() <= later[1].items()


def test_plotly_is_the_file_that_dash_serves(application):
    front = Front()
    _, early = asked(front, PLOTLY)
    early = b"".join(early)
    front.application.set_result(application)
    told, later = asked(front, PLOTLY)
    assert told[0] == "200 OK" and b"".join(later) == early and len(early) > 10**6


def test_everything_else_waits_for_the_application(application):
    front, got = Front(), []
    waiting = threading.Thread(target=lambda: got.append(asked(front, "/_dash-layout")))
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive() and not got
    front.application.set_result(application)
    waiting.join(300)
    assert got[0][0][0] == "200 OK"


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("evil.example", None),
        ("127.0.0.1.evil.example", None),
        ("2130706433", None),
        ("", None),
        ("[", None),
        ("127.0.0.1:8050", "http://evil.example"),
        ("localhost", "http://["),
    ],
)
def test_strangers_are_refused_by_the_front_and_by_the_application(host, origin, application):
    assert refusal_reason(host, origin, only_local=True)
    front = Front()
    got = []
    given = {"HTTP_HOST": host} | ({"HTTP_ORIGIN": origin} if origin else {})
    waiting = threading.Thread(target=lambda: got.append(asked(front, "/", **given)))
    waiting.start()
    waiting.join(0.1)
    assert not got  # nothing is sent before the application refuses
    front.application.set_result(application)
    waiting.join(300)
    assert got[0][0][0].startswith(("400", "403"))
    assert refusal_reason("lab.example", "http://lab.example", only_local=False) == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.0.0.2", "127.3.2.1"])
def test_a_server_on_this_machine_alone_answers_to_the_address_that_it_tells(host):
    """What `serve` takes for this machine and what is refused there are one definition."""
    assert is_loopback(host)
    assert refusal_reason(f"{serving._shown_host(host)}:8050", None, only_local=True) == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", "127.1", "localhost.example.org", ""])
def test_other_hosts_are_not_this_machine_and_no_name_is_resolved(host, monkeypatch):
    monkeypatch.setattr("socket.getaddrinfo", lambda *given, **named: pytest.fail("a name was resolved"))
    assert not is_loopback(host)


def test_an_application_that_cannot_be_made_ends_the_server(monkeypatch):
    monkeypatch.setattr("linnet_papers.explorer.application.create_app", lambda *given, **named: 1 / 0)
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        serving.serve(port=0, open_browser=False)


def test_nothing_heavy_is_loaded_before_the_address_is_told():
    """Nor by the pages themselves, Dash aside: JAX, pandas and what pages compute with come when they are needed."""
    code = (
        "import sys\nfrom linnet.cli.main import build_app\nbuild_app('explore')\n"
        "import linnet_papers.explorer.serving\n"
        "light = {'numpy', 'dash', 'linnet_papers.explorer.pages'} & set(sys.modules)\n"
        "import linnet_papers.explorer.pages\n"
        "print(light, {'jax', 'pandas', 'xarray', 'scipy', 'linnet.forecasts', "
        "'linnet_papers.reproduction.registry'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "set() set()\n"


def test_all_that_pages_import_late_is_loaded_by_one_thread():
    """Imports inside functions of the explorer are of folders that `loading` knows."""
    late = set()
    for file in Path(linnet_papers.explorer.__file__).parent.rglob("*.py"):
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("linnet."):
                    late.add(".".join(str(node.module).split(".")[:2]))
    assert late - set(ALL) <= {"linnet._arguments"}
    assert set(TRAINING) < set(ALL)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_cannot_make_it_compute(site):
    headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
    where = "127.0.0.1:8050"
    assert "its own pages" in refusal_reason(
        where, None, only_local=True, site=sec_fetch_site(headers, "/data/train/run.csv")
    )
    link = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (
        refusal_reason(where, None, only_local=True, site=sec_fetch_site(link, "/phase-diagram")) == ""
    )  # a link opens a page
    assert refusal_reason(
        where, None, only_local=True, site=sec_fetch_site(link, "/data/phase-diagram/map.csv")
    )  # and no more
    for own in ("same-origin", "none"):
        assert (
            refusal_reason(where, None, only_local=True, site=sec_fetch_site({"Sec-Fetch-Site": own}, "/data/x.csv"))
            == ""
        )
