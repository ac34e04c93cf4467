"""The code on the pages of optimizers runs, and prints what the pages show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["howto/own_update.md", "howto/muon_adapters.md", "optimizers.md"])
def test_the_page_prints_what_it_shows(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    code, shown = (re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL) for kind in ("python", "text"))
    assert len(code) == len(shown) > 0
    done = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=True)
    assert done.stdout == "".join(shown)
