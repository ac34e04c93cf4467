# Each target sets up what it needs: a virtual environment in .venv, with linnet installed in place.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Pinned: an unpinned one may bring gigabytes of CUDA libraries. It is installed with whatever asks for any version.
TORCH ?= torch==2.13.0
# One thread of linear algebra and of XLA for each test process: two processes with all threads each run many times slower.
SINGLE := NPROC=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
# Where the machine forbids it, every process would compile the package and its tests again: 3 seconds of each run.
export PYTHONDONTWRITEBYTECODE :=

# How many processes the tests run in: `make PROCESSES=8 test` on a larger machine.
PROCESSES ?= 2

# What `make test-lowest` and `make test-pythons` run, and with what: everything that computes, reads or stores.
COMPUTES := $(addprefix tests/,agreement draw estimators forecasts inits lora observables predictions problems properties reductions sweeps theories trainers trajectories)
# What is fast and needs nothing more than the development environment.
FAST := -m "not slow and not plugin and not browser and not release and not site"

.PHONY: help reproduce reproduce-full verify baseline test fuzz test-claims test-browser test-shapes test-plugins test-release test-lowest test-pythons test-torch site test-site lint style types format docs bench clean

help:
	@echo "make reproduce       every figure and claim of the papers, quick settings, on one page (less than a minute and a half)"
	@echo "make reproduce-full  the same at the papers' sizes (hours on a laptop)"
	@echo "make verify          every claim of the papers, measured"
	@echo "make baseline        figures and claims compared with version 0.3.0, number by number (about four minutes)"
	@echo "make test            the test suite"
	@echo "make fuzz            every public function with wrong arguments: about 65 000 calls; wrong command lines, broken pipes, interrupts, kills"
	@echo "make test-claims     its slow part: every claim's verdict under a deliberate error (PART=3/8: an eighth)"
	@echo "make test-browser    its part that looks at the live pages and the report in Chromium, types and access included"
	@echo "make test-shapes     arrays have the shapes that annotations state, checked in the tests of agreement"
	@echo "make test-plugins    its part that installs papers as packages into fresh environments"
	@echo "make test-release    sdist and wheel: built, checked, installed into an empty environment and run there"
	@echo "make test-lowest     the tests of what computes, with the lowest declared version of every dependency"
	@echo "make test-pythons    the same with each of Python 3.11, 3.12 and 3.13 that is found"
	@echo "make test-torch      the part that needs PyTorch, peft, transformers and Lightning, which it installs"
	@echo "make site            the documentation site, tutorials executed, in site/ (about a minute)"
	@echo "make test-site       builds it and looks at every page in a browser"
	@echo "make lint            formatting, lint and types (make style, make types: a part of it)"
	@echo "make bench           benchmarks: ratios in one run, kept in a history, with what moved"
	@echo "make format docs clean   tidy the code, regenerate the pages of figures, tables and claims, remove what was set up"
	@echo "make PYTHON=python3.13 ...  with another Python (3.11 or newer)"

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("linnet needs Python 3.11 or newer: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]' --group dev
	touch $(READY)

reproduce: $(READY)
	$(BIN)/linnet reproduce --quick --out report

reproduce-full: $(READY)
	$(BIN)/linnet reproduce --out report
	$(BIN)/python -m website.gallery report

verify: $(READY)
	$(BIN)/linnet verify

# What `linnet reproduce` itself finds wrong does not keep it from being compared.
baseline: $(READY)
	-$(SINGLE) $(BIN)/linnet reproduce --quick --out build/baseline
	PYTHONPATH=tests $(BIN)/python -m baseline build/baseline

test: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -n $(PROCESSES) --dist worksteal $(FAST) --ignore tests/pytorch

fuzz: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -p no:cacheprovider -n $(PROCESSES) --dist worksteal tests/fuzz/every_call.py
	$(SINGLE) $(BIN)/python -m pytest -p no:cacheprovider tests/fuzz/every_end.py

# `make PART=3/8 test-claims`: every eighth of them, from the fourth on.
PART ?= 0/1
test-claims: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -n $(PROCESSES) --dist load -m slow --part $(PART)

test-browser: $(READY)
	@test -d $(VENV)/node_modules/axe-core || npm install --silent --no-audit --no-fund --prefix $(VENV) typescript axe-core || \
	echo "npm could not install TypeScript and axe: their two tests will be left out"
	$(SINGLE) $(BIN)/python -m pytest -n $(PROCESSES) --dist loadgroup -m browser

# Arrays have the shapes that annotations state: checked while the trainers and theories agree with each other.
test-shapes: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -n $(PROCESSES) --jaxtyping-packages=linnet,shapes.check -m "not slow" tests/agreement

test-plugins: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -m plugin

test-release: $(READY)
	$(BIN)/python -m pytest -m release tests/release

# The lowest declared versions of everything, in an environment of their own; the tests of what computes.
test-lowest:
	test -x .venv-lowest/bin/python || $(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --upgrade pip uv
	.venv-lowest/bin/uv pip compile --quiet --resolution lowest-direct --extra all --group test --group data --output-file .venv-lowest/constraints.txt pyproject.toml
	.venv-lowest/bin/python -m pip install --quiet --constraint .venv-lowest/constraints.txt --editable '.[all]' --group test
	$(SINGLE) .venv-lowest/bin/python -m pytest -n $(PROCESSES) --dist loadfile $(FAST) $(COMPUTES)

# The same tests with each supported Python that is found, on the path or where pyenv and uv keep them.
test-pythons:
	$(PYTHON) tests/release/pythons.py | while read -r version found; do \
	  echo "== Python $$version: $$found"; \
	  test -x .venv-$$version/bin/python || "$$found" -m venv .venv-$$version || exit 1; \
	  .venv-$$version/bin/python -m pip install --quiet --upgrade pip || exit 1; \
	  .venv-$$version/bin/python -m pip install --quiet --editable '.[all]' --group test || exit 1; \
	  $(SINGLE) .venv-$$version/bin/python -m pytest -n $(PROCESSES) --dist loadfile $(FAST) $(COMPUTES) </dev/null || exit 1; \
	done

test-torch: $(READY) $(READY)-torch
	$(SINGLE) $(BIN)/python -m pytest -n $(PROCESSES) --dist load tests/pytorch

$(READY)-torch: $(READY)
	$(BIN)/python -m pip install --quiet '$(TORCH)' --editable '.[lora]' --group torch
	touch $(READY)-torch

site: $(READY) $(READY)-site
	$(BIN)/python -m website

test-site: site
	$(SINGLE) $(BIN)/python -m pytest -m site tests/website

$(READY)-site: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $(READY)-site

lint: style types

style: $(READY)
	$(BIN)/ruff format --check src tests benchmarks examples website
	$(BIN)/ruff check src tests benchmarks examples website

types: $(READY)
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format src tests benchmarks examples website
	$(BIN)/ruff check --fix src tests benchmarks examples website

docs: $(READY)
	$(BIN)/linnet docs

bench: $(READY) $(READY)-torch
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .venv-lowest .venv-3.1? .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
