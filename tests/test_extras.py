"""Without an extra, one line says what is missing and the command that installs it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from linnet import _extras as extras

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
# Python that says the error, where the modules named are not to be had.
WITHOUT = """
import importlib.util, sys
gone = {gone!r}
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in gone:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in gone else found(name, package)
for case in {cases!r}:
    try:
        exec(case)
        print("nothing was said")
    except Exception as reason:
        print(reason)
"""
CASES = [
    ("sklearn", "import linnet.estimators", "linnet.estimators needs sklearn"),
    (
        "sklearn",
        "from linnet_papers.huang import images; images.load_images('digits')",
        "the set of digits needs sklearn",
    ),
    (
        "sklearn",
        "from linnet_papers.huang import images; images.load_images('photographs')",
        "the set of photographs needs sklearn",
    ),
    (
        "PIL",
        "from linnet_papers.huang.images import _packaged as p; p._read_picture('photographs', p.Path('x'))",
        "needs PIL",
    ),
    (
        "pyarrow",
        "from linnet.forecasts import tables as t; t.read_frame(t.Path('x.parquet'))",
        "a Parquet table needs pyarrow",
    ),
    (
        "distributed",
        "from linnet.cli.sweep import _dask; _dask('tcp://127.0.0.1:9').__enter__()",
        "--scheduler needs distributed",
    ),
    ("torch", "import linnet as ln; ln.torch.weights_of_layers", "linnet.torch needs torch"),
    ("transformers", "from linnet.torch._callbacks import transformers_callback as c; c(None)", "needs transformers"),
    ("lightning", "from linnet.torch._callbacks import lightning_callback as c; c(None)", "needs lightning"),
]


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What each case says when none of the extras' packages can be imported, in one process."""
    gone = sorted(extras.INSTALLED_BY)
    code = WITHOUT.format(gone=gone, cases=[case for _, case, _ in CASES])
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("index", range(len(CASES)), ids=[f"{module}-{i}" for i, (module, _, _) in enumerate(CASES)])
def test_what_is_missing_is_one_line_with_its_cure(index: int, said: list[str]) -> None:
    assert len(said) == len(CASES)
    module, _, begins = CASES[index]
    assert begins in said[index]
    assert f"needs {module}, which is not installed: pip install '{extras.INSTALLED_BY[module]}'" in said[index]


def test_every_extra_that_is_named_brings_its_package() -> None:
    """The cure cures: each extra of the table is declared, and lists the distribution of that module."""
    declared = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    distributions = {"sklearn": "scikit-learn", "PIL": "pillow"}

    def brings(extra: str) -> set[str]:
        found: set[str] = set()
        for requirement in declared[extra]:
            if requirement.startswith("linear-networks["):
                for inner in requirement.removeprefix("linear-networks[").split("]")[0].split(","):
                    found |= brings(inner)
            found.add(requirement.split(">")[0].strip())
        return found

    for module, installed in extras.INSTALLED_BY.items():
        if installed.startswith("linear-networks["):
            extra = installed.removeprefix("linear-networks[").removesuffix("]")
            assert distributions.get(module, module) in brings(extra), module
        else:
            assert installed == module


def test_a_broken_package_shows_its_own_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "peft.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "peft", raising=False)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_module_at_all'"):
        extras.need("peft")
