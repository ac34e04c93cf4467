"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

from linnet_papers.reproduction import Verdict, claims, figures

ROOT = Path(__file__).parents[2]


def test_the_readme_example_prints_what_the_readme_says():
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert code is not None
    done = subprocess.run([sys.executable, "-c", code[1]], capture_output=True, text=True, check=True)
    said = re.findall(r"# (\d\.\de-\d\d)$", code[1], re.MULTILINE)
    assert len(said) == 2
    assert all(number in done.stdout for number in said)


def test_every_page_that_the_readme_links_to_is_there():
    text = (ROOT / "README.md").read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if not link.startswith("https://")]
    assert len(links) >= 5
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_the_two_commands_are_shown_and_exist():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in ("reproduce", "test"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_numbers_of_figures_and_claims_are_those_of_the_registry():
    known = claims().values()
    held, corrected, refuted = (
        sum(claim.expected == verdict for claim in known)
        for verdict in (Verdict.HOLDS, Verdict.CORRECTED, Verdict.REFUTED)
    )
    text = (
        f"{len(figures())} figures and {len(known)} claims, of which {held} hold, {corrected} hold with a correction "
        f"and {refuted} are refuted"
    )
    assert text in (ROOT / "README.md").read_text()
