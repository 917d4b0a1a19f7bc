"""The command `curiograph evaluate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import check_out, emit, show_progress
from curiograph.errors import SettingError

if TYPE_CHECKING:
    from curiograph.graph.generators import Split

Family = Annotated[str | None, typer.Option(help="Generated graphs: rg, ws, ba or er.")]
GraphFile = Annotated[str | None, typer.Option(help="A single graph, as for explore.")]
Environments = Annotated[Path | None, typer.Option(help="Graphs of a published environment file.")]
Nodes = Annotated[int, typer.Option(help="Size of generated graphs.")]


def evaluate(
    output: options.Output,
    where: options.Where,
    agent: options.AgentOption = "planner",
    reward: options.RewardOption = "igt",
    family: Family = None,
    graph: GraphFile = None,
    environments: Environments = None,
    steps: options.Steps = 10,
    episodes: Annotated[str, typer.Option(help="Walks per graph from random starts, or all.")] = "100",
    graphs: Annotated[int, typer.Option(help="Number of generated graphs.", min=1)] = 10,
    nodes: Nodes = 50,
    suite: Annotated[
        bool, typer.Option("--suite", help="All tasks of the frozen benchmark; --out keeps walks.")
    ] = False,
    verify: Annotated[Path | None, typer.Option(help="Recompute a result of --suite from its walks.")] = None,
) -> None:
    """Compute the mean return of an agent over many walks, with standard errors over episodes and clustered by graph.

    [bold]curiograph evaluate --family rg --agent greedy --reward cpt --episodes 20[/bold]

    [bold]curiograph evaluate --suite --agent planner --out planner.json[/bold], which --verify planner.json checks.
    """
    if suite or verify is not None:
        if suite == (verify is not None) or (family, graph, environments) != (None, None, None):
            raise SettingError(
                "give one of --suite, --verify FILE, --family NAME, --graph FILE or --environments FILE."
            )
        if (reward, steps, episodes) != ("igt", 10, "100"):
            raise SettingError(
                "the suite has its own rewards, lengths and starts; give no --reward, --steps or --episodes."
            )
        return evaluate_suite(output, agent, verify)
    check_out(output.out)
    if episodes != "all" and not episodes.isdecimal():
        raise SettingError(f"--episodes is {episodes!r}; give a whole number or all.")
    count: Any = episodes if episodes == "all" else int(episodes)
    sets = load_sets(family, graph, environments, {"train": 0, "val": 0, "test": graphs}, nodes, output.seed)
    with show_progress(output.quiet) as progress:
        found = cg.evaluate(
            agent, sets.test, reward, steps, count, seed=output.seed, engine=where.make(), progress=progress
        )
    emit(output, found, found.to_frame(), title=f"{reward}, walks of {steps} nodes")
    if not output.json:
        early = f"; {found.ended_early:,} walks ended early" if found.ended_early else ""
        print(f"mean return {found.mean:.6g} ± {found.sem:.2g} by {found.agent}{early}")


def evaluate_suite(output: options.Output, agent: str, verify: Path | None) -> None:
    """Run an agent on the suite, or verify a stored result, and print the table."""
    from curiograph.agents.suite import BUDGETS, SuiteResult

    check_out(output.out, (".json",))
    with show_progress(output.quiet) as progress:
        found = cg.suite(agent, progress=progress) if verify is None else SuiteResult.load(verify, progress=progress)
    if output.out is not None:
        found.save(output.out)
    emit(replace(output, out=None), found, found.to_frame(), title=f"suite {found.suite}")
    if not output.json:
        scores = ", ".join(f"{found.score(budget):.1%} at {budget:,}" for budget in BUDGETS)
        print(f"{found}; score {found.score():.1%}, {scores} microseconds a decision")
        if verify is not None:
            print("every walk is allowed, and all returns are computed from the walks; times are those of the file")


def load_sets(
    family: str | None, graph: str | None, environments: Path | None, sizes: dict[str, int], nodes: int, seed: int
) -> Split:
    """Return the graphs that options name: a generated family, one graph for everything, or a published file."""
    from curiograph.graph.generators import Split

    if sum(source is not None for source in (family, graph, environments)) != 1:
        raise SettingError("give one of --family NAME, --graph FILE or --environments FILE.")
    if graph is not None:
        g = [options.open_graph(graph)]
        return Split(g, g, g)
    if environments is not None:
        return cg.read_split(environments)
    return cg.generate_split(family or "", nodes, **sizes, seed=seed)
