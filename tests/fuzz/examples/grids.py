"""Sweeps, papers and pictures."""

from __future__ import annotations

from typing import Any

import linnet as ln
import linnet_papers
import toys
from fuzz.examples import example, instance
from fuzz.examples import materials as m
from linnet_papers.reproduction import figure as figures
from linnet_papers.reproduction import verification as claims

S = "sweeps."


@m.made
def sweep() -> Any:
    return ln.sweeps.Sweep(name="toy", function="toys:cells", axes={"rate": [1.0, 2.0]}, fixed={"stops_at": 9.0})


def finished() -> Any:
    folder = m.folder() / "finished"
    ln.sweeps.run(sweep(), folder)
    return folder


@m.made
def toml() -> Any:
    path = m.folder() / "sweep.toml"
    path.write_text('name = "toy"\nfunction = "toys:cells"\n[axes]\nrate = [1.0, 2.0]\n[fixed]\nstops_at = 9.0\n')
    return str(path)


@m.made
def toy_table() -> Any:
    return linnet_papers.reproduction.Table(
        name="toy", title="t", sweep=lambda trial: sweep(), columns=lambda found: {"a": ["1"]}
    )


STORE = m.made(lambda: m.folder() / "store")
FINISHED = m.made(lambda: finished())
instance(S + "Range", m.made(lambda: ln.sweeps.Range(start=1.0, stop=2.0, count=3)))
instance(S + "Status", m.made(lambda: ln.sweeps.Status("toy", 1, 1)), received=True)
instance(S + "Sweep", sweep)
example(S + "Range", start=1.0, stop=8.0, count=4, spacing="log")
example(
    S + "Sweep",
    name="toy",
    function="toys:cells",
    axes={"rate": [1.0, 2.0]},
    seeds=1,
    seed=0,
    fixed={"stops_at": 9.0},
    nan=("fixed",),
    record=["end"],
    block=1,
    dtype="float64",
)
example(S + "open", store=FINISHED)
example(S + "status", store=FINISHED)
example(S + "run", sweep=sweep, store=STORE, slow=True)
example(S + "keeping", call=lambda folder: ln.sweeps.keeping(folder).__enter__(), folder=STORE)
example(S + "load", path=toml, code=["toys"], names=("name", "function", "axes"))

R = "reproduction."
FIGURE, CLAIM = m.made(lambda: toys.FIGURES["tu-fig1"]), m.made(lambda: toys.CLAIMS["tu-other"])
instance(R + "Check", m.made(lambda: figures.Check("text", 1.0, 2.0, True)), received=True)
for side in ("above", "at_least", "at_most", "below"):  # called by figures, with numbers that they have measured
    example(R + f"Check.{side}", text="t", value=1.0, limit=2.0, frozen=("text", "value", "limit"))
instance(R + "Claim", CLAIM, received=True)
instance(R + "Figure", FIGURE, received=True)
instance(R + "Limit", m.made(lambda: linnet_papers.reproduction.Limit(1.0, "reason")), received=True)
instance(R + "Measurement", m.made(lambda: CLAIM().measurement(claims.Trial())), received=True)
instance(R + "Outcome", m.made(lambda: claims.verify([CLAIM()], claims.Trial())[0]), received=True)
instance(R + "Paper", m.made(lambda: linnet_papers.reproduction.Paper(name="toy", title="t", authors="a")))
instance(R + "Settings", m.made(lambda: figures.Settings(seed=0)))
# pydantic models: their errors name the field, and the command line puts them into words (tests/cli)
example(R + "Settings", seed=1, frozen=("seed",))
instance(
    R + "Statement",
    m.made(lambda: linnet_papers.reproduction.Statement(where="1", text="t", reason="r")),
    received=True,
)
instance(
    R + "Answer",
    m.made(lambda: linnet_papers.reproduction.Answer(theorem="1", answer="t", claims=["c"])),
    received=True,
)
instance(R + "Table", toy_table, received=True)
instance(R + "Trial", m.made(lambda: claims.Trial(quick=True)))

# Rules are declared in papers and read numbers that a measurement returned; `Claim.measurement` names what is missing.
NUMBERS = {"value": [3.0, 2.0], "uncertainty": 0.1}
RULES = {
    name: m.made(lambda name=name: getattr(linnet_papers.reproduction, name)(1.0, because="one"))
    for name in ("Above", "AtLeast", "AtMost", "Below", "Falls", "Rises", "Within")
}
RULES |= {name: m.made(lambda: RULES["Above"]() & RULES["Below"]()) for name in ("AllOf", "Rule")}
RULES["rules.Leaf"] = RULES["Below"]
for name, rule in RULES.items():
    instance(R + name, rule, received=True)
    example(R + f"{name}.met", on=rule, numbers=NUMBERS, frozen=("numbers",))
    example(R + f"{name}.conclusion", on=rule, numbers=NUMBERS, frozen=("numbers",))
    if name not in ("AllOf", "Rule"):
        example(R + f"{name}.words", on=rule, numbers=NUMBERS, frozen=("numbers",))
        example(R + f"{name}.example", on=rule, met=True, frozen=("met",))
estimate = m.made(lambda: linnet_papers.reproduction.Estimate(1.0, 0.1))
instance(R + "Estimate", estimate, received=True)
example(R + "Estimate.of_mean", draws=[1.0, 2.0, 4.0])
example(R + "Estimate.minus", on=estimate, other=estimate)
example(R + "Estimate.errors_above", on=estimate, level=0.5)
TOLD = {"value": 9.0, "told": "so"}
example(R + "Claim.verdict", on=CLAIM, numbers=TOLD, frozen=("numbers",))
example(R + "Claim.conclusion", on=CLAIM, numbers=TOLD, frozen=("numbers",))
example(R + "claim", name="toy", frozen=("name",))
example(R + "Table.rows", on=toy_table, trial=m.made(lambda: claims.Trial(quick=True)), slow=True)

example(R + "Trial", quick=True, seed=1)
example(
    R + "Paper", name="toy", title="t", authors="a", year=2024, link="l", subject="s", figures=[], tables=[], claims=[]
)
example(R + "Claim.measurement", on=CLAIM, trial=m.made(lambda: claims.Trial(quick=True)))
example(R + "Figure.configure", on=FIGURE, quick=True, rate=2.0, frozen=("rate",))
example(R + "verify", chosen=m.made(lambda: [CLAIM()]), trial=m.made(lambda: claims.Trial(quick=True)))


example(R + "Table.results", on=toy_table, trial=m.made(lambda: claims.Trial(quick=True)), slow=True)
example(
    R + "Table.text",
    on=toy_table,
    results=m.made(lambda: toy_table().results(claims.Trial())),
    slow=True,
    loose=("results",),
)
example(
    R + "Table.entries",
    on=toy_table,
    results=m.made(lambda: toy_table().results(claims.Trial())),
    slow=True,
    loose=("results",),
)
example(R + "typeset.typeset", text="s_K at T2", frozen=("text",))
example("precision.compilation_cache", folder="compiled")
example("precision.computing", dtype="float32", device="cpu", tf32=False)
example("style.column", width=1.0, ratio=0.75)
example("style.shades", count=3)
example("style.subplots", rows=1, columns=2, size=(3.0, 2.0), slow=True)
example("style.subscript", index=3)
