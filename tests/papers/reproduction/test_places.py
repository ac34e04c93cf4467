"""Places of statements, joined: nothing is lost, and what belongs together stands together."""

from __future__ import annotations

import pytest

from linnet_papers.reproduction.places import joined_places


@pytest.mark.parametrize(
    ("places", "text"),
    [
        (["Eq. (9)"], "Eq. (9)"),
        (["Eq. (9)", "Eq. (9)"], "Eq. (9)"),
        (["Eq. (13)", "Eq. (14)", "Eqs. (34)-(35)"], "Eqs. (13)-(14), (34)-(35)"),
        (["Eqs. (C.17)-(C.19)", "Eqs. (C.20)-(C.21)"], "Eqs. (C.17)-(C.21)"),
        (["Eqs. (7), (8)", "Eq. (B.9)"], "Eqs. (7)-(8), (B.9)"),
        (["Eq. (9)", "Eq. (11)"], "Eqs. (9), (11)"),
        (["Theorem 3.1(i)", "Theorem 3.1(ii)", "Lemma C.6 (i)"], "Theorem 3.1(i), (ii); Lemma C.6 (i)"),
        (
            ["Proposition 4.1(b), first half", "Proposition 4.1(b), second half"],
            "Proposition 4.1(b), first half, second half",
        ),
        (["Eq. (13), last line", "Eq. (12)"], "Eq. (13), last line; Eq. (12)"),
        (["Lemmas E.1, E.2", "Lemma E.4"], "Lemmas E.1, E.2; Lemma E.4"),
        (["Section 3", "Section 3, Figure 2"], "Section 3, Figure 2"),
        (["Abstract", "below Eq. (6), case 1", "Eq. (6)"], "Eq. (6); Abstract; below Eq. (6), case 1"),
    ],
)
def test_places_are_joined(places: list[str], text: str) -> None:
    assert joined_places(places) == text
