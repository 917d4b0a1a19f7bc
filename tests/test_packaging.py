"""The metadata of the package, its wheel and source distribution, and the files that publish it."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

import curiograph as cg

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WALK = "music,physics,chemistry,biology,philosophy,logic,mathematics"


def read_yaml(path: str) -> dict:
    return yaml.safe_load((ROOT / path).read_text())


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    name = f"curiograph-{cg.__version__}"
    return folder / f"{name}-py3-none-any.whl", folder / f"{name}.tar.gz"


def test_distributions_have_the_whole_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    listed = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0 or not listed.stdout:
        pytest.skip("the tree is not a clone")
    sources = {name.removeprefix("src/") for name in listed.stdout.splitlines() if (ROOT / name).exists()}
    with zipfile.ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert sources <= names
    assert {name for name in names - sources if not name.endswith(".py")} == set()  # code may not be committed yet
    with tarfile.open(built[1]) as archive:
        kept = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"src/{name}" for name in sources} | {"README.md", "LICENSE", "CHANGELOG.md", "PKG-INFO"} <= kept
    assert not [name for name in kept if name.startswith(("docs/", "tests/", "reproduction/"))]
    assert max(path.stat().st_size for path in built) < 8e6


def test_metadata_of_the_wheel(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        metadata = email.message_from_bytes(wheel.read(f"curiograph-{cg.__version__}.dist-info/METADATA"))
    assert metadata["Version"] == cg.__version__
    assert metadata["License-Expression"] == "MIT"
    links = re.findall(r"\]\(([^)]+)\)", metadata.get_payload())
    assert links
    assert all(link.startswith(("https://", "#")) for link in links)  # PyPI shows README without the repository
    assert {"Documentation", "Repository", "Issues", "Changelog"} == {
        url.partition(",")[0] for url in metadata.get_all("Project-URL")
    }


def test_python_versions_are_the_tested_ones() -> None:
    tested = read_yaml(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]["python"]
    named = [name.rpartition(" ")[2] for name in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", name)]
    assert named == tested
    assert PROJECT["requires-python"] == f">={tested[0]}"


def test_versions_agree() -> None:
    assert read_yaml("CITATION.cff")["version"] == cg.__version__
    assert read_yaml("conda/recipe.yaml")["context"]["version"] == cg.__version__


def test_conda_package_needs_what_the_wheel_needs() -> None:
    recipe = read_yaml("conda/recipe.yaml")
    needed = {requirement.replace(" ", "") for requirement in recipe["requirements"]["run"]}
    assert needed == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    name, _, target = recipe["build"]["python"]["entry_points"][0].partition(" = ")
    assert PROJECT["scripts"] == {name: target}


@pytest.mark.long
def test_wheel_of_the_source_distribution_works_without_the_tree(built: tuple[Path, Path], tmp_path: Path) -> None:
    """Build the wheel from the source distribution, install it in a new environment, and measure a walk."""
    pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([sys.executable, *pip, "wheel", "--no-deps", "-w", tmp_path, built[1]], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "NUMBA_CACHE_DIR")}
    subprocess.run([python, *pip, "install", wheel], check=True, env=environment)
    command = [python.with_name("curiograph"), "measure", "toy:library", "--walk", WALK, "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"beta1": 1' in done.stdout or '"beta1"' in done.stdout
