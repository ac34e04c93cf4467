"""Which papers there are: those that installed packages register, linnet_papers like any other.

A package registers its paper by an entry point in the group `linnet.papers`:

    [project.entry-points."linnet.papers"]
    saxe = "linnet_saxe:PAPER"

One that cannot be loaded is a warning that names it; everything else works.

The name of a figure, a table or a claim begins with its paper's, so one of them is found without loading the others.
"""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from linnet._arguments import did_you_mean
from linnet_papers import ORDER
from linnet_papers.reproduction.figure import Figure
from linnet_papers.reproduction.measurement import Claim
from linnet_papers.reproduction.paper import Paper
from linnet_papers.reproduction.table import Table

ENTRY_POINT_GROUP = "linnet.papers"


class PluginWarning(UserWarning):
    """A package's paper could not be taken; the others were.

    **Example:**

        >>> from linnet_papers.reproduction import PluginWarning
        >>> issubclass(PluginWarning, Warning)
        True
    """


@dataclass
class _PaperCatalog:
    """Papers by name, and where each comes from."""

    papers: dict[str, Paper] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)  # of papers and of their parts

    def add(self, paper: object, origin: str) -> None:
        """Add a paper; refuse one whose names are taken."""
        if not isinstance(paper, Paper):
            raise TypeError(f"it is a {type(paper).__name__}, not a linnet_papers.reproduction.Paper")
        names = [paper.name, *paper.names]
        for name in names:
            if name in self.origins:
                raise ValueError(f"the name {name!r} is taken by {self.origins[name]}")
        self.papers[paper.name] = paper
        self.origins.update(dict.fromkeys(names, origin))


@cache
def papers() -> dict[str, Paper]:
    """Return every paper by name: those of linnet_papers in their order, then those of other packages by name."""
    return load_papers()


def load_papers() -> dict[str, Paper]:
    """Load all papers anew: one may have been installed since."""
    catalog = _PaperCatalog()
    for entry in _entries():
        package = entry.dist.name if entry.dist is not None else entry.value
        origin = entry.value if _is_built_in(entry) else f"{entry.value} of the package {package}"
        try:
            catalog.add(entry.load(), origin)
        except (Exception, SystemExit) as reason:  # whatever a foreign package does must not take the others down
            why = " ".join(str(reason).split()) or type(reason).__name__
            warnings.warn(f"the paper {entry.name!r} ({origin}) is left out: {why}", PluginWarning, stacklevel=3)
    for paper in catalog.papers.values():
        _warn_of_problems(paper)
    return catalog.papers | _FROM_FOLDERS


_FROM_FOLDERS: dict[str, Paper] = {}  # papers of packages that are not installed


def paper_in(folder: Path) -> Paper:
    """Return the paper of a package that is not installed: the one that its pyproject.toml registers."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    entries = project.get("entry-points", {}).get(ENTRY_POINT_GROUP, {})
    if len(entries) != 1:
        raise ValueError(f"pyproject.toml in {str(folder)!r} must register one paper, under {ENTRY_POINT_GROUP!r}.")
    ((name, place),) = entries.items()
    source = folder / "src" if (folder / "src").is_dir() else folder
    sys.path.insert(0, str(source.resolve()))
    module, _, attribute = place.partition(":")
    try:
        paper = getattr(importlib.import_module(module), attribute)
    except Exception as reason:  # whatever a foreign package does
        raise ValueError(f"the paper {name!r} in {str(folder)!r} cannot be loaded: {reason}") from reason
    if not isinstance(paper, Paper):
        raise ValueError(f"{place} in {str(folder)!r} must be a Paper: got a {type(paper).__name__}.")
    _FROM_FOLDERS[paper.name] = paper
    papers.cache_clear()
    _warn_of_problems(paper)
    return paper


def _warn_of_problems(paper: Paper) -> None:
    """Warn of each statement of a paper that names what is not there."""
    for problem in paper.problems:
        warnings.warn(f"{problem}; the rest of the paper works", PluginWarning, stacklevel=4)


def papers_of(names: Iterable[str]) -> list[Paper]:
    """Return the papers that these names begin with, each loaded alone; none if one name begins with no paper's."""
    loaded: dict[str, Paper] = {}
    for name in names:
        paper = _paper_alone(name.partition("-")[0])
        if paper is None:
            return []
        loaded[paper.name] = paper
    return list(loaded.values())


