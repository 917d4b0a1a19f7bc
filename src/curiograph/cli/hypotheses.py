"""The command `curiograph hypotheses`."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_folder,
    check_out,
    list_rows,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import WalkError
from curiograph.progress import split_progress
from curiograph.validation import check_integer

if TYPE_CHECKING:
    from curiograph.bootstrap import Estimate
    from curiograph.human.motives.results import Motives
    from curiograph.human.motives.weight_results import MotiveWeights
    from curiograph.human.people.growth_comparison import GrowthComparison


def hypotheses(
    graph: options.GraphArgument,
    walks: Annotated[
        Path,
        typer.Argument(
            metavar="WALKS",
            help="A file with one walk per line, a table user,item,time, or trajectories saved as .npz; - reads stdin.",
            show_default=False,
        ),
    ],
    agent: Annotated[
        list[str] | None,
        typer.Option(
            help="Agent by name or path to test as a further motive; may be repeated.",
            autocompletion=completion.complete_agents,
        ),
    ] = None,
    reward: Annotated[
        str,
        typer.Option(
            help="Reward of these agents: igt, cpt, cct or a weighted sum.", autocompletion=completion.complete_rewards
        ),
    ] = "igt",
    texts: options.Texts = None,
    weights: Annotated[
        bool, typer.Option("--weights", help="Estimate weights over all motives at once, for every person.")
    ] = False,
    returns: Annotated[
        bool, typer.Option("--returns", help="Count returns to visited nodes as choices, and test a Levy walk.")
    ] = False,
    burn_in: Annotated[int, typer.Option(help="Distinct nodes visited before the first choice that is used.")] = 3,
    steps: Annotated[int, typer.Option(help="Length of the walks whose growth is compared.")] = 10,
    most: Annotated[int, typer.Option("--walks", help="Maximum number of walks whose growth is compared.")] = 1000,
    null: Annotated[
        list[str] | None,
        typer.Option(
            help="Null model of growth, such as latticized or preferential; may be repeated.",
            autocompletion=completion.complete_null_models,
            show_default="rewired, random-walk, unbiased, shuffled",
        ),
    ] = None,
    no_growth: Annotated[bool, typer.Option("--no-growth", help="Compare motives only.")] = False,
    directed: options.Directed = False,
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    session_gap: options.SessionGap = None,
    no_header: options.NoHeader = False,
    lenient: options.Lenient = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the result: .json, or .csv, .png, .svg, .pdf with growth in a second file NAME-growth, and "
            "weights of people in NAME-weights."
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compare motives by how well they explain human choices, and the growth of human walks with null models.

    [bold]curiograph hypotheses links.tsv walks.txt --directed --agent igt-rg[/bold]
    """
    from curiograph.human.choices.choice_sets import DEFAULT_MEMORY
    from curiograph.human.motives.hypotheses import hypotheses as compare_motives
    from curiograph.human.people.growth_comparison import DEFAULT_NULLS, compare_growth
    from curiograph.parallel import resolve_engine

    meaning = f"give the number of visits before the first choice, 1 to {DEFAULT_MEMORY}"
    check_integer("--burn-in", burn_in, 1, meaning, DEFAULT_MEMORY)
    check_integer("--steps", steps, 2, "compare the growth of walks of 2 nodes or more")
    check_integer("--walks", most, 1, "compare the growth of 1 walk or more")
    check_out(out, (".json", ".csv", *PICTURES))
    check_folder(run, "--run")
    backend = resolve_engine(engine, workers, address, run)
    g = options.open_graph(graph, directed)
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    people = options.read_people(walks, g, lenient=lenient, no_header=no_header, **table).on(g)
    options.show_skipped(people.skipped, quiet)
    similarity = None if texts is None else options.read_similarity(texts, g, quiet, lenient=lenient)
    growth: GrowthComparison | None = None
    growth_error = ""
    with show_progress(quiet) as progress, backend.connect():
        comparing, growing = split_progress(progress, [1, 0 if no_growth else 1])
        motives = compare_motives(
            g,
            people,
            agents=agent or [],
            reward=reward,
            similarity=similarity,
            burn_in=burn_in,
            weights=weights,
            returns=returns,
            seed=seed,
            engine=backend,
            progress=comparing,
        )
        if not no_growth:
            try:
                growth = compare_growth(
                    g,
                    people,
                    nulls=null or DEFAULT_NULLS,
                    steps=steps,
                    most=most,
                    seed=seed,
                    engine=backend,
                    progress=growing,
                )
            except WalkError as error:  # the motives are worth showing alone
                growth_error = str(error)
    document = {"motives": motives.to_dict(), "growth": None if growth is None else growth.to_dict()}
    write_result(out, document, lambda: list_rows(motives.columns()), lambda: motives.plot().axes[0])
    if out is not None and growth is not None and out.suffix.lower() != ".json":
        second = out.with_name(f"{out.stem}-growth{out.suffix}")
        write_result(
            second, document, lambda: list_rows(growth.to_frame().to_dict("list")), lambda: growth.plot().axes[0]
        )
    found_weights = motives.weights
    if out is not None and found_weights is not None and out.suffix.lower() != ".json":
        third = out.with_name(f"{out.stem}-weights{out.suffix}")
        write_result(
            third, document, lambda: list_rows(found_weights.list_by_user()), lambda: found_weights.plot().axes[0]
        )
    if growth_error:
        print_remark(f"growth is left out: {growth_error} Give --steps to compare it.", quiet)
    if json:
        show_json(document)
        return
    _show_motives(motives)
    if found_weights is not None:
        _show_weights(found_weights)
    if growth is not None:
        _show_growth(growth)
    print(motives.answer)
    if found_weights is not None:
        print(found_weights.answer)
    left_out = ", ".join(f"{reason}: {count:,}" for reason, count in motives.left_out.items() if count)
    if left_out:
        print_remark(f"steps left out because they are not choices between candidates: {left_out}", quiet)


