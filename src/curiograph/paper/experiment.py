"""Pictures of stored runs, drawn again without running anything: when colours change, figures stay."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from curiograph.agents.evaluate import Evaluation
from curiograph.files import wrap_parse_errors
from curiograph.graph.io.node_link import read_json
from curiograph.paper import examples, lengths, sizes, table1, walltime
from curiograph.paper.curves import Point

Document = dict[str, Any]


def redraw_figures(folder: Path) -> Iterator[str]:
    """Draw the picture of every run in a folder that can be drawn from what is stored; yields their names.

    `table2` and `diffusion` are not among them: the first shows every single choice, of which only means are stored.
    """
    for name, draw in _PICTURES.items():
        stored = folder / f"{name}.json"
        if stored.exists():
            document = read_json(stored)
            with wrap_parse_errors(stored, "results"):
                draw(document, folder / f"{name}.png")
            yield name


def _table1(document: Document, path: Path) -> None:
    cells = [
        table1.Cell(cell["reward"], cell["family"], cell["source"], _evaluations(cell["results"]), {})
        for cell in document["cells"]
    ]
    table1.save_plot(cells, path)


def _lengths(document: Document, path: Path) -> None:
    lengths.save_plot(_points(document), path)


def _sizes(document: Document, path: Path) -> None:
    sizes.save_plot(_points(document), path)


def _walltime(document: Document, path: Path) -> None:
    walltime.save_plot([walltime.Timing(**timing) for timing in document["timings"]], path)


def _examples(document: Document, path: Path) -> None:
    examples.save_plot([examples.Example(**example) for example in document["examples"]], path)


_PICTURES: dict[str, Callable[[Document, Path], None]] = {
    "table1": _table1,
    "lengths": _lengths,
    "sizes": _sizes,
    "walltime": _walltime,
    "examples": _examples,
}


def _points(document: Document) -> list[Point]:
    return [
        Point(point["reward"], point["family"], point["at"], _evaluations(point["results"]), {})
        for point in document["points"]
    ]


def _evaluations(results: Document) -> dict[str, Evaluation]:
    """Evaluations with a mean for every graph instead of its episodes, which are equally many: mean and standard error
    by graph are the same."""
    return {
        column: Evaluation(
            result["agent"],
            result["reward"],
            result["steps"],
            [np.array([math.nan if mean is None else mean]) for mean in result["by_graph"]],
            result["ended_early"],
        )
        for column, result in results.items()
    }
