"""The page of one's own data: uploads as data only, bounded; a diagnosis that is the command line's."""

import base64
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import linnet as ln
from linnet.forecasts.tables import from_frame
from linnet_papers.explorer.computing import diagnosing, uploads
from linnet_papers.explorer.computing.diagnosing import bounded_settings
from linnet_papers.explorer.computing.example_tables import example_frame

pytest.importorskip("sklearn")
TABLE = b"a,b,y\n" + b"\n".join(b"%d,%d,%d" % (i, i * i % 7, 2 * i - i * i % 5) for i in range(20))


def sent(data, kind="text/csv"):
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def test_an_upload_is_what_pandas_reads_and_is_found_by_its_token(tmp_path):
    held = uploads.Uploads(max_tables=2)
    found = held.add(sent(TABLE), "C:\\tables\\mine.csv")
    (tmp_path / "t.csv").write_bytes(TABLE)
    pd.testing.assert_frame_equal(found.frame.reset_index(drop=True), pd.read_csv(tmp_path / "t.csv"))
    assert (found.file, found.note) == ("mine.csv", "") and held.get(found.token) is found
    assert held.add(sent(TABLE), "other.csv").token == found.token
    for other in (b"a,b\n1,2\n3,4\n", b"a,b\n1,2\n3,5\n"):
        held.add(sent(other), "o.csv")
    with pytest.raises(ValueError, match="not on this server"):
        held.get(found.token)


def test_of_long_tables_some_rows_are_kept():
    long = b"a,b\n" + b"1,2\n3,4\n" * 1500
    found = uploads.Uploads().add(sent(long), "long.csv")
    assert len(found.frame) == uploads.MAX_ROWS and found.note == "2000 of its 3000 rows, at random."


@pytest.fixture
def slow_reading(monkeypatch):
    """Reading that waits for `go`; `entered` is set once one upload is being read, `most` is how many were at once."""
    state = SimpleNamespace(entered=threading.Event(), go=threading.Event(), now=0, most=0)
    parse_table = uploads.parse_table

    def slow(data, kind):
        state.now += 1
        state.most = max(state.most, state.now)
        state.entered.set()
        assert state.go.wait(60)
        state.now -= 1
        return parse_table(data, kind)

    monkeypatch.setattr(uploads, "parse_table", slow)
    return state


def test_uploads_take_turns(slow_reading):
    held, tables = uploads.Uploads(), [b"a,b\n1,2\n3,%d\n" % i for i in range(4)]
    with ThreadPoolExecutor(4) as threads:
        added = [threads.submit(held.add, sent(table), "t.csv") for table in tables]
        assert slow_reading.entered.wait(60)
        time.sleep(0.2)  # in which the others would begin
        slow_reading.go.set()
        assert [each.result(60).frame["b"].iloc[1] for each in added] == [0, 1, 2, 3]
    assert slow_reading.most == 1


def test_an_upload_that_waits_too_long_for_its_turn_is_refused_and_the_next_one_is_read(slow_reading, monkeypatch):
    monkeypatch.setattr(uploads, "TURN_SECONDS", 0.1)
    held = uploads.Uploads()
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(held.add, sent(TABLE), "t.csv")
        assert slow_reading.entered.wait(60)
        with pytest.raises(ValueError, match="Other tables are being read: try again"):
            held.add(sent(TABLE), "t.csv")
        slow_reading.go.set()
        assert held.get(first.result(60).token).file == "t.csv"
    with pytest.raises(ValueError, match="at least 2 columns"):
        held.add(sent(b"words\nalone\nhere\n"), "t.csv")  # what fails gives its turn back, too
    assert held.add(sent(TABLE), "again.csv").file == "again.csv"


