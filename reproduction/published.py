"""Published results of Tables 1 and 2 of the paper, and the rule by which its code breaks ties."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from curiograph.agents.agent import Agent
from curiograph.arrays import Float64
from curiograph.exploration.mdp import Exploration

TABLE1: dict[tuple[str, str], dict[str, tuple[float, float]]] = {
    ("igt", "rg"): {"random": (0.312, 0.034), "max-degree": (0.010, 0.007), "min-degree": (0.144, 0.027),
                    "greedy": (1.495, 0.079), "gnn": (2.308, 0.092)},
    ("igt", "ws"): {"random": (1.141, 0.068), "max-degree": (1.048, 0.068), "min-degree": (1.586, 0.082),
                    "greedy": (2.707, 0.103), "gnn": (3.303, 0.106)},
    ("igt", "ba"): {"random": (7.593, 0.145), "max-degree": (2.565, 0.083), "min-degree": (3.932, 0.115),
                    "greedy": (19.332, 0.206), "gnn": (21.970, 0.169)},
    ("igt", "er"): {"random": (9.197, 0.144), "max-degree": (9.638, 0.162), "min-degree": (4.953, 0.127),
                    "greedy": (25.20, 0.164), "gnn": (24.058, 0.183)},
    ("cpt", "rg"): {"random": (8.607, 0.027), "max-degree": (8.928, 0.027), "min-degree": (7.864, 0.033),
                    "greedy": (9.615, 0.014), "gnn": (9.271, 0.017)},
    ("cpt", "ws"): {"random": (7.117, 0.021), "max-degree": (6.788, 0.025), "min-degree": (6.937, 0.021),
                    "greedy": (7.668, 0.012), "gnn": (7.174, 0.014)},
    ("cpt", "ba"): {"random": (6.926, 0.023), "max-degree": (8.526, 0.015), "min-degree": (5.899, 0.016),
                    "greedy": (8.669, 0.016), "gnn": (8.556, 0.010)},
    ("cpt", "er"): {"random": (6.767, 0.020), "max-degree": (6.931, 0.019), "min-degree": (6.022, 0.017),
                    "greedy": (8.262, 0.016), "gnn": (7.880, 0.015)},
}  # fmt: skip
"""Mean and standard error by reward, family and agent, from Table 1 of Patankar, Ouellet et al. (LoG 2023):
10 graphs x 100 episodes."""

TABLE2: dict[str, dict[str, tuple[float, float]]] = {
    "movielens": {"igt": (0.042, 0.021), "cpt": (0.051, 0.015), "igt+cpt": (0.079, 0.017)},
    "books": {"igt": (0.054, 0.019), "cpt": (0.046, 0.016), "igt+cpt": (0.096, 0.019)},
    "wikispeedia": {"igt": (0.029, 0.029), "cpt": (0.122, 0.032), "igt+cpt": (0.322, 0.077)},
}
"""Improvement r over PageRank and its error by dataset and method, from Table 2 of the paper."""


class PublishedTies(Agent):
    """An agent whose ties are broken as in the published code, which takes the first candidate of a Python set.

    The order of a set of small integers is fixed but irregular: it depends on the sets from which it was made, and 8
    comes before 1. It matters: on Barabasi-Albert graphs it raises the return of greedy cpt by more than ten of the
    paper's standard errors. The neighbors of a node are added in ascending order, as in nearly all published graphs.
    """

    fingerprint = "with published ties"

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.name = agent.name

    def scores(self, exploration: Exploration) -> Float64:
        scores = self._agent.scores(exploration)
        ranks, out = np.empty(len(scores)), exploration.stack.out
        for walk, (low, high) in enumerate(pairwise(exploration.candidates.offsets)):
            first, visited = exploration.stack.starts[exploration.graph_of[walk]], exploration.nodes[walk]
            path = (visited[: exploration.lengths[walk]] - first).tolist()
            nodes = (exploration.candidates.nodes[low:high] - first).tolist()
            begin, end = out.indptr[first + path[-1]], out.indptr[first + path[-1] + 1]
            linked = list(set().union(set((out.indices[begin:end] - first).tolist())) - {path[-1]})
            order = set(linked) - set(path) or set(nodes)
            places = {node: place for place, node in enumerate(order)}
            best_first = np.lexsort((np.array([places[node] for node in nodes]), -scores[low:high]))
            ranks[low + best_first] = -np.arange(len(nodes))
        return ranks
