"""The Dockerfile, compose.yml and the configuration of Prometheus; there may be no Docker here to build the image."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def read_instructions() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile, with continued lines joined."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [(line.split(None, 1)[0], line.split(None, 1)[1].strip()) for line in joined.splitlines() if line.strip()]


def test_image_is_pinned_and_runs_as_a_user_with_a_health_check():
    instructions = read_instructions()
    values: dict[str, list[str]] = {}
    for name, value in instructions:
        values.setdefault(name, []).append(value)
    (image,) = values["FROM"]
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", image)
    assert values["USER"][-1] not in ("root", "0")
    assert "/healthz" in values["HEALTHCHECK"][0]
    names = [name for name, _ in instructions]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert re.findall(r"/build\[(\w+)\]", " ".join(values["RUN"])) == ["web"]


def test_copied_files_exist_and_reach_the_build():
    allowed = (ROOT / ".dockerignore").read_text()
    for name, value in read_instructions():
        if name == "COPY":
            for source in value.split()[:-1]:
                assert (ROOT / source).exists()
                assert f"!{source}\n" in allowed


def test_compose_starts_the_service_and_prometheus():
    compose = yaml.safe_load((ROOT / "compose.yml").read_text())
    service, prometheus = compose["services"]["curiograph"], compose["services"]["prometheus"]
    assert service["command"][0] == "serve"
    assert "./data:/data:ro" in service["volumes"]
    assert service["environment"]["CURIOGRAPH_TOKEN"].startswith("${CURIOGRAPH_TOKEN:?")
    assert all(port.startswith("127.0.0.1:") for each in (service, prometheus) for port in each["ports"])
    assert re.fullmatch(r"prom/prometheus:v[\d.]+", prometheus["image"])
    mounted = [volume.split(":")[0] for volume in prometheus["volumes"]]
    config = yaml.safe_load((ROOT / mounted[0]).read_text())
    (job,) = config["scrape_configs"]
    assert job["metrics_path"] == "/metrics"
    assert job["static_configs"][0]["targets"] == ["curiograph:8000"]
    assert Path(job["authorization"]["credentials_file"]).name in compose["secrets"]
    assert compose["secrets"]["curiograph_token"] == {"environment": "CURIOGRAPH_TOKEN"}
