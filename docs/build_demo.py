"""Write the playable demo of the front page into the site: a hook of mkdocs.

The demo is the page of the service, with docs/demo in place of the REST service. It also opens from the file system.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from curiograph.graph.toys import everyday
from curiograph.service.page_files import PAGE, join_modules, list_modules
from curiograph.service.picture import draw_graph
from curiograph.service.store import OpenGraph

DEMO = Path(__file__).parent / "demo"


def on_post_build(config: Any, **_: Any) -> None:
    """Add the demo to the built site."""
    build_demo(Path(config["site_dir"]) / "demo")


def build_demo(folder: Path) -> None:
    """Write the demo into a folder: index.html and what it loads."""
    folder.mkdir(parents=True, exist_ok=True)
    picture = draw_graph(OpenGraph(everyday())).decode()
    script = f'<script type="application/json" id="toy">{picture}</script>\n    <script defer src="demo.js"></script>'
    html = (PAGE / "index.html").read_text().replace('<script type="module" src="page/app.js"></script>', script)
    (folder / "index.html").write_text(html.replace("page/style.css", "style.css"))
    (folder / "style.css").write_text((PAGE / "style.css").read_text())
    modules = *list_modules(PAGE / "page.js"), DEMO / "gaps.js", DEMO / "demo.js"
    (folder / "demo.js").write_text(join_modules(*modules))
