"""The commands `curiograph reproduce NAME`: tables and figures of the paper."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from functools import partial
from importlib import import_module
from json import loads as load_json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from curiograph.cli import completion, options
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
from curiograph.validation import check_choice

if TYPE_CHECKING:
    from curiograph.agents.evaluate import Episodes
    from curiograph.paper.experiment import Experiment
    from curiograph.paper.people import Settings as PeopleSettings
    from curiograph.progress import Progress

app = typer.Typer(help="Reproduce a table or figure of the paper.", no_args_is_help=True)

Graphs = Annotated[int, typer.Option(help="Generated graphs per family.", min=2)]
Walks = Annotated[int, typer.Option(help="Walks per graph.", min=1)]
BeamWalks = Annotated[int, typer.Option("--beam-episodes", help="Walks per graph of beam.", min=1)]
Folder = Annotated[Path, typer.Option(help="Folder for the .md, .json and .png files.")]
Source = Annotated[Path | None, typer.Option("--from", help="Folder of the datasets. Default: CURIOGRAPH_DATA.")]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", help="movielens, books or wikispeedia; may be repeated.", autocompletion=completion.complete_published
    ),
]
Quick = Annotated[bool, typer.Option("--quick", help="Few choices, short training and few trials.")]
Games = Annotated[int | None, typer.Option(help="Maximum number of games of Wikispeedia. Default: all.", min=1)]
Run = Annotated[
    Path, typer.Option(help="Folder for agents, walkers and fits; rerun the command to resume an interrupted job.")
]
_RESULTS = Path("results")
_RUNS = Path("runs") / "table2"


@app.command("table1")
def table1(
    environments: Annotated[
        list[Path] | None, typer.Option(help="Published environment files, one per family; may be repeated.")
    ] = None,
    graphs: Graphs = 10,
    episodes: Annotated[str, typer.Option(help="Walks per graph from random starts, or all.")] = "100",
    beam_episodes: Annotated[str, typer.Option(help="Walks per graph of horizon+beam and beam, or all.")] = "100",
    seeds: Annotated[int, typer.Option(help="Number of sets of test graphs and walks to pool.", min=1)] = 1,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Table 1: all agents, two rewards and four families, compared with the paper."""
    from curiograph.paper import table1 as experiment
    from curiograph.parallel import resolve_engine

    _check_output(out, run)
    settings = experiment.Settings(
        episodes=_parse_episodes("--episodes", episodes),
        beam_episodes=_parse_episodes("--beam-episodes", beam_episodes),
        graphs=graphs,
        seeds=seeds,
        seed=seed,
    )
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, environments or (), backend, progress), out, json, quiet)


@app.command("lengths")
def lengths(
    graphs: Graphs = 10,
    episodes: Walks = 20,
    beam_episodes: BeamWalks = 5,
    longest: Annotated[int, typer.Option(help="Maximum length of the walks.", min=5)] = 50,
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

    _check_output(out, run)
    selected = tuple(length for length in experiment.LENGTHS if length <= longest)
    settings = experiment.Settings(
        graphs=graphs, episodes=episodes, beam_episodes=beam_episodes, seed=seed, lengths=selected
    )
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, backend, progress), out, json, quiet)


@app.command("sizes")
def sizes(
    graphs: Graphs = 10,
    episodes: Walks = 20,
    beam_episodes: BeamWalks = 5,
    largest: Annotated[int, typer.Option(help="Maximum number of nodes of the graphs.", min=10)] = 5000,
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

    _check_output(out, run)
    selected = tuple(size for size in experiment.SIZES if size <= largest)
    settings = experiment.Settings(
        graphs=graphs, episodes=episodes, beam_episodes=beam_episodes, seed=seed, sizes=selected
    )
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, backend, progress), out, json, quiet)


