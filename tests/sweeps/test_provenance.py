"""A fingerprint of the code changes with all that a cell can reach, and with nothing else."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import linnet
import linnet_papers
from linnet.sweeps.provenance import code


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Fingerprints in a copy of linnet and of a package beside it, seen by a fresh process."""
    for source in (Path(linnet.__file__).parent, Path(linnet_papers.__file__).parent):
        shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    beside = tmp_path / "foreign"
    for name in ("__init__.py", "cells.py", "other.py", "claims/words.py"):
        (beside / name).parent.mkdir(exist_ok=True)
        (beside / name).write_text("x = 1\n")
    code = (
        "import importlib, sys; from linnet.sweeps.provenance import fingerprint; "
        "importlib.import_module(sys.argv[1]); print(fingerprint(sys.argv[1]))"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def fingerprint(module, changed=None):
        if changed is not None:
            with (tmp_path / changed).open("a") as file:
                file.write("\n# changed\n")
        return subprocess.run([sys.executable, "-c", code, module], capture_output=True, text=True, check=True).stdout

    return fingerprint


def test_a_fingerprint_covers_what_computes_and_nothing_else(package):
    cells = "linnet_papers.tu.training.phase_diagram"
    before = package(cells)
    assert package(cells, "linnet/cli/main.py") == before
    assert package(cells, "linnet_papers/tu/claims/theorem_1.py") == before  # a claim was reworded
    assert package(cells, "linnet_papers/huang/figures/fig1.py") == before  # another paper
    after = package(cells, "linnet/trainers/flow.py")
    assert after != before
    assert package(cells, "linnet_papers/tu/training/phase_diagram.py") != after


def test_a_fingerprint_of_a_foreign_package_is_of_its_files(package):
    before = package("foreign.cells")
    assert package("foreign.cells", "foreign/claims/words.py") == before
    assert package("foreign.cells", "foreign/other.py") != before


PROBLEM = """
import importlib
import sys
from pathlib import Path

import numpy as np

import linnet as ln
import my_numbers
from my_package import inner

fake = type(sys)("fake")
fake.__file__ = "fake.py"  # as `torch.ops` has it: no such file
sys.modules["fake"] = fake


def make(key):
    from my_lazy import MORE
    named = importlib.import_module("my_named")
    table = np.loadtxt(Path(__file__).with_name("my_table.csv"))
    return ln.Problem.from_target(my_numbers.SIZE * MORE * named.SIZE * inner.SIZE * table * np.eye(2))
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The fingerprint of a sweep with a problem of the user's own, and the folder of its files."""
    for name in ("my_numbers", "my_lazy", "my_named", "my_package/inner"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text("SIZE = MORE = 1.0\n")
    (tmp_path / "my_package/__init__.py").write_text("from my_package import deeper\n")
    (tmp_path / "my_package/deeper.py").write_text("")
    (tmp_path / "my_problem.py").write_text(PROBLEM)
    (tmp_path / "installed/site-packages").mkdir(parents=True)
    for name in ("my_table.csv", "unread.py", "unread.csv", "elsewhere.json", "installed/site-packages/my_other.py"):
        (tmp_path / name).write_text("1.0\n")
    monkeypatch.chdir(tmp_path)
    for folder in (tmp_path, tmp_path / "installed/site-packages"):
        monkeypatch.syspath_prepend(folder)
    settings = {"problem": "my_problem:make", "settings": ["elsewhere.json"]}
    import my_problem  # as a sweep does that names it

    assert my_problem.make
    yield lambda: code("linnet.sweeps.cells:train", settings), tmp_path
    for name in [name for name in sys.modules if name.startswith(("my_", "fake"))]:
        del sys.modules[name]


def test_a_problem_of_ones_own_that_changes_is_not_the_same_sweep(own):
    """Everything that it can reach counts: helpers, by whatever import, and data that are named."""
    seen, folder = own
    before = seen()
    assert seen() == before and {"python", "numpy", "jax", "linnet", "my_problem.py"} <= set(before)
    for name in (
        "my_problem.py",
        "my_numbers.py",
        "my_lazy.py",
        "my_named.py",
        "my_package/inner.py",
        "my_package/__init__.py",
        "my_package/deeper.py",
        "my_table.csv",
        "elsewhere.json",
    ):
        (folder / name).write_text((folder / name).read_text() + "\n")
        after = seen()
        changed = {part for part in before if after[part] != before[part]}
        assert changed == {Path(name).name}, f"{name} changed, and the code of {changed}"
        before = after


def test_files_that_a_problem_does_not_reach_leave_its_fingerprint(own):
    """Installed packages count as installed wherever they lie: another folder of the path, the user's own."""
    seen, folder = own
    (folder / "my_lazy.py").write_text("import my_other\n\nMORE = 1.0\n")
    before = seen()
    for name in ("unread.py", "unread.csv", "installed/site-packages/my_other.py"):
        (folder / name).write_text("2.0\n")
    assert seen() == before
