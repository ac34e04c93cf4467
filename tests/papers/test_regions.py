"""A correction is a claim with a region of its own: it is declared, wide enough, and scanned with its corners."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linnet_papers.reproduction import Claim, Range, Trial, below, claim, claims, corrected, papers, printed
from linnet_papers.reproduction.measurement import measure
from linnet_papers.testing import check_region, result_of

CLAIMS = claims()
# Corrections that have no region yet. The list only shrinks: a claim that is in it and passes is an error.
TO_DO: dict[str, set[str]] = {
    "tu": {"final-alignment", "settling", "all-lazy"},
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_correction_is_scanned_over_its_region(name: str) -> None:
    one = CLAIMS[name]
    rows = result_of(papers()[one.paper], one.short).rows
    if one.short in TO_DO.get(one.paper, ()):
        with pytest.raises(AssertionError, match=name):
            check_region(one, rows)
    else:
        check_region(one, rows)


LIMIT = below(1.0, "a number for this test")


def scanned(region: dict[str, Range], **words: str) -> Claim:
    """Return a claim whose correction is scanned over its region."""

    def measurement(trial: Trial):
        yield printed("size", 2.0, LIMIT)
        yield corrected("scanned size", dict.fromkeys(trial.region(3), 0.5), LIMIT)
        yield corrected("size outside", 0.5, LIMIT)

    decorated = claim("scanned", says="A size.", tried="here", correction="half of it", region=region, **words)
    return decorated(measurement)


def check(one: Claim, declared: Claim | None = None) -> None:
    """Check the rows of one claim against the region that it, or another one, declares."""
    check_region(declared or one, measure(one, Trial(quick=True)).rows)


SCALE = Range(0.1, 1.0, log=True, paper=(0.3,))


def test_a_scanned_correction_passes() -> None:
    check(scanned({"scale": SCALE, "size": Range(2, 5, whole=True)}))


@pytest.mark.parametrize(
    ("region", "match"),
    [
        ({"scale": Range(0.1, 0.9, log=True, paper=(0.3,))}, "a factor of 10"),
        ({"scale": Range(0.1, 2.0, log=True, paper=(0.3, 1.0))}, "a factor of 33"),
        ({"scale": Range(0.5, 5.0, log=True, paper=(0.3,))}, "must reach the paper's"),
        ({"size": Range(2, 2)}, "two ends"),
    ],
)
def test_a_narrow_region_fails(region: dict[str, Range], match: str) -> None:
    with pytest.raises(AssertionError, match=match):
        check(scanned(region))


def test_a_scale_may_end_where_a_row_shows_that_the_correction_fails() -> None:
    check(scanned({"scale": Range(0.1, 0.9, log=True, ends="size outside")}))


def test_rows_over_another_region_fail() -> None:
    """Other ends, or corners left out: the rows are no longer those of the region."""
    wider = {"scale": SCALE._replace(high=2.0)}
    with pytest.raises(AssertionError, match=r"settings of `trial\.region`"):
        check(scanned({"scale": SCALE}), scanned(wider))
    rows = measure(scanned({"scale": SCALE}), Trial(quick=True)).rows
    inside = [replace(row, values=row.values[2:], labels=row.labels[2:]) for row in rows]
    with pytest.raises(AssertionError, match=r"settings of `trial\.region`"):
        check_region(scanned({"scale": SCALE}), inside)


def test_a_correction_without_a_region_says_why() -> None:
    with pytest.raises(AssertionError, match="the `region` of its correction"):
        check(scanned({}))
    check_region(scanned({}, no_region="an identity of matrices"), [])
    with pytest.raises(AssertionError, match="a reason why it has none"):
        check(scanned({"scale": SCALE}, no_region="an identity of matrices"))
