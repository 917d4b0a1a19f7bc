"""Train MaskablePPO of sb3-contrib to find information gaps on one graph, beside the built-in agents.

Install:  pip install '.[sb3]'
Run:      python examples/maskable_ppo.py --timesteps 20000

PPO sees only the observation of the environment: which nodes were visited and when, the last one, the candidates. It
learns this one graph by heart; the agents of curiograph are made to work on graphs they have never seen.
"""

import argparse

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO

import curiograph as cg

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--timesteps", type=int, default=20_000, help="environment steps to train for")
parser.add_argument("--seed", type=int, default=0, help="of the graph, the network and the episodes")
args = parser.parse_args()

STEPS = 10  # nodes of a walk, the start included
graph = cg.generate("rg", nodes=50, seed=args.seed)
env = gymnasium.make("curiograph/Exploration-v0", graph=graph, reward="igt", steps=STEPS)


def mean_return(model: MaskablePPO) -> float:
    """Mean return of the policy's best actions, one episode from every node."""
    returns = []
    for start in graph.labels:
        observation, info = env.reset(options={"start": start})
        returns.append(0.0)
        terminated = False
        while not terminated:
            action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
            observation, reward, terminated, _, info = env.step(int(action))
            returns[-1] += reward
    return float(np.mean(returns))


for agent in ("random", "greedy", "beam"):
    result = cg.evaluate(agent, graph, reward="igt", steps=STEPS, episodes="all", seed=args.seed)
    print(f"{agent:<16} {result.mean:6.2f}", flush=True)

model = MaskablePPO("MultiInputPolicy", env, n_steps=512, gamma=1.0, ent_coef=0.01, seed=args.seed, device="cpu")
print(f"{'ppo, untrained':<16} {mean_return(model):6.2f}", flush=True)
model.learn(args.timesteps)
print(f"{'ppo, trained':<16} {mean_return(model):6.2f}")
