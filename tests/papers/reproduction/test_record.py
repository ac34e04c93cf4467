"""The record of the claims is about claims there are, and has the expected verdicts."""

import json

import pytest

from linnet_papers.reproduction import record, registry


def test_the_record_is_of_claims_there_are_with_their_expected_verdicts():
    known = registry.claims()
    assert set(record.shares()) <= set(known) and set(record.last_measured()) <= set(known)
    wrong = [name for name, found in record.last_measured().items() if found.verdict != known[name].expected]
    assert not wrong, "measure them by `linnet verify --quick --json FILE`, and record that by `linnet docs --record`"
    own = [claim for claim in known.values() if claim.measure.__module__.startswith("linnet_papers.")]
    without = [claim.name for claim in own if claim.name not in record.last_measured()]
    assert len(without) < 0.1 * len(own), f"not measured yet: {without}"


def test_a_share_is_told_in_words():
    assert str(record.Share(19, 20)) == "19 of 20 seeds"
    assert all(0 < share.kept <= share.seeds for share in record.shares().values())


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch, tmp_path):
    """Both records in a folder of their own, with claims that are there and one that is not."""
    measured = [{"name": name, "expected": "holds", "verdict": "holds", "seconds": 1.0} for name in ("gone", "a", "b")]
    (tmp_path / record.VERDICTS).write_text(json.dumps(measured))
    (tmp_path / record.SHARES).write_text("[]")
    monkeypatch.setattr(record, "_path", lambda name: tmp_path / name)
    return lambda name: {row["name"]: row for row in json.loads((tmp_path / name).read_text())}


def test_new_rows_take_the_place_of_old_ones_and_leave_the_others(records):
    row = {"name": "b", "expected": "holds", "verdict": "holds", "seconds": 2.0}
    assert record.merge([row], ["b", "a", "c"]) == record.VERDICTS
    kept = records(record.VERDICTS)
    assert list(kept) == ["b", "a"] and kept["b"] == row and kept["a"]["seconds"] == 1.0
    assert (
        record.merge([{"name": "c", "expected": "holds", "seeds": 20, "verdicts": {}}], ["a", "b", "c"])
        == record.SHARES
    )
    assert list(records(record.SHARES)) == ["c"] and list(records(record.VERDICTS)) == ["b", "a"]


@pytest.mark.parametrize(
    "rows",
    [[], [{"name": "a"}], [{"name": "d", "expected": "holds"}], [{"name": "a", "expected": "holds"}, {"seeds": 2}]],
)
def test_rows_of_anything_else_are_not_recorded(records, rows):
    before = records(record.VERDICTS)
    with pytest.raises(ValueError, match="must be those that `linnet verify --quick --json` writes"):
        record.merge(rows, ["a", "b"])
    assert records(record.VERDICTS) == before
