"""`curiograph reproduce`."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from functools import partial
from importlib import import_module
from json import loads as load_json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options, predict
from curiograph.cli.output import (
    check_folder,
    format_json,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_text,
)
from curiograph.errors import SettingError, UnknownNameError

if TYPE_CHECKING:
    from curiograph.agents.evaluate import Episodes
    from curiograph.paper.people import Settings as PeopleSettings
    from curiograph.paper.table1 import Cell
    from curiograph.paper.walltime import Peers
    from curiograph.parallel import Engine

app = typer.Typer(help="Reproduce a table or figure of the paper.", no_args_is_help=True)

Graphs = Annotated[int, typer.Option(help="Generated graphs per family.", min=2)]
Walks = Annotated[int, typer.Option(help="Walks per graph.", min=1)]
BeamWalks = Annotated[int, typer.Option("--beam-episodes", help="Walks per graph of the planner.", min=1)]
Folder = Annotated[Path, typer.Option(help="Folder for the .md, .json and .png of this name.")]
Source = Annotated[Path | None, typer.Option("--from", help="Folder with the data; CURIOGRAPH_DATA without it.")]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", help="movielens, books or wikispeedia; may be repeated.", autocompletion=completion.complete_published
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Few choices, short trainings and fits.")]
Run = Annotated[Path, typer.Option(help="Folder that keeps agents, walkers and fits: a killed job goes on there.")]
_RESULTS = Path("results")
_RUNS = Path("runs") / "table2"


@app.callback()
def _reproduce() -> None:
    pass


@app.command("table1")
def table1(
    environments: Annotated[
        list[Path] | None, typer.Option(help="Published environment files, one per family; may be repeated.")
    ] = None,
    graphs: Graphs = 10,
    episodes: Annotated[str, typer.Option(help="Walks per graph from random starts, or all.")] = "100",
    beam_episodes: Annotated[str, typer.Option(help="The same for the planners.")] = "100",
    seeds: Annotated[int, typer.Option(help="Sets of test graphs and walks, put together.", min=1)] = 1,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Table 1: all agents, two rewards, four families, beside the paper's figures."""
    from curiograph.paper import table1 as experiment
    from curiograph.paper.comparison import REWARDS
    from curiograph.parallel import resolve_engine

    _check(out, run)
    settings = experiment.Settings(
        episodes=_episodes("--episodes", episodes),
        beam_episodes=_episodes("--beam-episodes", beam_episodes),
        graphs=graphs,
        seeds=seeds,
        seed=seed,
    )
    with show_progress(quiet) as say:
        cells = experiment.run(settings, environments or (), say, resolve_engine(engine, workers, address, run))
    document = experiment.to_dict(cells, settings)
    _write("table1", out, document, experiment.to_markdown(cells), lambda path: experiment.save_plot(cells, path))
    if json:
        show_json(document)
        return
    for reward in REWARDS:
        some = [cell for cell in cells if cell.reward == reward]
        title = f"{reward}: mean return ± standard error by graph, and the paper's below"
        show_table(title, *_returns(some, experiment.columns_of(cells)))
    show_table("Share of the attainable, (agent - random) / (beam - random)", *_shares(cells))
    _conclude("table1", out, experiment.remarks(cells), quiet)


