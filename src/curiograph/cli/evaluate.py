"""The command `curiograph evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import check_folder, check_out, show_json, show_progress, show_table, write_result
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph


def evaluate(
    agent: Annotated[
        list[str], typer.Option(help="As for explore; may be repeated.", autocompletion=completion.complete_agents)
    ] = ["greedy"],  # noqa: B006
    reward: options.Reward = "igt",
    family: Annotated[
        str | None,
        typer.Option(help="Generated test graphs: rg, ws, ba or er.", autocompletion=completion.complete_families),
    ] = None,
    graph: options.GraphFile = None,
    environments: Annotated[Path | None, typer.Option(help="Test graphs of a published environment file.")] = None,
    steps: options.Steps = 10,
    episodes: Annotated[str, typer.Option(help="Walks per graph from random starts, or all.")] = "100",
    graphs: Annotated[int, typer.Option(help="Number of generated graphs.")] = 10,
    nodes: Annotated[int, typer.Option(help="Size of generated graphs.")] = 50,
    fallback: options.Fallback = "frontier",
    directed: options.Directed = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Compute the mean return of agents over many walks, with standard errors over episodes and clustered by graph.

    [bold]curiograph evaluate --family rg --agent greedy --agent beam:64 --reward igt --episodes 20[/bold]
    """
    from curiograph.agents.evaluate import evaluate as evaluate_agent
    from curiograph.parallel import resolve_engine
    from curiograph.progress import split_progress

    check_out(out, (".json", ".csv"))
    check_folder(run, "--run")
    backend = resolve_engine(engine, workers, address, run)
    test_graphs = _load_graphs(family, graph, environments, graphs, nodes, seed, directed)
    count: Any = episodes
    if episodes != "all":
        try:
            count = int(episodes)
        except ValueError:
            raise SettingError(f"--episodes is {episodes!r}; give a whole number or all.") from None
    checked_later: Any = fallback
    with show_progress(quiet) as progress:
        results = [
            evaluate_agent(
                name,
                test_graphs,
                reward,
                steps,
                count,
                fallback=checked_later,
                seed=seed,
                engine=backend,
                progress=part,
            )
            for name, part in zip(agent, split_progress(progress, [1] * len(agent)), strict=True)
        ]
    documents = [result.to_dict() for result in results]
    document = documents[0] if len(documents) == 1 else {"results": documents}
    columns = ("agent", "mean", "sem", "sem by graph", "graphs", "episodes", "ended early")
    rows = [[each[column.replace(" ", "_")] for column in columns] for each in documents]
    write_result(out, document, lambda: (columns, rows))
    if json:
        show_json(document)
    else:
        show_table(f"{reward}, walks of {steps} nodes", columns, rows)


def _load_graphs(
    family: str | None, graph: str | None, environments: Path | None, count: int, nodes: int, seed: int, directed: bool
) -> list[Graph]:
    from curiograph.graph.generators import generate_split
    from curiograph.graph.splits import read_split

    if sum(source is not None for source in (family, graph, environments)) != 1:
        raise SettingError("give one of --family NAME, --graph FILE or --environments FILE.")
    if graph is not None:
        return [options.open_graph(graph, directed)]
    if environments is not None:
        return read_split(environments).test
    if count < 1:
        raise SettingError(f"--graphs is {count}; evaluate on at least 1 graph.")
    return generate_split(family or "", nodes, train=0, val=0, test=count, seed=seed).test
