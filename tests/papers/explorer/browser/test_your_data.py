"""One's own table in a browser: uploaded, diagnosed, refused in a sentence where it is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linnet as ln
from explored import Explored, expected
from linnet_papers.explorer.computing import uploads
from linnet_papers.explorer.pages.your_data import PAGE

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("your-data")]


@pytest.fixture
def seen(visit: Callable[..., Explored]) -> Explored:
    return visit(PAGE.name, "table=linnerud")


def send(seen: Explored, path: Path) -> None:
    seen.tab.locator("#your-data-file input[type=file]").set_input_files(str(path))


def test_an_uploaded_table_is_diagnosed_as_on_the_command_line(seen: Explored, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    table = np.column_stack([random.standard_normal((20, 3)), random.standard_normal((20, 3))])
    file = tmp_path / "mine.csv"
    np.savetxt(file, table, delimiter=",", header="a,b,c,u,v,w", comments="")
    send(seen, file)
    seen.tab.wait_for_function("() => window.location.search.includes('uploaded')")
    told = seen.tab.locator("#your-data-file-status")
    assert told.inner_text() == "mine.csv: 20 rows, 6 columns."
    assert seen.shows(expected(PAGE, seen.state)) == [], seen.error()
    # the sentences are those of the library for the same file: the last column from the others
    sentences = ln.forecasts.diagnose_table(ln.forecasts.read(file), ln.forecasts.Settings(seeds=1)).findings()
    found = seen.tab.locator("#your-data-view-findings")
    assert found.locator("li").all_inner_texts() == [line for line in sentences if not line.startswith(" ")]
    rates = [line.split("  ") for line in sentences if line.startswith(" ")]
    cells = [cell.strip() for row in rates for cell in row if cell.strip()]
    assert len(cells) == 12 and found.locator("td").all_inner_texts() == cells
    error = re.search(r"the network ([\d.]+)", " ".join(sentences))  # the tile and the sentence have one number
    assert error and float(found.locator("dd").nth(1).inner_text()) == pytest.approx(float(error[1]), abs=6e-4)
    assert "ln.forecasts.read('mine.csv')" in (seen.tab.locator("#your-data-script").text_content() or "")
    link = seen.query
    seen.open(link)  # the server still has the table
    assert seen.shows(expected(PAGE, seen.state)) == []
    assert seen.said == []


BAD = {
    "words": (b"name,size\n" + b"anna,3\nbob,4\n" * 8, "'name' holds text"),
    "classes": (b"size,name\n" + b"3,anna\n4,bob\n" * 8, "holds text or dates"),
    "picture": (b"\x89PNG\r\n\x1a\n\x00\x00\xff", "cannot be read as a table"),
    "gaps": (b"a,y\n" + b"1,2\n,3\n4,4\n" * 5, "missing values"),
    "short": (b"a,y\n1,2\n3,4\n4,5\n", "at least 2 rows for each of the 5 folds"),
    "empty": (b"\n", "is empty"),
    "large": (b"1,2\n" * (uploads.MAX_FILE_BYTES // 4 + 1), "larger than 5 MB"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_a_sentence(seen: Explored, name: str, tmp_path: Path) -> None:
    data, sentence = BAD[name]
    (tmp_path / "bad.csv").write_bytes(data)
    send(seen, tmp_path / "bad.csv")
    seen.tab.wait_for_function(
        "text => Array.from(document.querySelectorAll('.error, #your-data-file-status'),"
        " one => one.innerText).join(' ').includes(text)",
        arg=sentence,
    )
    assert seen.said == [] and "Traceback" not in seen.tab.content()


def test_a_table_that_is_gone_is_asked_for_again(visit: Callable[..., Explored]) -> None:
    seen = visit(PAGE.name, "table=uploaded&upload=0123456789")
    seen.tab.wait_for_function(
        "() => document.querySelector('#your-data-main-error').innerText.includes('upload it again')"
    )
    assert seen.said == []
