"""Mount the page on a service."""

from __future__ import annotations

from functools import partial

from fastapi import FastAPI, Request
from nicegui import ui
from starlette.middleware.gzip import GZipMiddleware

from curiograph.service.page.style import ICON
from curiograph.service.page.view import Page
from curiograph.service.state import Service


def add_page(app: FastAPI) -> None:
    """Serve the page at `/` of an application made by `create_app`."""
    service: Service = app.state.service

    @ui.page("/", title="curiograph", response_timeout=2 * service.limits.seconds)
    async def open_page(request: Request) -> None:
        if service.status == "warming up":
            ui.label(
                "curiograph is starting: the first time, it compiles its kernels for this machine (half a minute)."
            )
            ui.spinner(size="lg")
            ui.timer(0.5, lambda: None if service.status == "warming up" else ui.navigate.reload())
        else:
            await Page(service).open(request)

    ui.run_with(
        app,
        title="curiograph",
        favicon=ICON,
        dark=None,
        language="en-US",
        show_welcome_message=False,
        tailwind=False,  # `style.CSS` has the few classes in use; Tailwind would compile in the browser at every visit
        gzip_middleware_factory=partial(GZipMiddleware, minimum_size=1_000, compresslevel=3),
    )
