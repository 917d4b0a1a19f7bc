"""Train MaskablePPO of sb3-contrib to find information gaps on one graph, and compare it with built-in agents.

Install:  pip install '.[sb3]'
Run:      python examples/maskable_ppo.py --timesteps 20000

PPO reads only the observation of the environment: the visited nodes and their order, the last node, the candidates. It
memorizes this one graph; the agents of curiograph generalize to graphs that were not used in training.
"""

import argparse

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO

import curiograph as cg

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--timesteps", type=int, default=20_000, help="environment steps to train for")
parser.add_argument("--seed", type=int, default=0, help="seed of the graph, the network and the episodes")
args = parser.parse_args()

STEPS = 10  # nodes of a walk, including the start
graph = cg.generate("rg", nodes=50, seed=args.seed)
env = gymnasium.make("curiograph/Exploration-v0", graph=graph, reward="igt", steps=STEPS)


def evaluate_policy(model: MaskablePPO) -> float:
    """Return the mean return of the deterministic policy, one episode from every node."""
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
print(f"{'ppo, untrained':<16} {evaluate_policy(model):6.2f}", flush=True)
model.learn(args.timesteps)
print(f"{'ppo, trained':<16} {evaluate_policy(model):6.2f}")
