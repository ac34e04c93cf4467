"""Constraints for pip that hold every declared dependency at its lower bound: `python lowest.py > constraints.txt`."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
# What only runs the tests is not what is tested; but pytest is as old as scikit-learn's checks need it.
TOOLS = {"ruff", "mypy", "pytest-xdist", "hypothesis", "mpmath", "playwright", "build"}


def lower_bounds(declared: dict) -> dict[str, str]:
    """Return every distribution that the project, an extra or its tests ask for, with the lowest version allowed."""
    project, groups = declared["project"], declared["dependency-groups"]
    asked = [*project["dependencies"], *groups["test"], *groups["data"]]
    for extra in project["optional-dependencies"].values():
        asked += extra
    found: dict[str, str] = {}
    for requirement in asked:
        if requirement.startswith(f"{project['name']}["):
            continue
        match = re.fullmatch(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", requirement.strip())
        if match is None:
            raise ValueError(f"a requirement must be `name>=version`: got {requirement!r}.")
        name, version = match.groups()
        if name not in TOOLS and found.setdefault(name, version) != version:
            raise ValueError(f"two lower bounds for {name} in {PROJECT.name}: {found[name]} and {version}.")
    return found


if __name__ == "__main__":
    for name, version in lower_bounds(tomllib.loads(PROJECT.read_text())).items():
        sys.stdout.write(f"{name}=={version}\n")
