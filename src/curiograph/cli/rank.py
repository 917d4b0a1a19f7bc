"""`curiograph rank` and `curiograph recommend`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from time import monotonic
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
from curiograph.errors import SettingError, UnknownNameError

if TYPE_CHECKING:
    from curiograph.graph.graph import Graph
    from curiograph.progress import Progress
    from curiograph.recommendation.recommender import Recommendations, Recommender

Alpha = Annotated[float, typer.Option(help="Chance to go on instead of teleporting, from 0 to below 1.")]
Greediness = Annotated[float, typer.Option("--p-g", help="0: always the agent's best candidate; 1: any candidate.")]
Count = Annotated[int, typer.Option("-k", "--count", help="Nodes to show.")]
Histories = Annotated[Path | None, typer.Option(help="A file with one history per line.")]
HistoryLabels = Annotated[str | None, typer.Option(help="Labels of visited nodes, separated by commas.")]

_AT_ONCE = 64  # nodes prepared between two looks at the clock
_SECONDS = 60  # between two writings of a file of parts


def rank(
    graph: options.GraphArgument,
    history: HistoryLabels = None,
    histories: Histories = None,
    history_weights: Annotated[
        str | None, typer.Option(help="A number for each entry of the history, separated by commas.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="Let this agent walk (greedy, igt-rg, ...); plain PageRank without it.",
            autocompletion=completion.complete_agents,
        ),
    ] = None,
    reward: options.Reward = "igt",
    alpha: Alpha = 0.85,
    p_g: Greediness = 0.5,
    k: Count = 10,
    tolerance: Annotated[float, typer.Option(help="Relative standard error of the 20 best scores to reach.")] = 0.05,
    max_walks: Annotated[int, typer.Option(help="Most walkers to draw.")] = 100_000,
    remember: Annotated[str, typer.Option(help="What walkers remember: path, or the user's history too.")] = "path",
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
    """Rank nodes by PageRank, or by PageRank that a curious agent walks; personalised with a history.

    [bold]curiograph rank toy:library --history music,physics --agent greedy --reward igt[/bold]
    """
    check_out(out, (".json", ".csv", *PICTURES) if histories is None else (".json", ".csv"))
    if history is not None and histories is not None:
        raise SettingError("give --history a,b,c or --histories FILE, not both.")
    if histories is not None and history_weights is not None:
        raise SettingError("--history-weights are for one history, given as --history a,b,c.")
    if agent is None:
        _check_plain({"--p-g": p_g != 0.5, "--remember": remember != "path", "--fallback": fallback != "frontier",
                      "--tolerance": tolerance != 0.05, "--max-walks": max_walks != 100_000,
                      "--reward": reward != "igt", "--engine": engine != "local", "--run": run is not None,
                      "--address": address is not None, "--workers": workers is not None})  # fmt: skip
    elif histories is None and (engine, workers, address, run) != ("local", None, None, None):
        raise SettingError("--engine, --workers, --address and --run are for many histories: --histories FILE.")
    if run is not None:
        check_folder(run, "--run")
    g = options.open_graph(graph, directed)
    reader = options.LabelReader(g)
    labels = reader.walks(histories) if histories else None if history is None else reader.walk(history)
    weights = None if history_weights is None else _numbers("--history-weights", history_weights)
    with show_progress(quiet) as say:
        say("ranking")
        if agent is None:
            from curiograph.centrality.pagerank import pagerank

            found: Any = pagerank(g, alpha, labels, weights=weights)
            about = {"alpha": alpha, "residual": _most(found.residual), "iterations": _most(found.iterations)}
        else:
            from curiograph.centrality.curious_pagerank import curious_pagerank

            choices: Any = {"weights": weights, "reward": reward, "remember": remember, "fallback": fallback}
            limits: Any = {"tolerance": tolerance, "max_walks": max_walks}
            who: Any = {"engine": engine, "workers": workers, "address": address, "run": run, "progress": say}
            found = curious_pagerank(g, agent, alpha, labels, p_g=p_g, seed=seed, **choices, **limits, **who)
            about = {name: getattr(found, name) for name in ("agent", "alpha", "p_g", "exact", "walks", "paths")}
            about["converged"] = _all(found.converged)
    columns = ["rank", "node", "score"] + ["stderr"] * (agent is not None)
    tables = _rankings(g, found, k, agent is not None)
    rankings = [[dict(zip(columns, row, strict=True)) for row in rows] for rows in tables]
    if histories is None:
        document, rows = {"history": labels, **about, "ranking": rankings[0]}, tables[0]
    else:
        users = [{"history": each, "ranking": ranking} for each, ranking in zip(labels or (), rankings, strict=True)]
        document, rows = {**about, "users": users}, [[user, *row] for user, each in enumerate(tables) for row in each]
        columns = ["user", *columns]
    write_result(out, document, lambda: (columns, rows), found.plot)
    if json:
        show_json(document)
        return
    show_table("", columns, rows)
    if not about.get("converged", True):
        print_remark(f"the standard errors are above {tolerance:g} of the scores; raise --max-walks.", quiet)


def _check_plain(given: dict[str, bool]) -> None:
    """Raise where an option was given that only an agent's walkers heed."""
    for option, changed in given.items():
        if changed:
            raise SettingError(f"{option} is for walkers that an agent leads; add --agent, as in --agent greedy.")


