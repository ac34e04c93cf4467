"""Tutorials: cells are found, run in order and shown; one that fails ends the build."""

from __future__ import annotations

from pathlib import Path

import pytest

from website import tutorials

pytestmark = pytest.mark.site
SCRIPTS = Path(__file__).parents[2] / "docs" / "tutorials"
SCRIPT = """# not shown
# %% [markdown]
# # A title
#
# Text.

# %%
a = 2
print("first")
a + 1

# %% A line
from matplotlib.figure import Figure
picture = Figure()
picture.subplots().plot([0, 1])
print("before it")
picture

# %%
b = a * 10
"""


def test_cells_text_printed_values_and_pictures(tmp_path: Path) -> None:
    file = tmp_path / "toy.py"
    file.write_text(SCRIPT, encoding="utf-8")
    text = tutorials.page(file, tmp_path)
    assert text.startswith("# A title\n\nText.") and "not shown" not in text
    assert "first\n3\n```" in text and "b = a * 10" in text
    assert "![A line](toy-1.png)" in text and (tmp_path / "toy-1.png").stat().st_size > 1000
    assert text.index("before it\n```") < text.index("![A line]")


def test_a_cell_that_fails_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "toy.py"
    file.write_text("# %%\nx = 1\n\n# %%\ny = 2\nx / 0\n", encoding="utf-8")
    with pytest.raises(tutorials.CellError, match=r"the cell at line 5:(.|\n)*line 6(.|\n)*ZeroDivisionError"):
        tutorials.page(file, tmp_path)


def test_a_failing_tutorial_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text("# %% [markdown]\n# # T\n\n# %%\nraise ValueError('broken')\n", encoding="utf-8")
    with pytest.raises(SystemExit, match=r"toy.py failed:(.|\n)*ValueError: broken"):
        tutorials.write(tmp_path, tmp_path / "pages", workers=1)


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.py")), ids=lambda file: file.stem)
def test_every_tutorial_was_run_and_has_pictures(script: Path, built: Path) -> None:
    page = (built / "tutorials" / f"{script.stem}.html").read_text(encoding="utf-8")
    assert "run when the site was built" in page
    assert page.count("<img") >= 1 and 'class="filename">printed' in page
    assert (built / "tutorials" / script.name).read_text(encoding="utf-8") == script.read_text(encoding="utf-8")
