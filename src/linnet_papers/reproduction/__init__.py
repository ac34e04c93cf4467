"""What a paper is here: Paper, Figure, Table and Claim; the rules of claims; registry, runner and report page."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linnet_papers.reproduction.declaration import Claim, Measurement, Trial, Verdict, claim
    from linnet_papers.reproduction.figure import Check, Figure, Settings
    from linnet_papers.reproduction.numbers import Estimate, Numbers
    from linnet_papers.reproduction.paper import Answer, Paper, Statement
    from linnet_papers.reproduction.registry import PluginWarning, claims, figures, papers, tables
    from linnet_papers.reproduction.rules import Above, AllOf, AtLeast, AtMost, Below, Falls, Limit, Rises, Rule, Within
    from linnet_papers.reproduction.table import Columns, Table
    from linnet_papers.reproduction.verification import Outcome, verify

# Each loads its file on first use: who asks for the plane of a diagram does not load papers or pydantic.
_HOMES = {
    "declaration": ("Claim", "Measurement", "Trial", "Verdict", "claim"),
    "figure": ("Check", "Figure", "Settings"),
    "numbers": ("Estimate", "Numbers"),
    "paper": ("Answer", "Paper", "Statement"),
    "registry": ("PluginWarning", "claims", "figures", "papers", "tables"),
    "rules": ("Above", "AllOf", "AtLeast", "AtMost", "Below", "Falls", "Limit", "Rises", "Rule", "Within"),
    "table": ("Columns", "Table"),
    "verification": ("Outcome", "verify"),
}

__all__ = [
    "Above",
    "AllOf",
    "Answer",
    "AtLeast",
    "AtMost",
    "Below",
    "Check",
    "Claim",
    "Columns",
    "Estimate",
    "Falls",
    "Figure",
    "Limit",
    "Measurement",
    "Numbers",
    "Outcome",
    "Paper",
    "PluginWarning",
    "Rises",
    "Rule",
    "Settings",
    "Statement",
    "Table",
    "Trial",
    "Verdict",
    "Within",
    "claim",
    "claims",
    "figures",
    "papers",
    "tables",
    "verify",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"linnet_papers.reproduction.{home}"), name)
    raise AttributeError(f"module 'linnet_papers.reproduction' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