BAD = {
    "empty": (b" \n", "t.csv", "The file is empty"),
    "one column": (b"words\nwithout\ncommas\n", "t.csv", "at least 2 columns and 2 rows: got 1 and 2"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe", "t.csv", "cannot be read as a table"),
    "ragged": (b"a,b\n1,2\n1,2,3,4\n", "t.csv", "4 fields in line 3 and 2 names"),
    "zeros": (b"\x00" * 4000, "t.csv", "cannot be read as a table|at least 2 columns"),
    "too wide": (b"1," * 400, "t.csv", "401 columns: at most 300"),
    "too large": (b"1,2\n" * 1_250_001, "t.csv", "larger than 5 MB"),
    "a program": (b"#!/bin/sh\n", "t.sh", r"must end in .csv or .tsv: got 't.sh'"),
    "a pickle": (b"\x80\x04\x95", "t.pkl", "must end in .csv or .tsv"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_refused_in_a_sentence(name):
    data, file, message = BAD[name]
    with pytest.raises(ValueError, match=message) as refused:
        uploads.Uploads().add(sent(data), file)
    assert len(str(refused.value)) <= 400 and "\n" not in str(refused.value)


@pytest.mark.parametrize("contents", [None, 3, "", "no comma", "data:text/csv;base64,!!!!", "data:,\u00e9\u00e9"])
def test_what_is_no_upload_is_refused(contents):
    with pytest.raises(ValueError, match=r"upload|damaged"):
        uploads.Uploads().add(contents, "t.csv")


def test_an_example_is_the_table_of_scikit_learn():
    from sklearn.datasets import load_iris, load_linnerud

    frame, targets = example_frame("linnerud")
    data = load_linnerud()
    assert_array_equal(frame.to_numpy(), np.column_stack([data.data, data.target]))
    assert targets == ["Weight", "Waist", "Pulse"]
    frame, targets = example_frame("iris")
    assert targets == ["class_0", "class_1", "class_2"]
    assert_array_equal(frame[targets].to_numpy().argmax(axis=1), load_iris().target)
    with pytest.raises(ValueError, match="`table` must be one of wine"):
        example_frame("nothing")


def test_a_diagnosis_is_that_of_the_library_with_maps_beside_it():
    frame, targets = example_frame("linnerud")
    table = from_frame(frame, target=targets)
    got = diagnosing.diagnosis_dataset(
        table, bounded_settings(table, width=1000, init_scale=0.1, folds=5, seeds=1, steps=60)
    )
    want = ln.diagnose(frame.drop(columns=targets), frame[targets], width=1000, init_scale=0.1, seeds=1, steps=60)
    assert got.attrs["findings"].splitlines() == want.findings()[:-3]
    assert [row.split("\t") for row in got.attrs["rates"].splitlines()] == [
        re.split(r"  +", line.strip()) for line in want.findings()[-3:]
    ]
    for name, variable in want.to_dataset().items():
        assert_array_equal(got[name].values, variable.values)
    # how many modes are active elsewhere: by the definition, at one other place of the map
    width, scale = got.map_width.values[20], got.map_scale.values[7]
    first, second = scale * 0.1 / np.sqrt(3 * 3), scale * 0.1 / np.sqrt(3 * width)
    threshold = (first**2 + second**2) * width / 2
    assert got["active_modes"].values[7, 20] == (threshold < got["critical_threshold"].values).sum()
    assert (np.diff(got["active_modes"].values, axis=0) <= 0).all()  # a larger start is lazier
    outputs = (frame[targets] - frame[targets].mean()) / frame[targets].std(ddof=0)
    assert_allclose(got["input_variance"].sum(), 3.0)  # standardized columns
    assert_allclose(got["cv_training_share"][0].mean() / got["cv_training"][0].mean(), 2 / outputs.var(ddof=0).sum())


def test_the_tiles_are_those_of_the_diagnosis_page_and_count_active_modes_as_the_sentences_do(tmp_path):
    pytest.importorskip("dash")
    from linnet_papers.explorer.pages.your_data import findings

    frame, targets = example_frame("iris")
    table = from_frame(frame, target=targets)
    settings = bounded_settings(
        table, width=512, init_scale=0.1, folds=5, seeds=1, steps=2
    )  # active in the end, but not yet measured so
    data = diagnosing.diagnosis_dataset(table, settings)
    assert set(data["regime"].values) == {"active"} and "actively" not in data["learned"].values
    tiles = {tile.children[0].children: tile.children[1].children for tile in findings.draw(data, {})[0].children}
    page = ln.forecasts.diagnose_table(table, settings).write(tmp_path).read_text()
    assert tiles == dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page.replace("&#x27;", "'")))
    assert tiles["modes learned actively"] == "2 of 2" and "2 modes are learned: 2 actively" in data.attrs["findings"]


def test_controls_begin_at_the_defaults_of_the_library():
    pytest.importorskip("dash")
    from linnet_papers.explorer.pages.your_data import CONTROLS

    begins = {control.name: control.default for control in CONTROLS}
    for name in ("width", "init", "init_scale", "folds", "scale"):  # one seed is enough, and quicker, on a page
        assert begins[name] == getattr(ln.forecasts.Settings(), name)


def test_work_is_bounded():
    random = np.random.default_rng(0)
    wide = pd.DataFrame(random.standard_normal((20, 120)))
    with pytest.raises(ValueError, match="119 inputs and 1 targets: at most 100 and 12 here"):
        bounded_settings(from_frame(wide), folds=5, seeds=1, steps=0)
    frame, targets = example_frame("digits")
    with pytest.raises(ValueError, match="`steps` must be at most"):
        bounded_settings(from_frame(frame, target=targets), seeds=3, folds=10, steps=16_000)
    assert diagnosing.max_steps(3, 3, 5) == 16_000 and diagnosing.max_steps(100, 12, 30) >= 250


@pytest.mark.parametrize("before", [b"", b"\n", b"\r\n  \n", b"a,b\n"])
def test_many_columns_are_refused_before_they_are_parsed(before):
    wide = before + b",".join(b"x%d" % i for i in range(100_000)) + b"\n" + b",".join([b"1"] * 100_000) + b"\n"
    began = time.monotonic()
    with pytest.raises(ValueError, match="100000 columns: at most 300 here"):
        uploads.parse_table(wide, ".csv")
    assert time.monotonic() - began < 2
    quoted = b'"a,b",' + b",".join(b"x%d" % i for i in range(400)) + b"\n" + b",".join([b"1"] * 401) + b"\n"
    with pytest.raises(ValueError, match="401 columns: at most 300 here"):  # a few too many are counted when parsed
        uploads.parse_table(quoted, ".csv")
