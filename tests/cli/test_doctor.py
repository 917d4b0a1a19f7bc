"""`curiograph doctor`: the problems that it reports, and its output without problems."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from curiograph.cli.checks import DoctorReport
from curiograph.cli.packages import PURPOSES, read_installed
from curiograph.paper.peers import compute_slow_compressibility

import curiograph as cg
from curiograph.agents import pretrained
from curiograph.cli import checks, packages

REQUIRES = [
    "numba>=0.60",
    "torch>=2.2; extra == 'train'",
    "curiograph[train]; extra == 'predict'",
    "optuna>=4.4; extra == 'predict'",
    'fastapi[standard]>=0.110; python_version >= "3.11" and extra == "web"',
    "moonshine; extra == 'moon'",
]


class Distribution:
    """Metadata of an installed curiograph."""

    version = cg.__version__
    requires = REQUIRES

    class metadata:  # noqa: N801
        @staticmethod
        def get_all(name: str) -> list[str]:
            return ["moon", "predict", "train", "web"]


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Installed packages and their versions."""
    installed = {"numba": "0.61.2", "torch": "2.13.0+cpu", "optuna": "4.4"}

    def version(name: str) -> str:
        if name not in installed:
            raise metadata.PackageNotFoundError(name)
        return installed[name]

    monkeypatch.setattr(packages.metadata, "distribution", lambda name: Distribution)
    monkeypatch.setattr(packages.metadata, "version", version)
    return installed


@pytest.fixture(autouse=True)
def isolate(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CURIOGRAPH_DATA", *checks._THREAD_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("curiograph.human.data.datasets.get_cache_folder", lambda: tmp_path / "cache")


def check_packages() -> DoctorReport:
    found = DoctorReport()
    checks.check_packages(found, read_installed())
    return found


def test_extras_include_the_extras_that_they_name(versions):
    found = {extra["name"]: extra for extra in check_packages().extras}
    assert list(found) == ["train", "predict", "web", "moon"]
    assert found["predict"]["installed"]
    assert found["web"]["missing"] == ["fastapi"]
    assert found["web"]["install"] == "pip install 'curiograph[web]'"
    assert found["moon"]["purpose"] == "brings moonshine"
    del versions["torch"]
    assert {extra["name"]: extra["missing"] for extra in check_packages().extras}["predict"] == ["torch"]


def test_old_and_missing_packages_are_problems(versions):
    assert check_packages().problems == []
    versions["numba"] = "0.59.1"
    (problem,) = check_packages().problems
    assert problem == "numba 0.59.1 is too old, 0.60 or newer is needed: pip install 'numba>=0.60'."
    del versions["numba"]
    assert check_packages().problems == ["numba is missing: pip install numba."]


def test_versions_compare_as_numbers(versions):
    for version in ("0.60", "0.60.0", "0.100", "1.0rc1"):
        versions["numba"] = version
        assert check_packages().problems == []


def test_sources_without_installation(monkeypatch, versions):
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages.metadata, "distribution", missing)
    assert "pip install -e ." in check_packages().problems[0]
    monkeypatch.setattr(packages.metadata, "distribution", lambda name: type("Old", (Distribution,), {"version": "0"}))
    assert check_packages().problems == [
        f"the sources are curiograph {cg.__version__}, but 0 was installed: install it again."
    ]


def test_every_extra_has_a_purpose():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) <= set(PURPOSES)


