# Each target sets up what it needs: a virtual environment in .venv, with linnet installed in place.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Pinned: an unpinned one may bring gigabytes of CUDA libraries. It comes before whatever would ask for any version.
TORCH ?= torch==2.13.0
# One thread of linear algebra for each test process: two processes with all threads each run many times slower.
SINGLE := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1

.PHONY: help reproduce reproduce-full verify test test-claims test-browser test-plugins test-torch lint format docs bench clean

help:
	@echo "make reproduce       every figure and claim of the papers, quick settings, on one page (about two minutes)"
	@echo "make reproduce-full  the same at the papers' sizes (hours on a laptop)"
	@echo "make verify          every claim of the papers, measured"
	@echo "make test            the test suite"
	@echo "make test-claims     its slow part: every claim's verdict under a deliberate error"
	@echo "make test-browser    its part that looks at the explorer in Chromium, and sends it nonsense"
	@echo "make test-plugins    its part that installs papers as packages into fresh environments"
	@echo "make test-torch      the part that needs PyTorch, peft, transformers and Lightning, which it installs"
	@echo "make lint            formatting, lint and types"
	@echo "make bench           benchmarks: ratios against a baseline in the same run"
	@echo "make format docs clean   tidy the code, regenerate the pages of figures, tables and claims, remove what was set up"
	@echo "make PYTHON=python3.13 ...  with another Python (3.11 or newer)"

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("linnet needs Python 3.11 or newer: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(READY)

reproduce: $(READY)
	$(BIN)/linnet reproduce --quick --out report

reproduce-full: $(READY)
	$(BIN)/linnet reproduce --out report

verify: $(READY)
	$(BIN)/linnet verify

test: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not plugin and not browser"

test-claims: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -n 2 --dist load -m slow

test-browser: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -n 2 --dist loadgroup -m browser

test-plugins: $(READY)
	$(SINGLE) $(BIN)/python -m pytest -m plugin

test-torch: $(READY) $(READY)-torch
	$(SINGLE) $(BIN)/python -m pytest -n 2 --dist load tests/pytorch

$(READY)-torch: $(READY)
	$(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet --editable '.[lora,lightning]'
	touch $(READY)-torch

lint: $(READY)
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff format src tests benchmarks examples
	$(BIN)/ruff check --fix src tests benchmarks examples

docs: $(READY)
	$(BIN)/linnet docs

bench: $(READY) $(READY)-torch
	for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
