"""Papers of other packages: found beside linnet's own; a broken one is a line, a name taken twice is refused."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from linnet_papers.reproduction import Claim, below, printed, registry
from linnet_papers.reproduction.new_paper import write
from linnet_papers.reproduction.paper import Answer, Paper, Statement
from linnet_papers.reproduction.registry import PluginWarning

ROOT = Path(__file__).parents[3]


def paper(name: str, *claims: str) -> Paper:
    listed = [
        Claim(
            name=claim,
            where="Eq. (1)",
            says="It is so.",
            tried="once",
            measure=lambda trial: [printed("size", 1.0, below(2, "the sentence says so"))],
        )
        for claim in claims
    ]
    return Paper(name=name, title="A title", authors="Somebody", claims=listed)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The registry as it finds these entry points, each a paper or an error, by name."""

    def found(**entries: Any) -> dict[str, Paper]:
        def loader(entry: Any) -> Any:
            def load() -> Any:
                if isinstance(entry, Exception):
                    raise entry
                return entry

            return load

        points = [
            SimpleNamespace(
                name=name, value=f"package_{name}:PAPER", dist=SimpleNamespace(name=f"dist-{name}"), load=loader(entry)
            )
            for name, entry in entries.items()
        ]
        own = [entry for entry in entry_points(group="linnet.papers") if entry.value.startswith("linnet_papers.")]
        monkeypatch.setattr(registry, "entry_points", lambda group: own + points if group == "linnet.papers" else [])
        return registry.load_papers()

    return found


def test_a_plugin_stands_after_linnets_own(plugins: Any) -> None:
    known = plugins(zeta=paper("zeta"), alpha=paper("alpha", "eq1"))
    assert list(known)[-2:] == ["alpha", "zeta"] and "watanabe" in known
    assert [claim.name for claim in known["alpha"].claims] == ["alpha-eq1"]
    assert known["alpha"].claims[0].paper == "alpha"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (ImportError("No module named\n'foo'"), "No module named 'foo'"),
        (RuntimeError(), "RuntimeError"),
        ("not a paper", "it is a str, not a linnet_papers.reproduction.Paper"),
    ],
)
def test_a_broken_plugin_is_one_line_and_the_rest_works(plugins: Any, entry: Any, reason: str) -> None:
    with pytest.warns(
        PluginWarning, match=f"the paper 'bad' .package_bad:PAPER of the package dist-bad. is left out: {reason}"
    ):
        known = plugins(bad=entry, good=paper("good"))
    assert "good" in known and "bad" not in known and "tu" in known


def test_a_name_taken_twice_is_refused_with_both_origins(plugins: Any) -> None:
    with pytest.warns(PluginWarning, match=r"package_other:PAPER .*'tu' is taken by linnet_papers.tu"):
        plugins(other=paper("tu"))
    with pytest.warns(
        PluginWarning, match=r"package_b:PAPER .*'same' is taken by package_a:PAPER of the package dist-a"
    ):
        known = plugins(a=paper("same", "eq1"), b=paper("same"))
    assert len(known["same"].claims) == 1


