"""The command `curiograph recommend`."""

from __future__ import annotations

import shutil
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from curiograph.cli import completion, options
from curiograph.cli.output import (
    PICTURES,
    check_out,
    print_remark,
    show_json,
    show_progress,
    show_table,
    write_result,
)
from curiograph.errors import SettingError, UnknownNameError
from curiograph.progress import split_progress

if TYPE_CHECKING:
    from curiograph.human.trajectories import Trajectories
    from curiograph.recommendation.recommended import Recommendations

Who = Sequence[tuple[Hashable, Hashable]] | None
"""User and session of each history; None for one history without a user."""


def recommend(
    graph: options.GraphArgument,
    history: options.History = None,
    histories: options.Histories = None,
    k: options.Count = 10,
    candidates: Annotated[
        str,
        typer.Option(
            help="all unvisited nodes, or the neighbors of the last node or of the history: all, last, history."
        ),
    ] = "all",
    exclude: Annotated[str | None, typer.Option(help="Labels that are never recommended, separated by commas.")] = None,
    filter: Annotated[
        str | None, typer.Option(help="Labels that may be recommended, separated by commas. Default: all.")
    ] = None,
    unknown: Annotated[
        str | None,
        typer.Option(
            help="Labels of a history that the graph lacks: error, or skip. Default: error with --history, skip with "
            "--histories.",
            show_default=False,
        ),
    ] = None,
    diversity: Annotated[
        float, typer.Option(help="From 0, the best scores, to 1, nodes that share the fewest neighbors.")
    ] = 0.0,
    by: Annotated[
        str, typer.Option(help="Ranker: mixture, pagerank, igt or cpt.", autocompletion=completion.complete_rankers)
    ] = "mixture",
    weights: Annotated[
        str | None,
        typer.Option(help="Weights of the mixture, as in pagerank=1,igt=0.5,cpt=0.5. Default: equal weights."),
    ] = None,
    igt_agent: Annotated[
        str, typer.Option(help="Agent of the igt walkers.", autocompletion=completion.complete_agents)
    ] = "greedy",
    cpt_agent: Annotated[
        str, typer.Option(help="Agent of the cpt walkers.", autocompletion=completion.complete_agents)
    ] = "greedy",
    alpha: options.Alpha = 0.85,
    p_g: options.Greediness = 0.5,
    walks: Annotated[int, typer.Option(help="Number of walkers per visited node.")] = 256,
    parts: Annotated[
        Path | None,
        typer.Option(help="A .safetensors file of prepared nodes, which is read and extended."),
    ] = None,
    prepare: Annotated[
        bool,
        typer.Option(
            "--prepare",
            help="First prepare all nodes and store them in --parts, which is replaced.",
        ),
    ] = False,
    user: options.UserColumn = None,
    item: options.ItemColumn = None,
    time: options.TimeColumn = None,
    session: options.SessionColumn = None,
    session_gap: options.SessionGap = None,
    no_header: options.NoHeader = False,
    lenient: options.Lenient = False,
    directed: options.Directed = False,
    seed: options.Seed = 0,
    out: options.Out = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Recommend nodes to visit next, with reasons.

    [bold]curiograph recommend toy:library --history music,physics -k 5[/bold]
    """
    from curiograph.graph.label_reader import LabelReader
    from curiograph.parallel import Engine
    from curiograph.recommendation.ranker import CandidateSet
    from curiograph.recommendation.recommender import Recommender
    from curiograph.recommendation.selection import Selection, Unknown
    from curiograph.validation import check_choice, check_integer

    if prepare and parts is None:
        raise SettingError("--prepare needs --parts FILE to store the prepared nodes.")
    if history is not None and histories is not None:
        raise SettingError("give --history a,b,c or --histories FILE, not both.")
    if history is None and histories is None and not prepare:
        raise SettingError("give --history a,b,c or --histories FILE.")
    endings = (".json",) if history is None and histories is None else (".json", ".csv")
    check_out(out, endings if history is None else (*endings, *PICTURES))
    check_out(parts, (".safetensors",), "--parts")
    candidate_set: CandidateSet = check_choice("candidates", candidates, get_args(CandidateSet))
    check_integer("-k", k, 1, "ask for 1 recommendation or more")
    table: Any = {"user": user, "item": item, "time": time, "session": session, "session_gap": session_gap}
    if histories is None and (any(table.values()) or no_header or lenient):
        raise SettingError("options of tables, such as --user and --lenient, are for --histories FILE.")
    if (by, igt_agent, cpt_agent) == ("mixture", "greedy", "greedy"):
        options.compile_kernels(graph, "recommend")
    g = options.open_graph(graph, directed)
    people: Trajectories | None = None
    on_unknown: Unknown = check_choice(
        "unknown", unknown or ("error" if histories is None else "skip"), get_args(Unknown)
    )
    settings: Any = {
        "exclude": options.split_labels(exclude) if exclude else (),
        "filter": None if filter is None else options.split_labels(filter) if filter else (),
        "diversity": diversity,
    }
    Selection.create(LabelReader(g), **settings)  # report a bad setting before the nodes are prepared
    users: list[list[Any]] = [] if history is None else [options.split_labels(history) if history.strip() else []]
    if history is not None and on_unknown == "error":
        users = [LabelReader(g).walk(users[0])]
    if histories is not None and (on_unknown == "error" or lenient):
        people = options.read_histories(histories, g, quiet, lenient=lenient, no_header=no_header, **table)
    elif histories is not None:
        people = options.read_people(histories, g, lenient=False, no_header=no_header, keep_unknown=True, **table)
    if people is not None:
        users = [people.labels(number) for number in range(len(people))]
    recommender = Recommender(g, _create_ranker(by, weights, igt_agent, cpt_agent, alpha, p_g, walks, seed))
    if parts is not None and by == "pagerank":
        raise SettingError("--parts stores what curious walkers compute; --by pagerank has none.")
    if parts is not None and parts.exists() and not prepare:
        recommender.load(parts)
    with show_progress(quiet) as progress:
        preparing, recommending = split_progress(progress, [1 if prepare else 0, 1])
        if prepare and parts is not None:
            run = parts.with_name(f"{parts.name}.run")  # keeps what is finished, until all is
            recommender.prepare(pagerank=False, engine=Engine("local", 1, run=run.absolute()), progress=preparing)
            recommender.save(parts)
            shutil.rmtree(run, ignore_errors=True)
        known = recommender.num_prepared
        results: list[Recommendations] = []
        if users:
            results = recommender.recommend(
                users, k, candidates=candidate_set, unknown=on_unknown, progress=recommending, **settings
            )
    if parts is not None and recommender.num_prepared > known:
        recommender.save(parts)
    document: dict[str, Any]
    if not users:
        document = {"parts": str(parts), "nodes": g.num_nodes}
        write_result(out, document)
        if json:
            show_json(document)
        else:
            print_remark(f"{parts}: {g.num_nodes} nodes prepared", quiet)
        return
    who = None if people is None else [(people.user(number), people.session(number)) for number in range(len(people))]
    if people is None or who is None:
        document = results[0].to_dict()
    else:
        named = [{"user": user, "session": session} for user, session in who]
        answers = [names | top.to_dict() for names, top in zip(named, results, strict=True)]
        document = {"users": answers, "skipped": people.skipped.to_dict()}
    write_result(out, document, lambda: _list_recommendations(results, who), results[0].plot)
    skipped = [top.skipped for top in results if top.skipped]
    if skipped:
        count = sum(map(len, skipped))
        print_remark(f"{count:,} unknown labels skipped in {len(skipped):,} of {len(results):,} histories", quiet)
    if json:
        show_json(document)
        return
    if people is not None and out is not None:
        print_remark(f"{out}: recommendations for {len(results):,} histories", quiet)
        return
    _show_recommendations(results, who)
    for number, top in enumerate(results):
        if len(top) < k:
            user = "" if who is None else f"user {who[number][0]}: "
            why = "is allowed by --filter and --exclude" if filter is not None or exclude else "can be reached"
            print_remark(f"{user}{len(top)} of {k} recommendations: no other candidate {why}", quiet)


def _create_ranker(
    by: str, weights: str | None, igt_agent: str, cpt_agent: str, alpha: float, p_g: float, walks: int, seed: int
) -> Any:
    from curiograph.recommendation.curious_ranker import CuriousRanker
    from curiograph.recommendation.ranker import Ranker
    from curiograph.recommendation.rankers import RANKERS, MixtureRanker, PageRankRanker

    if by not in RANKERS:
        raise UnknownNameError(f"--by is {by!r}; the rankers are {', '.join(RANKERS)}.")
    if weights is not None and by != "mixture":
        raise SettingError(f"--weights are for the mixture; --by is {by!r}.")
    rankers: dict[str, Ranker] = {"pagerank": PageRankRanker(alpha)}
    for reward, agent in (("igt", igt_agent), ("cpt", cpt_agent)):
        if by in ("mixture", reward):
            rankers[reward] = CuriousRanker(agent, reward, alpha, p_g, walks, seed=seed, name=reward)
    if by != "mixture":
        return rankers[by]
    if weights is None:
        return MixtureRanker(rankers, None)
    pairs = [pair.partition("=") for pair in weights.split(",")]
    if not all(equals for _, equals, _ in pairs):
        raise SettingError(f"--weights is {weights!r}; write names and numbers, as in pagerank=1,igt=0.5,cpt=0.5.")
    return MixtureRanker(
        rankers, {name.strip(): options.parse_numbers("--weights", value)[0] for name, _, value in pairs}
    )


def _list_components(results: Sequence[Recommendations]) -> list[str]:
    """Names of all components; users without history have only PageRank."""
    warm_first = sorted(results, key=lambda top: top.cold_start)
    return list(dict.fromkeys(name for top in warm_first for name in top.components))


def _list_recommendations(results: Sequence[Recommendations], who: Who) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of the table of all recommendations to all users."""
    components = _list_components(results)
    ranks_by = [f"by {name}" for name in components]
    columns = ["user", "session", "rank", "node", "score", "stderr", *ranks_by, "gaps", "bits", "why", "sentence"]
    rows = []
    for (user, session), top in zip(who or [(0, 1)], results, strict=True):
        entries = zip(top, top.stderr, top.reasons, strict=True)
        for place, ((label, score), stderr, reason) in enumerate(entries, start=1):
            ranks = [reason.ranks.get(name) for name in components]
            gaps = len(reason.opens) - len(reason.closes)
            measures = [gaps, reason.compressibility, reason.story, reason.sentence]
            rows.append([user, session, place, label, score, stderr, *ranks, *measures])
    return columns, rows


def _show_recommendations(results: Sequence[Recommendations], who: Who) -> None:
    """Show a table with few columns: errors next to the scores, the ranks by all components in one column."""
    components = _list_components(results)
    columns = ["user", "session", "rank", "node", "score", f"by {', '.join(components)}", "gaps", "bits", "why"]
    rows = []
    for row in _list_recommendations(results, who)[1]:
        user, session, place, label, score, stderr, *ranks, gaps, bits, why, _ = row
        error = f" ± {stderr:.1g}" if stderr else ""
        shown = ", ".join("-" if rank is None else str(rank) for rank in ranks)
        rows.append([user, session, place, label, f"{score:.4g}{error}", shown, gaps, bits, why])
    first = 2 if who is None else 0
    last = len(columns) if any(row[-1] for row in rows) else -1  # no reasons: leave out that column
    show_table("", columns[first:last], [row[first:last] for row in rows])
