"""Compute curious PageRank for every alpha from one simulation.

Plots the scores of ten subjects by alpha, the probability of following a link instead of returning to the history:
PageRank on the left, walkers that maximize information gaps on the right. Writes every_alpha.png.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
graph, history = cg.toys.library(), ["music", "logic"]
alphas = np.linspace(0, 0.95, 39)

curious = cg.curious_pagerank(graph, "greedy", alpha=alphas, history=history, reward="igt", p_g=0.3, seed=0)
plain = np.asarray([cg.pagerank(graph, alpha=alpha, history=history).scores for alpha in alphas])
print(f"{curious.paths:,} paths, exact: {curious.exact}, converged: {bool(curious.converged.all())}")

figure = Figure(figsize=(11, 4), layout="constrained")
left, right = figure.subplots(1, 2, sharey=True)
unread = [label for label in graph.labels if label not in history]
styles = ["-", "--", ":", "-."] * 3
for panel, scores, title in ((left, plain, "PageRank"), (right, curious.scores, "curious PageRank, igt")):
    for label, style in zip(unread, styles, strict=False):
        panel.plot(alphas, scores[:, graph.position(label)], style, label=label)
    panel.set_title(title)
    panel.set_xlabel("alpha")
left.set_ylabel("score")
right.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
figure.savefig(folder / "every_alpha.png", dpi=120)