def test_more_threads_than_cores(monkeypatch):
    monkeypatch.setattr(checks, "resolve_workers", lambda workers: 2)
    for text, problems in (("2", 0), ("3", 1), ("many", 0)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        found = DoctorReport()
        checks.check_machine(found)
        assert len(found.problems) == problems
    assert found.machine["threads"]["OMP_NUM_THREADS"] == "many"
    monkeypatch.setenv("OMP_NUM_THREADS", "64")
    checks.check_machine(found)
    assert found.problems[0].startswith("OMP_NUM_THREADS is 64, but 2 cores may be used")
    assert "set OMP_NUM_THREADS=2" in found.problems[0]


def test_kernels_that_are_wrong_or_do_not_run(monkeypatch):
    monkeypatch.setattr(checks, "_compute_toy_values", lambda: (3, 0.5))
    found = DoctorReport()
    checks.check_kernels(found)
    assert "3 gaps and 0.500000 bits for toy:library instead of 2 and 0.890813" in found.problems[0]

    def fails() -> None:
        raise ImportError("Numba needs NumPy 2.3 or less")

    monkeypatch.setattr(checks, "_compute_toy_values", fails)
    found = DoctorReport()
    checks.check_kernels(found)
    assert found.problems[0].startswith("kernels do not run (ImportError: Numba needs NumPy 2.3 or less)")
    assert not found.kernels["correct"]


def test_expected_values_of_the_kernels():
    graph = cg.toys.library()
    gaps = graph.num_edges - graph.num_nodes + 1 - 5  # a connected graph with five triangles, which share no cycle
    assert gaps == checks._EXPECTED_GAPS
    assert compute_slow_compressibility(graph.to_scipy().toarray()) == pytest.approx(checks._EXPECTED_BITS, abs=1e-9)


def check_data() -> DoctorReport:
    found = DoctorReport()
    checks.check_data(found)
    return found


def test_datasets_are_found_and_must_be_unique(monkeypatch, tmp_path):
    for release in ("ml-100k", "ml-other"):
        (tmp_path / "data" / release).mkdir(parents=True)
        (tmp_path / "data" / release / "u.data").write_text("1\t2\t3\t4\n")
        monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "data"))
        if release == "ml-100k":
            found = check_data()
            assert found.problems == []
            assert found.data["found"]["movielens"].startswith(str(tmp_path / "data" / "ml-100k"))
    (problem,) = check_data().problems
    assert "several movielens datasets" in problem
    assert "ml-other" in problem


def test_data_folders_that_are_missing_or_not_writable(monkeypatch, tmp_path):
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "nowhere"))
    assert check_data().problems == [
        f"CURIOGRAPH_DATA is {tmp_path / 'nowhere'}, which is not a folder: create it, or unset the variable."
    ]
    monkeypatch.delenv("CURIOGRAPH_DATA")
    monkeypatch.setattr(checks.os, "access", lambda path, mode: False)  # as in a home that is read-only
    (problem,) = check_data().problems
    assert f"datasets cannot be stored in {tmp_path / 'cache'}, which is not writable" in problem
    assert "set XDG_CACHE_HOME" in problem


def test_corrupt_and_missing_agents(monkeypatch, tmp_path):
    monkeypatch.setattr(pretrained, "SHIPPED_FOLDER", tmp_path)
    found = DoctorReport()
    checks.check_agents(found)
    assert found.problems == ["there is no shipped agent: pip install --force-reinstall curiograph."]
    (tmp_path / "igt-rg.safetensors").write_bytes(b"half a fi")
    found = DoctorReport()
    checks.check_agents(found)
    assert found.agents == {"shipped": 1, "broken": ["igt-rg"]}
    assert found.problems[0].startswith("shipped agent igt-rg is broken: ")
    assert "pip install --force-reinstall curiograph" in found.problems[0]


def test_exit_code_shows_problems(run, monkeypatch, tmp_path, versions):
    good = run("doctor", "--quiet")
    assert (good.code, good.err) == (0, "")
    assert "0 problems" in good.out
    assert "pip install 'curiograph[web]'" in good.out
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "nowhere"))
    bad = run("doctor", "--json", "--out", tmp_path / "found.json")
    assert bad.code == 1
    document = json.loads(bad.out)
    assert len(document["problems"]) == 1
    assert document["kernels"]["correct"]
    assert document["versions"]["fastapi"] is None
    assert json.loads((tmp_path / "found.json").read_text()) == document
    shown = run("doctor")
    assert f"problem: {document['problems'][0]}" in shown.out
    assert shown.out.endswith("1 problem\n")


@pytest.mark.long
def test_no_optional_package_is_imported():
    code = (
        "import sys\nsys.argv = ['curiograph', 'doctor', '--quiet']\nfrom curiograph.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('torch', 'pandas', 'matplotlib', 'gudhi', 'fastapi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_help_names_the_exit_codes(run):
    assert "0 without problems and 1 with" in " ".join(run("doctor", "--help").out.split())
