"""A release as users get it: built from what git tracks, installed into an environment that has nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Release:
    """The two archives, and the tree they were built from."""

    source: Path
    sdist: Path
    wheel: Path


@dataclass(frozen=True)
class Installed:
    """An environment, and a folder to work in that is neither the repository nor a part of it."""

    place: Path
    away: Path

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Begin a command of the environment, from away."""
        hidden = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        return subprocess.Popen(
            [str(self.place / "bin" / words[0]), *words[1:]],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.away,
            env={key: value for key, value in os.environ.items() if key not in hidden},
        )

    def run(self, *words: str) -> tuple[int, str]:
        """The exit status of a command, and what it said."""
        return self.ended(self.start(*words))

    def ended(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        """Wait for a command that was begun."""
        said, _ = process.communicate()
        return process.returncode, said


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("a release is built from what git tracks, and this is no clone")
    source, dist = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    made = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(dist), str(source)], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return Release(source, next(dist.glob("*.tar.gz")), next(dist.glob("*.whl")))


@pytest.fixture(scope="session")
def bare(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The wheel without extras, in an environment of its own."""
    place = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    environment = Installed(place, tmp_path_factory.mktemp("away"))
    status, said = environment.run("pip", "install", "--quiet", str(release.wheel))
    assert status == 0, said
    return environment
