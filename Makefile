# make plan: set up the planner, plan an example with GSP, show hFF beside it.   make test: set up everything the tests need and run all checks.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TYPES := build/types/gsp_fd
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
EXAMPLE := examples/blocksworld/domain.pddl examples/blocksworld/p02.pddl
NATIVE := CMakeLists.txt pyproject.toml constraints.txt $(wildcard gsp_fd/core/*.cpp gsp_fd/core/*.h gsp_fd/core/*.inc training/kernel/*)

.PHONY: plan test check clean
plan: $(VENV)/.planner
	$(BIN)/gsp-plan $(EXAMPLE) --heuristic gsp --search policy
	$(BIN)/gsp-plan $(EXAMPLE) --compare gsp-policy,hff-wastar

test: check
	$(BIN)/python -m pytest -n 2 -q tests

check: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf $(TYPES) && mkdir -p $(TYPES)
	ln -s $(CURDIR)/gsp_fd/* $(addprefix $(CURDIR)/,compare export fd_integration training) $(TYPES)
	$(BIN)/mypy

$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt scikit-build-core nanobind ninja
	touch $@

# Editable: Python changes need nothing, changes of the native core build it again.
$(VENV)/.planner: $(VENV)/.python $(NATIVE)
	$(PIP) install -c constraints.txt --no-build-isolation -e '.[translate]'
	touch $@

$(VENV)/.tests: $(VENV)/.planner
	$(PIP) install -c constraints.txt --no-build-isolation -e '.[cpu,train,test]'
	touch $@

clean:
	rm -rf $(VENV) build
