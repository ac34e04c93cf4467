"""The claims page's numbers: the registry filtered by hand, and a claim measured in a process of its own."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from linnet_papers.explorer.computing import claims, measuring
from linnet_papers.reproduction import record, registry
from linnet_papers.reproduction.declaration import Verdict


def test_all_claims_are_there_with_what_the_registry_says_of_them():
    found, known = claims.filtered_claims(), registry.claims()
    assert found.claim.values.tolist() == list(known)
    for name in ("paper", "where", "says", "assumes", "tried", "requirement"):
        assert found[name].values.tolist() == [getattr(claim, name) for claim in known.values()]
    assert found["verdict"].values.tolist() == [str(claim.expected) for claim in known.values()]
    one = found.sel(claim="watanabe-eq27")
    assert str(one["command"].values) == "linnet verify --quick watanabe-eq27"
    assert str(one["measured"].values) == record.last_measured()["watanabe-eq27"].measured
    assert int(one["kept"]) == record.shares()["watanabe-eq27"].kept and int(one["seeds"]) > 0


@pytest.mark.parametrize("verdict", [str(verdict) for verdict in Verdict])
def test_filters_of_paper_and_verdict_meet(verdict):
    by_hand = [c.name for c in registry.claims().values() if c.paper == "huang" and c.expected == verdict]
    found = claims.filtered_claims(paper="huang", verdict=verdict)
    assert found.claim.values.tolist() == by_hand
    assert set(found["paper"].values) <= {"huang"} and set(found["verdict"].values) <= {verdict}


def test_all_words_must_occur_in_any_case_and_order():
    by_hand = [
        name
        for name, c in registry.claims().items()
        for text in [" ".join([name, c.where, c.says, c.assumes, c.tried, c.requirement])]
        if "gaussian" in text.lower() and "width" in text.lower()
    ]
    found = set(claims.filtered_claims(words="  WIDTH gaussian ").claim.values)
    assert by_hand and set(by_hand) <= found
    for name in found - set(by_hand):
        assert {"gaussian", "width"} & set(record.last_measured()[name].measured.lower().replace(",", " ").split())
    assert claims.filtered_claims(words="no such words at all").sizes["claim"] == 0


def test_words_are_a_phrase_where_any_claim_has_it():
    for words in ("Theorem 2 of paper 4", "paper 4 theorem 2"):
        found = claims.filtered_claims(words=words)
        assert {"tu-thm2-lazy", "tu-thm2-active"} <= set(found.claim.values)
        assert all(where.startswith("Theorem 2") for where in found["where"].values[:2])
        assert set(found["paper"].values) == {"tu"}
    by_number = claims.filtered_claims(paper="varre", words="theorem 3.2")["where"].values.tolist()
    assert by_number and all("3.2" in where for where in by_number)
    assert claims.matches([" theorem 2.1 ", " eq. 2 theorem "], "theorem 2") == [True, False]  # a phrase, inside a word
    assert claims.matches([" theorem 2.1 ", " theorem 2 a "], "Theorem 2(a)") == [False, True]


def test_every_theorem_has_one_answer_and_it_is_found_in_the_words_of_a_question():
    every = claims.answers()
    known = registry.claims()
    pairs = list(zip(every["paper"].values, every.theorem.values, strict=True))
    assert len(pairs) == len(set(pairs)) == sum(len(paper.answers) for paper in registry.papers().values()) > 50
    for names in every["claims"].values:
        assert all(name in known for name in names.split())
    theorem_2 = claims.answers(words="Theorem 2 of paper 4")
    assert {"Theorem 2, lazy region", "Theorem 2, active region"} <= set(theorem_2.theorem.values)
    assert set(theorem_2["paper"].values) == {"tu"} and theorem_2.sizes["theorem"] <= 4
    assert claims.answers(words="no such words").sizes["theorem"] == 0
    assert set(claims.answers(paper="huang")["paper"].values) == {"huang"}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"paper": "nobody"}, "`paper` must be one of all, watanabe"),
        ({"verdict": "perhaps"}, "`verdict` must be one of all, holds"),
        ({"words": "x" * 201}, "`words` must be at most 200"),
    ],
)
def test_what_is_no_choice_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        claims.filtered_claims(**wrong)


def ended(bench, name, patience=300.0):
    until = time.monotonic() + patience
    while time.monotonic() < until:
        told = bench.progress(name)
        if told.state != measuring.UNDER_WAY:
            return told
        assert 0 <= told.share < 1
        time.sleep(0.2)
    raise AssertionError(f"{name} is not measured after {patience} s")


def test_the_outcome_is_that_of_the_command():
    bench, name = measuring.ClaimRunner(), "watanabe-eq9"
    assert bench.progress(name) is None
    assert bench.start(name).state == measuring.UNDER_WAY
    told = ended(bench, name)
    assert told.state == measuring.DONE, told.reason
    assert told.outcome["verdict"] == str(registry.claims()[name].expected)
    assert told.outcome["measured"] == record.last_measured()[name].measured


class Endless(measuring.ClaimRunner):
    """Its claims are never measured to the end, however fast the machine."""

    def _command(self, name):
        return [sys.executable, "-c", "import time; time.sleep(600)"]


def test_one_claim_is_measured_at_a_time_can_be_canceled_and_has_a_limit():
    bench = Endless()
    bench.start("watanabe-eq9")
    with pytest.raises(ValueError, match="watanabe-eq9 is being measured: one claim at a time"):
        bench.start("watanabe-eq6")
    bench.cancel()
    assert bench.progress("watanabe-eq9").state == measuring.CANCELED
    bench = Endless(limit_seconds=0.3)
    bench.start("watanabe-eq9")
    told = ended(bench, "watanabe-eq9")
    assert told.state == measuring.FAILED and "stopped after 0.3 s" in told.reason


@pytest.mark.parametrize("name", ["watanabe", "", "--help", "watanabe-eq9; ls", None, 3, "x" * 10_000])
def test_only_names_of_claims_are_run(name):
    with pytest.raises(ValueError, match="`claim` must be the name of a claim"):
        measuring.ClaimRunner().start(name)


ENDED = """
import sys, time
from linnet_papers.explorer.computing.measuring import ClaimRunner
bench = ClaimRunner()
bench.start(sys.argv[1])
print(bench._process.pid, flush=True)
time.sleep(600)
"""


def test_an_explorer_that_is_killed_leaves_nothing_running():
    longest = max(
        (name for name in registry.claims() if name in record.last_measured()),
        key=lambda n: record.last_measured()[n].seconds,
    )
    explorer = subprocess.Popen([sys.executable, "-c", ENDED, longest], stdout=subprocess.PIPE, text=True)
    process = int(explorer.stdout.readline())
    explorer.kill()
    explorer.communicate()
    until = time.monotonic() + 15
    while time.monotonic() < until and running(process):
        time.sleep(0.2)
    assert not running(process)


def running(process):
    """Whether there is such a process; a zombie that nobody has waited for has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
