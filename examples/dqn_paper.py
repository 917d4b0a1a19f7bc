"""Train the agent of the paper in one file: deep Q-learning with a graph network of PyTorch Geometric.

Install:  pip install '.[pyg]'
Run:      python examples/dqn_paper.py --reward igt --family ws

Q(S, v) is the network's value of S + v, the subgraph of the visited nodes and the candidate v. Settings are those of
the published code, except that epsilon decays: there it fell to its last value at once, by a slip. 50,000 steps take
about 20 minutes on one core.
"""

import argparse

import gymnasium
import numpy as np
import torch
from torch import nn
from torch_geometric.nn import SAGEConv, global_add_pool

import curiograph as cg
from curiograph.exploration.episodes import EpisodeSource
from curiograph.exploration.observations import make_observer

LAST_EPSILON, DISCOUNT, LEARNING_RATE, BATCH = 0.1, 0.75, 3e-4, 32
BUFFER, FIRST_UPDATE, TARGET_EVERY, VALIDATE_EVERY = 50_000, 320, 16, 1000


class QNetwork(nn.Module):
    """Three GraphSAGE layers of 64, a sum over nodes, 64-32-1."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(SAGEConv(width, 64) for width in (5, 64, 64))
        self.head = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, observation, walks, rows):
        """Return Q(S, v) for walk `walks[k]` of a batch of observations and row `rows[k]` of its nodes."""
        nodes, edges, edge_mask = observation["nodes"][walks], observation["edges"][walks], observation["edge_mask"]
        inside = nodes[:, :, 0] == 1  # visited
        inside[torch.arange(len(rows)), rows] = True
        source, target = edges.long().unbind(1)
        kept = (edge_mask[walks] == 1) & inside.gather(1, source) & inside.gather(1, target)
        number = inside.flatten().cumsum(0).view_as(inside) - 1  # of a node in the union of all subgraphs
        edge_index = torch.stack([number.gather(1, source)[kept], number.gather(1, target)[kept]])
        x = nodes[inside][:, 5:].expm1()  # the paper's features: local degree profile, not normalized
        for layer in self.layers:
            x = layer(x, edge_index).relu()
        subgraph = inside.nonzero()[:, 0]
        return self.head(global_add_pool(x, subgraph, len(rows)))[:, 0]


class Agent:
    """The network as an agent of curiograph, which every function of the package accepts."""

    name = "dqn-paper"

    def __init__(self, network):
        self.network = network

    @torch.no_grad()
    def scores(self, exploration):
        graphs, count = exploration.stack.graphs, len(exploration.lengths)
        observer = make_observer("subgraph", EpisodeSource(graphs, exploration.fallback), exploration.steps, None, None)
        view = observer.observe(exploration, exploration.graph_of, count)
        walks, rows = np.nonzero(view.choices >= 0)
        scores = np.full(len(exploration.candidates.nodes), -np.inf)  # of candidates that do not fit into the rows
        observation, pairs = as_tensors(view.observation), torch.from_numpy(np.stack([walks, rows]))
        values = torch.cat([self.network(observation, *part) for part in pairs.split(256, dim=1)]).numpy()
        scores[view.choices[walks, rows]] = values.round(4)  # equal up to noise: a tie, broken at random
        return scores


def as_tensors(arrays):
    return {key: torch.from_numpy(arrays[key]) for key in ("nodes", "edges", "edge_mask", "action_mask")}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--reward", default="igt", help="igt, cpt, cct or a sum")
parser.add_argument("--family", default="ws", help="rg, ws, ba or er; or a published environment file")
parser.add_argument("--steps", type=int, default=50_000, help="training steps: one node on 100 graphs and one update")
parser.add_argument("--seed", type=int, default=0, help="seed of graphs, network and actions")
parser.add_argument("--suite", metavar="FILE", help="also run the benchmark of curiograph and write its result here")
args = parser.parse_args()

torch.manual_seed(args.seed)
torch.set_num_threads(1)
rng = np.random.default_rng(args.seed)
published = args.family.endswith(".json")
sets = cg.read_split(args.family) if published else cg.generate_split(args.family, seed=args.seed)
envs = gymnasium.make_vec(
    "curiograph/Exploration-v0",
    num_envs=len(sets.train),
    graph=sets.train,
    reward=args.reward,
    steps=10,
    observation="subgraph",
    autoreset_mode="SameStep",  # an observation is never the end of an episode
)
online, target, best = QNetwork(), QNetwork(), QNetwork()
target.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), LEARNING_RATE)
# Q(S, v) = net(S + v), and S + v is what is visited after the step: a transition needs the next observation only
replay, added, best_return = {}, 0, -np.inf
observation, _ = envs.reset(seed=args.seed)
for step in range(1, args.steps + 1):
    # act epsilon-greedily with the target network
    mask = observation["action_mask"]
    actions = (mask * rng.random(mask.shape)).argmax(axis=1)
    epsilon = 1 - (1 - LAST_EPSILON) * step / args.steps
    greedy = np.flatnonzero(rng.random(len(actions)) >= epsilon)
    if len(greedy):
        walks, rows = (torch.from_numpy(places) for places in np.nonzero(mask[greedy]))
        values = torch.full(mask[greedy].shape, -torch.inf)
        with torch.no_grad():
            values[walks, rows] = target({k: v[greedy] for k, v in as_tensors(observation).items()}, walks, rows)
        actions[greedy] = values.argmax(dim=1).numpy()
    observation, rewards, terminated, _, info = envs.step(actions)

    # store the transitions
    after = {key: array.clone() for key, array in as_tensors(observation).items()}
    for place in np.flatnonzero(terminated):  # there, `observation` is the start of the next episode
        for key, array in after.items():
            array[place] = torch.from_numpy(info["final_obs"][place][key])
    after["reward"] = torch.from_numpy(rewards).float()
    if not replay:
        replay = {key: torch.zeros(BUFFER, *array.shape[1:], dtype=array.dtype) for key, array in after.items()}
    places = torch.arange(added, added + len(actions)) % BUFFER
    for key, array in after.items():
        replay[key][places] = array
    added += len(actions)

    # update
    if step >= FIRST_UPDATE or step == args.steps:
        places = torch.randint(min(added, BUFFER), (BATCH,))
        batch = {key: array[places] for key, array in replay.items()}
        walks, rows = batch["action_mask"].nonzero(as_tuple=True)
        following = torch.full(batch["action_mask"].shape, -torch.inf)
        with torch.no_grad():
            following[walks, rows] = target(batch, walks, rows)
        value = following.amax(dim=1).nan_to_num(neginf=0.0)  # 0 at the end of an episode
        last = batch["nodes"][:, :, 2].argmax(dim=1)
        loss = nn.functional.mse_loss(online(batch, torch.arange(BATCH), last), batch["reward"] + DISCOUNT * value)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step - FIRST_UPDATE + 1) % TARGET_EVERY == 0:
            target.load_state_dict(online.state_dict())

    # validate, and keep the best network
    if step % VALIDATE_EVERY == 0 or step == args.steps:
        found = cg.evaluate(Agent(target), sets.val, args.reward, steps=10, episodes=20, seed=args.seed).mean
        print(f"step {step:,}: validation return {found:.2f}, epsilon {epsilon:.2f}", flush=True)
        if found > best_return:
            best_return = found
            best.load_state_dict(target.state_dict())

for agent in ("random", "greedy", Agent(best), "beam"):
    result = cg.evaluate(agent, sets.test, args.reward, steps=10, episodes="all", seed=args.seed)
    print(f"{result.agent:<10} {result.mean:6.2f} +- {result.sem_by_graph:.2f}", flush=True)
if args.suite:
    cg.suite({args.reward: Agent(best)}).save(args.suite)
