"""The OpenAPI document is complete, and client generators can use it."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from support.serving import open_client

TOKEN = "a secret of ours"


@pytest.fixture(scope="module")
def document() -> Any:
    with open_client(token=TOKEN) as api:
        return api.get("/api/v1/openapi.json", headers={"Authorization": f"Bearer {TOKEN}"}).json()


def list_operations(document: Any) -> list[tuple[str, str, Any]]:
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_operations_have_names_security_and_errors(document):
    operations = list_operations(document)
    names = [operation["operationId"] for _, _, operation in operations]
    assert len(set(names)) == len(names)  # clients are generated with these as names of functions
    assert all(name.isidentifier() for name in names)
    assert document["components"]["securitySchemes"] == {"bearer": {"type": "http", "scheme": "bearer"}}
    for path, _, operation in operations:
        is_public = path in ("/healthz", "/readyz")
        assert operation["security"] == ([] if is_public else [{"bearer": []}])
        assert {"401", "405", "500", "503"} <= set(operation["responses"])


def test_all_references_exist(document):
    for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(document)):
        assert name in document["components"]["schemas"]