@app.command("walltime")
def walltime(
    family: Annotated[
        str, typer.Option(help="Family of the graph: rg, ws, ba or er.", autocompletion=completion.complete_families)
    ] = "rg",
    largest: Annotated[int, typer.Option(help="Maximum length of the walks.", min=5, max=200)] = 200,
    walks: Annotated[int, typer.Option(help="Number of walks in a batch.", min=1)] = 100,
    repeats: Annotated[int, typer.Option(help="Number of measurements, of which the median is taken.", min=1)] = 5,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Time per decision and per reward call against the number of visited nodes."""
    from curiograph.paper import walltime as experiment
    from curiograph.paper.peers import find_peers

    _check_output(out)
    selected = tuple(size for size in experiment.SIZES if size <= largest)
    settings = experiment.Settings(family=family, sizes=selected, walks=walks, repeats=repeats, seed=seed)
    _reproduce(lambda progress: experiment.run(settings, find_peers(), progress), out, json, quiet)


@app.command("pareto")
def pareto(
    source: Source = None,
    graphs: Graphs = 10,
    episodes: Walks = 20,
    real_episodes: Annotated[int, typer.Option(help="Walks on each real network.", min=2)] = 30,
    widest: Annotated[int, typer.Option(help="Maximum width of plain beams and planners.", min=1)] = 256,
    real: Annotated[bool, typer.Option("--real/--no-real", help="Include real networks if they are found.")] = True,
    repeats: Annotated[int, typer.Option(help="Number of measurements, of which the median is taken.", min=1)] = 3,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Mean return against CPU time per decision: learned agents and plain beam search."""
    from curiograph.paper import pareto as experiment

    _check_output(out)
    settings = experiment.Settings(
        plain_widths=tuple(width for width in experiment.PLAIN_WIDTHS if width <= widest),
        planner_widths=tuple(width for width in experiment.PLANNER_WIDTHS if width <= widest),
        graphs=graphs,
        episodes=episodes,
        real_episodes=real_episodes,
        repeats=repeats,
        real=real,
        seed=seed,
    )
    _reproduce(lambda progress: experiment.run(settings, source, progress), out, json, quiet)


@app.command("real")
def real(
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Folder of edge lists, or folder with real-networks. Default: CURIOGRAPH_DATA."),
    ] = None,
    episodes: Annotated[int, typer.Option(help="Walks on each network.", min=2)] = 50,
    repeats: Annotated[int, typer.Option(help="Number of measurements, of which the median is taken.", min=1)] = 3,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Shares of the attainable return on real networks."""
    from curiograph.paper import real_networks as experiment

    _check_output(out)
    settings = experiment.Settings(episodes=episodes, repeats=repeats, seed=seed)
    _reproduce(lambda progress: experiment.run(settings, source, progress), out, json, quiet)


@app.command("table2")
def table2(
    source: Source = None,
    only: Only = None,
    quick: Quick = False,
    item_graph: Annotated[
        list[str] | None,
        typer.Option(
            help="Links of items: highest, knn or nearest; may be repeated. Default: highest and knn.",
            autocompletion=completion.complete_item_graphs,
        ),
    ] = None,
    splits: Annotated[
        int | None, typer.Option(help="Number of splits into training users and test users.", min=1)
    ] = None,
    graph_seeds: Annotated[
        int,
        typer.Option(
            help="Number of seeds of graph users, graphs, agents and choices; more show the spread over them.", min=1
        ),
    ] = 1,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: Run = _RUNS,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Table 2 and Figure 4B: human choices in three datasets, compared with the paper and with baselines."""
    from curiograph.paper import table2 as experiment
    from curiograph.parallel import resolve_engine

    kinds: Any = [check_choice("--item-graph", kind, completion.complete_item_graphs()) for kind in item_graph or ()]
    settings = _select_datasets(only, quick, seed, splits)
    settings = replace(settings, item_graphs=tuple(kinds) or ("highest", "knn"))
    _check_output(out, run)
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, source, backend, progress, graph_seeds), out, json, quiet)


@app.command("multiverse")
def multiverse(
    source: Source = None,
    only: Only = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two seeds and few choices.")] = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Table 2 under all combinations of what the paper leaves open: which results hold, and why they differ."""
    from curiograph.paper import multiverse as experiment
    from curiograph.parallel import resolve_engine

    settings = experiment.QUICK if quick else experiment.Settings()
    settings = replace(settings, datasets=_select_datasets(only, quick, seed).datasets, seed=seed)
    _check_output(out, run)
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, source, backend, progress), out, json, quiet)


