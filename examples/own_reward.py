"""Write your own reward: any function of the visited subgraph.

This reward is high for stars: the largest degree, divided by the number of other nodes. The figure compares walks for
this reward with walks for igt and cpt. Writes own_reward.png.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

import curiograph as cg


def star(subgraph: cg.Graph) -> float:
    """Return the largest degree divided by the number of other nodes."""
    return float(subgraph.degrees.max()) / max(1, len(subgraph) - 1)


folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
cg.check_reward(star)  # raises an error with the reason if the reward is invalid
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
