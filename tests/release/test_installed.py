"""Installed from the wheel and run from elsewhere: without extras, then with them."""

from __future__ import annotations

from pathlib import Path

import pytest

import linnet
from linnet_papers.reproduction import Verdict, claims

pytestmark = pytest.mark.release
# The figures that need pictures of the extra `tables`; the others need nothing beyond the wheel's own requirements.
NEED_DATA = ["huang-fig2", "huang-fig3"]
GRID = str(Path(__file__).parents[2] / "examples" / "sweep.toml")


def test_what_is_installed_is_whole_and_not_the_clone(bare):
    assert bare.run("pip", "check") == (0, "No broken requirements found.\n")
    assert bare.run("linnet", "--version") == (0, f"linnet {linnet.__version__}\n")
    status, place = bare.run("python", "-c", "import linnet; print(linnet.__file__)")
    assert status == 0 and place.startswith(str(bare.place)) and str(Path(__file__).parents[2]) not in place
    status, listed = bare.run("linnet", "list")
    assert status == 0 and "tu-fig2" in listed and "watanabe-eq27" in listed


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["sweep", GRID, "--store", "x", "--scheduler", "tcp://127.0.0.1:9"],
            "needs distributed, {missing} 'linear-networks[dask]'",
        ),
        (["run", "huang-fig2", "--quick"], "needs sklearn, {missing} 'linear-networks[tables]'"),
    ],
)
def test_what_an_extra_is_missing_is_one_line(bare, words, line):
    status, said = bare.run("linnet", *words)
    assert status == 1
    assert line.format(missing="which is not installed: pip install") in said.splitlines()[-1]
    assert "Traceback" not in said


def test_both_commands_run_without_extras(bare):
    """Side by side, on a core each; figures that need an extra are left out and named with its cure."""
    reproduce = bare.start("linnet", "reproduce", "--quick", "--no-claims", "--out", "report")
    status, said = bare.run("linnet", "verify", "--quick", "watanabe")
    made, lines = bare.ended(reproduce)
    refuted = sum(claim.paper == "watanabe" and claim.expected == Verdict.REFUTED for claim in claims().values())
    assert status == 0 and f", {refuted} refuted. Every verdict is the published one." in said.splitlines()[-1], said
    last = lines.splitlines()[-1]
    assert made == 1 and last.count("was not made") == len(NEED_DATA), lines
    assert all(name in last for name in NEED_DATA) and "pip install 'linear-networks[tables]'" in last
    assert (bare.away / "report" / "index.html").is_file()


def test_reproduce_is_complete_with_the_extras(release, bare):
    """What was made without them is kept and the rest is added; claims were measured by the command before."""
    status, said = bare.run("pip", "install", "--quiet", f"{release.wheel}[all]")
    assert status == 0, said
    assert bare.run("pip", "check")[0] == 0
    status, said = bare.run("linnet", "reproduce", "--quick", "--no-claims", "--out", "report")
    assert status == 0, said
    for name in NEED_DATA:
        assert (bare.away / "report" / f"{name}-quick" / "figure.png").is_file()
