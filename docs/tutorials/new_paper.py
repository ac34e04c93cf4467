# %% [markdown]
# # Adding a paper
#
# *How do I add my own paper?* A paper is a plug-in (plugin): a Python package with an object `PAPER` that lists its figures, tables and claims. Once it is installed, `linnet list`, `run`, `reproduce`, `verify` and `sweep` know it as they know
# the built-in ones. So: let linnet write the package, put the paper's content in, measure.
#
# ## The package
#
#     linnet new-paper ocean
#
# writes it. Here the same from Python, into the folder in which this page runs:

# %%
import os
import subprocess
import sys
from pathlib import Path


def linnet(*arguments):
    """The command line, as in a terminal."""
    paths = os.pathsep.join(filter(None, [str(Path("ocean/src").resolve()), os.environ.get("PYTHONPATH", "")]))
    done = subprocess.run(
        [sys.executable, "-m", "linnet", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


linnet("new-paper", "ocean")
for file in sorted(Path("ocean").rglob("*")):
    if file.is_file():
        print(file)

# %% [markdown]
# The package is green as it is: `pip install -e ocean` makes it known, `linnet verify --quick ocean` and `pytest ocean` pass. Then you replace what is in it:
#
# | file | holds |
# |---|---|
# | `settings.py` | the paper's constants, once |
# | `networks.py` | what the paper trains, once |
# | `theory.py` | its formulas (or use linnet's) |
# | `figures/fig1.py` | one figure: `compute` trains and returns a dataset, `plot` reads only the dataset, `check` measures in it |
# | `claims/sigmoid.py` | one claim: its statement, the limit with its reason, and the measurement that returns rows |
# | `__init__.py` | `PAPER = Paper(...)`: the citation, and the modules of its figures and claims |
# | `statements.toml` | the statements of the paper, each with the claim that checks it |
#
# This is the object that the entry point in `pyproject.toml` names:

# %%
print(Path("ocean/src/linnet_ocean/__init__.py").read_text())

# %% [markdown]
# ## Its figure
#
# Installed, it is `linnet run ocean-fig1`. Without installing, from Python:

# %% The figure of the new package, drawn just now
sys.path.insert(0, "ocean/src")
from linnet_ocean import PAPER

figure = PAPER.figures[0]
dataset = figure.compute(figure.configure(quick=True), ())
for row in figure.check(dataset):
    print(row.quantity, row.values, row.limit)
figure.plot(dataset)

# %% [markdown]
# ## Its claim
#
# A function that yields rows: a quantity, what was measured, and a limit with its reason. The verdict follows from the rows. Installed, it is `linnet verify ocean-sigmoid`.

# %%
from linnet_papers.reproduction import Trial, verify

claim = PAPER.claims[0]
(found,) = verify([claim], Trial(quick=True))
print(claim.name, "|", claim.says)
print(found.verdict)
for row in found.rows:
    print(row.decides, "|", row.quantity, "|", row.values, "|", row.limit)

# %% [markdown]
# ## What makes a claim worth having
#
# - Nothing on the measuring side comes from the theory under test.
# - A quantity that is right before the first step shows nothing. A lazy kernel hardly moves, so it is aligned with its final value at t = 0 already. Measure also how far it was from it at time 0, and try a lazy network as the counterexample.
# - Every limit has a reason, and the pages print it. A reason that only restates the limit is none.
# - For each claim there is a deliberate mistake that turns its verdict, and a test that makes it. The template's test shows how:

# %%
print(Path("ocean/tests/test_paper.py").read_text())

# %% [markdown]
# The fifth paper that linnet knows, `examples/saxe` in the repository (Saxe, McClelland and Ganguli 2014), was made this way; [developing linnet](../developing.md#adding-a-paper) has the steps
# for one that is to become a part of linnet.
