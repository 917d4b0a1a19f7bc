"""Responses conform to the OpenAPI document; schemathesis generates the requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
import uvicorn
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import CHECKS, load_all_checks

from curiograph.service.app import create_app
from curiograph.service.server import create_config, format_url, open_socket
from curiograph.service.server_settings import ServiceSettings
from support.serving import wait_until

load_all_checks()
# Checks that the schema cannot express: valid requests are accepted (a label must be in the graph, a file must be a
# graph); created resources exist and deleted ones do not (uploads are limited in number).
EXCLUDED = {"positive_data_acceptance", "use_after_free", "ensure_resource_availability"}
INCLUDED = [check for check in CHECKS.get_all() if check.__name__ not in EXCLUDED]


APP = create_app(ServiceSettings(steps=12, seconds=20))
SCHEMA = schemathesis.openapi.from_dict(APP.openapi())
QUICK: Any = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": [Phase.explicit, Phase.generate],
    "database": None,
    "derandomize": True,
}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """URL of a service that runs in a thread."""
    bound = open_socket("127.0.0.1", 0)
    server = uvicorn.Server(create_config(APP))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    wait_until(lambda: APP.state.service.status == "ok")
    yield format_url(bound)
    server.should_exit = True
    thread.join()


@SCHEMA.parametrize()
@settings(max_examples=2, **QUICK)
def test_responses_conform_to_the_document(case: Any, address: str) -> None:
    case.call_and_validate(base_url=address, checks=INCLUDED)


@pytest.mark.long
@SCHEMA.parametrize()
@settings(max_examples=150, **QUICK)
def test_responses_conform_to_the_document_long(case: Any, address: str) -> None:
    case.call_and_validate(base_url=address, checks=INCLUDED)
