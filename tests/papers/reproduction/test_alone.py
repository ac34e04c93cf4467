"""One claim, one figure or one table loads its own paper, and of the trainers only what it uses."""

from __future__ import annotations

import subprocess
import sys

import pytest

from linnet_papers import ORDER
from linnet_papers.reproduction import claims, figures, registry

TOLD = (
    "import sys; from linnet_papers.reproduction import registry; {call}; "
    "print(*(m for m in sys.modules if 'linnet' in m))"
)
COMMAND = """
import sys
from linnet.cli.main import main
try:
    main({words!r})
except SystemExit as ended:
    assert ended.code == 0
print()
print(*(name for name in sys.modules if "linnet" in name))
"""


def loaded(code: str) -> set[str]:
    """linnet's modules that a fresh process has loaded in the end."""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    return set(said.stdout.splitlines()[-1].split())


def papers_in(modules: set[str]) -> set[str]:
    """The papers whose figures and claims were loaded; ours use the plane of Tu's Figure 2, not its claims."""
    return {paper for paper in ORDER if f"linnet_papers.{paper}.paper" in modules}


@pytest.mark.parametrize(
    ("call", "paper"),
    [
        ("registry.select_claims(['varre-proposition-4.1c'])", "varre"),
        ("registry.find_figure('tu-fig1')", "tu"),
    ],
)
def test_a_name_loads_its_paper_alone(call: str, paper: str) -> None:
    modules = loaded(TOLD.format(call=call))
    assert papers_in(modules) == {paper}
    assert not {name for name in modules if name.startswith("linnet.trainers")}


def test_all_papers_are_loaded_where_all_are_asked_for() -> None:
    """The control: the same look at a process that lists everything."""
    assert papers_in(loaded(TOLD.format(call="registry.select_claims([])"))) == set(ORDER)


def test_measuring_a_claim_loads_no_other_paper_and_no_trainer_it_does_not_use() -> None:
    modules = loaded(COMMAND.format(words=["verify", "--quick", "watanabe-eq37"]))
    assert papers_in(modules) == {"watanabe"} and not {m for m in modules if m.startswith("linnet.trainers")}
    modules = loaded(COMMAND.format(words=["verify", "--quick", "own-one-start"]))
    assert papers_in(modules) == {"own"} and "linnet.trainers.flow" in modules
    unused = {"relu", "sde", "label_noise", "stochastic", "diagrams"}
    assert not {name for name in unused if f"linnet.trainers.{name}" in modules}


@pytest.mark.parametrize(
    ("find", "name", "words"),
    [
        (lambda name: registry.select_claims([name]), "varre-propositon-4.1c", "did you mean varre-proposition-4.1c"),
        (lambda name: registry.select_claims([name]), "var-proposition-4.1c", "did you mean varre-proposition-4.1c"),
        (registry.find_figure, "tu-fgi1", "did you mean tu-fig1"),
        (registry.find_figure, "ut-fig1", "did you mean tu-fig1"),
    ],
)
def test_a_mistyped_name_is_told_what_was_meant(find, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        find(name)


def test_the_same_is_found_alone_and_among_all() -> None:
    for name, claim in claims().items():
        assert registry.select_claims([name]) == [claim]
    assert all(registry.find_figure(name)[0] == figure for name, figure in figures().items())
    assert registry.select_claims(["wat"]) == [claim for claim in claims().values() if claim.paper == "watanabe"]
