"""What a paper is here: Paper, Figure, Table and Claim; the rules of claims; registry, runner and report page."""

from linnet.reproduction.figure import Check, Figure, Settings
from linnet.reproduction.numbers import Estimate, Numbers
from linnet.reproduction.paper import Answer, Paper, Statement
from linnet.reproduction.registry import PluginWarning, claims, figures, papers, tables
from linnet.reproduction.rules import Above, AllOf, AtLeast, AtMost, Below, Falls, Limit, Rises, Rule, Within
from linnet.reproduction.table import Columns, Table
from linnet.reproduction.verification import Claim, Measurement, Outcome, Trial, Verdict, claim, verify

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
