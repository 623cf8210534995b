# make plan: set up the planner, plan an example, show its policy beside hFF.   make test: set up everything the tests need and run all checks.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
TYPES := build/types/gsp_fd
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
EXAMPLE := examples/blocksworld/domain.pddl examples/blocksworld/p02.pddl
NATIVE_TESTS := $(wildcard tests/test_core_*.py) tests/test_encoder.py tests/test_network.py tests/test_plugin.py
NATIVE := CMakeLists.txt pyproject.toml constraints.txt $(wildcard gsp_fd/core/*.cpp gsp_fd/core/*.h gsp_fd/core/*.inc training/kernel/*)

SANITIZED := build/sanitize

.PHONY: plan test check docs wheel sanitize clean
plan: $(VENV)/.planner
	$(BIN)/gsp-plan $(EXAMPLE)
	$(BIN)/gsp-plan $(EXAMPLE) --compare gsp-policy,hff-wastar

test: check
	$(BIN)/python -m pytest -n 2 -q tests

check: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf $(TYPES) && mkdir -p $(TYPES)
	ln -s $(CURDIR)/gsp_fd/* $(addprefix $(CURDIR)/,compare export fd_integration training) $(TYPES)
	$(BIN)/mypy

docs: $(VENV)/.tests
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# A wheel, installed where there is no compiler: plans, a minute of training, and a plan with what it learned.
wheel: $(VENV)/.python
	rm -rf build/wheel && mkdir -p build/wheel
	$(PIP) wheel -c constraints.txt --no-build-isolation --no-deps --wheel-dir build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	PATH=$(abspath build/wheel/venv/bin) build/wheel/venv/bin/python -m pip --disable-pip-version-check --quiet install \
	  -c constraints.txt --only-binary :all: build/wheel/*.whl
	PATH=$(abspath build/wheel/venv/bin) gsp-plan $(EXAMPLE) --heuristic gsp --search policy --plan-file build/wheel/plan
	PATH=$(abspath build/wheel/venv/bin) gsp-plan $(EXAMPLE) --compare gsp-policy,hff
	PATH=$(abspath build/wheel/venv/bin) build/wheel/venv/bin/python -m pip --disable-pip-version-check --quiet install \
	  -c constraints.txt --only-binary :all: "$$(echo build/wheel/*.whl)[train]"
	PATH=$(abspath build/wheel/venv/bin) gsp-train examples/gripper/domain.pddl examples/gripper --minutes 1 --out build/wheel/run
	PATH=$(abspath build/wheel/venv/bin) gsp-plan examples/gripper/domain.pddl examples/gripper/p03.pddl --model build/wheel/run \
	  --plan-file build/wheel/plan

# The native code with AddressSanitizer and UndefinedBehaviorSanitizer, installed apart, under the tests that use it.
sanitize: $(VENV)/.tests
	$(PIP) install -c constraints.txt --no-build-isolation --no-deps --upgrade --target $(SANITIZED)/site . \
	  -C build-dir=$(SANITIZED)/cmake -C cmake.define.GSP_SANITIZE=ON -C cmake.build-type=RelWithDebInfo -C install.strip=false
	cp tests/fuzz/sanitized_site.py $(SANITIZED)/site/sitecustomize.py
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=print_stacktrace=1 \
	CXXFLAGS="-fsanitize=address,undefined -fno-sanitize-recover=undefined -g" PYTHONPATH=$(abspath $(SANITIZED)/site) \
	$(BIN)/python -m pytest -q -p no:cacheprovider $(NATIVE_TESTS)

$(VENV)/.python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt scikit-build-core nanobind ninja
	touch $@

# Editable: Python changes need nothing, changes of the native core build it again.
$(VENV)/.planner: $(VENV)/.python $(NATIVE)
	$(PIP) install -c constraints.txt --no-build-isolation -e '.[translate]'
	touch $@

$(VENV)/.tests: $(VENV)/.planner
	$(PIP) install -c constraints.txt --no-build-isolation -e '.[cpu,docs,train,test]'
	touch $@

clean:
	rm -rf $(VENV) build
