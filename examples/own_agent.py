"""Write your own agent, compare it with built-in agents, and use the same exploration through Gymnasium."""

import gymnasium
import numpy as np

import curiograph as cg


class Pioneer:
    """Maximize the next reward; among equals, prefer few links to the walk and many unvisited neighbors."""

    name = "pioneer"

    def scores(self, exploration):
        rows, candidates, outlook = exploration.stack.out, exploration.candidates, []
        for walk, node in zip(candidates.walks, candidates.nodes, strict=True):
            visited = np.isin(rows.indices[rows.indptr[node] : rows.indptr[node + 1]], exploration.nodes[walk])
            outlook.append(np.sum(~visited) - 10 * np.sum(visited))
        return 1000 * exploration.candidate_values + outlook


cg.check_agent(Pioneer())  # raises an error with the reason if the agent is invalid
graphs = cg.generate_split("rg", nodes=50, train=0, val=0, test=10, seed=0).test
for agent in (Pioneer(), "greedy", "beam:64"):
    result = cg.evaluate(agent, graphs, reward="igt", steps=10, episodes=20, seed=0)
    print(f"{result.agent:<8} {result.mean:5.2f} +- {result.sem:.2f}")

env = gymnasium.make("curiograph/Exploration-v0", graph=graphs, reward="igt", steps=10)
env.action_space.seed(0)
total = 0.0
for episode in range(200):
    observation, info = env.reset(seed=episode)
    terminated = False
    while not terminated:
        observation, reward, terminated, _, info = env.step(env.action_space.sample(observation["action_mask"]))
        total += reward
print(f"random   {total / 200:5.2f} (through gymnasium)")
