"""Pages of visitors who left, or who never ran the page, are released."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

SCRIPT = """
import gc, os, threading, time, weakref
from urllib.request import urlopen

import uvicorn
from nicegui import Client

from curiograph.service.app import create_app
from curiograph.service.page import visits
from curiograph.service.page.view import Page, add_page
from curiograph.service.server import format_url, open_socket

visits._MAX_SECONDS, visits._MAX_UNCONNECTED, visits._CHECK_SECONDS = 1.0, 2, 0.1
pages, create = weakref.WeakSet(), Page.__init__
Page.__init__ = lambda page, service: (pages.add(page), create(page, service))[1]
app = create_app(warm=False)
add_page(app)
bound = open_socket("127.0.0.1", 0)
server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True).start()
for _ in range(6):
    urlopen(format_url(bound)).read()
end = time.monotonic() + 60
while Client.instances and time.monotonic() < end:
    time.sleep(0.1)
time.sleep(0.5)
gc.collect()
print(len(Client.instances), len(pages), flush=True)
os._exit(0)
"""


@pytest.mark.long
def test_pages_without_a_browser_are_released() -> None:
    made = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT)], capture_output=True, text=True, timeout=300, check=False
    )
    assert made.stdout.split() == ["0", "0"], made.stdout + made.stderr
    assert "Traceback" not in made.stderr
