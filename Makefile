# Everything from a clean clone: Python 3.11 or newer, make, and the package registry.
PYTHON ?= python3
VENV := .venv
JOBS ?= 2
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: help demo quick fast-tests test lint new-detector hostile scripts long request score clinic treatments study bench docs pictures site samples clean

help:
	@echo "make demo     install, and show traindx on a training that went wrong"
	@echo "make quick    lint, types and the fast tests: what to run while you work"
	@echo "make test     install, lint, check types, run the tests, JOBS at a time (2)"
	@echo "make lint     ruff and mypy only"
	@echo "make new-detector NAME=loss_repeats AREA=loss   a new detector: its file, page and cases"
	@echo "make hostile  corrupted inputs, kills and escapes from trials, including the slow ones"
	@echo "make scripts  every training script plain and recorded, including the slow ones"
	@echo "make long     the tests that take long, with the other slow ones"
	@echo "make request  every case of the checklist, with its trainings and treatments"
	@echo "make score    diagnose the stored recordings of the clinic again: what changed since the last commit"
	@echo "make clinic   train broken and healthy scripts under traindx: how often it is right"
	@echo "make treatments  treat the broken scripts of the clinic: how many are fixed, compared with random remedies"
	@echo "make study    the simulation study over a thousand runs of each shape"
	@echo "make bench    the benchmarks (benchmarks/README.md)"
	@echo "make docs     write the generated pages under docs/"
	@echo "make pictures the pages, and the pictures too, by running the examples (two minutes)"
	@echo "make site     build the documentation as a site, into site/"
	@echo "make samples  rewrite tests/samples with the real libraries (installs them)"
	@echo "make clean    remove the environment and all caches"

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "traindx needs Python 3.11 or newer; choose one with make PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e .
	touch $@

$(VENV)/.torch: $(VENV)/.base
	$(PIP) -e '.[torch]'
	touch $@

$(VENV)/.test: $(VENV)/.base
	$(PIP) -e '.[test]'
	touch $@

$(VENV)/.bench: $(VENV)/.test
	$(PIP) -e '.[bench]'
	touch $@

$(VENV)/.clinic: $(VENV)/.test
	$(PIP) -e '.[clinic]'
	touch $@

$(VENV)/.site: $(VENV)/.base
	$(PIP) -e '.[site]'
	touch $@

demo: $(VENV)/.torch
	$(BIN)/traindx demo

quick: $(VENV)/.test
	$(MAKE) --no-print-directory -j 2 lint fast-tests

fast-tests: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations=10 -m "not slow"

test: lint
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations=10

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

new-detector: $(VENV)/.test
	$(BIN)/python tools/new_detector.py '$(NAME)' '$(AREA)'
	$(BIN)/python docs/generate.py --pages

hostile: $(VENV)/.test
	TRAINDX_HOSTILE=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal tests/hostile

scripts: $(VENV)/.test
	TRAINDX_ALL_SCRIPTS=1 $(BIN)/python -m pytest tests/test_scripts.py tests/test_scripts_ends.py tests/test_scripts_models.py tests/test_scripts_steps.py

request: $(VENV)/.test
	TRAINDX_REQUEST=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal tests/request

long: $(VENV)/.test
	TRAINDX_LONG=1 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations=10 -m slow

score: $(VENV)/.test
	$(BIN)/python -m clinic.rescore --jobs $(JOBS) $(ONLY)

clinic: $(VENV)/.clinic
	$(BIN)/python -m clinic $(ONLY)

treatments: $(VENV)/.clinic
	$(BIN)/python -m clinic.treat --control $(ONLY)

study: $(VENV)/.test
	TRAINDX_STUDY_RUNS=1000 $(BIN)/python -m pytest tests/test_simulation.py

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

docs: $(VENV)/.test
	$(BIN)/python docs/generate.py --pages

pictures: $(VENV)/.test
	$(BIN)/python docs/generate.py

site: $(VENV)/.site
	$(BIN)/python tools/site.py build/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "site/index.html is the start page"

samples: $(VENV)/.test
	$(BIN)/python tests/samples/make $(ONLY)

clean:
	rm -rf $(VENV) .venv-samples build dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
