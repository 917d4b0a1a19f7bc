"""Write your own ranker, mix it with PageRank and compare both on human choices.

The ranker scores a node by its common neighbors with the last visited node. The choices are simulated by an agent that
maximizes information gaps. A percentile of 0.5 is chance. Writes own_ranker.csv.
"""

import csv
import sys
from pathlib import Path

import numpy as np

import curiograph as cg
from curiograph.human.choices.choice_sets import ChoiceSet


class Nearby(cg.Ranker):
    """Scores a candidate by the number of common neighbors with the last node of the history."""

    name = "nearby"

    def scores(self, graph, histories, candidates):
        links = graph.to_scipy()
        rows = [np.asarray((links[history[-1]] @ links).todense()).ravel() for history in histories]
        bounds = zip(candidates.offsets, candidates.offsets[1:], strict=False)
        return np.concatenate([row[candidates.nodes[a:b]] for row, (a, b) in zip(rows, bounds, strict=True)])


folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
cg.check_ranker(Nearby())  # raises an error with the reason if the ranker is invalid

graph = cg.generate("ws", nodes=60, seed=0)
lists = [cg.explore(graph, agent="greedy", reward="igt", start=n % 60, steps=7, seed=n).nodes for n in range(120)]
walks = cg.human.Trajectories.from_walks(lists, graph=graph)
windows = walks.windows(burn_in=3).along_links(graph)  # three visited nodes and the next one
choices = ChoiceSet.from_windows(graph, windows)

both = cg.MixtureRanker({"pagerank": cg.PageRankRanker(), "nearby": Nearby()}, {"pagerank": 1, "nearby": -0.01})
rankers = {"nearby": Nearby(), "pagerank": cg.PageRankRanker(), "pagerank less nearby": both}
with open(folder / "own_ranker.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["ranker", "percentile"])
    for name, ranker in rankers.items():
        ranks = choices.rank(ranker.scores(graph, windows.histories, choices.candidates))
        print(f"{name:<20} {ranks.mean()['percentile']:.3f}")
        table.writerow([name, ranks.mean()["percentile"]])
