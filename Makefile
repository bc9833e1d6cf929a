# The front door. A fresh machine needs Python 3.11+ and make; all else is installed into .venv.
PYTHON ?= python3
# Tests wait for processes and servers about a third of their time.
WORKERS := $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
SERVER := $(VENV)/server-installed
CORE := $(addprefix tests/,engine wire reference client ci)
# Tests of a server in which its database does not matter, of HTTP, limits, providers, files and
# processes, and those that stand on a file or on memory themselves.
server_tests = $(foreach one,$(1),tests/server/test_$(one).py)
NOT_OF_STORAGE := $(call server_tests,access addresses backup bodies connections damage decided draining export figures \
	floor_versions full_disk fuzz guessing import json_oddities killed large_bodies login_flood openapi order_of_checks \
	protocol rate_limits refusals serving slow_clients sockets sso_certified sso_providers sso_refusals \
	stopping_under_load tenants_matrix tls_serving wheels)
# What a database answers by itself, or two servers at once; `make soak` runs all of the others, too.
ON_POSTGRESQL := $(patsubst %,tests/acceptance/test_%.py,random_histories several_servers) $(call server_tests,accounts boxes ci_reports \
	clock credential_kinds etags extreme_numbers held_open invitations list_filters live_runs metrics quota refresh \
	reviews_together stateful statements_of_an_answer streams tables unread)
OF_STORAGE := $(patsubst %,tests/acceptance/test_%.py,random_histories several_servers) $(filter-out $(NOT_OF_STORAGE),$(wildcard tests/server/test_*.py))

# uv takes a fifth of the time of pip. pip takes over where its settings alone name the index to use.
define install
$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[$(1)]' || $(BIN)/pip install --quiet --disable-pip-version-check --editable '.[$(1)]'
endef

# Tests start hundreds of processes; each would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

# One half of the work beside another, and what each printed in one piece, where make can (4.0).
BESIDE := $(MAKE) --no-print-directory --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync)

.PHONY: demo test compiled outside-browser in-browser also drivers-on-postgresql servers-on-postgresql quick soak versions postgresql check lint types contracts js clocks docs screenshots mutation attack bench calibration clean

## Run the main job: a server with ninety days of history, its address, a sign-in, the metrics.
demo: $(SERVER)
	$(BIN)/hwci demo

## Pass all tests: checks first, then every test. Those in a browser wait for it more than half of
## their time, in which the others run; each half is shown when it ends. ALSO=postgresql: that, too,
## when the browser is done, which is earlier than the others are.
test: $(STAMP)
	$(BESIDE) lint types contracts compiled
	$(BESIDE) outside-browser $(if $(ALSO),also,in-browser)

also: in-browser
	$(MAKE) --no-print-directory $(ALSO)

## Every worker imports all tests, and on a fresh machine each would compile them. The types take one
## core longer than this takes the other.
compiled: $(STAMP)
	$(BIN)/pytest --collect-only -qqq

## Files in the order of tests/conftest.py, not those of the most tests first: they are the quick ones.
outside-browser: $(STAMP)
	$(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -q --ignore=tests/web

in-browser: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile -q tests/web

## Pass the tests that need no process, server or browser, in under a minute. ROOM=engine: of one room.
quick: $(STAMP)
	$(BIN)/pytest -n auto --dist loadfile -q -m quick $(if $(ROOM),tests/$(ROOM),$(CORE))

## Try what is a matter of luck as often as it takes: stories, kills, damaged files, random inputs.
soak: $(STAMP)
	SOAK=1 $(BIN)/pytest -n auto -q -m soak --ignore=tests/web
	SOAK=1 $(BIN)/pytest -n 2 -q -m soak tests/web
	SOAK=1 HWCI_TEST_POSTGRESQL=1 $(BIN)/pytest -q tests/examples/test_cluster.py
	SOAK=1 HWCI_TEST_POSTGRESQL=1 $(BIN)/pytest -n $(WORKERS) -q -m soak -k "postgresql or several_servers" \
		tests/server/storage tests/acceptance
	SOAK=1 HWCI_TEST_POSTGRESQL=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile -q $(OF_STORAGE)

## Run the version before against this one, both ways round; a part of `make soak`.
versions: $(STAMP)
	SOAK=1 $(BIN)/pytest -q tests/test_two_versions.py

## Run what `make test` leaves out: the tests of every database driver on PostgreSQL, and those of a
## server that depend most on its database. `make soak` runs the others, more rounds, and the cluster.
postgresql: $(STAMP)
	$(BESIDE) drivers-on-postgresql servers-on-postgresql

drivers-on-postgresql: $(STAMP)
	HWCI_TEST_POSTGRESQL=1 $(BIN)/pytest -n 2 --dist loadfile -q -k "postgresql or scale" tests/server/storage

servers-on-postgresql: $(STAMP)
	HWCI_TEST_POSTGRESQL=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile -q $(ON_POSTGRESQL)

## Run what touches the demonstration or reads the clock on twelve days of a year; needs Debian's
## `faketime`. MONTHS="2 3": on those of February and March.
clocks: $(STAMP)
	$(BIN)/python -m tests.clocks $(MONTHS)

## Everything that can be said without running: lint, types, import contracts.
check: $(STAMP)
	$(BESIDE) lint types contracts

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

contracts: $(STAMP)
	$(BIN)/lint-imports

## Lint the dashboard's JavaScript, check its types, and test what needs no browser; needs npm.
js:
	npm install --prefix .ci/js --silent
	npm run check --prefix .ci/js --silent
	npm test --prefix .ci/js --silent

## Change the code in 400 small ways and see that a test finds each. AREAS="auth store" SEED=2 EACH=20
mutation: $(STAMP)
	$(call install,mutation)
	$(BIN)/python -m tests.mutation $(if $(SEED),--seed $(SEED)) $(if $(EACH),--each $(EACH)) $(AREAS)

## Attack a server, and see what another organization notices (tests/attack). ATTACKS="flood streams"
attack: $(STAMP)
	$(BIN)/python -m tests.attack $(ATTACKS)

## Measure side by side with other ways (docs/benchmarks.md). SIZE=S FIGURES="page cost"
bench: $(STAMP)
	$(call install,bench)
	$(BIN)/python -m benchmarks $(if $(SIZE),--size $(SIZE)) $(FIGURES)

## Measure on simulated benches how good the answers beside the rules are (docs/calibration.md).
calibration: $(STAMP)
	$(BIN)/python -m tests.simulation.calibration

## Write the generated reference pages.
docs: $(STAMP)
	$(BIN)/python -m docs.generate

## Take the pictures of the dashboard, in the system's Chromium.
screenshots: $(STAMP)
	$(BIN)/python -m docs.screenshots

## What a server needs, without the tools of developers.
$(SERVER): pyproject.toml | $(BIN)/uv
	$(call install,server)
	touch $@

$(STAMP): pyproject.toml | $(BIN)/uv
	$(call install,dev)
	touch $@ $(SERVER)

$(BIN)/uv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hwci needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-compile uv

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .import_linter_cache mutants
