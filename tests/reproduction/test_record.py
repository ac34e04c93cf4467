"""The record of the claims is about claims there are, and has the expected verdicts."""

from linnet.reproduction import record, registry


def test_the_record_is_of_claims_there_are_with_their_expected_verdicts():
    known = registry.claims()
    assert set(record.shares()) <= set(known) and set(record.last_measured()) <= set(known)
    wrong = [name for name, found in record.last_measured().items() if found.verdict != known[name].expected]
    assert not wrong, "linnet verify --quick --json src/linnet/reproduction/data/verdicts.json writes it anew"
    own = [claim for claim in known.values() if claim.measure.__module__.startswith("linnet.")]
    without = [claim.name for claim in own if claim.name not in record.last_measured()]
    assert len(without) < 0.1 * len(own), f"not measured yet: {without}"


def test_a_share_is_told_in_words():
    assert str(record.Share(19, 20)) == "19 of 20 seeds"
    assert all(0 < share.kept <= share.seeds for share in record.shares().values())
