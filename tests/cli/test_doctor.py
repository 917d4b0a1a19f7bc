"""`curiograph doctor`: what it says where something is wrong, and that it can be read where nothing is."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import curiograph as cg
from curiograph import kernels
from curiograph.agents import pretrained
from curiograph.cli import checks, packages
from curiograph.cli.checks import DoctorReport
from curiograph.cli.packages import PURPOSES, read_installed
from curiograph.paper.peers import slow_compressibility

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
def shop(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Versions that are installed; nothing else is."""
    versions = {"numba": "0.61.2", "torch": "2.13.0+cpu", "optuna": "4.4"}

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(packages.metadata, "distribution", lambda name: Distribution)
    monkeypatch.setattr(packages.metadata, "version", version)
    return versions


@pytest.fixture(autouse=True)
def nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CURIOGRAPH_DATA", *checks._THREADS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("curiograph.human.data.load.get_cache_folder", lambda: tmp_path / "cache")


def found_packages() -> DoctorReport:
    found = DoctorReport()
    checks.check_packages(found, read_installed())
    return found


def test_extras_come_from_the_metadata_with_those_that_they_name(shop):
    found = {extra["name"]: extra for extra in found_packages().extras}
    assert list(found) == ["train", "predict", "web", "moon"]
    assert found["predict"]["installed"]
    assert found["web"]["missing"] == ["fastapi"]
    assert found["web"]["install"] == "pip install 'curiograph[web]'"
    assert found["moon"]["purpose"] == "brings moonshine"
    del shop["torch"]
    assert {extra["name"]: extra["missing"] for extra in found_packages().extras}["predict"] == ["torch"]


def test_a_missing_extra_is_no_problem_but_an_old_or_missing_package_is(shop):
    assert found_packages().problems == []
    shop["numba"] = "0.59.1"
    (problem,) = found_packages().problems
    assert problem == "numba 0.59.1 is too old, 0.60 or newer is needed: pip install 'numba>=0.60'."
    del shop["numba"]
    assert found_packages().problems == ["numba is missing: pip install numba."]


def test_versions_compare_as_numbers(shop):
    for version in ("0.60", "0.60.0", "0.100", "1.0rc1"):
        shop["numba"] = version
        assert found_packages().problems == []


def test_sources_that_are_not_installed(monkeypatch, shop):
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages.metadata, "distribution", missing)
    assert "pip install -e ." in found_packages().problems[0]
    monkeypatch.setattr(packages.metadata, "distribution", lambda name: type("Old", (Distribution,), {"version": "0"}))
    assert found_packages().problems == [
        f"the sources are curiograph {cg.__version__}, but 0 was installed: install it again."
    ]


def test_every_extra_has_a_purpose():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) <= set(PURPOSES)


def test_more_threads_than_cores(monkeypatch):
    monkeypatch.setattr(checks, "_usable_cores", lambda: 2)
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


@pytest.fixture
def unknown_cache(monkeypatch):
    """The folder of compiled kernels is looked for again, and again afterwards; kernels keep the one they have."""
    assert kernels.csr
    monkeypatch.setattr(checks, "_computed", lambda: (checks._GAPS, checks._BITS))
    kernels.jit.get_cache_folder.cache_clear()
    yield
    kernels.jit.get_cache_folder.cache_clear()


def test_a_kernel_cache_that_cannot_be_written(monkeypatch, tmp_path, unknown_cache):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    found = DoctorReport()
    checks.check_kernels(found)
    (problem,) = found.problems
    assert str(tmp_path / "file") in problem
    assert "Set NUMBA_CACHE_DIR to a folder you can write" in problem
    assert found.kernels["folder"] is None
    assert found.kernels["correct"]


