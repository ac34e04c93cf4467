"""The sdist and the wheel hold what they should, and say what they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import linnet

pytestmark = pytest.mark.release
GENERATED = {"PKG-INFO", "setup.cfg"}
# A part of the tests that reads the package, the pages, the examples and the README.
THINNED = [
    "test_house.py",
    "test_ground.py",
    "inits",
    "reductions",
    "problems/test_problem.py",
    "papers/commands/test_docs.py",
]


def tree(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def unpacked(release, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(release.sdist) as archive:
        archive.extractall(folder, filter="data")
    (inside,) = folder.iterdir()
    return inside


@pytest.fixture(scope="module")
def wheel(release):
    """Name and bytes of every file of the wheel."""
    with zipfile.ZipFile(release.wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def metadata(wheel):
    return Parser().parsestr(wheel[f"linear_networks-{linnet.__version__}.dist-info/METADATA"].decode())


def test_the_sdist_is_what_git_tracks(release, unpacked):
    tracked = {name for name in tree(release.source) if "egg-info" not in name}
    there = {name for name in tree(unpacked) if "egg-info" not in name}
    assert there - GENERATED == tracked
    assert {"tests/conftest.py", "Makefile", "LICENSE", "CITATION.cff", "docs/claims.md"} <= there


def test_tests_pass_in_the_sdist(unpacked):
    environment = {**os.environ, "PYTHONPATH": str(unpacked / "src")}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in THINNED)]
    run = subprocess.run(words, cwd=unpacked, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-4000:]


def test_the_wheel_is_the_package_and_nothing_else(release, wheel):
    package = {
        str(Path(name).relative_to("src"))
        for name in tree(release.source)
        if name.startswith(("src/linnet/", "src/linnet_papers/"))
    }
    there = {name for name in wheel if ".dist-info/" not in name}
    assert there == package
    assert {"linnet/py.typed", "linnet/page.css", "linnet_papers/reproduction/report.js"} <= there
    assert any(name.endswith(".template") for name in there) and any(name.endswith(".csv") for name in there)


def test_no_path_of_this_machine_is_in_the_wheel(release, wheel):
    here = [str(Path(__file__).parents[2]), str(release.source), f"{Path.home()}/"]
    for name, content in wheel.items():
        for path in here:
            assert path.encode() not in content, f"{name} names {path}"


def test_what_the_wheel_says_of_itself(wheel, metadata):
    assert (metadata["Name"], metadata["Version"]) == ("linear-networks", linnet.__version__)
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0" and metadata.get_all("License-File") == ["LICENSE"]
    assert metadata["Description-Content-Type"] == "text/markdown" and metadata.get_payload().startswith("# linnet")
    assert b"Apache License" in wheel[f"linear_networks-{linnet.__version__}.dist-info/licenses/LICENSE"]
    entry = wheel[f"linear_networks-{linnet.__version__}.dist-info/entry_points.txt"].decode()
    assert "linnet = linnet.cli." in entry
    assert set(metadata.get_all("Provides-Extra")) == {"tables", "dask", "torch", "lora", "docs", "all"}


def test_every_requirement_has_a_lower_bound(metadata):
    for requirement in metadata.get_all("Requires-Dist"):
        plain = requirement.split(";")[0]
        assert ">=" in plain or plain.startswith("linear-networks["), requirement
        assert "<" not in plain and "==" not in plain, requirement


def test_one_version_everywhere(release):
    project = tomllib.loads((release.source / "pyproject.toml").read_text())["project"]
    cited = re.search(r"^version: *\"?([\d.]+)", (release.source / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert project["version"] == linnet.__version__ == cited[1]
    assert f"## {linnet.__version__}" in (release.source / "CHANGELOG.md").read_text()
    assert f"version = {{{linnet.__version__}}}" in linnet.citation()
