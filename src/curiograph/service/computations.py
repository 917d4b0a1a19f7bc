"""The computations of requests in worker processes: functions of a graph and a request that return JSON."""

from __future__ import annotations

import heapq
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from curiograph.agents.agent import Agent
from curiograph.agents.agent_names import AGENTS, as_agent
from curiograph.agents.explore import explore
from curiograph.agents.pretrained import shipped_agents
from curiograph.centrality.curious_pagerank import curious_pagerank
from curiograph.centrality.pagerank import pagerank
from curiograph.errors import UnknownNameError, quote_value
from curiograph.growth.graph_gaps import gaps
from curiograph.growth.measure import measure
from curiograph.parallel import Engine
from curiograph.recommendation.parts import Part, PartRanker
from curiograph.recommendation.recommender import Recommender
from curiograph.rewards.reward_names import as_reward
from curiograph.service import schemas
from curiograph.service.batching import RecommendQuery, answer_users, read_users
from curiograph.service.json_labels import encode_label
from curiograph.service.server_settings import MAX_ANSWER, MAX_BEAM, MAX_K, check_count
from curiograph.service.step_view import MOTIVES, StepView, view_step
from curiograph.service.store import OpenGraph, vary_recommender

REWARD_DESCRIPTIONS = {
    "igt": "information gaps: loops of links between visited nodes that no triangles fill",
    "cpt": "compressibility, in bits, of the random walk on the visited subgraph",
    "cct": "conformational change: how freely the visited network could move if its links were rigid bars",
}


def get_agent(name: str) -> Agent:
    """Return the agent with this name; raise for any name that is not built-in or shipped, such as a path."""
    agents = [*AGENTS, *shipped_agents()]
    found = re.fullmatch("([a-z0-9-]+)(:[0-9]{1,9})?", name)
    if found is None or found[1] not in agents:
        names = ", ".join([*AGENTS, "beam:WIDTH", "planner:WIDTH", *shipped_agents()])
        raise UnknownNameError(f"there is no agent {quote_value(name)}; the agents are {names}.")
    agent = as_agent(name)
    check_count("the width of the beam", getattr(agent, "width", 1), MAX_BEAM)
    return agent


def describe_agents() -> dict[str, str]:
    """Describe each agent in one line."""
    descriptions = {name: (agent.__doc__ or "").partition("\n")[0] for name, agent in AGENTS.items()}
    for name in shipped_agents():
        reward, family, *kinds = name.split("-")
        graphs = "graphs of all families" if family == "all" else f"{family} graphs"
        kind = "gnn with the published setting" if kinds == ["paper"] else "-".join(kinds) or "gnn"
        descriptions[name] = f"{kind}, trained for {reward} on {graphs}"
    return descriptions


def measure_walks(opened: OpenGraph, request: schemas.MeasureRequest) -> bytes:
    """Measure one walk or several."""
    growths: list[bytes] = []
    for walk in request.batch:
        growth = measure(opened.graph, opened.labels.walk(walk), compressibility=request.compressibility)
        gaps = [vars(gap) | {"lifetime": gap.lifetime} for gap in growth.gaps]
        fields = growth.to_dict() | {"node": growth.nodes, "gaps": gaps}  # with labels as they are
        growths.append(schemas.GrowthResponse.model_validate(fields).model_dump_json().encode())
        if sum(map(len, growths)) > MAX_ANSWER:
            break  # too large to be sent
    return growths[0] if request.walks is None else b'{"walks":[%b]}' % b",".join(growths)


def explore_graph(opened: OpenGraph, request: schemas.ExploreRequest) -> bytes:
    """Compute a whole walk by an agent."""
    walk = explore(
        opened.graph,
        get_agent(request.agent),
        as_reward(request.reward),
        None if request.start is None else opened.labels.label(request.start),
        request.steps,
        fallback=request.fallback,
        seed=request.seed,
    )
    return schemas.WalkResponse.model_validate(walk.to_dict() | {"nodes": walk.nodes}).model_dump_json().encode()


def view_next(opened: OpenGraph, request: schemas.LookRequest, motives: Sequence[str] = MOTIVES) -> StepView:
    """Compute what `look` and the page show of the next step of a walk."""
    walk, agent, reward = opened.labels.walk(request.walk), get_agent(request.agent), as_reward(request.reward)
    return view_step(opened.graph, walk, agent, reward, ahead=request.ahead, seed=request.seed, motives=motives)


