"""Papers as the pages name them: "paper 4", "Figure 2 of paper 4 (Tu)"; our own results have no number."""

from __future__ import annotations

import re

from linnet_papers.reproduction import Paper, papers

OWN = "own"


def number(name: str) -> int | None:
    """The paper's place in the order of the registry, from 1; None for our own results and for plug-ins."""
    known = [paper for paper in papers() if paper != OWN]
    return known.index(name) + 1 if name in known else None


def heading(paper: Paper) -> str:
    """How a section about the paper is headed."""
    place = number(paper.name)
    return f"Paper {place}: {paper.title}" if place else "Our own results"


def label(name: str) -> str:
    """A short name for a column: "4 Tu"."""
    place = number(name)
    return f"{place} {name.capitalize()}" if place else "ours"


def paper_words(name: str) -> str:
    """The paper behind a statement: "paper 2 (Varre)"; nothing for our own results."""
    place = number(name)
    return f"paper {place} ({name.capitalize()})" if place else ""


def figure_heading(paper: str, name: str, title: str) -> str:
    """ "Figure 2 of paper 4 (Tu)" for `tu-fig2`; a figure without a number has its title."""
    found = re.fullmatch(r".*-fig(\d+)", name)
    words = paper_words(paper)
    return f"Figure {found[1]} of {words}" if found and words else title