def _show_motives(motives: Motives) -> None:
    rows = [
        [
            fit.name,
            fit.p_g,
            *_format_estimate(fit.gain),
            *_format_estimate(fit.behind),
            fit.percentile.value,
            "yes" if fit.opposed else "",
            *_format_estimate(fit.best_for),
        ]
        for fit in motives.values()
    ]
    columns = (
        "motive",
        "p_g",
        "gain",
        "95 %",
        "behind best",
        "95 %",
        "percentile",
        "opposed",
        "best for users",
        "95 %",
    )
    size = f"{motives.choices:,} choices by {len(motives.users):,} users"
    show_table(f"bits per choice better than chance: {size}", columns, rows)


def _show_weights(weights: MotiveWeights) -> None:
    rows = [
        [
            weight.name,
            *_format_estimate(weight.mean),
            *_format_estimate(weight.spread),
            weight.reliability,
            *_format_estimate(weight.alone),
            *_format_estimate(weight.adds),
            weight.inflation,
        ]
        for weight in weights.values()
    ]
    columns = (
        "motive",
        "mean weight",
        "95 %",
        "spread",
        "95 %",
        "reliability",
        "bits alone",
        "95 %",
        "bits added",
        "95 %",
        "inflation",
    )
    show_table(f"weights over all motives at once: {len(weights.users):,} users", columns, rows)


def _show_growth(growth: GrowthComparison) -> None:
    from curiograph.human.people.growth_comparison import QUANTITIES

    rows = [
        [name, *(cell for area in areas.values() for cell in _format_estimate(area))]
        for name, areas in growth.area.items()
    ]
    size = f"{growth.walks:,} walks by {growth.users:,} users, mean over {growth.steps} nodes"
    columns = ["null model", *(title for quantity in QUANTITIES for title in (quantity, "95 %"))]
    show_table(f"people above null models: {size}", columns, rows)


def _format_estimate(estimate: Estimate) -> tuple[float, str]:
    return estimate.value, "" if isnan(estimate.value) else f"{estimate.low:.3g} to {estimate.high:.3g}"
