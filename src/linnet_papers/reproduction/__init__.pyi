from .declaration import Claim as Claim
from .declaration import Measurement as Measurement
from .declaration import Trial as Trial
from .declaration import Verdict as Verdict
from .declaration import claim as claim
from .figure import Check as Check
from .figure import Figure as Figure
from .figure import Settings as Settings
from .numbers import Estimate as Estimate
from .numbers import Numbers as Numbers
from .paper import Answer as Answer
from .paper import Paper as Paper
from .paper import Statement as Statement
from .registry import (
    PluginWarning as PluginWarning,
)
from .registry import (
    claims as claims,
)
from .registry import (
    figures as figures,
)
from .registry import (
    papers as papers,
)
from .registry import (
    tables as tables,
)
from .rules import (
    Above as Above,
)
from .rules import (
    AllOf as AllOf,
)
from .rules import (
    AtLeast as AtLeast,
)
from .rules import (
    AtMost as AtMost,
)
from .rules import (
    Below as Below,
)
from .rules import (
    Falls as Falls,
)
from .rules import (
    Limit as Limit,
)
from .rules import (
    Rises as Rises,
)
from .rules import (
    Rule as Rule,
)
from .rules import (
    Within as Within,
)
from .table import Columns as Columns
from .table import Table as Table
from .verification import Outcome as Outcome
from .verification import verify as verify

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
