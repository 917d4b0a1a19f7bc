"""Reference scores of motives, from their definitions: one candidate at a time, over lists and dense matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import networkx as nx
import numpy as np

from curiograph import Graph
from curiograph.human.trajectories import Trajectories

Past = Sequence[Sequence[int]]
"""Walks of one person before a choice; the last one is the beginning of the walk in which the choice is made."""


def list_past(walks: Trajectories, visit: int) -> list[list[int]]:
    """Return the walks of a person before one of the visits of all walks."""
    past: list[list[int]] = []
    for number, user in enumerate(walks.users.tolist()):
        start, stop = walks.offsets[number : number + 2].tolist()
        if past and user != walks.users[number - 1]:
            past = []
        past.append(walks.nodes[start : min(stop, visit)].tolist())
        if visit < stop:
            return past
    raise IndexError(visit)


# ---- walks on a graph -----------------------------------------------------------------------------------------------


def score_novelty(past: Past, node: int, leak: float) -> float:
    """Return -log(1 + leaky count of the visits of a node)."""
    count = 0.0
    for visited in [each for walk in past for each in walk]:
        count = leak * count + (visited == node)
    return -log(1 + count)


def score_recency(past: Past, node: int) -> float:
    """Return 1 / k if the last visit of a node is the k-th last of all visits, or 0."""
    for ago, visited in enumerate(reversed([each for walk in past for each in walk]), start=1):
        if visited == node:
            return 1 / ago
    return 0.0


def count_steps(past: Past, node: int, leak: float) -> dict[int, float]:
    """Return the leaky count of the steps from a node, by the node that they led to; every visit lets counts leak."""
    counts: dict[int, float] = {}
    for walk in past:
        for place, visited in enumerate(walk):
            counts = {target: leak * count for target, count in counts.items()}
            if place > 0 and walk[place - 1] == node:
                counts[visited] = counts.get(visited, 0.0) + 1
    return counts


def score_surprise(graph: Graph, past: Past, node: int, leak: float) -> float:
    """Return -log p of the step from the last node to a node."""
    last = past[-1][-1]
    counts = count_steps(past, last, leak)
    prior = 1 / max(len(graph.neighbors(last)), 1)
    return -log((counts.get(node, 0.0) + prior) / (sum(counts.values()) + 1))


def score_information_gain(graph: Graph, past: Past, node: int, leak: float) -> float:
    """Return the mean relative entropy of p before one more step from a node with respect to p after it."""
    counts = [*count_steps(past, node, leak).values()]
    size = max(len(graph.neighbors(node)), len(counts))
    return compute_gain(counts, size) if size else 0.0


def compute_gain(counts: Sequence[float], size: int) -> float:
    """Return the expected relative entropy of one more of `size` outcomes; the prior counts as one outcome."""
    shares = np.array([*counts, *[0.0] * (size - len(counts))]) + 1 / size
    before = shares / shares.sum()
    gain = 0.0
    for outcome in range(size):
        more = shares + (np.arange(size) == outcome)
        after = more / more.sum()
        gain += before[outcome] * float(np.sum(before * np.log(before / after)))
    return gain


def score_empowerment(graph: Graph, node: int) -> float:
    """Return log(number of nodes within two steps, the node included)."""
    links = graph.to_networkx()
    return log(len(nx.single_source_shortest_path_length(links, graph.label(node), cutoff=2)))


def score_hub(graph: Graph, node: int) -> float:
    """Return log(1 + number of nodes that link to a node)."""
    links = graph.to_networkx()
    label = graph.label(node)
    return log(1 + (links.in_degree(label) if links.is_directed() else links.degree(label)))


def learn_graph(adjacency: np.ndarray, eta: float) -> np.ndarray:
    """Return (1 - eta) P (I - eta P)^-1; a node without out-edges is followed by itself."""
    size = len(adjacency)
    totals = adjacency.sum(axis=1, keepdims=True)
    chances = np.where(totals > 0, adjacency / np.where(totals > 0, totals, 1), np.eye(size))
    return (1 - eta) * chances @ np.linalg.inv(np.eye(size) - eta * chances)


# ---- choices in a table ---------------------------------------------------------------------------------------------


def score_table(rows: Sequence[dict], motive: str, discount: float) -> list[dict[str, float]]:
    """Return the scores of the options of each row; rows have user, session, state, options, chosen and outcome.

    The rows of a user are adjacent; an outcome may be None.
    """
    states = sorted({row["state"] for row in rows} | {row["outcome"] for row in rows if row["outcome"] is not None})
    owned = sorted({(row["state"], option) for row in rows for option in row["options"]})
    scores = []
    for place, row in enumerate(rows):
        earlier = [each for each in rows[:place] if each["user"] == row["user"]]
        values = _value_options(earlier, row, states, owned, motive, discount)
        scores.append({option: values[row["state"], option] for option in row["options"]})
    return scores


def _value_options(earlier, row, states, owned, motive, discount):
    counts = np.zeros((len(owned), len(states)))
    for each in earlier:
        if each["outcome"] is not None:
            counts[owned.index((each["state"], each["chosen"])), states.index(each["outcome"])] += 1
    if motive == "recency":
        choices = [(each["state"], each["chosen"]) for each in reversed(earlier)]
        return {option: 1 / (choices.index(option) + 1) if option in choices else 0.0 for option in owned}
    if motive == "empowerment":
        known = nx.DiGraph([(owned[o], states[s]) for o, s in np.argwhere(counts > 0)])
        known.add_nodes_from(owned)
        known.add_edges_from([(state, (state, option)) for state, option in owned])
        within = {option: nx.single_source_shortest_path_length(known, option, cutoff=3) for option in owned}
        return {option: log(1 + sum(node in states for node in within[option])) for option in owned}
    chances = (counts + 1 / len(states)) / (counts.sum(axis=1, keepdims=True) + 1)
    if motive == "novelty":
        rewards = chances @ _compute_novelty([*earlier, row], states)
    elif motive == "surprise":
        rewards = -(chances * np.log(chances)).sum(axis=1)
    else:
        rewards = np.array([compute_gain(each, len(states)) for each in counts])
    return dict(zip(owned, _iterate_policies(chances, rewards, states, owned, discount), strict=True))


def _compute_novelty(rows, states):
    """Return -log of the share of the visits of every state up to the state of the last row, each counted once more."""
    visited, reached = [], None
    for place, row in enumerate(rows):
        new = place == 0 or row["session"] != rows[place - 1]["session"] or row["state"] != reached
        visited += [row["state"]] if new else []
        reached = row["outcome"]
        visited += [reached] if place < len(rows) - 1 and reached is not None else []
    counts = np.array([visited.count(state) for state in states])
    return -np.log((counts + 1) / (counts.sum() + len(states)))


def _iterate_policies(chances, rewards, states, owned, discount):
    """Return the values of options under the best policy, each policy by linear algebra."""
    own = [[o for o, (owner, _) in enumerate(owned) if owner == state] for state in states]
    policy = [options[0] if options else None for options in own]
    while True:
        moves = np.array([np.zeros(len(states)) if o is None else chances[o] for o in policy])
        gained = np.array([0.0 if o is None else rewards[o] for o in policy])
        values = rewards + discount * chances @ np.linalg.solve(np.eye(len(states)) - discount * moves, gained)
        better = [
            None if o is None else max(options, key=lambda option: values[option])
            for o, options in zip(policy, own, strict=True)
        ]
        if all(o is None or values[new] <= values[o] + 1e-12 for o, new in zip(policy, better, strict=True)):
            return values
        policy = better
