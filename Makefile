# Every command of the project. `make help` lists them.

# The first Python 3.11+ on this machine; choose another with PYTHON=.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $$p && break; done)
BIN = .venv/bin
COMPILE = $(BIN)/pip-compile --quiet --allow-unsafe --strip-extras --no-header --no-emit-index-url \
	--no-emit-find-links --no-emit-trusted-host --no-emit-options

.DEFAULT_GOAL := help
.PHONY: help run check format test test-all test-kubernetes test-kubernetes-oldest test-slurm bench bench-api bench-kubernetes bench-slurm pictures install install-dev lock clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

run: install ## Install what is missing and start everything (PORT=, HOST=, TRAINYARD_HOME=)
	@exec $(BIN)/python -m config.run

check: install-dev ## Format, lint, templates, types, layers, dependencies, settings, migrations
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	git ls-files -z -- '*.html' | xargs -0 -r $(BIN)/djade --check --target-version 5.2
	$(BIN)/mypy .
	$(BIN)/lint-imports --no-cache
	$(BIN)/deptry .
	$(BIN)/python -W error manage.py check
	$(BIN)/python manage.py makemigrations --check --dry-run

format: install-dev ## Format Python and templates, fix what the linter can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	git ls-files -z -- '*.html' | xargs -0 -r $(BIN)/djade --target-version 5.2

test: install-dev ## The whole behavior, in minutes (T=workloads: all tests of a folder, file or word)
	$(BIN)/python -m tests $(if $(T),"$(T)")

# Tests and benchmarks create and delete things in their cluster, so it has to be named in the command.
CHOSEN_CLUSTER = KUBECONFIG="$(if $(filter command,$(origin KUBECONFIG)),$(KUBECONFIG))"

test-all: install-dev ## What CI and releases need besides, in half an hour (POSTGRES_URL=, KUBECONFIG=)
	$(CHOSEN_CLUSTER) $(BIN)/python -m tests --all

test-kubernetes: install-dev ## Tests on a cluster (KUBECONFIG=, or KUBERNETES_TESTBED=, a program that starts some)
	@$(CHOSEN_CLUSTER) $(BIN)/python -m tests.kubernetes $(if $(T),"$(T)")

test-kubernetes-oldest: install-dev ## The same on 1.34: contract, manifests and faults
	@$(CHOSEN_CLUSTER) K8S_RELEASE=1.34 $(BIN)/python -m tests.kubernetes --oldest

test-slurm: install-dev ## Tests on a Slurm cluster (SLURM_TESTBED=, a program that starts one; SLURM_SUITE=trixie: 24.11)
	@$(BIN)/python -m tests.slurm $(if $(T),"$(T)")

bench: install-dev ## Measure against peers and print a table (B=table: one of them)
	$(BIN)/python -m tests.browser
	$(BIN)/python -m bench $(B)

bench-api: install-dev ## Measure REST on a PostgreSQL of its own (B=submitting: a part)
	$(BIN)/python -m bench.api $(B)

bench-kubernetes: install-dev ## Measure on a cluster of the tests' testbed (B=submitting, watching or verdicts, KUBECONFIG=)
	$(CHOSEN_CLUSTER) $(BIN)/python -m bench.kubernetes $(B)

bench-slurm: install-dev ## Measure on a Slurm cluster (SLURM_TESTBED=, a program that starts one)
	$(BIN)/python -m bench.slurm

pictures: install-dev ## Take the pictures in README and docs again, from the running product
	@$(BIN)/python -m tests.pictures

install: python # What running needs
	@$(PYTHON) config/run/install.py

install-dev: python # What checking and testing need in addition
	@$(PYTHON) config/run/install.py --dev

.PHONY: python
python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is missing. Get it and start again:"; \
		echo "  Debian, Ubuntu: apt install python3 python3-venv"; \
		echo "  macOS:          brew install python"; exit 1; }

lock: install-dev ## Lock the newest versions that pyproject.toml and package.json allow
	rm -f requirements.txt requirements-trainer.txt requirements-dev.txt
	$(COMPILE) --extra mcp -o requirements.txt pyproject.toml
	$(COMPILE) --extra trainer --extra mcp -c requirements.txt -o requirements-trainer.txt pyproject.toml
	$(COMPILE) --extra trainer --extra mcp --extra dev -c requirements-trainer.txt -o requirements-dev.txt pyproject.toml
	@# A local part such as +cpu names one machine's wheel; the lock is for all of them.
	perl -pi -e 's/^(torch==[0-9.]+)\+\w+/$$1/' requirements-trainer.txt requirements-dev.txt
	npm update --package-lock-only

clean: ## Remove what was installed and built; data in .trainyard stays
	rm -rf .venv node_modules static/vendor staticfiles .mypy_cache .ruff_cache .pytest_cache \
		.import_linter_cache .hypothesis .coverage htmlcov test-results .install.lock .static.stamp .static.lock
