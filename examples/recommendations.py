"""Recommend nodes with reasons.

The history is four characters of Les Miserables (Knuth's graph, as shipped with networkx). Each reason contains the
share of every visited character and the rank by each component of the mixture; with theory=True also the gap that would
open, and the change of compressibility.
Writes recommendations.csv and recommendations.png.
"""

import csv
import sys
from pathlib import Path

import networkx

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
graph = cg.Graph.from_edges(list(networkx.les_miserables_graph().edges))
top = cg.recommend(graph, history=["Myriel", "Valjean", "Fantine", "Marius"], k=8, theory=True)

with open(folder / "recommendations.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["node", "score", *top.components, "story", "bits"])
    for (node, score), reason in zip(top, top.reasons, strict=True):
        ranks = [reason.ranks[name] for name in top.components]
        table.writerow([node, score, *ranks, reason.story, reason.compressibility])
        print(f"{node:<14} {score:.4f}  {reason}")
top.plot().figure.savefig(folder / "recommendations.png", dpi=120, bbox_inches="tight")
