"""Your own reward: any function of the visited subgraph.

This one likes stars: the largest share of all visited nodes that one node knows. It is checked, walked for by agents
that know nothing of it, and drawn beside walks for gaps and for compressibility. Written: own_reward.png.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import curiograph as cg


def star(subgraph: cg.Graph) -> float:
    """The largest degree, as a share of the other nodes."""
    return float(subgraph.degrees.max()) / max(1, len(subgraph) - 1)


folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
cg.check_reward(star)  # raises, with the reason, if a reward breaks its contract
graphs = cg.generate_split("ba", train=0, val=0, test=3, seed=0).test
for agent in ("random", "max-degree", "greedy", "beam:8"):
    result = cg.evaluate(agent, graphs, reward=star, steps=8, episodes=5, seed=0)
    print(f"{result.agent:<10} {result.mean:5.2f} +- {result.sem:.2f}")

figure = Figure(figsize=(11, 4), layout="constrained")
for panel, reward in zip(figure.subplots(1, 3), (star, "igt", "cpt"), strict=True):
    walk = cg.explore(graphs[0], agent="beam:8", reward=reward, start=20, steps=8, seed=0)
    walk.plot(panel)
    panel.set_title(f"a walk for {walk.reward}")
figure.savefig(folder / "own_reward.png", dpi=120)
