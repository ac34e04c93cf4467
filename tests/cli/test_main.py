"""The command itself: help, version, list, and that looking costs nothing."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from linnet import __version__
from linnet.cli import failures, main


def test_list_shows_figures_and_claims(linnet: Any) -> None:
    said = linnet("list")
    assert said.status == 0
    assert "Figures (3, 6 panels)" in said.out and "watanabe-fig1 [a b]" in said.out and "tu-other" in said.out
    assert "tu-other" not in linnet("list", "figures").out and "fig1" not in linnet("list", "claims").out
    listed = linnet("list", "tables").out
    assert "watanabe-phase-times" in listed and "fig1" not in listed and "tu-other" not in listed


def test_list_of_something_else_is_refused(refused: Any) -> None:
    assert "figures, tables or claims" in refused("list", "papers", status=2)


def test_version_and_help(linnet: Any) -> None:
    assert linnet("--version") == (0, f"linnet {__version__}\n", "")
    for arguments in ([], ["--help"]):
        said = linnet(*arguments)
        assert said.status == 0
        assert all(command in said.out for command in ("list", "run", "reproduce", "verify", "sweep"))
        assert "docs" not in said.out


def test_an_unknown_command_is_refused(refused: Any) -> None:
    assert "'rum'" in refused("rum", status=2)


@pytest.mark.parametrize("arguments", [["list"], ["--version"], ["run", "no-such-figure"]])
def test_looking_loads_neither_jax_nor_matplotlib(arguments: list[str]) -> None:
    code = (
        "import sys\nfrom linnet.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "heavy = {'jax', 'matplotlib', 'xarray', 'scipy', 'zarr', 'dask', 'sklearn'} & set(sys.modules)\n"
        "sys.exit(' '.join(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("reason", "line"),
    [
        (
            ModuleNotFoundError("no", name="distributed.client"),
            "this needs distributed, which is not installed: pip install 'linear-networks[dask]'",
        ),
        (ModuleNotFoundError("No module named 'own'", name="own"), "No module named 'own'"),
        (PermissionError(13, "Permission denied", "/x"), "cannot use '/x': Permission denied"),
        (OSError(28, "No space left on device"), "cannot use: No space left on device"),
        (ValueError("`width` must be\n    at least 1"), "`width` must be at least 1"),
        (ImportError("the digits come with scikit-learn"), "the digits come with scikit-learn"),
        (FileNotFoundError("no copy of it found"), "no copy of it found"),
        (KeyError("a"), "KeyError: 'a' (LINNET_TRACEBACK=1 shows where)"),
    ],
)
def test_every_failure_is_one_line(reason: Exception, line: str) -> None:
    assert failures.cause(reason).startswith(line)
    assert "\n" not in failures.cause(reason)


def test_an_unforeseen_failure_shows_no_traceback(refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from linnet_papers.reproduction import registry

    def fail() -> Any:
        raise LookupError("something\nodd")

    monkeypatch.setattr(registry, "figures", fail)
    assert "LookupError: something odd" in refused("list", status=1)


@pytest.mark.filterwarnings("default:the command:UserWarning")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("raise RuntimeError('not today')", "not today"),
        ("import no_such_module_at_all\ndef broken(): ...", "No module named 'no_such_module_at_all'"),
        ("raise SystemExit(3)", "exits as it is imported (3)"),
        ("def broken(x: 'Nothing'): ...", "name 'Nothing' is not defined"),
        ("def other(): ...", "has no attribute 'broken'"),
        ("broken = 3", ""),
    ],
)
def test_a_broken_command_of_another_package_leaves_the_others(tmp_path, monkeypatch, linnet, body, why):
    """A command that exits as it is imported, or that Typer cannot read, took all others down."""
    name = f"broken_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    entry = EntryPoint("broken", f"{name}:broken", "linnet.commands")
    real = main.entry_points
    monkeypatch.setattr(main, "entry_points", lambda group: [*real(group=group), entry])
    said = linnet("--help")
    assert said.status == 0 and "verify" in said.out and "the command 'broken' is left out: " in said.err
    assert why in said.err
    assert linnet("--version").status == 0 and linnet("list").status == 0
    asked = linnet("broken")
    assert asked.status == 1 and "the command 'broken' cannot be loaded: " in asked.err and why in asked.err
