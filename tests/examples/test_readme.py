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
    assert len(said) == 1
    assert all(number in done.stdout for number in said)


def test_every_page_that_the_readme_links_to_is_there():
    text = (ROOT / "README.md").read_text()
    found = re.findall(r"\]\(([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    links = [link for pair in found for link in pair if link and not link.startswith("https://")]
    assert len(links) >= 5
    missing = [link for link in links if not (ROOT / link).exists()]
    assert not missing


def test_the_two_commands_are_shown_and_exist():
    readme, makefile = (ROOT / "README.md").read_text(), (ROOT / "Makefile").read_text()
    for target in ("reproduce", "test"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def count(known, *verdicts):
    return sum(claim.expected in verdicts for claim in known)


def test_the_numbers_of_figures_and_claims_are_those_of_the_registry():
    """The papers' claims and our own are counted apart."""
    known = claims().values()
    papers = [claim for claim in known if claim.paper != "own"]
    own = len(known) - len(papers)
    text = (ROOT / "README.md").read_text()
    said = re.search(
        r"Of (\d+) claims in four papers, (\d+) hold, (\d+) hold with a correction, and (\d+) are refuted; (\w+) "
        r"could only be tried outside.* so is each of the (\d+) figures",
        text,
    )
    assert said is not None
    verdicts = (Verdict.HOLDS, Verdict.CORRECTED, Verdict.REFUTED)
    numbers = [len(papers), *(count(papers, verdict) for verdict in verdicts)]
    assert [int(number) for number in said.groups()[:4]] == numbers
    assert said[5] == ("none", "one", "two", "three", "four", "five", "six")[count(papers, Verdict.OUTSIDE)]
    assert int(said[6]) == len(figures())
    assert f"our own results: {own} more claims" in text


def test_the_moving_picture_is_small_and_readers_may_prefer_a_still_one():
    still = '<source media="(prefers-reduced-motion: reduce)" srcset="docs/images/phases.png">'
    assert still in (ROOT / "README.md").read_text()
    assert 10_000 < (ROOT / "docs" / "images" / "phases.png").stat().st_size < 200_000
    assert 10_000 < (ROOT / "docs" / "images" / "phases.gif").stat().st_size < 1_500_000
