"""Train a small agent and compare it with built-in agents.

Install:  pip install '.[train]'
Run:      python examples/train_an_agent.py FOLDER

Takes a minute or two; an interrupted training resumes. Writes the folder agent/ with the log and the trained agent,
which every command accepts by its path.
"""

import sys
from pathlib import Path

import curiograph as cg

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
steps = int(sys.argv[2]) if len(sys.argv) > 2 else 1500
sets = cg.generate_split("ba", nodes=30, train=30, val=5, test=10, seed=0)
agent = cg.train(sets, reward="igt", agent="gnn", seed=0, out=folder / "agent", train_steps=steps)
for each in ("random", "greedy", agent, "beam"):
    result = cg.evaluate(each, sets.test, reward="igt", steps=10, episodes=10, seed=0)
    print(f"{result.agent if each != agent else 'trained':<10} {result.mean:6.2f} +- {result.sem:.2f}")
