"""What a paper is here: Paper, Figure, Table and Claim; the registry, the runner, the report page, and fits."""

from linnet.reproduction.claim import Claim, Limit, Measurement, Numbers, Outcome, Trial, Verdict, verify
from linnet.reproduction.figure import Check, Figure, Settings
from linnet.reproduction.paper import Paper, Statement
from linnet.reproduction.registry import PluginWarning, claims, figures, papers, tables
from linnet.reproduction.table import Columns, Table

__all__ = [
    "Check",
    "Claim",
    "Columns",
    "Figure",
    "Limit",
    "Measurement",
    "Numbers",
    "Outcome",
    "Paper",
    "PluginWarning",
    "Settings",
    "Statement",
    "Table",
    "Trial",
    "Verdict",
    "claims",
    "figures",
    "papers",
    "tables",
    "verify",
]