@pytest.mark.parametrize("name", ["Upper", "with-dash", "1st", "", "ünï"])
def test_names_of_papers_are_plain(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must be lower-case letters and digits"):
        paper(name)
    with pytest.raises(ValueError, match="must be lower-case letters and digits"):
        write(name, tmp_path)


def test_statements_name_what_is_there() -> None:
    rows = [Statement(where="Eq. (1)", text="x", checked=["nothing"]), Statement(where="S", text="y", checked=["one"])]
    found = replace(
        paper("p", "one"), claims=[replace(paper("p", "one").claims[0], name="one", where="")], statements=rows
    )
    (problem,) = found.problems
    assert problem.startswith("Eq. (1) of p is said to be checked by 'nothing', which is not there")
    wrong, right = found.statements  # the error is that of one statement
    assert "which is not there" in wrong.reason and not wrong.checked
    assert list(right.checked) == ["one"] and found.claims[0].where == "S"
    with pytest.raises(ValueError, match="either `checked` or a `reason`"):
        Statement(where="Eq. (1)", text="x")


def test_a_claim_stands_where_the_statements_that_name_it_say() -> None:
    claims = list(paper("p", "one", "two").claims)
    one, two = (replace(claim, name=name, where="") for claim, name in zip(claims, ("one", "two"), strict=True))
    rows = [
        Statement(where="Section 1", text="x", checked=["one", "two"]),
        Statement(where="Eq. (1)", text="y", checked=["one"]),
        Statement(where="Eq. (2)", text="z", checked=["one"]),
    ]
    cited = {"name": "p", "title": "T", "authors": "A"}
    placed = Paper(**cited, claims=[one, two], statements=rows).claims
    assert [claim.where for claim in placed] == ["Section 1; Eq. (1); Eq. (2)", "Section 1"]
    with pytest.raises(ValueError, match=r"must not have a `where`, got 'Eq. \(3\)': .* 'Section 1; Eq"):
        Paper(**cited, claims=[replace(one, where="Eq. (3)"), two], statements=rows)
    lost = Paper(**cited, claims=[two])
    assert lost.claims[0].where == "nowhere in the statements" and "'two' of p stands nowhere" in lost.problems[0]


def test_answers_rest_on_claims_that_are_there(tmp_path: Path) -> None:
    answers = [Answer(theorem="Theorem 2", answer="Yes.", claims=["nothing"])]
    found = Paper(name="p", title="T", authors="A", answers=answers)
    assert found.answers == [] and "Theorem 2 of p is answered by 'nothing'" in found.problems[0]
    with pytest.raises(ValueError, match="must have `theorem`, `answer` and `claims`"):
        Answer(theorem="Theorem 2", answer="Yes.", claims=[])
    listed = tmp_path / "statements.toml"
    listed.write_text('statements = []\n[[answers]]\ntheorem = "Theorem 2"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="must give `theorem`, `answer` and `claims`"):
        Paper(name="p", title="T", authors="A", statements=listed)


def test_problems_are_warnings_and_the_paper_works(plugins: Any) -> None:
    wrong = replace(paper("good"), statements=[Statement(where="Eq. (1)", text="x", checked=["nothing"])])
    with pytest.warns(PluginWarning, match="checked by 'nothing', which is not there .*; the rest of the paper works"):
        assert "good" in plugins(good=wrong)


def test_linnets_own_papers_have_no_problems() -> None:
    assert [paper.problems for paper in registry.papers().values() if paper.problems] == []


def test_a_package_that_is_not_installed_is_verified_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(registry, "_FROM_FOLDERS", {})
    folder = write("lake", tmp_path)
    (claim,) = registry.select_claims([str(folder)])
    assert claim.name == "lake-sigmoid" and registry.papers_of(["lake-sigmoid"])[0].name == "lake"
    (folder / "pyproject.toml").write_text("[project]\n")
    with pytest.raises(ValueError, match="must register one paper"):
        registry.select_claims([str(folder)])
    registry.papers.cache_clear()


def test_a_new_paper_does_not_overwrite(tmp_path: Path) -> None:
    folder = write("mine", tmp_path)
    assert (folder / "src" / "linnet_mine" / "claims" / "sigmoid.py").is_file()
    assert not list(folder.rglob("*.template"))
    assert not [path for path in folder.rglob("*.*") if "$name" in path.read_text(encoding="utf-8")]
    with pytest.raises(ValueError, match="is there already"):
        write("mine", tmp_path)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An environment of its own that sees what this one has installed; papers are installed into it by pip."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    libraries = place / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    seen = [str(ROOT / "src"), sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]]
    (libraries / "beside.pth").write_text("\n".join(dict.fromkeys(seen)) + "\n")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*words: str, cwd: Path = place) -> subprocess.CompletedProcess[str]:
        command = [str(place / "bin" / "python"), "-m", *words]
        return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=cwd, check=False)

    return run


@pytest.mark.plugin
@pytest.mark.parametrize("name", ["saxe", "mine"])
def test_a_paper_is_installed_and_works_everywhere(name: str, fresh: Any, tmp_path: Path) -> None:
    folder = ROOT / "examples" / "saxe" if name == "saxe" else write(name, tmp_path)
    said = fresh("pip", "install", "--quiet", "--no-deps", str(folder))
    assert said.returncode == 0, said.stderr
    figure = f"{name}-fig3" if name == "saxe" else f"{name}-fig1"
    listed = fresh("linnet", "list")
    assert figure in listed.stdout and f"{name}-sigmoid" in listed.stdout and listed.stderr == ""
    made = fresh("linnet", "run", figure, "--quick", "--out", str(tmp_path / "out"))
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "out" / f"{figure}-quick" / "figure.png").is_file()
    verified = fresh("linnet", "verify", "--quick", name)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    tested = fresh("pytest", str(folder / "tests"), "-q", "-p", "no:cacheprovider")
    assert tested.returncode == 0, tested.stdout


@pytest.mark.plugin
def test_a_broken_package_is_one_warning_line_on_the_command_line(fresh: Any, tmp_path: Path) -> None:
    folder = write("broken", tmp_path)
    (folder / "src" / "linnet_broken" / "__init__.py").write_text("import no_such_module\n")
    assert fresh("pip", "install", "--quiet", "--no-deps", str(folder)).returncode == 0
    listed = fresh("linnet", "list", "figures")
    assert listed.returncode == 0 and "tu-fig2" in listed.stdout
    lines = listed.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("linnet: warning: the paper 'broken' (linnet_broken:PAPER")
    assert fresh("pip", "uninstall", "--yes", "linnet-broken").returncode == 0
