"""Train all agents that curiograph ships and evaluate them on test graphs; run by `make train-all`.

Each training is one `curiograph train` command, which is stored on the agent's card. An interrupted run resumes:
finished agents are kept, the others continue from their checkpoints.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import curiograph as cg
from curiograph.agents.pretrained import AGENT_FILE, read_agent
from curiograph.graph.generators import FAMILIES

SHIPPED = Path(cg.__file__).parent / "agents" / "shipped"
FIGURES = Path(__file__).parents[1] / "docs" / "results"
REWARDS = ("igt", "cpt")
BEAM = {"igt": 32, "cpt": 8}
STEPS = {
    ("igt", "all"): "3000", ("igt", "rg"): "1600", ("igt", "ws"): "1600", ("igt", "ba"): "800", ("igt", "er"): "800",
    ("cpt", "all"): "1200", ("cpt", "rg"): "400", ("cpt", "ws"): "2000", ("cpt", "ba"): "400", ("cpt", "er"): "400",
}  # fmt: skip
"""Training steps of the horizon agents: information gaps, above all with long loops, are harder to predict."""
TEST_SEEDS, TEST_GRAPHS = 3, 10
TRAINING_SEEDS = 3
"""Number of training seeds; only the agents of seed 0 are shipped, the returns of the others are on their cards."""


def list_trainings() -> Iterator[tuple[str, list[str]]]:
    """Yield the name and the training options of every agent; later ones may start from earlier ones."""
    cells = [(reward, family) for family in FAMILIES for reward in REWARDS]
    yield from (_list_horizon(reward, "all", seed=0) for reward in REWARDS)
    yield from (_list_horizon(reward, family, seed=0) for reward, family in cells)
    yield from (_list_planner(reward, "all", seed=0) for reward in REWARDS)
    for seed in range(TRAINING_SEEDS):
        yield from (_list_planner(reward, family, seed) for reward, family in cells)
    yield from (_list_planner(reward, "all", seed) for seed in range(1, TRAINING_SEEDS) for reward in REWARDS)
    yield from (_list_gnn(reward, family, seed=0) for reward, family in cells)
    yield from (_list_gnn(reward, family, seed=0, preset="paper") for reward, family in cells)
    for seed in range(1, TRAINING_SEEDS):
        yield from (_list_gnn(reward, family, seed) for reward, family in cells)
    for seed in range(1, TRAINING_SEEDS):
        yield from (_list_horizon(reward, family, seed) for reward, family in cells)
    for seed in range(1, TRAINING_SEEDS):
        yield from (_list_gnn(reward, family, seed, preset="paper") for reward, family in cells)


def _list_gnn(reward: str, family: str, seed: int, preset: str = "") -> tuple[str, list[str]]:
    """Return the name and the training options of a gnn."""
    options = ["--reward", reward, "--agent", "gnn", "--family", family]
    options += ["--preset", preset] if preset else []
    return _add_seed(f"{reward}-{family}" + (f"-{preset}" if preset else ""), options, seed)


def _list_horizon(reward: str, family: str, seed: int) -> tuple[str, list[str]]:
    """Return the name and the training options of a horizon; specialists start from the horizon of seed 0 for all."""
    options = ["--reward", reward, "--agent", "horizon", "--family", family]
    options += ["--start", f"{reward}-all-horizon"] if family != "all" else []
    options += ["--train-steps", STEPS[reward, family], "--set", f"beam={BEAM[reward]}"]
    options += ["--set", "learning_rate=0.0005"] if family != "all" else []
    if (reward, family) == ("cpt", "ws"):  # greedy is hard to beat in long walks here: train more on them
        options += ["--set", "far_every=2", "--set", "far_walks=8", "--set", "far_weight=100"]
    return _add_seed(f"{reward}-{family}-horizon", options, seed)


def _add_seed(name: str, options: list[str], seed: int) -> tuple[str, list[str]]:
    """Add a seed other than 0, the default, to the name and the training options of an agent."""
    return (f"{name}-seed{seed}", [*options, "--seed", str(seed)]) if seed else (name, options)


def _list_planner(reward: str, family: str, seed: int) -> tuple[str, list[str]]:
    """Return the name and the training options of a planner; specialists start from the planner for all graphs."""
    options = ["--reward", reward, "--agent", "planner", "--seed", str(seed)]
    options += ["--set", f"beam={48 if reward == 'igt' else 32}", "--set", f"far_nodes={50 if reward == 'igt' else 30}"]
    if family == "all":
        steps, share, graphs = ("600", "0.3", "800") if reward == "igt" else ("200", "0.15", "400")
        options += ["--family", "broad", "--graphs", graphs, "--nodes", "1000"]
    else:
        steps, share = "80", "0.15"
        options += ["--family", family, "--start", f"{reward}-all-planner", "--set", "learning_rate=0.001"]
    options += ["--train-steps", steps, "--set", f"far_share={share}"]
    return f"{reward}-{family}-planner" + (f"-seed{seed}" if seed else ""), options


def train_agent(name: str, options: list[str], runs: Path) -> None:
    """Train an agent, or resume its training, and save it among the shipped ones with its returns on test graphs."""
    folder = runs / name
    command = [sys.executable, "-m", "curiograph", "train", *options, "--name", name, "--out", str(folder)]
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "output.txt", "a") as output:
        subprocess.run(command, check=True, env=os.environ | one_thread, stdout=output, stderr=output)
    agent = read_agent(folder / AGENT_FILE)
    reward, family = name.split("-")[:2]
    returns = {each: evaluate_agent(agent, reward, each) for each in (FAMILIES if family == "all" else [family])}
    base, _, seed = name.partition("-seed")
    if seed:  # only the first seed is shipped; its card lists the returns of the others
        shipped = cg.load_agent(base)
        others = dict(shipped.card.get("seeds", {})) | {seed: returns}
        cg.save_agent(shipped, SHIPPED / f"{base}.safetensors", {**shipped.card, "seeds": others})
    else:
        cg.save_agent(agent, SHIPPED / f"{name}.safetensors", {**agent.card, "returns": returns})
    if name.endswith("-all-horizon"):
        shutil.copy(folder / "curves.png", FIGURES / f"training-{name}.png")
    print(name, {each: round(result["mean"], 3) for each, result in returns.items()}, flush=True)


def evaluate_agent(agent: cg.Agent, reward: str, family: str) -> dict[str, float | int]:
    """Return the mean return of 10-node walks from every node of test graphs that were not used in training."""
    graphs = [
        graph
        for seed in range(TEST_SEEDS)
        for graph in cg.generate_split(family, train=0, val=0, test=TEST_GRAPHS, seed=seed).test
    ]
    result = cg.evaluate(agent, graphs, reward, steps=10, episodes="all", seed=0)
    return {"mean": result.mean, "sem_by_graph": result.sem_by_graph, "graphs": len(graphs), "walks": result.episodes}


def main() -> None:
    """Run all trainings, some in parallel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder for the training runs")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel trainings, one core each")
    parser.add_argument("--only", default="*", help="pattern of agent names, such as 'igt-*-horizon'")
    arguments = parser.parse_args()
    waiting = [(name, options) for name, options in list_trainings() if fnmatch(name, arguments.only)]
    done = {name: threading.Event() for name, _ in waiting}
    failed: list[str] = []
    lock = threading.Lock()

    def run_trainings() -> None:
        while True:
            with lock:
                if not waiting or failed:
                    return
                name, options = waiting.pop(0)
            start = options[options.index("--start") + 1] if "--start" in options else None
            for earlier in (start, name.partition("-seed")[0]):
                if earlier in done and earlier != name:
                    done[earlier].wait()
            try:
                if not failed:
                    train_agent(name, options, arguments.runs)
            except Exception as error:
                print(f"{name}: {error}", flush=True)
                failed.append(name)
            finally:
                done[name].set()

    workers = [threading.Thread(target=run_trainings) for _ in range(arguments.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        log = arguments.runs / failed[0] / "output.txt"
        sys.exit(f"{failed[0]} could not be trained: see {log}, then rerun this command.")


if __name__ == "__main__":
    main()