def _entries() -> list[EntryPoint]:
    """Return the registered papers, found without loading them: those of linnet_papers first, the others by name."""

    def place(entry: EntryPoint) -> tuple[int, str]:
        return (ORDER.index(entry.name) if _is_built_in(entry) else len(ORDER), entry.name)

    return sorted(entry_points(group=ENTRY_POINT_GROUP), key=place)


def _is_built_in(entry: EntryPoint) -> bool:
    """Return whether an entry point is one of linnet_papers' own."""
    return entry.name in ORDER and entry.value == f"linnet_papers.{entry.name}.paper:PAPER"


def _paper_alone(name: str) -> Paper | None:
    """Return the paper of this name; None if there is none, several, or one that cannot be loaded (`papers` warns)."""
    if name in _FROM_FOLDERS:
        return _FROM_FOLDERS[name]
    entries = [entry for entry in _entries() if entry.name == name]
    if not entries or (len(entries) > 1 and not _is_built_in(entries[0])):
        return None
    try:
        paper = entries[0].load()
    except (Exception, SystemExit):  # a foreign package may raise anything
        return None
    return paper if isinstance(paper, Paper) and paper.name == name else None


def figures() -> dict[str, Figure]:
    """Every figure by name, in the order of the papers.

    **Returns** the figures of all installed papers.

    **Example:**

        >>> from linnet_papers.reproduction import figures
        >>> "tu-fig2" in figures()
        True
    """
    return {figure.name: figure for paper in papers().values() for figure in paper.figures}


def tables() -> dict[str, Table]:
    """Every table by name, in the order of the papers.

    **Returns** the tables of all installed papers.

    **Example:**

        >>> from linnet_papers.reproduction import tables
        >>> "watanabe-phase-times" in tables()
        True
    """
    return {table.name: table for paper in papers().values() for table in paper.tables}


def claims() -> dict[str, Claim]:
    """Every claim by name, in the order of the papers.

    **Returns** the claims of all installed papers.

    **Example:**

        >>> from linnet_papers.reproduction import claims
        >>> claims()["watanabe-eq27"].where
        'Eq. (27); Figure 5'
    """
    return {claim.name: claim for paper in papers().values() for claim in paper.claims}


def find_figure(name: str) -> tuple[Figure, tuple[str, ...]]:
    """The figure and the panels that `name` asks for: `NAME-fig3` all of them, `NAME-fig3a` the first alone."""
    try:
        return find_among(name, {figure.name: figure for paper in papers_of([name]) for figure in paper.figures})
    except ValueError:  # what was meant may be in another paper
        return find_among(name, figures())


def find_among(name: str, known: Mapping[str, Figure]) -> tuple[Figure, tuple[str, ...]]:
    """The figure and the panels that `name` asks for, of these figures."""
    if name in known:
        return known[name], known[name].panels
    split = re.fullmatch(r"(.*\d)([a-z]+)", name)
    if split and split[1] in known:
        figure = known[split[1]]
        if set(split[2]) <= set(figure.panels):
            return figure, tuple(panel for panel in figure.panels if panel in split[2])
        panels = f"panels {', '.join(figure.panels)}" if figure.panels else "no panels"
        raise ValueError(f"`{figure.name}` has {panels}: got {split[2]!r}.")
    near = did_you_mean(name, [*known, *(f.name + panel for f in known.values() for panel in f.panels)])
    raise ValueError(f"no figure is named {name!r}{near} `linnet list` shows all.")


def select_claims(names: Iterable[str]) -> list[Claim]:
    """The claims asked for, each once: by name, by how their names start (a paper's name, say), or by the folder of a
    package that is not installed; none means all."""
    names = [f"{paper_in(Path(name)).name}-" if (Path(name) / "pyproject.toml").is_file() else name for name in names]
    known = {claim.name: claim for paper in papers_of(names) for claim in paper.claims}
    if not names or not all(any(claim.startswith(name) for claim in known) for name in names):
        known = claims()
    chosen: dict[str, Claim] = {}
    for name in names:
        matching = [known[name]] if name in known else [c for c in known.values() if name and c.name.startswith(name)]
        if not matching:
            raise ValueError(f"no claim is named {name!r}{did_you_mean(name, known)} `linnet list` shows all.")
        chosen.update((claim.name, claim) for claim in matching)
    return list(chosen.values()) or list(known.values())
