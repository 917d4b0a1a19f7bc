# The main commands of this repository are `make run` and `make test`; both create .venv if there is none.

PYTHON ?= python3
BIN := .venv/bin
ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo -n)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: run test test-all browser wrk lint format bench docs results screenshots load scale people replication train-all ablation clean

run: .venv/run.done
	$(BIN)/python -m reproduction table1 --best-episodes 4 --out results/run

test: .venv/test.done browser lint
	$(BIN)/python -m pytest -n 2 -q -rsfE --disable-warnings

test-all: .venv/test-all.done browser lint
	$(BIN)/python -m pytest -n 2 -q -rsfE --disable-warnings -m ""

# Debian's chromium for the tests of the page; without it these tests are skipped.
browser:
	@command -v chromium >/dev/null || ( $(ROOT) apt-get update -qq && $(ROOT) apt-get install -y -qq chromium >/dev/null ) \
		|| echo 'make: chromium could not be installed; the tests of the page are skipped'

wrk:
	@command -v wrk >/dev/null || ( $(ROOT) apt-get update -qq && $(ROOT) apt-get install -y -qq wrk >/dev/null )

lint: .venv/test.done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/test.done
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/test.done
	mkdir -p results
	$(BIN)/python -m benchmarks.run --out results/bench.json

# Build site/. Pages open from the file system; search needs a server, since browsers load no index from files.
docs: .venv/docs.done
	$(BIN)/python docs/insert_results.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo 'Open site/index.html; with search: python3 -m http.server --directory site'

# Generate the results that README and docs show; those on published graphs and real networks (curiograph data get
# paper-graphs, real-networks; --cache DIR) need both in CURIOGRAPH_DATA.
results: .venv/test.done
	$(BIN)/python -m reproduction lengths --workers 1 --out docs/results
	$(BIN)/python -m reproduction sizes --graphs 6 --episodes 12 --beam-episodes 3 --out docs/results
	$(BIN)/python -m reproduction walltime --out docs/results
	$(BIN)/python -m reproduction pareto --out docs/results
	@if [ -d "$$CURIOGRAPH_DATA/real-networks" ]; then set -e; \
		$(BIN)/python -m reproduction table1 --environments "$$CURIOGRAPH_DATA" --rules authors --seeds 4 --episodes all \
			--best-episodes 25 --out docs/results; \
		$(BIN)/python -m reproduction real --workers 1 --out docs/results; \
		$(BIN)/python -m reproduction gaps --workers 1 --out docs/results; \
		$(BIN)/python -m reproduction leaderboard --out docs/results; \
	else echo 'make: CURIOGRAPH_DATA has no real-networks; their table, Table 1 and the leaderboard are not recomputed'; fi
	@if [ -d "$$CURIOGRAPH_DATA/obsidian-help" ]; then \
		$(BIN)/curiograph gaps "$$CURIOGRAPH_DATA/obsidian-help/vault" --out docs/results/vault.md --quiet; fi
	$(BIN)/python -m benchmarks.run --out docs/results/bench.json
	$(BIN)/python docs/insert_results.py

# Take the screenshots of the page for README and docs in its tests; page-vault.png needs obsidian-help in CURIOGRAPH_DATA.
screenshots: .venv/test.done browser
	mkdir -p docs/pictures
	CURIOGRAPH_SCREENSHOTS=docs/pictures $(BIN)/python -m pytest -q -m '' tests/service/test_page.py

# Measure the service under load (wrk). Requires Wikispeedia in CURIOGRAPH_DATA: results on another graph cannot be
# compared with the stored ones, which they would replace.
load: .venv/test.done wrk
	@test -f "$$CURIOGRAPH_DATA/wikispeedia/links.tsv" || { echo 'make: CURIOGRAPH_DATA has no wikispeedia/links.tsv;' \
		'set it to the folder that holds wikispeedia (curiograph data get wikispeedia)' >&2; exit 2; }
	$(BIN)/python -m benchmarks.load --out docs/results/load.json
	$(BIN)/python docs/insert_results.py

# Measure many tasks and large graphs: about an hour and 6 GiB, on an otherwise idle machine.
SCALE_NODES ?= 10000000
SCALE_ITEMS ?= 100000 1000000
scale: .venv/test-all.done
	$(BIN)/python -m benchmarks.scale --nodes $(SCALE_NODES) --items $(SCALE_ITEMS) --out docs/results/scale.json

# Generate the results on human choices from the datasets in CURIOGRAPH_DATA: about an hour; rerun to resume.
people: .venv/test.done
	$(BIN)/python -m reproduction table2 --item-graph highest --run runs/table2 --out docs/results
	$(BIN)/python -m reproduction table2 --item-graph knn --only movielens books --run runs/table2 --out runs/table2_knn
	for ending in json md png; do cp runs/table2_knn/table2.$$ending docs/results/table2_knn.$$ending; done
	$(BIN)/python -m reproduction multiverse --run runs/multiverse --out docs/results
	$(BIN)/python -m reproduction diffusion --run runs/table2 --out docs/results
	$(BIN)/python -m reproduction examples --run runs/table2 --out docs/results
	$(BIN)/python -m reproduction conditions --run runs/conditions --out docs/results
	$(BIN)/python -m reproduction motives --out docs/results
	$(BIN)/python -m reproduction meaning --run runs/meaning --out docs/results
	$(BIN)/python -m reproduction profile --out docs/results
	$(BIN)/python -m reproduction recommenders --out docs/results
	$(BIN)/python -m reproduction fidelity --out docs/results
	$(BIN)/python docs/insert_results.py

# Generate the results of docs/replication.md alone; rerun to resume.
replication: .venv/test.done
	$(BIN)/python -m reproduction multiverse --run runs/multiverse --out docs/results
	$(BIN)/python -m reproduction conditions --run runs/conditions --out docs/results
	$(BIN)/python docs/insert_results.py

# Takes hours on two cores; rerun to resume.
train-all: .venv/test.done
	$(BIN)/python scripts/train_all.py --runs runs

ablation: .venv/test.done
	$(BIN)/python -m reproduction ablation --run runs/ablation --out docs/results

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/run.done: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[reproduction]'
	touch $@

.venv/test.done: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[test]'
	touch $@ .venv/run.done .venv/docs.done

.venv/docs.done: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) --editable '.[docs]'
	touch $@

.venv/test-all.done: .venv/test.done
	$(PIP) --editable '.[test,pyg,ray]'
	touch $@

clean:
	rm -rf .venv .cache results site
