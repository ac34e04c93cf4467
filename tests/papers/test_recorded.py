"""The record of every claim: it has the published verdict, each of its rows decides, and none says the same twice."""

from __future__ import annotations

import re

import pytest

from linnet_papers.reproduction import claims, papers, record
from linnet_papers.reproduction.formulas import FORMULA, plain
from linnet_papers.reproduction.show import markdown_text, values_text
from linnet_papers.testing import check_record

CLAIMS = claims()


@pytest.mark.parametrize("name", CLAIMS)
def test_the_record_has_the_published_verdict_and_each_row_decides(name: str) -> None:
    claim = CLAIMS[name]
    check_record(papers()[claim.paper], claim.short)


def test_the_record_is_of_claims_there_are_and_of_all_of_them() -> None:
    known = record.of(papers().values())
    assert set(known) == set(CLAIMS)
    assert all(record.read(paper.record).all for paper in papers().values())


@pytest.mark.parametrize("name", CLAIMS)
def test_words_are_whole_in_a_terminal_and_on_a_page(name: str) -> None:
    """No TeX is left in a terminal, and every formula is one on a page."""
    claim = CLAIMS[name]
    rows = record.read(papers()[claim.paper].record).claims[name].result.rows
    texts = [claim.says, claim.tried, claim.assumes, claim.correction, *(row.quantity for row in rows)]
    for text in [*texts, *(row.limit.because for row in rows if row.limit), *map(values_text, rows)]:
        assert not re.search(r"[\\$]|\{[^{}]*\}_|_\{", plain(text)), text
        assert text.count("$") % 2 == 0 and len(re.findall(FORMULA, markdown_text(text))) == text.count("$") // 2, text
        assert text.strip() == text and "\n" not in text, text
    assert claim.says.endswith((".", '"')), claim.says
