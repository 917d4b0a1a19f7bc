"""Train all agents that curiograph ships and evaluate them on test graphs; run by `make train-all`.

Agents NAME-paper are trained on the graphs of the paper (in CURIOGRAPH_DATA, or after `curiograph data get
paper-graphs`), all others on generated ones. An interrupted run resumes: finished trainings are only evaluated, the
others continue from their checkpoints.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from curriculum import generate_curriculum

import curiograph as cg
from curiograph.graph.generators import FAMILIES
from curiograph.human.data.datasets import find_dataset, get_dataset

SHIPPED = Path(cg.__file__).parent / "agents" / "shipped"
CELLS = [(reward, family) for family in FAMILIES for reward in ("igt", "cpt")]
TEST_SEEDS, TEST_GRAPHS = 3, 10
TRAINING_SEEDS = 3
"""Number of training seeds; only the agents of seed 0 are shipped, the returns of the others are on their cards."""
GENERALIST = {"igt": {"train_steps": 600, "far_share": 0.3}, "cpt": {"train_steps": 200, "far_share": 0.15}}
PLANNER = {"igt": {"beam": 48, "far_nodes": 50}, "cpt": {"beam": 32, "far_nodes": 30}}


def list_trainings() -> Iterator[tuple[str, str, str, int, dict[str, Any]]]:
    """Yield name, reward, family, seed and settings of every training; planners of a family start from a generalist."""
    for seed in range(TRAINING_SEEDS):
        for reward in PLANNER:
            settings = {"agent": "planner", **PLANNER[reward], **GENERALIST[reward]}
            yield f"{reward}-all-planner", reward, "all", seed, settings
        for reward, family in CELLS:
            settings = {"agent": "planner", **PLANNER[reward], "start": f"{reward}-all-planner"}
            settings |= {"learning_rate": 0.001, "train_steps": 80, "far_share": 0.15}
            yield f"{reward}-{family}-planner", reward, family, seed, settings
        for reward, family in CELLS:
            yield f"{reward}-{family}", reward, family, seed, {}
            yield f"{reward}-{family}-paper", reward, family, seed, {"preset": "paper"}


def train_agent(name: str, reward: str, family: str, seed: int, settings: Any, runs: Path, out: Path) -> None:
    """Train an agent, or resume its training, and save it in `out` with its returns on test graphs."""
    if family == "all":
        count = 800 if reward == "igt" else 400
        sets = generate_curriculum(count, count // 10, max_nodes=1000, seed=seed)
    elif settings.get("preset") == "paper":
        place = find_dataset("paper-graphs") or get_dataset("paper-graphs")
        sets = cg.read_split(place / f"synthetic_{family.upper()}_medium.json")
    else:
        sets = cg.generate_split(family, nodes=50, train=100, val=10, test=0, seed=seed)
    folder, file = runs / name_run(name, seed), out / f"{name}.safetensors"
    agent = cg.train(sets, reward, seed=seed, out=folder, name=name, **settings)
    tests = {each: generate_tests(each) for each in (FAMILIES if family == "all" else [family])}
    tests |= {"paper-graphs": sets.test} if sets.test else {}
    returns = {each: evaluate_agent(agent, reward, graphs) for each, graphs in tests.items()}
    command = f"python scripts/train_all.py --only {folder.name}"
    card = {**agent.card, "command": command, "returns": returns}
    if seed:  # only the first seed is shipped; its card lists the returns of the others
        agent = cg.load_agent(file)
        card = {**agent.card, "seeds": {**agent.card.get("seeds", {}), str(seed): returns}}
    cg.save_agent(agent, file, card)
    print(folder.name, {each: round(result["mean"], 3) for each, result in returns.items()}, flush=True)


def name_run(name: str, seed: int) -> str:
    """Return the name of the folder of a training."""
    return f"{name}-seed{seed}" if seed else name


def generate_tests(family: str) -> list[cg.Graph]:
    """Generate test graphs that are not used in training."""
    sets = [cg.generate_split(family, train=0, val=0, test=TEST_GRAPHS, seed=seed) for seed in range(TEST_SEEDS)]
    return [graph for split in sets for graph in split.test]


def evaluate_agent(agent: cg.Agent, reward: str, graphs: list[cg.Graph]) -> dict[str, float | int]:
    """Return the mean return of 10-node walks from every node of test graphs."""
    result = cg.evaluate(agent, graphs, reward, steps=10, episodes="all", seed=0)
    return {"mean": result.mean, "sem_by_graph": result.sem_by_graph, "graphs": len(graphs), "walks": result.episodes}


def main() -> None:
    """Run all trainings, one after another."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="folder for the training runs")
    parser.add_argument("--only", default="*", help="pattern of runs, such as 'igt-*-planner' (seed 0) or '*-seed2'")
    parser.add_argument("--out", type=Path, default=SHIPPED, help="folder for the agents (default: the package)")
    parser.add_argument("--train-steps", type=int, help="steps of every training, for a trial")
    options = parser.parse_args()
    for name, reward, family, seed, settings in list_trainings():
        if fnmatch(name_run(name, seed), options.only):
            settings |= {"train_steps": options.train_steps} if options.train_steps else {}
            train_agent(name, reward, family, seed, settings, options.runs, options.out)


if __name__ == "__main__":
    main()
