"""Reference implementation of curious PageRank: the stationary distribution of the Markov chain of paths."""

from __future__ import annotations

import numpy as np

from curiograph.exploration.mdp import Exploration
from curiograph.graph.batch import GraphBatch
from curiograph.rewards.reward_names import as_reward


def compute_scores_by_paths(graph, agent, reward, alpha, history, p_g, *, fallback="frontier"):
    """Return the long-run share of time at each node."""
    stack, reward = GraphBatch.of([graph]), as_reward(reward)
    starts = [(s,) for s in history]
    states, todo, moves = {}, list(starts), {}
    while todo:
        path = todo.pop()
        if path not in states:
            states[path] = len(states)
            moves[path] = list_moves(stack, agent, reward, path, p_g, fallback)
            todo += [(*path, v) for v, _ in moves[path]]
    chain = np.zeros((len(states), len(states)))
    for path, row in states.items():
        for v, probability in moves[path]:
            chain[row, states[*path, v]] += alpha * probability
        for start in starts:
            chain[row, states[start]] += (1 - alpha if moves[path] else 1) / len(starts)
    balance = np.vstack([chain.T - np.eye(len(states)), np.ones(len(states))])
    stationary = np.linalg.lstsq(balance, np.append(np.zeros(len(states)), 1), rcond=None)[0]
    return np.bincount([path[-1] for path in states], stationary, graph.num_nodes)


def list_moves(stack, agent, reward, path, p_g, fallback):
    """Return (candidate, probability) of a path: ranks are counted directly, ties take the mean over their orders.

    The probability is proportional to the weight of the link.
    """
    nodes = np.full((1, len(path) + 1), -1, np.int32)
    nodes[0, :-1] = path
    exploration = Exploration(
        stack=stack,
        reward=reward,
        steps=len(path) + 1,
        fallback=fallback,
        graph_of=np.zeros(1, np.int64),
        streams=np.zeros(1, np.uint64),
        nodes=nodes,
        lengths=np.array([len(path)]),
        rewards=np.full((1, len(path)), np.nan),
    )
    candidates = exploration.candidates.nodes.tolist()
    scores = agent.scores(exploration).tolist() if candidates else []
    by_rank = np.array([p_g**r for r in range(len(candidates))])
    by_rank = by_rank / by_rank.sum() if candidates else by_rank
    moves = []
    for v, score in zip(candidates, scores, strict=True):
        better, equal = sum(s > score for s in scores), sum(s == score for s in scores)
        moves.append((v, by_rank[better : better + equal].mean()))
    graph = stack.graphs[0]
    row = slice(*graph.indptr[path[-1] : path[-1] + 2])
    if graph.weights is not None and set(candidates) & set(graph.indices[row].tolist()):  # not at a dead end
        links = dict(zip(graph.indices[row].tolist(), graph.weights[row].tolist(), strict=True))
        weights = [links[v] for v in candidates]
        total = sum(weight * chance for weight, (_, chance) in zip(weights, moves, strict=True))
        moves = [(v, w * chance / total) for w, (v, chance) in zip(weights, moves, strict=True) if total > 0]
    return moves
