"""The five steps of a lecture: a page of the explorer each, in the state in which it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from linnet_papers.explorer import controls
from linnet_papers.explorer.page import Page
from linnet_papers.explorer.pages import phase_diagram, train, two_phases

FRAGMENT_PREFIX = "#step-"  # of an address, before the number of a step


@dataclass(frozen=True)
class Step:
    """One step: what is seen, on which page, and what is set there.

    >>> STEPS[2].address
    '/phase-diagram?dim=100'
    """

    title: str
    says: str
    page: Page
    values: Mapping[str, controls.Value]

    @property
    def address(self) -> str:
        """Where the step begins: a path of the explorer with its query."""
        query = controls.query_string(self.page.controls, controls.defaults(self.page.controls) | dict(self.values))
        controls.parse(self.page.controls, query)  # refuses what the page would refuse
        return f"/{self.page.name}?{query}"


def step_link(number: int) -> str:
    """Return the address of a step with its number: the page then shows the step's words and the way to the next."""
    return f"{STEPS[number - 1].address}{FRAGMENT_PREFIX}{number}"


def step_number(fragment: str | None, page: Page) -> int:
    """Return the number of the step that the fragment of an address names on a page; 0 if it is none of that page.

    >>> [step_number(fragment, STEPS[2].page) for fragment in ("#step-3", "#step-1", "#elsewhere")]
    [3, 0, 0]
    """
    digits = (fragment or "").removeprefix(FRAGMENT_PREFIX)
    number = int(digits) if digits in map(str, range(1, len(STEPS) + 1)) else 0
    return number if number and STEPS[number - 1].page.name == page.name else 0


# docs/tutorials/lecture.py has the same five steps, with their pictures on paper.
STEPS = (
    Step(
        "One mode after the other",
        "From a small start each singular value waits, then rises along a sigmoid. Freeze this run and enlarge the "
        "start: now all move at once.",
        train.PAGE,
        {"first_std": 5e-4, "second_std": 5e-4, "how": "flow"},
    ),
    Step(
        "The formula is the training",
        "Ask the audience for a width, here a million: it costs nothing, and the dashed formula lies on the curves.",
        train.PAGE,
        {"width": 10**6, "first_std": 3e-4, "second_std": 3e-4, "how": "flow"},
    ),
    Step(
        "Lazy or active: a map",
        "Which starts find the truth behind the noise? Every pixel is a network, and none of them was trained.",
        phase_diagram.PAGE,
        {"dim": 100},
    ),
    Step(
        "When to stop",
        "One cell of the map, trained: the error on the truth falls, then rises, as noise is learned after the signal.",
        phase_diagram.PAGE,
        {"dim": 100, "cell": (-2.2, 2.0)},
    ),
    Step(
        "Two phases under one strong direction",
        "Learning turns a corner: first along the correlation of inputs and output, then along what is left.",
        two_phases.PAGE,
        {"spike": 20.0, "alignment": 0.3, "samples": "1000"},
    ),
)