def _all(converged: Any) -> bool:
    return converged if isinstance(converged, bool) else bool(converged.all())


def _most(numbers: Any) -> Any:
    """The largest for several histories; the number itself for one."""
    return numbers.max().item() if hasattr(numbers, "max") else numbers


def _rankings(graph: Graph, found: Any, k: int, with_errors: bool) -> list[list[list[Any]]]:
    """Rows of the best nodes, for every history."""
    many = found.scores.ndim > 1
    errors = (found.stderr if many else [found.stderr]) if with_errors else repeat(None)
    return [
        [
            [place, label, score, *([] if error is None else [float(error[graph.position(label)])])]
            for place, (label, score) in enumerate(best, start=1)
        ]
        for best, error in zip(found.top(k) if many else [found.top(k)], errors, strict=False)
    ]


def recommend(
    graph: options.GraphArgument,
    history: HistoryLabels = None,
    histories: Histories = None,
    k: Count = 10,
    candidates: Annotated[
        str, typer.Option(help="all unvisited nodes, or neighbours of the last or of history.")
    ] = "all",
    by: Annotated[
        str, typer.Option(help="mixture, pagerank, igt or cpt.", autocompletion=completion.complete_rankers)
    ] = "mixture",
    weights: Annotated[
        str | None, typer.Option(help="Of the mixture, as in pagerank=1,igt=0.5,cpt=0.5; equal without it.")
    ] = None,
    igt_agent: Annotated[
        str, typer.Option(help="The agent that walks for igt.", autocompletion=completion.complete_agents)
    ] = "greedy",
    cpt_agent: Annotated[
        str, typer.Option(help="The agent that walks for cpt.", autocompletion=completion.complete_agents)
    ] = "greedy",
    alpha: Alpha = 0.85,
    p_g: Greediness = 0.5,
    walks: Annotated[int, typer.Option(help="Walkers that start at each visited node.")] = 256,
    parts: Annotated[
        Path | None,
        typer.Option(help="A .safetensors file that keeps what was computed, for the next time: read and extended."),
    ] = None,
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Compute the parts of all nodes into --parts first; slow, once.")
    ] = False,
    directed: options.Directed = False,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Recommend what to visit next, with reasons.

    [bold]curiograph recommend toy:library --history music,physics -k 5[/bold]
    """
    from curiograph.recommendation.ranker import check_candidate_set
    from curiograph.recommendation.recommender import Recommender
    from curiograph.validation import check_integer

    _check_files(history, histories, parts, prepare, out)
    chosen, k = check_candidate_set(candidates), check_integer("-k", k, 1, "ask for 1 recommendation or more")
    g = options.open_graph(graph, directed)
    reader = options.LabelReader(g)
    users = [reader.walk(history)] if history is not None else reader.walks(histories) if histories else []
    made = Recommender(g, _ranker(by, weights, {"igt": igt_agent, "cpt": cpt_agent}, alpha, p_g, walks, seed))
    if parts is not None and by == "pagerank":
        raise SettingError("--parts keeps what curious walkers find out; --by pagerank has none.")
    if parts is not None and parts.exists():
        made.load(parts)
    known = made.num_prepared
    with show_progress(quiet) as say:
        if prepare and parts is not None:
            _prepare(made, parts, say)
        say(f"recommending to {len(users)} users")
        found = made.recommend(users, k, candidates=chosen) if users else []
    if parts is not None and made.num_prepared > known:
        made.save(parts)
    if not users:
        document = {"parts": str(parts), "nodes": g.num_nodes}
        write_result(out, document)
        if json:
            show_json(document)
        else:
            print_remark(f"{parts}: the parts of {g.num_nodes} nodes", quiet)
        return
    document = {"users": [top.to_dict() for top in found]} if history is None else found[0].to_dict()
    write_result(out, document, lambda: _table(found), found[0].plot)
    if json:
        show_json(document)
        return
    show_table("", *_shown(found, history is not None))
    for number, top in enumerate(found):
        if len(top) < k:
            who = f"user {number}: " if history is None else ""
            print_remark(f"{who}{len(top)} of {k} recommendations: no other candidate can be reached", quiet)


def _check_files(
    history: str | None, histories: Path | None, parts: Path | None, prepare: bool, out: Path | None
) -> None:
    """Raise where files and histories do not go together, before anything is read."""
    if prepare and parts is None:
        raise SettingError("--prepare needs --parts FILE to keep what it computes.")
    if history is not None and histories is not None:
        raise SettingError("give --history a,b,c or --histories FILE, not both.")
    one, some = history is not None, history is not None or histories is not None
    if not some and not prepare:
        raise SettingError("give --history a,b,c or --histories FILE.")
    check_out(out, (".json", ".csv", *PICTURES) if one else (".json", ".csv") if some else (".json",))
    check_out(parts, (".safetensors",), "--parts")


def _prepare(made: Recommender, parts: Path, say: Progress) -> None:
    """Compute the parts of all nodes; what is done so far is kept in the file every minute."""
    labels = made.graph.labels
    written = monotonic()
    for first in range(0, len(labels), _AT_ONCE):
        say(f"preparing node {first:,} of {len(labels):,}", first / len(labels))
        made.prepare(labels[first : first + _AT_ONCE])
        if monotonic() - written > _SECONDS:
            made.save(parts)
            written = monotonic()


def _table(found: Sequence[Recommendations]) -> tuple[list[str], list[list[Any]]]:
    parts = list(found[0].components)
    columns = ["user", "rank", "node", "score", "stderr", *(f"by {name}" for name in parts), "gaps", "bits", "why"]
    rows = [
        [
            user,
            place,
            label,
            score,
            stderr,
            *(reason.ranks[name] for name in parts),
            len(reason.opens) - len(reason.closes),
            reason.compressibility,
            reason.story,
        ]
        for user, top in enumerate(found)
        for place, ((label, score), stderr, reason) in enumerate(
            zip(top, top.stderr, top.reasons, strict=True), start=1
        )
    ]
    return columns, rows


def _shown(found: Sequence[Recommendations], one: bool) -> tuple[list[str], list[list[Any]]]:
    """The table for people, of few columns: errors behind their scores, places by all components together."""
    columns, rows = _table(found)
    parts = [place for place, column in enumerate(columns) if column.startswith("by ")]
    at = {column: place for place, column in enumerate(columns)}
    shown = [
        [
            *([] if one else [row[at["user"]]]),
            *(row[at[name]] for name in ("rank", "node")),
            f"{row[at['score']]:.4g}" + (f" ± {row[at['stderr']]:.1g}" if row[at["stderr"]] else ""),
            ", ".join(str(row[place]) for place in parts),
            *(row[at[name]] for name in ("gaps", "bits", "why")),
        ]
        for row in rows
    ]
    by = f"by {', '.join(columns[place].removeprefix('by ') for place in parts)}"
    return [*([] if one else ["user"]), "rank", "node", "score", by, "gaps", "bits", "why"], shown


def _ranker(
    by: str, weights: str | None, agents: dict[str, str], alpha: float, p_g: float, walks: int, seed: int
) -> Any:
    from curiograph.recommendation.prepared import CuriousRanker
    from curiograph.recommendation.ranker import Ranker
    from curiograph.recommendation.rankers import MixtureRanker, PageRankRanker
    from curiograph.recommendation.recommender import RANKERS

    if by not in RANKERS:
        raise UnknownNameError(f"--by is {by!r}; the rankers are {', '.join(RANKERS)}.")
    if weights is not None and by != "mixture":
        raise SettingError(f"--weights are for the mixture; --by is {by!r}.")
    made: dict[str, Ranker] = {"pagerank": PageRankRanker(alpha)} | {
        reward: CuriousRanker(agent, reward, alpha, p_g, walks, seed=seed, name=reward)
        for reward, agent in agents.items()
        if by in ("mixture", reward)
    }
    return MixtureRanker(made, _named_numbers(weights)) if by == "mixture" else made[by]


def _named_numbers(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    pairs = [pair.partition("=") for pair in text.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise SettingError(f"--weights is {text!r}; write names and numbers, as in pagerank=1,igt=0.5,cpt=0.5.")
    return {name.strip(): _numbers("--weights", value)[0] for name, _, value in pairs}


def _numbers(option: str, text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise SettingError(f"{option} is {text!r}; write numbers separated by commas.") from None