@app.command("lengths")
def lengths(
    graphs: Graphs = 10,
    episodes: Walks = 20,
    beam_episodes: BeamWalks = 5,
    longest: Annotated[int, typer.Option(help="Leave out longer walks.", min=5)] = 50,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Walks of 5 to 50 nodes on 50-node graphs."""
    from curiograph.paper import lengths as experiment
    from curiograph.parallel import resolve_engine

    places = tuple(length for length in experiment.LENGTHS if length <= longest)
    settings = experiment.Settings(graphs, episodes, beam_episodes, seed, places)
    _curves("lengths", experiment, settings, resolve_engine(engine, workers, address, run), out, json, quiet)


@app.command("sizes")
def sizes(
    graphs: Graphs = 10,
    episodes: Walks = 20,
    beam_episodes: BeamWalks = 5,
    largest: Annotated[int, typer.Option(help="Leave out larger graphs.", min=10)] = 5000,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """10-node walks on graphs of 10 to 5,000 nodes."""
    from curiograph.paper import sizes as experiment
    from curiograph.parallel import resolve_engine

    places = tuple(size for size in experiment.SIZES if size <= largest)
    settings = experiment.Settings(graphs, episodes, beam_episodes, seed, places)
    _curves("sizes", experiment, settings, resolve_engine(engine, workers, address, run), out, json, quiet)


@app.command("walltime")
def walltime(
    family: Annotated[
        str, typer.Option(help="Family of the graph: rg, ws, ba or er.", autocompletion=completion.complete_families)
    ] = "rg",
    largest: Annotated[int, typer.Option(help="Leave out longer walks.", min=5, max=200)] = 200,
    walks: Annotated[int, typer.Option(help="Walks that decide at once, in the batch.", min=1)] = 100,
    repeats: Annotated[int, typer.Option(help="Measurements, of which the median counts.", min=1)] = 5,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Time per decision and per reward call, against the number of nodes visited."""
    from curiograph.paper import walltime as experiment
    from curiograph.paper.comparison import REWARDS, TITLES

    _check(out)
    places = tuple(size for size in experiment.SIZES if size <= largest)
    settings = experiment.Settings(family=family, sizes=places, walks=walks, repeats=repeats, seed=seed)
    with show_progress(quiet) as say:
        timings = experiment.run(settings, _peers(), say)
    document = experiment.to_dict(timings, settings)
    text = experiment.to_markdown(timings, settings)
    _write("walltime", out, document, text, lambda path: experiment.save_plot(timings, path))
    if json:
        show_json(document)
        return
    for reward in REWARDS:
        show_table(f"{TITLES[reward]}, milliseconds", *experiment.table(timings, reward))
    show_table("Where trained agents are faster than exact rewards", *experiment.verdicts(timings))
    _conclude("walltime", out, experiment.remarks(timings, settings), quiet)


@app.command("table2")
def table2(
    source: Source = None,
    only: Only = None,
    quick: Quick = False,
    splits: Annotated[int | None, typer.Option(help="Divisions of users to fit on and to test on.", min=1)] = None,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: Run = _RUNS,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Table 2 and Figure 4B: people's choices on three datasets, beside the paper's figures and honest baselines."""
    from curiograph.paper import table2 as experiment
    from curiograph.parallel import resolve_engine

    settings = _people(only, quick, seed, splits)
    _check(out, run)
    with show_progress(quiet) as say:
        found = experiment.run(settings, source, resolve_engine(engine, workers, address, run), say)
    document = experiment.to_dict(found, settings)
    _write("table2", out, document, experiment.to_markdown(found), lambda path: experiment.save_plot(found, path))
    if json:
        show_json(document)
        return
    for prediction in found:
        predict.show_prediction(prediction)
    show_table("r over PageRank among the out-neighbours of the last node", *experiment.summary(found))
    _conclude("table2", out, experiment.remarks(found), quiet)


@app.command("diffusion")
def diffusion(
    source: Source = None,
    only: Only = None,
    quick: Quick = False,
    walks: Annotated[int, typer.Option(help="Walkers of each kind.", min=2)] = 400,
    steps: Annotated[int, typer.Option(help="Nodes of a walk.", min=7)] = 20,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: Run = _RUNS,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Figure 4C: how far unbiased and curious walkers get from the start on the three graphs."""
    from curiograph.paper import diffusion as experiment
    from curiograph.parallel import resolve_engine

    settings, walking = _people(only, quick, seed), experiment.Walking(walks, steps)
    _check(out, run)
    with show_progress(quiet) as say:
        found = experiment.run(settings, walking, source, resolve_engine(engine, workers, address, run), say)
    document = experiment.to_dict(found, settings, walking)
    text = experiment.to_markdown(found, walking)
    _write("diffusion", out, document, text, lambda path: experiment.save_plot(found, path))
    if json:
        show_json(document)
        return
    show_table("links from the start", *experiment.table(found))
    _conclude("diffusion", out, experiment.remarks(found), quiet)


@app.command("examples")
def examples(
    source: Source = None,
    only: Only = None,
    quick: Quick = False,
    count: Annotated[int, typer.Option(help="Choices of each dataset.", min=1)] = 4,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: Run = _RUNS,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Paths of real people with titles, and what PageRank and curious PageRank would have offered next."""
    from curiograph.paper import examples as experiment
    from curiograph.parallel import resolve_engine

    settings = _people(only, quick, seed)
    _check(out, run)
    with show_progress(quiet) as say:
        found = experiment.run(settings, count, source, resolve_engine(engine, workers, address, run), say)
    document = experiment.to_dict(found, settings)
    text = experiment.to_markdown(found)
    _write("examples", out, document, text, lambda path: experiment.save_plot(found, path))
    if json:
        show_json(document)
        return
    for example in found:
        print(" > ".join(example.history), f"\n  went to {example.choice} (of {example.candidates})")
        for name, offered in example.offers.items():
            print(f"  {name} offers {', '.join(offered)}; places the choice at {example.percentiles[name]:.2f}")
    _conclude("examples", out, (), quiet)


@app.command("all")
def everything(
    source: Source = None,
    quick: Quick = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: Run = _RUNS,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Every table and figure."""
    who: dict[str, Any] = {"engine": engine, "workers": workers, "address": address, "run": run}
    experiments: list[Callable[..., None]] = [partial(each, **who) for each in (table1, lengths, sizes)]
    experiments += [walltime]
    experiments += [partial(each, source=source, quick=quick, **who) for each in (table2, diffusion, examples)]
    with redirect_stdout(io.StringIO()) if json else nullcontext():  # one document instead of one after the other
        for experiment in experiments:
            experiment(seed=seed, out=out, quiet=quiet)
    if json:
        names = ("table1", "lengths", "sizes", "walltime", "table2", "diffusion", "examples")
        show_json({name: load_json((out / f"{name}.json").read_text()) for name in names})


def _people(only: list[str] | None, quick: bool, seed: int, splits: int | None = None) -> PeopleSettings:
    """Settings of the experiments on human choices."""
    from dataclasses import replace

    from curiograph.human.prediction.predict import FULL, QUICK
    from curiograph.paper.people import DATASETS, Settings

    names = tuple(only or DATASETS)
    unknown = [name for name in names if name not in DATASETS]
    if unknown:
        raise UnknownNameError(f"--only is {unknown[0]!r}; the datasets are {', '.join(DATASETS)}.")
    effort = QUICK if quick else FULL
    return Settings(names, effort if splits is None else replace(effort, splits=splits), seed)


def _check(out: Path, run: Path | None = None) -> None:
    """Raise before the work is done if its result could not be drawn or written."""
    from curiograph.optional import import_optional

    import_optional("matplotlib.figure", "plot", "Pictures")
    check_folder(out)
    if run is not None:
        check_folder(run, "--run")


def _write(name: str, out: Path, document: Any, text: str, draw: Callable[[Path], None]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / f"{name}.json", format_json(document) + "\n")
    write_text(out / f"{name}.md", text)
    draw(out / f"{name}.png")


def _conclude(name: str, out: Path, remarks: Iterable[str], quiet: bool) -> None:
    for line in remarks:
        print_remark(line, quiet)
    print_remark(f"wrote {name}.md, {name}.json and {name}.png to {out}", quiet)


def _curves(name: str, experiment: Any, settings: Any, engine: Engine, out: Path, json: bool, quiet: bool) -> None:
    """Run, write and show `lengths` or `sizes`."""
    from curiograph.paper.curves import table

    _check(out, engine.run_folder)
    with show_progress(quiet) as say:
        points = experiment.run(settings, say, engine)
    document = experiment.to_dict(points, settings)
    text = experiment.to_markdown(points, settings)
    _write(name, out, document, text, lambda path: experiment.save_plot(points, path))
    if json:
        show_json(document)
        return
    show_table("Mean return ± standard error by graph (and its ratio to greedy's)", *table(points, experiment.ALONG))
    _conclude(name, out, document["remarks"], quiet)


def _episodes(option: str, text: str) -> Episodes:
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 2:
        raise SettingError(f"{option} is {text!r}; give a whole number, 2 or more, or all.")
    return int(text)


def _returns(cells: Sequence[Cell], columns: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of a reward: a row for each agent, a column for each family."""
    rows = [[column, *(_return_text(cell, column) for cell in cells)] for column in columns]
    gnn = ["paper's GNN", *(_paper_text(cell, "gnn") for cell in cells)]
    return ["agent", *(cell.family.upper() for cell in cells)], [*rows, gnn]


def _return_text(cell: Cell, column: str) -> str:
    if column not in cell.results:
        return "-"
    result = cell.results[column]
    paper = f"\n{_paper_text(cell, column)}" if column in cell.paper and column != "gnn" else ""
    return f"{result.mean:.2f} ± {result.sem_by_graph:.2f}{paper}"


def _paper_text(cell: Cell, name: str) -> str:
    return f"{cell.paper[name][0]:.2f} ± {cell.paper[name][1]:.2f}"


def _shares(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of shares: a row for each agent, a column for each cell and mean."""
    from curiograph.paper.comparison import format_percent
    from curiograph.paper.table1 import share_rows

    parts = share_rows(cells)
    rows = [[column, *(format_percent(part.shares[column][0]) for part in parts)] for column in parts[0].shares]
    paper = {"paper's greedy": "greedy", "paper's GNN": "gnn"}
    rows += [[title, *(format_percent(part.paper[name]) for part in parts)] for title, name in paper.items()]
    return ["agent", *(f"{part.reward} {part.family}" for part in parts)], rows


def _peers() -> Peers:
    """What others would compute the rewards with, as far as it is installed."""
    from curiograph.paper.peers import ripser_beta1, slow_compressibility

    peers: dict[str, Any] = {"slow twin": slow_compressibility}
    with suppress(ImportError):  # the experiment says what is missing
        peers["ripser"] = partial(ripser_beta1, import_module("ripser"))
    return peers