def look(opened: OpenGraph, request: schemas.LookRequest) -> bytes:
    """Compute the candidates of a walk with their values, and the choices of the agent and of each motive."""
    view = view_next(opened, request)
    candidates = [
        {
            "node": view.nodes[i],
            "values": {motive: values[i] for motive, values in view.values.items()},
            "score": None if view.scores is None else view.scores[i],
        }
        for i in view.order_candidates(request.reward)[:MAX_K].tolist()
    ]
    best = {motive: view.find_best(motive)[:MAX_K] for motive in view.values}
    fields = vars(view) | {"candidates": candidates, "total": len(view.nodes), "best": best}
    return schemas.LookResponse.model_validate(fields).model_dump_json().encode()


def search_nodes(opened: OpenGraph, text: str, limit: int) -> bytes:
    """Search nodes whose title contains a text: those that begin with it first, then the shortest first.

    Case is ignored, and underscores are read as spaces.
    """
    graph, pattern = opened.graph, _fold_case(text)
    folded = enumerate(map(_fold_case, graph.titles or graph.names))
    matches = ((not name.startswith(pattern), len(name), name, node) for node, name in folded if pattern in name)
    nodes = [node for *_, node in heapq.nsmallest(limit, matches)]
    labels, titles = [encode_label(graph.label(v)) for v in nodes], [graph.title(v) for v in nodes]
    return schemas.NodeList(nodes=labels, titles=titles, total=graph.num_nodes).model_dump_json().encode()


def _fold_case(label: Hashable) -> str:
    return str(encode_label(label)).casefold().replace("_", " ")


def find_gaps(opened: OpenGraph, limit: int) -> bytes:
    """Find the gaps of the whole graph."""
    graph = opened.graph
    found = gaps(graph)
    columns = found.head(limit).columns()
    rows = [
        {"loop": loop, "titles": [graph.title(graph.position(v)) for v in loop], "links": links, "nodes": nodes}
        for loop, links, nodes in zip(columns["loop"], columns["links"], columns["nodes"], strict=True)
    ]
    return schemas.GraphGapsResponse.model_validate({"total": found.total, "gaps": rows}).model_dump_json().encode()


def rank_nodes(opened: OpenGraph, request: schemas.RankRequest) -> bytes:
    """Rank nodes by PageRank or, with an agent, by curious PageRank."""
    graph, history = opened.graph, None if request.history is None else opened.labels.walk(request.history)
    if request.agent is None:
        result: Any = pagerank(graph, request.alpha, history)
        extra = {"agent": None, "converged": True}
    else:
        result = curious_pagerank(
            graph,
            get_agent(request.agent),
            request.alpha,
            history,
            reward=as_reward(request.reward),
            p_g=request.p_g,
            seed=request.seed,
            engine=Engine(workers=1),
        )
        extra = {"agent": result.agent, "converged": result.converged}
    ranking = [
        {"rank": rank, "node": label, "score": score}
        | ({} if request.agent is None else {"stderr": result.stderr[graph.position(label)]})
        for rank, (label, score) in enumerate(result.top(request.k), start=1)
    ]
    response = {"history": history, "alpha": result.alpha, "ranking": ranking, **extra}
    return schemas.RankResponse.model_validate(response).model_dump_json().encode()


def recommend_nodes(opened: OpenGraph, request: schemas.RecommendRequest) -> bytes:
    """Recommend nodes with an alpha or a ranker that nothing is prepared for."""
    default = Recommender(opened.graph, alpha=float(request.alpha or 0))
    recommender = vary_recommender(default, *request.ranker_settings)
    assert recommender is not None  # the default one has all components
    answers, users = [], read_users(opened.labels, request, request.unknown_labels)
    for answer in answer_users(RecommendQuery.create(recommender, request), users):
        if isinstance(answer, Exception):
            raise answer
        answers.append(answer)
    return request.join_answers(answers)


def compute_parts(opened: OpenGraph, rankers: Mapping[str, PartRanker], nodes: Sequence[int]) -> dict[str, list[Part]]:
    """Compute what rankers prepare for some positions."""
    return {name: ranker.compute_parts(opened.graph, nodes) for name, ranker in rankers.items()}


def check_labels(opened: OpenGraph, walks: Sequence[Sequence[Any]]) -> None:
    """Raise UnknownNodeError if a label is not in the graph; finding similar ones for the message may take seconds."""
    for walk in walks:
        opened.labels.walk(walk)
