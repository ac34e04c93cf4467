"""Strings in a grid file that want to have something imported: none is, without leave."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from linnet import sweeps

# Beside the file lie evil.py, evil-mod.py, 1evil.py, pkg/import.py and évil.py; `allowed` is allowed, and imports them.
HOSTILE = [
    "evil:make", "evil-mod:make", "pkg.import:make", "sp ace:make", "1evil:make", "evil::make", "evil:a:make",
    "evil:make ", " evil:make", "evil:make.x-y", "evil:None", "evil:1", "evil", "evil:", ":make", ":", "évil:make",
    "ｅvil:make", "evil.:make", ".evil:make", "..evil:make", "evil:make\\n", "evil\\n:make", "evil:make\\u0000",
    "evil:make\\u200b", "evil：make", "__main__:json", "builtins:exec", "os:system", "subprocess:run", "pkg:evil",
    "linnet.problems.images._packaged:find_spec", "linnet.problems:Problem", "linnet.problems:load_images",
    "linnet.problems:images", "linnet.problems.images.loading:load_images", "linnet.problems.problem:np.load",
    "linnet.problems.low_rank:np", "linnet.problems..os:system", "linnet.problemsevil:make", "linnet.problems.*:make",
    "linnet.*:make", "linnet.sweeps.cells:inspect", "linnet.sweeps.cells:_measure", "linnet.sweeps.cells:reduce",
    "linnet.sweeps.cells:train.__globals__", "linnet.sweeps.cells:__builtins__", "linnet.sweeps.running:run",
    "linnet.sweeps._names:find", "linnet_papers.tu.plane:evil", "linnet._files:write_whole", "linnet:evil",
    "allowed:system", "allowed:borrowed", "allowed:partial", "allowed:Maker", "allowed:_private", "allowed.sub:make",
    "shutil:rmtree", "importlib:import_module", "functools:partial", "pickle:loads",
]  # fmt: skip
PLACES = {
    "function": 'name="h"\nfunction="{}"\n[axes]\nwidth=[10]\n',
    "fixed": 'name="h"\nfunction="linnet.sweeps.cells:train"\n[axes]\nwidth=[10]\n[fixed]\nproblem="{}"\nsteps=5\n',
    "axes": 'name="h"\nfunction="linnet.sweeps.cells:train"\n[axes]\nproblem=["{}"]\n[fixed]\nsteps=5\n',
    "with a name": 'name="h"\nfunction="linnet.sweeps.cells:train"\n[axes]\nwidth=[10]\n'
    '[fixed]\nproblem="{}"\nname="evil"\nsteps=5\n',
}
MODULES = ("evil", "evil-mod", "1evil", "pkg", "pkg.import", "évil")
TRY = """
import json, sys, warnings
from pathlib import Path
warnings.simplefilter("ignore")
folder, hostile, places, modules, leave = Path(sys.argv[1]), *map(json.loads, sys.argv[2:6])
sys.path.append(str(folder))  # the worst case: as with --code
from linnet import sweeps
refused = 0
for text in hostile:
    for place, toml in places.items():
        (folder / "h.toml").write_text(toml.format(text), encoding="utf-8")
        try:
            sweep = sweeps.load(folder / "h.toml", code=leave)
            sweeps.run(sweep)
            print("RAN", place, repr(text))
        except (sweeps.ConfigurationError, sweeps.CellFunctionError) as error:
            if "SystemExit" in str(error):
                print("CALLED", place, repr(text), repr(error))
            refused += 1
        for name in modules:
            if sys.modules.pop(name, None):
                print("IMPORTED", name, place, repr(text))