@app.command("diffusion")
def diffusion(
    source: Source = None,
    only: Only = None,
    quick: Quick = False,
    walks: Annotated[int, typer.Option(help="Number of walkers of each kind.", min=2)] = 400,
    steps: Annotated[int, typer.Option(help="Number of nodes of a walk.", min=7)] = 20,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: Run = _RUNS,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Figure 4C: distance of unbiased and curious walkers from their start on the three graphs."""
    from curiograph.paper import diffusion as experiment
    from curiograph.parallel import resolve_engine

    settings, walking = _select_datasets(only, quick, seed), experiment.Walking(walks, steps)
    _check_output(out, run)
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, walking, source, backend, progress), out, json, quiet)


@app.command("examples")
def examples(
    source: Source = None,
    only: Only = None,
    quick: Quick = False,
    count: Annotated[int, typer.Option(help="Number of choices of each dataset.", min=1)] = 4,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: Run = _RUNS,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Walks of real people, and the next nodes that PageRank and curious PageRank rank first."""
    from curiograph.paper import examples as experiment
    from curiograph.parallel import resolve_engine

    settings = _select_datasets(only, quick, seed)
    _check_output(out, run)
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, count, source, backend, progress), out, json, quiet)


@app.command("conditions")
def conditions(
    source: Source = None,
    only: Only = None,
    quick: Quick = False,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Gain of curiosity in groups of human choices: long histories, unfinished games, new players, and others."""
    from curiograph.human.prediction.predict import QUICK
    from curiograph.paper import conditions as experiment
    from curiograph.parallel import resolve_engine

    _check_output(out, run)
    settings = experiment.Settings(
        datasets=_select_datasets(only, quick, seed).datasets,
        effort=replace(QUICK, windows=1000) if quick else experiment.EFFORT,
        seed=seed,
    )
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, source, backend, progress), out, json, quiet)


@app.command("profile")
def profile(
    source: Source = None,
    permutations: Annotated[int, typer.Option(help="Number of permutations of the tests.", min=1)] = 9999,
    engine: options.Engine = "local",
    workers: options.Workers = None,
    address: options.Address = None,
    run: options.Run = None,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Measures of finished and unfinished games of Wikispeedia, and curiosity styles of players."""
    from curiograph.paper import profile as experiment
    from curiograph.parallel import resolve_engine

    _check_output(out, run)
    settings = experiment.Settings(permutations=permutations, seed=seed)
    backend = resolve_engine(engine, workers, address, run)
    _reproduce(lambda progress: experiment.run(settings, source, backend, progress), out, json, quiet)


def _add_command(name: str, help_text: str) -> Callable[..., None]:
    """Add a command that runs an experiment on games of Wikispeedia; experiments have the name of their module."""

    def command(
        source: Source = None,
        games: Games = None,
        engine: options.Engine = "local",
        workers: options.Workers = None,
        address: options.Address = None,
        run: options.Run = None,
        seed: options.Seed = 0,
        out: Folder = _RESULTS,
        json: options.Json = False,
        quiet: options.Quiet = False,
    ) -> None:
        from curiograph.parallel import resolve_engine

        experiment = import_module(f"curiograph.paper.{name}")
        _check_output(out, run)
        settings = experiment.Settings(max_games=games, seed=seed)
        backend = resolve_engine(engine, workers, address, run)
        _reproduce(lambda progress: experiment.run(settings, source, backend, progress), out, json, quiet)

    app.command(name, help=help_text)(command)
    return command


meaning = _add_command(
    "meaning", "What curiosity adds to models of human choices, given the similarity of articles (Wikispeedia)."
)
motives = _add_command("motives", "Weights over several motives at once, for players of Wikispeedia.")
returns = _add_command(
    "returns", "Returns to visited pages by players of Wikispeedia: recurrence, Levy walks, and motives."
)


@app.command("recommenders")
def recommenders(
    source: Source = None,
    only: Only = None,
    users: Annotated[int, typer.Option(help="Maximum number of test users per dataset.", min=2)] = 1_000,
    walkers: Annotated[int, typer.Option(help="Curious walkers from each visited item.", min=1)] = 256,
    seed: options.Seed = 0,
    out: Folder = _RESULTS,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Recommenders on held-out events: accuracy against novelty, coverage and diversity."""
    from curiograph.paper import recommenders as experiment

    _check_output(out)
    names = tuple(only or experiment.SPLITS)
    unknown = [name for name in names if name not in experiment.SPLITS]
    if unknown:
        raise UnknownNameError(f"--only is {unknown[0]!r}; the datasets are {', '.join(experiment.SPLITS)}.")
    settings = experiment.Settings(max_users=users, walkers=walkers, seed=seed)
    _reproduce(lambda progress: experiment.run(settings, source, names, progress), out, json, quiet)


@app.command("all")
def reproduce_all(
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
    parallel: dict[str, Any] = {"engine": engine, "workers": workers, "address": address, "run": run}
    commands: list[Callable[..., None]] = [partial(each, **parallel) for each in (table1, lengths, sizes)]
    commands += [walltime, partial(pareto, source=source), partial(real, source=source)]
    commands += [
        partial(each, source=source, quick=quick, **parallel)
        for each in (table2, multiverse, diffusion, examples, conditions)
    ]
    commands += [partial(each, source=source, **parallel) for each in (motives, returns, profile)]
    commands.append(partial(recommenders, source=source, users=50 if quick else 1_000, walkers=4 if quick else 256))
    commands.append(partial(meaning, source=source, games=3000 if quick else None, **parallel))
    with redirect_stdout(io.StringIO()) if json else nullcontext():  # print one document, not one per command
        for command in commands:
            command(seed=seed, out=out, quiet=quiet)
    if json:
        names = (
            "table1", "lengths", "sizes", "walltime", "pareto", "real", "table2", "multiverse", "diffusion", "examples",
            "conditions", "motives", "returns", "profile", "recommenders", "meaning",
        )  # fmt: skip
        show_json({name: load_json((out / f"{name}.json").read_text()) for name in names})


def _select_datasets(only: list[str] | None, quick: bool, seed: int, splits: int | None = None) -> PeopleSettings:
    """Settings of the experiments on human choices."""
    from curiograph.human.prediction.predict import FULL, QUICK
    from curiograph.paper.people import DATASETS, Settings

    names = tuple(only or DATASETS)
    unknown = [name for name in names if name not in DATASETS]
    if unknown:
        raise UnknownNameError(f"--only is {unknown[0]!r}; the datasets are {', '.join(DATASETS)}.")
    effort = QUICK if quick else FULL
    return Settings(names, effort if splits is None else replace(effort, splits=splits), seed)


def _parse_episodes(option: str, text: str) -> Episodes:
    if text == "all":
        return "all"
    if not text.isdecimal() or int(text) < 2:
        raise SettingError(f"{option} is {text!r}; give a whole number, 2 or more, or all.")
    return int(text)


def _check_output(out: Path, run: Path | None = None) -> None:
    """Raise if results could not be drawn or written; call this before the work is done."""
    from curiograph.optional import import_optional

    import_optional("matplotlib.figure", "plot", "Pictures")
    check_folder(out)
    check_folder(run, "--run")


def _reproduce(run: Callable[[Progress], Experiment], out: Path, json: bool, quiet: bool) -> None:
    """Run an experiment, write its document, page and figure, and show its document or its tables and remarks."""
    with show_progress(quiet) as progress:
        result = run(progress)
    document, name = result.to_dict(), result.name
    out.mkdir(parents=True, exist_ok=True)
    write_text(out / f"{name}.json", format_json(document) + "\n")
    write_text(out / f"{name}.md", result.to_markdown())
    result.save_plot(out / f"{name}.png")
    if json:
        show_json(document)
        return
    for section in result.sections:
        if isinstance(section, str):
            print(section)
        else:
            show_table(section.title, section.columns, section.rows)
    for line in result.remarks:
        print_remark(line, quiet)
    print_remark(f"wrote {name}.md, {name}.json and {name}.png to {out}", quiet)
