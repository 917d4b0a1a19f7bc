"""`curiograph reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from curiograph.cli import options
from curiograph.cli.output import check_folder, progress, remark, show_json, show_table, to_json, write_text

if TYPE_CHECKING:
    from curiograph.experiments.table1 import Cell

app = typer.Typer(help="Reproduce a table or figure of the paper.", no_args_is_help=True)


@app.callback()
def _reproduce() -> None:
    pass


@app.command("table1")
def table1(
    environments: Annotated[
        list[Path] | None, typer.Option(help="Published environment files, one per family; may be repeated.")
    ] = None,
    graphs: Annotated[int, typer.Option(help="Generated graphs per family.", min=2)] = 10,
    episodes: Annotated[int, typer.Option(help="Walks per graph.", min=2)] = 100,
    beam_episodes: Annotated[int, typer.Option(help="Walks per graph of the planner.", min=2)] = 100,
    seed: options.Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for table1.md, table1.json and table1.png.")] = Path("results"),
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Table 1: baselines and planner, two rewards, four families, beside the paper's figures."""
    from curiograph.experiments import table1 as experiment
    from curiograph.extras import require

    require("matplotlib.figure", "plot", "Pictures")
    check_folder(out)
    settings = experiment.Settings(graphs=graphs, episodes=episodes, beam_episodes=beam_episodes, seed=seed)
    with progress(quiet) as say:
        cells = experiment.run(settings, environments or (), say)
    document = experiment.to_dict(cells, settings)
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / "table1.json", to_json(document) + "\n")
    write_text(out / "table1.md", experiment.to_markdown(cells))
    experiment.save_plot(cells, out / "table1.png")
    if json:
        show_json(document)
        return
    columns = ("reward", "family", *experiment.AGENTS, "paper's GNN")
    show_table("Mean return ± standard error, and the paper's below", columns, [_row(cell) for cell in cells])
    remark(f"wrote table1.md, table1.json and table1.png to {out}", quiet)


def _row(cell: Cell) -> list[str]:
    row = [cell.reward, cell.family.upper()]
    for name, result in cell.results.items():
        paper = f"\n{cell.paper[name][0]:.2f} ± {cell.paper[name][1]:.2f}" if name in cell.paper else ""
        row.append(f"{result.mean:.2f} ± {result.sem:.2f}{paper}")
    return [*row, f"\n{cell.paper['gnn'][0]:.2f} ± {cell.paper['gnn'][1]:.2f}"]
