"""Your own ranker, checked, mixed with PageRank and compared on what people did next.

Nearby offers what shares neighbours with the last visited node. The people are made up: they follow information gaps.
A percentile of 0.5 is what chance would reach. Written: own_ranker.csv.
"""

import csv
import sys
from pathlib import Path

import numpy as np

import curiograph as cg
from curiograph.human.choices.choice_sets import ChoiceSet


class Nearby(cg.Ranker):
    """The number of neighbours in common with the last node of a history."""

    name = "nearby"

    def scores(self, graph, histories, candidates):
        links = graph.to_scipy()
        rows = [np.asarray((links[history[-1]] @ links).todense()).ravel() for history in histories]
        bounds = zip(candidates.offsets, candidates.offsets[1:], strict=False)
        return np.concatenate([row[candidates.nodes[a:b]] for row, (a, b) in zip(rows, bounds, strict=True)])


folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
cg.check_ranker(Nearby())  # raises, with the reason, if a ranker breaks its contract

graph = cg.generate("ws", nodes=60, seed=0)
lists = [cg.explore(graph, agent="greedy", reward="igt", start=n % 60, steps=7, seed=n).nodes for n in range(120)]
walks = cg.human.Trajectories.from_walks(lists, graph=graph)
choices = walks.windows(burn_in=3).along_links(graph)  # three nodes visited, and the one that came next
offered = ChoiceSet.from_windows(graph, choices).candidates

both = cg.MixtureRanker({"pagerank": cg.PageRankRanker(), "nearby": Nearby()}, {"pagerank": 1, "nearby": -0.01})
rankers = {"nearby": Nearby(), "pagerank": cg.PageRankRanker(), "pagerank less nearby": both}
with open(folder / "own_ranker.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["ranker", "percentile"])
    for name, ranker in rankers.items():
        ranks = cg.human.choice_ranks(ranker.scores(graph, choices.histories, offered), offered, choices.nexts)
        print(f"{name:<20} {ranks.mean()['percentile']:.3f}")
        table.writerow([name, ranks.mean()["percentile"]])
