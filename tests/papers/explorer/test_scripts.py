"""As Python of the page *Your data*, executed: the numbers are those of the page.

Those of the other pages are executed beside the tests of what they compute.
"""

from __future__ import annotations

import base64

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("dash", reason="the explorer needs dash: pip install 'linear-networks[explorer]'")
pytest.importorskip("sklearn")

from explorer.pages import datasets, executed

from linnet_papers.explorer import controls
from linnet_papers.explorer.computing.uploads import MAX_ROWS
from linnet_papers.explorer.pages.your_data import PAGE as YOUR_DATA
from linnet_papers.explorer.panels.upload import UPLOADS

RANDOM = np.random.default_rng(0)


def table(rows: int, gaps: bool = False) -> bytes:
    values = RANDOM.standard_normal((rows, 3))
    values[:, 2] += values[:, 0]
    lines = [",".join(f"{value:.6g}" for value in row) for row in values]
    if gaps:
        lines[3] = lines[3].replace(lines[3].split(",")[1], "", 1)
    return ("a,b,y\n" + "\n".join(lines) + "\n").encode()


FILES = {"gaps": table(30, gaps=True), "long": table(MAX_ROWS + 500)}


@pytest.mark.parametrize(
    ("file", "query"),
    [
        ("", "table=linnerud&steps=60"),
        ("", "table=wine&target=alcohol,hue&drop=ash&scale=none&init=gaussian&width=1000000&steps=60"),
        ("gaps", "missing=mean&target=a&init_scale=0.1&folds=3&steps=40"),
        ("long", "steps=20"),
    ],
)
def test_the_script_of_a_diagnosis_computes_what_the_page_shows(file, query, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if file:
        data = FILES[file]
        (tmp_path / "mine.csv").write_bytes(data)
        held = UPLOADS.add(f"data:text/csv;base64,{base64.b64encode(data).decode()}", "mine.csv")
        query = f"table=uploaded&upload={held.token}&{query}"
    state = controls.parse(YOUR_DATA.controls, query)
    shown, names = datasets(YOUR_DATA, state)["main"], executed(YOUR_DATA, state)
    told = [line for line in shown.attrs["findings"].splitlines() if not line.startswith("mine.csv: 2000 of its")]
    assert names["diagnosis"].findings()[:-3] == told  # the last three lines are the table of rates
    assert names["data"].attrs["stop"] == shown.attrs["stop"] and len(names["data"]) > 15
    for name, variable in names["data"].items():
        assert_array_equal(variable.values, shown[name].values, err_msg=str(name))
