"""What answers a page: computed once, kept within bounds, failures in a sentence."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from linnet_papers.explorer import warming
from linnet_papers.explorer.cache import Cache
from linnet_papers.explorer.controls import number, numbers, whole
from linnet_papers.explorer.downloads import as_csv, as_netcdf
from linnet_papers.explorer.page import Page, Part, View
from linnet_papers.explorer.service import Service


def dataset(size):
    return xr.Dataset({"y": (("x",), np.arange(float(size)))}, coords={"x": np.arange(size)})


class Counted:
    """A page whose compute counts its calls and fails as it is told."""

    def __init__(self):
        self.calls = []

    def compute(self, *, size):
        self.calls.append(size)
        if size == 13:
            raise ValueError("Thirteen is\nnot computed.")
        if size == 14:
            raise KeyError("a secret of the code")
        if size == 15:
            raise MemoryError
        return dataset(size)

    @property
    def page(self):
        def draw(data, state):
            return {"data": [{"x": data["x"].values.tolist(), "y": [state["shift"]] * data.sizes["x"]}], "layout": {}}

        return Page(
            name="counted",
            title="Counted",
            introduction=("It counts.",),
            controls=(
                whole("size", "Size", 3, (1, 20), "Of it."),
                number("shift", "Shift", 0.0, (0, 1), "Drawn only."),
                numbers("cell", "Cell", (), (0, 9), "Clicked.", most=2, hidden=True),
            ),
            parts=(
                Part("main", self.compute, (View("line", "Line", draw),)),
                Part("cell", lambda *, cell: dataset(len(cell)), (View("two", "Two", draw),), needs=("cell",)),
            ),
            own_script=lambda state: f"size = {state['size']}",
            can_freeze_run=True,
        )


@pytest.fixture
def counted():
    return Counted()


def test_the_same_is_computed_once_and_drawing_computes_nothing(counted):
    page, service = counted.page, Service((counted.page,))
    first = service.answer(page, page.parts[0], {})
    assert first["address"] == "" and first["script"] == "size = 3" and first["figures"][0]["data"][0]["y"] == [0.0] * 3
    moved = service.answer(page, page.parts[0], {"shift": "0.5"})
    assert moved["address"] == "shift=0.5" and moved["figures"][0]["data"][0]["y"] == [0.5] * 3
    assert counted.calls == [3]


def test_many_who_ask_at_once_for_the_same_are_answered_by_one_computation(counted):
    page, service = counted.page, Service((counted.page,), at_once=1)
    askers = [threading.Thread(target=service.answer, args=(page, page.parts[0], {"size": 7})) for _ in range(8)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert counted.calls == [7]


@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        (13, "Thirteen is not computed."),
        (14, "This could not be computed (KeyError): change a value."),
        (15, "This would need more memory than there is: choose smaller sizes."),
        (99, "Size must be between 1 and 20: got 99."),
    ],
)
def test_failures_are_sentences(counted, size, sentence):
    answer = Service((counted.page,)).answer(counted.page, counted.page.parts[0], {"size": size})
    assert answer["error"] == sentence and "figures" not in answer


def test_a_part_waits_for_what_it_needs(counted):
    page, service = counted.page, Service((counted.page,))
    assert service.answer(page, page.parts[1], {})["figures"] is None
    assert len(service.answer(page, page.parts[1], {"cell": "1,2"})["figures"][0]["data"][0]["x"]) == 2


def test_further_parts_are_asked_for_again_by_what_they_compute_with_or_draw_by_alone():
    from linnet_papers.explorer.controls import defaults, parse
    from linnet_papers.explorer.pages import PAGES

    class Followed(dict):
        def __getitem__(self, name):
            assert name in self, f"{name} is read, and does not ask for the part"
            return super().__getitem__(name)

    pages = {page.name: page for page in PAGES}
    phases, cell, compared = pages["phase-diagram"], *pages["phase-diagram"].parts[1:]
    dim = next(control for control in phases.controls if control.name == "dim")
    assert [phases.part_follows(part, dim) for part in (phases.parts[0], cell, compared)] == [True, False, False]
    asked = {("phase-diagram", "compared"): {"compare": "published"}, ("spectral-bias", "noise"): {}}
    for (name, part_name), given in asked.items():
        page = pages[name]
        part = next(part for part in page.parts if part.name == part_name)
        state = parse(page.controls, {**defaults(page.controls), **given})
        followed = Followed({c.name: state[c.name] for c in page.controls if page.part_follows(part, c)})
        data = part.compute(**page.arguments(part, followed))
        assert [view.draw(data, followed) for view in part.views]
        assert len(followed) < len(state)


def test_a_frozen_run_is_drawn_behind_the_present_one(counted):
    page, service = counted.page, Service((counted.page,))
    traces = service.answer(page, page.parts[0], {"size": 5}, "size=2")["figures"][0]["data"]
    assert [len(trace["x"]) for trace in traces] == [2, 5]
    assert traces[0]["opacity"] < 1 and traces[0]["name"] == "frozen run" and traces[0]["showlegend"] is True
    wrong = service.answer(page, page.parts[0], {"size": 5}, "size=200")
    assert wrong["error"].startswith("Size must be between")


def test_pages_are_computed_ahead_all_first_views_before_the_second_ones(counted, monkeypatch):
    monkeypatch.setattr(warming, "QUIET_SECONDS", 0.01)
    first, second = (
        replace(counted.page, name=name, prefetch_queries=ahead)
        for name, ahead in (("a", ("", "size=5")), ("b", ("size=4",)))
    )
    service = Service((first, second))
    warming.warm_other_pages(service).join(300)
    assert counted.calls == [3, 4, 5]
    service.answer(first, first.parts[0], {"size": 5})
    assert counted.calls == [3, 4, 5]  # it is there


def test_the_cache_keeps_what_was_used_last_within_its_bytes():
    one = dataset(100)
    cache: Cache[xr.Dataset] = Cache(3 * one.nbytes, lambda data: data.nbytes)
    for key in "abc":
        cache.put(key, dataset(100))
    assert cache.get("a") is not None  # now "b" is the oldest
    cache.put("d", dataset(100))
    assert cache.get("b") is None and all(cache.get(key) is not None for key in "acd")
    cache.put("huge", dataset(10_000))
    assert cache.get("huge") is None and len(cache) == 3 and cache.size == 3 * one.nbytes
    cache.put("a", dataset(100))
    assert cache.size == 3 * one.nbytes


def test_files_hold_the_numbers(tmp_path):
    data = dataset(3).assign(z=(("x", "k"), np.arange(6.0).reshape(3, 2)), word=((), "lazy"), sure=(("x",), [True] * 3))
    data = data.assign(n=((), 5)).assign_attrs(dim=3, flag=True)
    rows = [line.split(",") for line in as_csv(data).splitlines()]
    assert rows[0] == ["variable", "x", "k", "value"]
    assert ["z", "2", "1", "5.0"] in rows and ["y", "1", "", "1.0"] in rows and ["word", "", "", "lazy"] in rows
    path = tmp_path / "data.nc"
    path.write_bytes(as_netcdf(data))
    with xr.open_dataset(path, engine="scipy") as back:
        assert back["z"].values.tolist() == data["z"].values.tolist() and back.attrs["dim"] == 3
        assert str(back["word"].values.astype(str)) == "lazy" and int(back["n"]) == 5
    with pytest.raises(ValueError, match="take the netCDF file"):
        as_csv(xr.Dataset({"y": (("x",), np.zeros(600_000))}))
