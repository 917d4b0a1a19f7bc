"""`curiograph hypotheses`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_folder,
    check_out,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import WalkError
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph
    from curiograph.human.choices.bootstrap import Estimate
    from curiograph.human.motives.results import Motives
    from curiograph.human.null_models import GrowthComparison
    from curiograph.human.trajectories import Trajectories


def hypotheses(
    graph: options.GraphArgument,
    walks: Annotated[
        Path,
        typer.Argument(
            metavar="WALKS",
            help="A file with one walk per line, a table user,item,time, or trajectories saved as .npz.",
            show_default=False,
        ),
    ],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="A further motive: an agent by name or path; may be given several times.",
            autocompletion=completion.complete_agents,
        ),
    ] = None,
    reward: Annotated[
        str, typer.Option(help="What further agents look at: igt or cpt.", autocompletion=completion.complete_rewards)
    ] = "igt",
    burn_in: Annotated[int, typer.Option(help="Distinct nodes visited before the first choice that counts.")] = 3,
    steps: Annotated[int, typer.Option(help="Nodes of each walk whose growth is compared.")] = 10,
    most: Annotated[int, typer.Option("--walks", help="Walks whose growth is compared, at most.")] = 1000,
    no_growth: Annotated[bool, typer.Option("--no-growth", help="Compare motives alone.")] = False,
    directed: options.Directed = False,
    lenient: Annotated[bool, typer.Option("--lenient", help="Leave out bad rows and unknown nodes.")] = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result: .json; or .csv, .png, .svg, .pdf, with growth in a file NAME-growth."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare motives by how well they tell the choices of people, and the growth of their walks with chance.

    [bold]curiograph hypotheses links.tsv walks.txt --directed --agent igt-rg[/bold]
    """
    from curiograph.human.choices.choice_sets import DEFAULT_MEMORY
    from curiograph.human.motives.hypotheses import hypotheses as choosing
    from curiograph.parallel import resolve_engine

    check_integer(
        "--burn-in",
        burn_in,
        1,
        f"give the visits before the first choice that counts, 1 to {DEFAULT_MEMORY}",
        DEFAULT_MEMORY,
    )
    check_integer("--steps", steps, 2, "compare the growth of walks of 2 nodes or more")
    check_integer("--walks", most, 1, "compare the growth of 1 walk or more")
    check_out(out, (".json", ".csv", *PICTURES))
    if run is not None:
        check_folder(run, "--run")
    used_engine = resolve_engine(engine, workers, address, run)
    g = options.open_graph(graph, directed)
    people = _read_walks(walks, g, lenient)
    growth: GrowthComparison | None = None
    missing = ""
    with show_progress(quiet) as say, used_engine.connect():
        how: Any = {"seed": seed, "engine": used_engine, "progress": say}
        motives = choosing(g, people, agents=agent or [], reward=reward, burn_in=burn_in, **how)
        if not no_growth:
            growth, missing = _growth(g, people, steps, most, how)
    document = {"motives": motives.to_dict(), "growth": None if growth is None else growth.to_dict()}
    _write(out, document, motives, growth)
    if missing:
        print_remark(f"growth is left out: {missing} Give --steps to compare it.", quiet)
    if json:
        show_json(document)
        return
    _show_motives(motives)
    if growth is not None:
        _show_growth(growth)
    print(motives.answer)
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in motives.left_out.items() if count)
    if left_out:
        print_remark(f"left out as no choice between candidates: {left_out}", quiet)


def _growth(
    graph: Graph, people: Trajectories, steps: int, most: int, how: dict[str, Any]
) -> tuple[GrowthComparison | None, str]:
    """The comparison; or None, and why there is none: motives were judged, and are worth showing alone."""
    from curiograph.human.null_models import compare_growth

    try:
        return compare_growth(graph, people, steps=steps, most=most, **how), ""
    except WalkError as error:
        return None, str(error)


def _read_walks(path: Path, graph: Graph, lenient: bool) -> Trajectories:
    from curiograph.human.data.trajectory_file import read_trajectories

    return options.place_on_graph(read_trajectories(path, lenient=lenient).walks, graph, path, lenient)


def _write(out: Path | None, document: Any, motives: Motives, growth: GrowthComparison | None) -> None:
    """JSON holds everything; tables and pictures of the growth go to a second file."""
    write_result(out, document, lambda: _table(motives.columns()), lambda: motives.plot().axes[0])
    if out is not None and growth is not None and out.suffix.lower() != ".json":
        second = out.with_name(f"{out.stem}-growth{out.suffix}")
        write_result(second, document, lambda: _table(growth.columns()), lambda: growth.plot().axes[0])


def _table(columns: dict[str, list[Any]]) -> tuple[list[str], list[Sequence[Any]]]:
    return list(columns), list(zip(*columns.values(), strict=True))


def _show_motives(found: Motives) -> None:
    rows = [
        [fit.name, fit.p_g, *_cells(fit.gain), *_cells(fit.behind), fit.percentile.value, *_cells(fit.best_for)]
        for fit in found.values()
    ]
    columns = ("motive", "p_g", "gain", "95 %", "behind best", "95 %", "percentile", "best for users", "95 %")
    people = f"{found.choices:,} choices by {len(found.users):,} users"
    show_table(f"bits per choice better than chance: {people}", columns, rows)


def _show_growth(found: GrowthComparison) -> None:
    rows = [[null.name, *_cells(null.area["gaps"]), *_cells(null.area["bits"])] for null in found.values()]
    about = f"{found.walks:,} walks by {found.users:,} users, mean over {found.steps} nodes"
    show_table(f"people above null models: {about}", ("null model", "gaps", "95 %", "bits", "95 %"), rows)


def _cells(estimate: Estimate) -> tuple[float, str]:
    return estimate.value, "" if isnan(estimate.value) else f"{estimate.low:.3g} to {estimate.high:.3g}"
