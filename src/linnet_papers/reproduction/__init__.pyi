from .datasets import Numbers as Numbers
from .figure import Figure as Figure
from .figure import Settings as Settings
from .measurement import Claim as Claim
from .measurement import Range as Range
from .measurement import Result as Result
from .measurement import Rows as Rows
from .measurement import Trial as Trial
from .measurement import claim as claim
from .measurement import verify as verify
from .paper import Answer as Answer
from .paper import Paper as Paper
from .paper import Statement as Statement
from .registry import PluginWarning as PluginWarning
from .registry import claims as claims
from .registry import figures as figures
from .registry import papers as papers
from .registry import tables as tables
from .rows import Estimate as Estimate
from .rows import Limit as Limit
from .rows import Row as Row
from .rows import Verdict as Verdict
from .rows import above as above
from .rows import at_least as at_least
from .rows import at_most as at_most
from .rows import below as below
from .rows import both as both
from .rows import corrected as corrected
from .rows import fact as fact
from .rows import given as given
from .rows import printed as printed
from .rows import refutes as refutes
from .rows import summary as summary
from .rows import verdict as verdict
from .rows import within as within
from .table import Columns as Columns
from .table import Table as Table

__all__ = [
    "Answer",
    "Claim",
    "Columns",
    "Estimate",
    "Figure",
    "Limit",
    "Numbers",
    "Paper",
    "PluginWarning",
    "Range",
    "Result",
    "Row",
    "Rows",
    "Settings",
    "Statement",
    "Table",
    "Trial",
    "Verdict",
    "above",
    "at_least",
    "at_most",
    "below",
    "both",
    "claim",
    "claims",
    "corrected",
    "fact",
    "figures",
    "given",
    "papers",
    "printed",
    "refutes",
    "summary",
    "tables",
    "verdict",
    "verify",
    "within",
]
