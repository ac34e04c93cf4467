"""What a verdict goes by: rules over named numbers, each with its limit and the reason for it.

A rule owns everything that follows from its limit: whether numbers meet it, the line that pages print, and the words
that draw the conclusion. So none of them can drift from the others.

    Below(1e-8, because="a closed form against an integrator of tolerance 1e-12")         # numbers["value"] < 1e-8
    Above(0.95, "slope", because="a power fitted over decades falls short by less than 0.05")
    Within(0.15, "slope", of=-1, because="twice its scatter over seeds")                     # |slope + 1| <= 0.15
    AllOf(Below(...), Above(...))

A number may be a list or a mapping: then every entry must meet the rule, and the words name the worst one.
"""

from linnet_papers.reproduction.rules.one_sided import Above, AtLeast, AtMost, Below
from linnet_papers.reproduction.rules.rule import AllOf, Leaf, Limit, Rule
from linnet_papers.reproduction.rules.target import Within
from linnet_papers.reproduction.rules.trend import Falls, Rises

__all__ = ["Above", "AllOf", "AtLeast", "AtMost", "Below", "Falls", "Leaf", "Limit", "Rises", "Rule", "Within"]
