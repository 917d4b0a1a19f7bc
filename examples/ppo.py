"""Train a policy with masked PPO in plain torch, on many environments at once, and test it on graphs it has not seen.

Install:  pip install '.[train]'
Run:      python examples/ppo.py --reward igt --family rg        (about 8 minutes on one core)
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

ENVS, ROLLOUT, EPOCHS, PARTS, LEARNING_RATE, CLIP, TRACE, ENTROPY, WIDTH = 128, 18, 4, 4, 1e-3, 0.2, 0.95, 0.01, 64


class Policy(nn.Module):
    """A graph network on visited nodes and candidates: a score for every candidate, and the value of the state."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(11, WIDTH)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU()) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.actor = nn.Sequential(nn.Linear(2 * WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        self.critic = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))

    def forward(self, nodes, node_mask, edges, edge_mask, steps_left, action_mask):
        real = node_mask == 1
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
        source, count = EpisodeSource(exploration.stack.graphs, exploration.fallback), len(exploration.lengths)
        observer = make_observer("subgraph", source, exploration.steps, None, None)
        view = observer.observe(exploration, exploration.graph_of, count)
        scores = np.full(len(exploration.candidates.nodes), -np.inf)  # of candidates that do not fit into the rows
        offered, logits = view.choices >= 0, policy(**as_tensors(view.observation))[0].numpy()
        scores[view.choices[offered]] = logits[offered].round(4)  # equal up to noise: a tie, broken at random
        return scores


def as_tensors(arrays):
    return {key: torch.from_numpy(array) for key, array in arrays.items()}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--reward", default="igt", help="igt, cpt, cct or a sum")
parser.add_argument("--family", default="rg", help="family of the graphs: rg, ws, ba or er")
parser.add_argument("--rollouts", type=int, default=600, help=f"rollouts of {ROLLOUT} steps in {ENVS} environments")
parser.add_argument("--seed", type=int, default=0, help="seed of graphs, network and actions")
parser.add_argument("--suite", metavar="FILE", help="also evaluate on the frozen benchmark and write the result here")
args = parser.parse_args()

torch.manual_seed(args.seed)
torch.set_num_threads(1)
sets = cg.generate_split(args.family, val=0, seed=args.seed)
envs = gymnasium.make_vec(
    "curiograph/Exploration-v0", num_envs=ENVS, graph=sets.train, reward=args.reward, steps=10,
    observation="subgraph", autoreset_mode="SameStep",  # no observation is the end of an episode, so none has an empty mask
)  # fmt: skip
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), LEARNING_RATE, eps=1e-5)
observation = as_tensors(envs.reset(seed=args.seed)[0])
for rollout in range(1, args.rollouts + 1):
    seen, taken, chances, values, earned, ends = [], [], [], [], [], []
    for _ in range(ROLLOUT):
        with torch.no_grad():
            logits, value = policy(**observation)
        choice = Categorical(logits=logits)
        actions = choice.sample()
        seen.append(observation)
        arrays, rewards, terminated, _, _ = envs.step(actions.numpy())
        observation = as_tensors(arrays)
        for column, entry in zip(
            (taken, chances, values, earned, ends),
            (actions, choice.log_prob(actions), value, torch.from_numpy(rewards).float(), torch.from_numpy(terminated)),
            strict=True,
        ):
            column.append(entry)
    with torch.no_grad():  # generalized advantage estimation, without a discount: walks are short
        following, advantage, advantages = policy(**observation)[1], torch.zeros(ENVS), []
        for value, reward, end in zip(values[::-1], earned[::-1], ends[::-1], strict=True):
            goes_on = (~end).float()
            advantage = reward + goes_on * (following + TRACE * advantage) - value
            advantages.insert(0, advantage)
            following = value
    states = {key: torch.cat([each[key] for each in seen]) for key in observation}
    taken, chances, values, advantages = (torch.cat(column) for column in (taken, chances, values, advantages))
    returns = advantages + values
    for group in optimizer.param_groups:
        group["lr"] = LEARNING_RATE * (1 - (rollout - 1) / args.rollouts)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(taken)).chunk(PARTS):
            logits, value = policy(**{key: array[part] for key, array in states.items()})
            choice = Categorical(logits=logits)
            ratio, gain = (choice.log_prob(taken[part]) - chances[part]).exp(), advantages[part]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            surrogate = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain).mean()
            loss = 0.5 * (value - returns[part]).square().mean() - surrogate - ENTROPY * choice.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimizer.step()
    if rollout % 50 == 0:
        mean = torch.stack(earned).sum() / torch.stack(ends).sum()
        print(f"rollout {rollout}: training return {mean:.2f}", flush=True)

for agent in ("random", "greedy", Agent(), "beam"):
    result = cg.evaluate(agent, sets.test, args.reward, steps=10, episodes=20, seed=args.seed)
    print(f"{result.agent:<8} {result.mean:6.2f} +- {result.sem_by_graph:.2f}", flush=True)
if args.suite:
    cg.suite(Agent(), ["families"]).save(args.suite)
