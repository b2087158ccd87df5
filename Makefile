# `make` lists what there is. Every target first makes or refreshes its environment in .venv.

CORES ?= all
VENV := .venv
# What makes and audits the locks.
TOOLS := .venv-tools
# python3 if it is new enough, or the first of the others that is; PYTHON=... overrides.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# auto-sklearn runs on Python 3.9 alone: one on the path or of pyenv's; AUTOML_PYTHON=... overrides.
AUTOML := .venv-automl
AUTOML_PYTHON ?= $(shell for python in python3.9 $${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.9.*/bin/python; do \
	$$python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 9))' 2>/dev/null && echo $$python && break; done)

RUN := $(VENV)/bin/python -m
READY := $(VENV)/ready
# The environment refers to this folder by its full name: in a moved or copied folder it is made anew.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
.PHONY: $(READY)
endif

.DEFAULT_GOAL := help
.PHONY: help demo results plan test test-slow bench lint format lock audit clean automl-env automl-python

help: ## this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/:.*## /|/' | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'

demo: $(READY) ## a first look: the same run, small, in demo/
	@mkdir -p demo
	$(RUN) snakemake --cores $(CORES) --directory demo --configfile config.yaml config/demo.yaml
	@echo "Open demo/results/report.html"

results: $(READY) ## every table and figure, in results/ (CORES=4 to use fewer cores)
	$(RUN) snakemake --cores $(CORES)

plan: $(READY) ## the jobs and the expected time of `make results`, without running anything
	@$(RUN) frugalmct.paper forecast --cores $(CORES)

automl-env: $(AUTOML)/ready ## auto-sklearn in an environment of its own, .venv-automl (a few minutes)

automl-python: # the Python 3.9 that automl-env would use; empty if there is none
	@echo "$(AUTOML_PYTHON)"

test: $(READY) ## the fast tests
	$(RUN) pytest -n auto --dist loadgroup

test-slow: $(READY) ## the slow tests
	$(RUN) pytest -m slow -n 2 --dist loadgroup

bench: $(READY) ## time and memory, in results/bench/
	@for benchmark in benchmarks/bench_*.py; do echo "$$benchmark"; $(VENV)/bin/python "$$benchmark" || exit 1; done

lint: $(READY) ## what the tests check of style
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	$(RUN) snakefmt --check Snakefile workflow
	$(RUN) snakemake --lint

format: $(READY) ## rewrite the code in that style
	$(RUN) ruff check --fix .
	$(RUN) ruff format .
	$(RUN) snakefmt Snakefile workflow

clean: ## remove what was generated, except the environment
	rm -rf demo
	find results -mindepth 1 -maxdepth 1 ! -name README.md -exec rm -rf {} +
	rm -rf .snakemake .pytest_cache .ruff_cache .mypy_cache .hypothesis build
	find . -name __pycache__ -not -path './$(VENV)*/*' -prune -exec rm -rf {} +

# The mark is written last and removed first: a build that was cut off starts over.
$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer was found; install one, or name it: make PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is not Python 3.11 or newer; name one that is: make PYTHON=/path/to/python"; exit 1; }
	rm -f $(READY)
	$(PYTHON) -m venv --clear $(VENV)
	$(RUN) pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(RUN) pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@printf '%s\n' '$(CURDIR)' > $(READY)

# pyrfr is built with the swig that the first line installs.
$(AUTOML)/ready: envs/automl-build.txt envs/automl-requirements.txt
	@test -n "$(AUTOML_PYTHON)" || { echo "No Python 3.9 was found; install one, or name it: make automl-env AUTOML_PYTHON=/path/to/python3.9"; exit 1; }
	rm -f $@
	$(AUTOML_PYTHON) -m venv --clear $(AUTOML)
	$(AUTOML)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement envs/automl-build.txt
	PATH="$(CURDIR)/$(AUTOML)/bin:$$PATH" $(AUTOML)/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation --require-hashes --requirement envs/automl-requirements.txt
	$(AUTOML)/bin/python -W ignore -c 'import autosklearn.regression'
	@touch $@

# uv chooses the versions and finds their checksums, for every system; no host is written down.
LOCK := $(TOOLS)/bin/uv pip compile --quiet --generate-hashes --no-annotate --custom-compile-command 'make lock'
lock: ## choose the newest versions of everything anew, with their checksums, for the locks
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer was found; install one, or name it: make lock PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade uv
	$(LOCK) --upgrade --universal --python-version 3.11 --extra automl --extra workflow --extra slurm --extra serve --extra postgres --extra dev \
		--output-file requirements.lock pyproject.toml
	@# What auto-sklearn was tried with stays; only what is missing is chosen.
	$(LOCK) --python-version 3.9 --output-file envs/automl-build.txt envs/automl-build.in
	$(LOCK) --python-version 3.9 --constraint envs/automl-build.txt --output-file envs/automl-requirements.txt envs/automl.in

audit: ## known vulnerabilities of the locked packages (needs a network)
	@test -n "$(PYTHON)" || { echo "No Python 3.11 or newer was found; install one, or name it: make audit PYTHON=/path/to/python"; exit 1; }
	@$(PYTHON) -m venv $(TOOLS)
	@$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --retries 0 --upgrade pip-audit 2>/dev/null \
		|| { echo "Nothing was audited: pip-audit cannot be installed, which needs a network."; exit 2; }
	@$(TOOLS)/bin/python tools/audit.py
