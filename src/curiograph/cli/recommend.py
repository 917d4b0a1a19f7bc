"""The command `curiograph recommend`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import check_out, emit, print_remark, show_progress
from curiograph.errors import SettingError, quote_value
from curiograph.recommendation.parts_file import read_settings
from curiograph.validation import check_integer


def recommend(
    graph: options.GraphArgument,
    output: options.Output,
    history: options.History = None,
    histories: Annotated[
        str | None, typer.Option(help="Log with the histories of many users; - reads stdin. Unknown items are skipped.")
    ] = None,
    k: options.Count = 10,
    candidates: Annotated[
        Literal["all", "last", "history"],
        typer.Option(help="All unvisited nodes, or the neighbors of the last node or of the history."),
    ] = "all",
    ranker: Annotated[
        str | None,
        typer.Option(
            help="mixture; pagerank; pagerank:0.9, in which a visit has 0.9 times the weight of the next; igt or cpt. "
            "Default: that of --parts that are read, or mixture."
        ),
    ] = None,
    weights: Annotated[
        str | None, typer.Option(help="Weights of the mixture, as in pagerank=1,igt=0.5,cpt=0.5. Default: equal.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Probability to continue. Default: that of --parts that are read, or 0.85.")
    ] = None,
    exclude: Annotated[str | None, typer.Option(help="Labels that are never recommended, separated by commas.")] = None,
    theory: Annotated[
        bool, typer.Option("--theory", help="Add the gaps opened and closed, and compressibility, to the reasons.")
    ] = False,
    parts: Annotated[Path | None, typer.Option(help="File of prepared nodes, .safetensors, which is read.")] = None,
    prepare: Annotated[bool, typer.Option("--prepare", help="Prepare all nodes first, and write --parts.")] = False,
    top: Annotated[
        int | None, typer.Option(help="With --prepare: prepare so many nodes only, the most visited.")
    ] = None,
    directed: options.Directed = False,
) -> None:
    """Recommend nodes to visit next, with reasons.

    [bold]curiograph recommend toy:library --history music,physics -k 5[/bold]
    """
    check_out(output.out)
    check_out(parts if prepare else None, (".safetensors",), "--parts")
    if (history is None) == (histories is None) and not (prepare and history is None):
        raise SettingError("give --history a,b,c or --histories FILE.")
    if prepare and parts is None:
        raise SettingError("--prepare needs --parts FILE to store the prepared nodes.")
    if top is not None and not prepare:
        raise SettingError(f"--top is {top}, but nothing is prepared; add --prepare, or leave it out.")
    g = options.open_graph(graph, directed)
    chosen: dict[str, Any] = {"seed": output.seed} if prepare or parts is None else read_settings(parts)
    if ranker is not None or weights is not None:
        chosen |= {"ranker": ranker or "mixture", "weights": _parse_weights(weights)}
    recommender = cg.Recommender(g, **chosen | ({} if alpha is None else {"alpha": alpha}))
    settings: Any = {"candidates": candidates, "theory": theory}
    if exclude is not None:
        settings["exclude"] = options.split_labels(exclude)
        unknown = [label for label in settings["exclude"] if recommender.labels.find(label) is None]
        if unknown:
            print_remark(f"--exclude: {graph} has no node {', '.join(map(quote_value, unknown))}", output.quiet)
    if prepare and parts is not None:
        labels = None
        if top is not None:
            check_integer("--top", top, 1, "give the number of nodes to prepare")
            visits = g.transition.strength if g.visitors is None else g.visitors
            labels = [g.label(int(v)) for v in np.argsort(-visits, kind="stable")[:top]]
        with show_progress(output.quiet) as progress:
            recommender.prepare(labels, file=parts, progress=progress)
        print_remark(f"{parts}: {len(labels or g.labels)} nodes prepared", output.quiet)
    elif parts is not None:
        recommender.load(parts)
    if history is not None:
        found = recommender.recommend(options.read_labels(g, history) if history else [], k, **settings)
        emit(output, found, found.to_frame(), graph=g)
    elif histories is not None:
        people, by_user = options.Columns().read(histories), dict[Any, list[Any]]()
        for number, walk in enumerate(people):
            by_user.setdefault(people.user(number), []).extend(walk)  # of all sessions
        tops = recommender.recommend(list(by_user.values()), k, unknown="skip", **settings)
        if not any(found.history for found in tops):
            raise SettingError(f"{histories}: no item is a node of {graph}; give histories of its labels.")
        users = [{"user": user, **found.to_dict()} for user, found in zip(by_user, tops, strict=True)]
        rows = [
            {"user": user, **row}
            for user, found in zip(by_user, tops, strict=True)
            for row in found.to_frame().to_dict("records")
        ]
        emit(output, {"users": users, "skipped": people.on(g).skipped}, rows, graph=g)


def _parse_weights(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    try:
        return {name.strip(): float(value) for name, value in (part.split("=") for part in text.split(","))}
    except ValueError:
        raise SettingError(f"--weights is {text!r}; write weights as in pagerank=1,igt=0.5,cpt=0.5.") from None
