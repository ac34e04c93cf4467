"""Code on the pages that need PyTorch: the first block runs as it stands and prints what the page shows."""

import contextlib
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("torch")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["watching_adapters.md", "linear_models.md"])
def test_the_page_prints_what_it_shows(page):
    code, shown = re.search(
        r"```py\n(.*?)```\n\n```text\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL
    ).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown
