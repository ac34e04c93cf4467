"""The four papers whose figures and claims linnet reproduces, in the order in which it tells them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Paper:
    """A paper under the short name that figures and claims carry."""

    name: str
    authors: str
    title: str
    subject: str


PAPERS = {
    paper.name: paper
    for paper in (
        Paper(
            "watanabe",
            "Watanabe, Karakida and Teramae",
            "The Impact of Anisotropic Covariance Structure on the Training Dynamics "
            "and Generalization Error of Linear Networks",
            "data with one strong direction",
        ),
        Paper(
            "varre",
            "Varre, Vladarean, Pillaud-Vivien and Flammarion",
            "On the spectral bias of two-layer linear networks",
            "what the scale of the start leaves in the singular values",
        ),
        Paper(
            "huang",
            "Huang, Chen, Xu, Wang and Suzuki",
            "Exact and Rich Feature Learning Dynamics of Two-Layer Linear Networks",
            "two stages of learning from a small start",
        ),
        Paper(
            "tu",
            "Tu, Aranguri and Jacot",
            "Mixed Dynamics In Linear Networks: Unifying the Lazy and Active Regimes",
            "lazy and active modes in one equation",
        ),
    )
}


def place(paper: str) -> int:
    """Where a paper stands in the order; one that is not among the four comes last."""
    return list(PAPERS).index(paper) if paper in PAPERS else len(PAPERS)


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a message about an unknown name (a figure, a claim, a field): the near ones, if there are any."""
    names = list(names)
    inside = [other for other in names if name and name in other]
    near = list(dict.fromkeys(difflib.get_close_matches(name, names, n=3) + inside))[:4]
    return f"; did you mean {', '.join(near)}?" if near else "."
