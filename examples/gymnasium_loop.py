"""Write a training loop for the Gymnasium environment, with the action mask.

The policy is a simple epsilon-greedy one: it keeps an estimate of the return after each link. Writes
gymnasium_loop.png, the mean return during training compared with built-in agents.
"""

import sys
from pathlib import Path

import gymnasium
import numpy as np
from matplotlib.figure import Figure

import curiograph as cg
from curiograph.plotting import COLORS

folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
folder.mkdir(parents=True, exist_ok=True)
graph = cg.generate("er", nodes=30, seed=0)
env = gymnasium.make("curiograph/Exploration-v0", graph=graph, reward="igt", steps=10)
rng = np.random.default_rng(0)
values = np.full((30, 30), 50.0)  # estimated return after each link; optimistic, so that every link is tried
returns = []
for episode in range(400):
    observation, info = env.reset(seed=episode, options={"start": 0})
    taken, rewards, terminated = [], [], False
    while not terminated:
        candidates = np.flatnonzero(info["action_mask"])
        last = observation["last"]
        explores = rng.random() < 0.1 * (1 - episode / 400)
        action = rng.choice(candidates) if explores else candidates[values[last, candidates].argmax()]
        observation, reward, terminated, _, info = env.step(action)
        taken.append((last, action))
        rewards.append(reward)
    for step, (last, action) in enumerate(taken):
        values[last, action] += 0.5 * (sum(rewards[step:]) - values[last, action])
    returns.append(sum(rewards))

means = np.mean(np.reshape(returns, (-1, 25)), axis=1)
print(f"first episodes {means[0]:6.2f}")
print(f"last episodes  {means[-1]:6.2f}")
axes = Figure(figsize=(6.4, 4), layout="constrained").subplots()
axes.plot(np.arange(len(means)) * 25 + 12, means, "-", color=COLORS["igt"], label="epsilon-greedy")
for agent, dash in (("random", ":"), ("greedy", "--"), ("beam", "-.")):
    walks = [cg.explore(graph, agent=agent, reward="igt", start=0, steps=10, seed=seed).total for seed in range(10)]
    print(f"{agent:<14} {np.mean(walks):6.2f}")
    axes.axhline(np.mean(walks), linestyle=dash, color=COLORS[agent], label=agent)
axes.set_xlabel("episode")
axes.set_ylabel("return")
axes.legend(frameon=False, loc="lower right")
axes.figure.savefig(folder / "gymnasium_loop.png", dpi=120)
