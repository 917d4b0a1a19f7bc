"""Train a policy with masked PPO in plain torch, in many environments at once, and test it on graphs it has not seen.

Install:  pip install '.[train]'
Run:      python examples/ppo.py --reward igt --family rg      (about 8 minutes on one core)
"""

import argparse

import gymnasium
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

import curiograph as cg
from curiograph.exploration.episodes import EpisodeSource
from curiograph.exploration.observations import make_observer

ENVS, ROLLOUT, EPOCHS, PARTS, RATE, CLIP, TRACE, ENTROPY, WIDTH = 128, 18, 4, 4, 1e-3, 0.2, 0.95, 0.01, 64

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--reward", default="igt", help="igt, cpt, cct or a sum")
parser.add_argument("--family", default="rg", help="family of the graphs: rg, ws, ba or er")
parser.add_argument("--rollouts", type=int, default=500, help=f"rollouts of {ROLLOUT} steps in {ENVS} environments")
parser.add_argument("--seed", type=int, default=0, help="seed of graphs, network and actions")
parser.add_argument("--suite", metavar="FILE", help="also run the benchmark of curiograph and write its result here")
args = parser.parse_args()


class Policy(nn.Module):
    """A graph network on visited nodes and candidates: a logit of every candidate, and the value of the state."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(11, WIDTH)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU()) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.actor = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        self.critic = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, nodes, node_mask, edges, edge_mask, steps_left, action_mask):
        real = node_mask == 1  # not padding
        walk, number = real.nonzero()[:, 0], real.flatten().cumsum(0).view_as(real) - 1
        owner, column = edge_mask.nonzero(as_tuple=True)
        source, target = (number[owner, edges[owner, side, column]] for side in (0, 1))
        hidden = self.embed(torch.cat([nodes[real], steps_left[walk]], dim=1)).relu()
        for layer, norm in zip(self.layers, self.norms, strict=True):
            messages = torch.zeros_like(hidden).index_add(0, target, hidden[source])
            hidden = norm(hidden + layer(torch.cat([hidden, messages], dim=1)))
        whole = hidden.new_zeros(len(nodes), WIDTH).index_add(0, walk, hidden) / 10
        logits = torch.full(real.shape, -torch.inf)
        logits[real] = self.actor(torch.cat([hidden, whole[walk]], dim=1))[:, 0]
        return logits.masked_fill(action_mask == 0, -torch.inf), self.critic(whole)[:, 0]


class Agent:
    """The policy as an agent of curiograph, which every function of the package accepts."""

    name = "ppo"

    @torch.no_grad()
    def scores(self, exploration):
        source = EpisodeSource(exploration.stack.graphs, exploration.fallback)
        observer = make_observer("subgraph", source, exploration.steps, None, None)
        view = observer.observe(exploration, exploration.graph_of, len(exploration.lengths))
        scores = np.full(len(exploration.candidates.nodes), -np.inf)  # of candidates that do not fit into the rows
        offered, logits = view.choices >= 0, policy(**as_tensors(view.observation))[0].numpy()
        scores[view.choices[offered]] = logits[offered].round(4)  # equal up to noise: a tie, broken at random
        return scores


def as_tensors(arrays):
    return {key: torch.from_numpy(array) for key, array in arrays.items()}


torch.manual_seed(args.seed)
torch.set_num_threads(1)
sets = cg.generate_split(args.family, val=0, seed=args.seed)
settings = {"graph": sets.train, "reward": args.reward, "steps": 10, "observation": "subgraph"}
# in this mode, no observation is the end of an episode, so every mask has a candidate
envs = gymnasium.make_vec("curiograph/Exploration-v0", num_envs=ENVS, autoreset_mode="SameStep", **settings)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), RATE, eps=1e-5)
observation = as_tensors(envs.reset(seed=args.seed)[0])
for rollout in range(1, args.rollouts + 1):
    steps = []
    for _ in range(ROLLOUT):
        with torch.no_grad():
            logits, value = policy(**observation)
        choice = Categorical(logits=logits)
        action = choice.sample()
        arrays, reward, end, _, _ = envs.step(action)
        reward, end = torch.from_numpy(reward).float(), torch.from_numpy(end).float()
        steps.append((observation, action, choice.log_prob(action), value, reward, end))
        observation = as_tensors(arrays)
    seen, actions, chances, values, rewards, ends = zip(*steps, strict=True)

    # generalized advantage estimation, without a discount: walks are short
    advantages = []
    with torch.no_grad():
        following, advantage = policy(**observation)[1], torch.zeros(ENVS)
    for value, reward, end in zip(values[::-1], rewards[::-1], ends[::-1], strict=True):
        advantage = reward + (1 - end) * (following + TRACE * advantage) - value
        advantages.insert(0, advantage)
        following = value

    states = {key: torch.cat([each[key] for each in seen]) for key in observation}
    actions, chances, values, advantages = map(torch.cat, (actions, chances, values, advantages))
    optimizer.param_groups[0]["lr"] = RATE * (1 - (rollout - 1) / args.rollouts)
    for part in (part for _ in range(EPOCHS) for part in torch.randperm(len(actions)).chunk(PARTS)):
        logits, value = policy(**{key: array[part] for key, array in states.items()})
        choice = Categorical(logits=logits)
        ratio, gain = (choice.log_prob(actions[part]) - chances[part]).exp(), advantages[part]
        value_loss = (value - values[part] - gain).square().mean()
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
        loss = 0.5 * value_loss - surrogate - ENTROPY * choice.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
        optimizer.step()
    if rollout % 50 == 0:
        print(f"rollout {rollout}: mean return {sum(map(sum, rewards)) / sum(map(sum, ends)):.2f}", flush=True)

for agent in ("random", "greedy", Agent(), "beam"):
    result = cg.evaluate(agent, sets.test, args.reward, steps=10, episodes=20, seed=args.seed)
    print(f"{result.agent:<8} {result.mean:6.2f} +- {result.sem_by_graph:.2f}", flush=True)
if args.suite:
    cg.suite({args.reward: Agent()}).save(args.suite)
