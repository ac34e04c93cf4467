"""Every block of code on the pages and in the README runs as it stands, in order, and prints what its page shows."""

from pathlib import Path

import pytest
from website.shown_code import blocks, is_shown, wrong

ROOT = Path(__file__).parents[2]
PAGES = {
    str(page.relative_to(ROOT)): page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if any(block.language == "python" or block.shown for block in blocks(page.read_text(encoding="utf-8")))
}
# More than a few seconds: they run with `make test-claims`.
SLOW = (
    "docs/adapters.md",
    "docs/get_started.md",
    "docs/howto/muon_adapters.md",
    "docs/howto/stop.md",
    "docs/optimizers.md",
    "docs/own_data.md",
    "docs/phase_diagram.md",
    "docs/phase_diagram_formula.md",
    "docs/sweeps.md",
)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in PAGES]
)
def test_the_code_of_the_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = list(wrong(PAGES[name]))
    assert not found, "\n".join(found)


def test_a_wrong_output_is_noticed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n```python\nprint(x)\n```\n\n```text\n2\n```\n")
    assert len(list(wrong(page))) == 1
    page.write_text("```bash\nlinnet nonsense\n```\n\n```text\nfine\n```\n")
    assert len(list(wrong(page))) == 1
    page.write_text("```python\nx\n```\n")
    with pytest.raises(NameError, match="x"):
        list(wrong(page))


def test_lines_may_be_left_out():
    assert is_shown("a\nb\nc\n", "a\n...\nc\n") and not is_shown("a\nb\nc\n", "a\nc\n")
