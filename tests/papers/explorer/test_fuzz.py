"""500 addresses and payloads that no page sends: each is answered, in time, without a traceback and without a 500."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote, urlencode

import pytest

pytest.importorskip("dash", reason="Dash is not installed: pip install 'linear-networks[explorer]'")

from linnet_papers.explorer import controls, create_app
from linnet_papers.explorer.pages import PAGES

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("fuzz")]

ADDRESSES, PAYLOADS, SITES = 200, 300, 400
PATIENCE = 120.0  # seconds until a request counts as one that hangs
NASTY: list[Any] = [
    None,
    "",
    " ",
    "abc",
    "nan",
    "-inf",
    "1e999",
    "-1",
    "0",
    "1e308",
    "-0.0",
    "1,2,3",
    "1,,nan",
    ",".join(["9"] * 100),
    "x" * 5000,
    "\x00",
    "\ud7ff\u202e",
    "<script>alert(1)</script>",
    "../../../../etc/passwd",
    "%00%ff%s%n",
    "{'a': 1}",
    "__import__('os')",
    True,
    -7,
    2**80,
    1e-320,
    [],
    {},
    [[1], {"a": []}],
    {"props": {"children": "x"}, "type": "Div", "namespace": "dash_html_components"},
    ["on"] * 50,
]


@pytest.fixture(scope="module")
def client() -> Any:
    return create_app().server.test_client()


@pytest.fixture(scope="module")
def ask(client: Any) -> Any:
    """Sends a request in a thread of its own: one that hangs is told from one that is answered."""
    with ThreadPoolExecutor(1) as pool:

        def send(method: str, address: str, **rest: Any) -> Any:
            return pool.submit(lambda: client.open(address, method=method, **rest)).result(timeout=PATIENCE)

        yield send


def assert_answered(answer: Any, what: object) -> None:
    text = answer.get_data().decode("utf-8", "replace")  # netCDF is no text
    assert answer.status_code < 500, (answer.status, what)
    assert "Traceback" not in text and 'File "' not in text, what
    assert answer.status_code in (200, 204) or len(text.strip()) < 400, what


def test_addresses(ask: Any) -> None:
    chance = random.Random(0)
    for _ in range(ADDRESSES):
        page = chance.choice(PAGES)
        fields = [
            (chance.choice([*(c.name for c in page.controls), "frozen", "nothing", ""]), str(chance.choice(NASTY)))
            for _ in range(chance.randrange(1, 4))
        ]
        query = urlencode(fields, errors="replace") if chance.random() < 0.8 else quote(str(chance.choice(NASTY)))
        assert_answered(ask("GET", f"/{page.name}?{query}"), query)  # the frame of the page
        asked = payload("content.children", [("url", "pathname", f"/{page.name}")], [("url", "search", f"?{query}")])
        assert_answered(ask("POST", "/_dash-update-component", json=asked), query)
        part = chance.choice([*(part.name for part in page.parts), "..", "main%00"])
        ending = chance.choice(["csv", "nc", "py"])
        assert_answered(ask("GET", f"/data/{page.name}/{part}.{ending}?{query}"), query)


def test_requests_of_other_sites_compute_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a browser says of where a request comes from decides, whatever is asked for and however."""
    from linnet_papers.explorer.service import Service

    computed: list[object] = []
    monkeypatch.setattr(Service, "data", lambda self, *what: computed.append(what))
    server, chance = create_app().server.test_client(), random.Random(2)
    for _ in range(SITES):
        site = chance.choice(["cross-site", "same-site", "same-origin", "none", None])
        mode, kind = (
            chance.choice(["cors", "no-cors", "navigate", "nested-navigate"]),
            chance.choice(["empty", "image"]),
        )
        host = chance.choice(["127.0.0.1:8050", "localhost:8050", "evil.example", "127.0.0.1.evil.example", "[::1", ""])
        origin = chance.choice([None, f"http://{host}", "http://evil.example", "null", "http://127.0.0.1:9999"])
        headers = {"Host": host, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": kind}
        headers |= ({"Sec-Fetch-Site": site} if site else {}) | ({"Origin": origin} if origin else {})
        page = chance.choice(PAGES)
        address = chance.choice([f"/data/{page.name}/main.csv", f"/data/{page.name}/main.nc?x=1"])
        computed.clear()
        answer = server.open(address, method=chance.choice(["GET", "GET", "HEAD"]), headers=headers)
        ours = host.startswith(("127.0.0.1:", "localhost:")) and origin in (None, f"http://{host}")
        foreign = not ours or site in ("cross-site", "same-site")
        assert bool(computed) <= (not foreign), headers
        assert (answer.status_code == 403) == foreign, (answer.status, headers)


def test_payloads(ask: Any) -> None:
    chance = random.Random(1)
    known = valid(ask)
    assert len(known) >= len(PAGES)
    for asked in known:
        answer = ask("POST", "/_dash-update-component", json=asked)
        assert answer.status_code in (200, 204), (answer.get_data(as_text=True)[:200], asked["output"])
    for _ in range(PAYLOADS):
        spoilt = mutated(json.loads(json.dumps(chance.choice(known))), chance)
        assert_answered(ask("POST", "/_dash-update-component", json=spoilt), spoilt)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1,", b"\xff\xfe", b"null", b"[]", b"3", b'{"output": 1}', b"[" * 20_000]
)
def test_bodies_that_are_no_payload(ask: Any, body: bytes) -> None:
    for kind in ("application/json", "text/plain"):
        answer = ask("POST", "/_dash-update-component", data=body, content_type=kind)
        assert_answered(answer, body)
        assert answer.status_code in (400, 415)


def test_the_control_a_server_that_breaks_is_noticed() -> None:
    import flask

    server = flask.Flask("broken")
    server.add_url_rule("/", view_func=lambda: 1 / 0)
    with pytest.raises(AssertionError, match="500"):
        assert_answered(server.test_client().get("/"), "/")


def payload(output: str, inputs: list[tuple[str, str, Any]], states: list[tuple[str, str, Any]]) -> dict[str, Any]:
    """What the browser sends for a callback."""
    outputs: Any = [
        dict(zip(("id", "property"), one.rsplit(".", 1), strict=True)) for one in output.strip(".").split("...")
    ]
    fields = [[{"id": i, "property": p, "value": v} for i, p, v in part] for part in (inputs, states)]
    changed = [f"{inputs[0][0]}.{inputs[0][1]}"]
    one = outputs if output.startswith("..") else outputs[0]
    return {"output": output, "outputs": one, "inputs": fields[0], "state": fields[1], "changedPropIds": changed}


def valid(ask: Any) -> list[dict[str, Any]]:
    """A payload for each callback of the server, with the controls at their defaults."""
    values: dict[str, Any] = {"url": "/claims", "claims-measured": "watanabe-eq9"}
    for page in PAGES:
        state = controls.defaults(page.controls)
        values |= {f"{page.name}-{one.name}": one.write(state[one.name]) for one in page.controls}
    found = []
    for one in ask("GET", "/_dash-dependencies").get_json():
        if one["clientside_function"] is None:
            parts = [[(e["id"], e["property"], values.get(e["id"])) for e in one[key]] for key in ("inputs", "state")]
            found.append(payload(one["output"], *parts))
    return found


def mutated(value: Any, chance: random.Random) -> Any:
    """The payload with one to three places spoilt: mostly values of controls, sometimes what surrounds them."""
    for _ in range(chance.randrange(1, 4)):
        if chance.random() < 0.6 and isinstance(value.get("inputs"), list) and value["inputs"]:
            states = value.get("state")
            entry = chance.choice(value["inputs"] + (states if isinstance(states, list) else []))
            if isinstance(entry, dict):
                entry["value"] = chance.choice(NASTY)
                continue
        places = list(walk(value))
        holder, key = chance.choice(places)
        if chance.random() < 0.3:
            del holder[key]
        else:
            holder[key] = chance.choice(NASTY)
    return value


def walk(value: Any) -> Any:
    """Every place in nested lists and objects, as the thing that holds it and the key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from walk(value[key])
