"""The five steps of a lecture: a page of the explorer each, in the state in which it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from linnet.explorer import controls
from linnet.explorer.page import Page
from linnet.explorer.pages import PAGES

FRAGMENT_PREFIX = "#step-"


@dataclass(frozen=True)
class Step:
    """One step: what is seen, on which page, and what is set there.

    >>> STEPS[2].address
    '/phase-diagram?dim=100'
    """

    title: str
    says: str
    page_name: str
    values: Mapping[str, controls.Value] = field(default_factory=dict)

    @property
    def page(self) -> Page:
        """The page on which the step is shown."""
        return next(page for page in PAGES if page.name == self.page_name)

    @property
    def address(self) -> str:
        """Where the step begins: a path of the explorer with its query."""
        page = self.page
        query = controls.query_string(page.controls, controls.defaults(page.controls) | dict(self.values))
        controls.parse(page.controls, query)  # refuses what the page would refuse
        return f"/{page.name}" + (f"?{query}" if query else "")


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
    return number if number and STEPS[number - 1].page_name == page.name else 0


# docs/tutorials/lecture.py has the same five steps, with their pictures on paper.
STEPS = (
    Step(
        "One mode after the other",
        "From a small start each singular value waits, then rises along a sigmoid. Freeze this run and enlarge the "
        "start: now all move at once.",
        "train",
        {"first_std": 5e-4, "second_std": 5e-4, "how": "flow"},
    ),
    Step(
        "The formula is the training",
        "Ask the audience for a width, here a million: it costs nothing, and the dashed formula lies on the curves.",
        "train",
        {"width": 10**6, "first_std": 3e-4, "second_std": 3e-4, "how": "flow"},
    ),
    Step(
        "Lazy or active: a map",
        "Which starts find the truth behind the noise? Every pixel is a network, and none of them was trained.",
        "phase-diagram",
        {"dim": 100},
    ),
    Step(
        "When to stop",
        "One cell of the map, trained: the error on the truth falls, then rises, as noise is learned after the signal.",
        "phase-diagram",
        {"dim": 100, "cell": (-2.2, 2.0)},
    ),
    Step(
        "Two phases under one strong direction",
        "Learning turns a corner: first along the correlation of inputs and output, then along what is left.",
        "two-phases",
        {"spike": 20.0, "alignment": 0.3, "samples": "1000"},
    ),
)