print(refused, "refused")
"""


@pytest.fixture
def traps(tmp_path: Path) -> Path:
    """A folder of modules that must not be imported, and of one that may."""
    (tmp_path / "pkg").mkdir()
    for name in ("evil.py", "evil-mod.py", "1evil.py", "pkg/__init__.py", "pkg/import.py", "évil.py"):
        (tmp_path / name).write_text(
            f"open({str(tmp_path / 'was_run')!r}, 'a')\ndef make(*a, **k): raise SystemExit('called')\n"
        )
    (tmp_path / "allowed.py").write_text(
        "import functools, importlib\nfrom os import system\nfrom importlib import import_module as borrowed\n"
        "partial = functools.partial(importlib.import_module, 'evil')\nclass Maker: pass\n"
        "def _private(key): pass\ndef make(dim, key):\n    from linnet.problems import low_rank_plus_noise\n"
        "    return low_rank_plus_noise(dim, rank=1, noise_std=1.0, key=key)\n"
    )
    return tmp_path


def attempt(folder: Path, hostile: list[str], leave: list[str]) -> list[str]:
    words = [json.dumps(words) for words in (hostile, PLACES, MODULES, leave)]
    done = subprocess.run([sys.executable, "-c", TRY, str(folder), *words], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).splitlines()


def test_no_string_imports_or_calls_anything_that_was_not_allowed(traps):
    assert attempt(traps, HOSTILE, ["allowed"]) == [f"{len(PLACES) * len(HOSTILE)} refused"]
    assert not (traps / "was_run").exists()


def test_with_leave_the_same_strings_are_imported(traps):
    """The control: what the test above would see."""
    said = attempt(traps, ["evil:make"], ["evil"])
    assert (
        "IMPORTED evil function 'evil:make'" in said
        and "CALLED fixed 'evil:make'" in "".join(said)
        and (traps / "was_run").exists()
    )


def test_a_package_does_not_allow_what_lies_below_it(traps):
    (traps / "pkg" / "below.py").write_text("def make(key): pass\n")
    assert attempt(traps, ["pkg.below:make"], ["pkg", "pkg.*", "*"]) == [f"{len(PLACES)} refused"]


def test_functions_of_linnet_and_of_allowed_modules_are_taken(traps, monkeypatch):
    monkeypatch.syspath_prepend(traps)
    for name in ("linnet.problems:low_rank_plus_noise", "linnet.problems.low_rank:low_rank_plus_noise", "allowed:make"):
        (traps / "h.toml").write_text(PLACES["fixed"].format(name) + "dim = 3\n")
        assert sweeps.run(sweeps.load(traps / "h.toml", code=["allowed"]))["cell_status"].values.tolist() == [1]
    with pytest.raises(
        sweeps.ConfigurationError, match=r"h.toml: the file names the function `allowed:make`.*--code al"
    ):
        sweeps.load(traps / "h.toml")


def test_what_was_not_allowed_is_not_even_looked_for(traps, monkeypatch):
    """To find `pkg.below` is to import `pkg`: the digests of the code must not."""
    monkeypatch.syspath_prepend(traps)
    (traps / "pkg" / "below.py").write_text("def make(key): pass\n")
    (traps / "h.toml").write_text(PLACES["fixed"].format("low-rank") + "dim = 3\n")
    sweep = sweeps.load(traps / "h.toml")
    late = sweep.model_copy(update={"fixed": {**sweep.fixed, "problem": "pkg.below:make"}})
    with pytest.raises(sweeps.ConfigurationError, match=r"names the function `pkg.below:make`"):
        sweeps.run(late)
    assert not (traps / "was_run").exists()


def test_workers_obey_the_list_that_travels_with_the_task(traps, monkeypatch):
    """A thread and a process of their own do not inherit what this one allows; the name is not one of those that the
    file is checked for when it is read, as a list of lists would be."""
    monkeypatch.syspath_prepend(traps)
    (traps / "h.toml").write_text(PLACES["fixed"].format("allowed:make") + "dim = 3\n")
    sweep = sweeps.load(traps / "h.toml", code=["allowed"])
    late = sweep.model_copy(update={"fixed": {**sweep.fixed, "problem": "evil:make"}})
    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(sweeps.ConfigurationError, match="names the function `evil:make`"),
    ):
        sweeps.run(late, executor=pool)
    monkeypatch.setenv("PYTHONPATH", str(traps), prepend=":")
    with pytest.raises(sweeps.ConfigurationError, match="names the function `evil:make`"):
        sweeps.run(late, workers=1)
    assert not (traps / "was_run").exists()


def test_a_file_beside_the_grid_stands_in_for_nothing(traps):
    """`cupy.py`, say, which libraries look for; nor does one of the current folder."""
    (traps / "h.toml").write_text(PLACES["fixed"].format("low-rank") + "dim = 3\n")
    for name in ("cupy", "zarr", "typer", "xarray", "distributed"):
        (traps / f"{name}.py").write_text((traps / "evil.py").read_text())
    command = [sys.executable, "-P", "-m", "linnet", "sweep", "h.toml", "--store", "store"]
    done = subprocess.run([*command, "--workers", "1"], cwd=traps, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not (traps / "was_run").exists()