def test_a_cold_cache_is_a_remark(monkeypatch, tmp_path, unknown_cache):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("CURIOGRAPH_QUIET", "1")
    monkeypatch.setattr(kernels.csr, "has_edge", type("Kernel", (), {"stats": type("S", (), {"cache_path": tmp_path})}))
    found = DoctorReport()
    checks.check_kernels(found)
    assert found.kernels["folder"].startswith(str(tmp_path))
    assert (found.problems, found.kernels["compiled"]) == ([], 0)
    assert "`curiograph warmup` compiles all" in found.remarks[0]


def test_kernels_that_compute_nonsense_or_do_not_run(monkeypatch):
    monkeypatch.setattr(checks, "_computed", lambda: (3, 0.5))
    found = DoctorReport()
    checks.check_kernels(found)
    assert "3 gaps and 0.500000 bits for toy:library instead of 2 and 0.890813" in found.problems[0]

    def fails() -> None:
        raise ImportError("Numba needs NumPy 2.3 or less")

    monkeypatch.setattr(checks, "_computed", fails)
    found = DoctorReport()
    checks.check_kernels(found)
    assert found.problems[0].startswith("kernels do not run (ImportError: Numba needs NumPy 2.3 or less)")
    assert not found.kernels["correct"]


def test_what_kernels_should_compute():
    graph = cg.toys.library()
    gaps = graph.num_edges - graph.num_nodes + 1 - 5  # a connected graph with five triangles, which share no cycle
    assert gaps == checks._GAPS
    assert slow_compressibility(graph.to_scipy().toarray()) == pytest.approx(checks._BITS, abs=1e-9)


def looked_at_data() -> DoctorReport:
    found = DoctorReport()
    checks.check_data(found)
    return found


def test_data_sets_that_are_there_and_several_of_one(monkeypatch, tmp_path):
    for release in ("ml-100k", "ml-other"):
        (tmp_path / "data" / release).mkdir(parents=True)
        (tmp_path / "data" / release / "u.data").write_text("1\t2\t3\t4\n")
        monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "data"))
        if release == "ml-100k":
            found = looked_at_data()
            assert found.problems == []
            assert found.data["found"]["movielens"].startswith(str(tmp_path / "data" / "ml-100k"))
    (problem,) = looked_at_data().problems
    assert "contains several of movielens (ml-100k, ml-other); give the folder of one." in problem


def test_data_folders_that_are_not_there_or_cannot_be_written(monkeypatch, tmp_path):
    monkeypatch.setenv("CURIOGRAPH_DATA", str(tmp_path / "nowhere"))
    assert looked_at_data().problems == [
        f"CURIOGRAPH_DATA is {tmp_path / 'nowhere'}, where there is no folder: make it, or unset the variable."
    ]
    monkeypatch.delenv("CURIOGRAPH_DATA")
    monkeypatch.setattr(checks.os, "access", lambda path, mode: False)  # as in a home that is read-only
    (problem,) = looked_at_data().problems
    assert f"data sets cannot be kept in {tmp_path / 'cache'}" in problem
    assert "set XDG_CACHE_HOME" in problem


def test_a_broken_agent_and_none_at_all(monkeypatch, tmp_path):
    monkeypatch.setattr(pretrained, "_get_shipped_folder", lambda: tmp_path)
    found = DoctorReport()
    checks.check_agents(found)
    assert found.problems == ["there is no shipped agent: pip install --force-reinstall curiograph."]
    (tmp_path / "igt-rg.safetensors").write_bytes(b"half a fi")
    found = DoctorReport()
    checks.check_agents(found)
    assert found.agents == {"shipped": 1, "broken": ["igt-rg"]}
    assert found.problems[0].startswith("shipped agent igt-rg is broken: ")
    assert "pip install --force-reinstall curiograph" in found.problems[0]


def test_the_command_tells_problems_by_its_exit_code(run, monkeypatch, tmp_path, shop):
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
def test_nothing_optional_is_imported():
    code = (
        "import sys\nsys.argv = ['curiograph', 'doctor', '--quiet']\nfrom curiograph.cli.main import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print([name for name in ('torch', 'pandas', 'matplotlib', 'gudhi', 'fastapi') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")
