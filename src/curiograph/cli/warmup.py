"""The command `curiograph warmup`."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import curiograph as cg
from curiograph.cli import options
from curiograph.cli.output import check_out, emit, show_progress


def warmup(output: options.Output) -> None:
    """Compile all kernels ahead of time, so that the first real call is fast."""
    check_out(output.out)
    with show_progress(output.quiet) as progress:
        progress("compiling kernels")
        facts = {"seconds": round(warm_up(), 1)}
    emit(output, facts, [facts], title="kernels are ready")


def warm_up() -> float:
    """Compile all kernels, or load them, by small calls with the argument types of real calls; return the seconds."""
    from scipy.sparse import csr_array

    from curiograph.exploration.gym_env import ExplorationEnv
    from curiograph.exploration.gym_vector_env import ExplorationVectorEnv
    from curiograph.graph.toys import grid, library
    from curiograph.plotting.graph_layout import compute_layout
    from curiograph.rewards.reward_names import REWARDS

    start = time.perf_counter()
    here = cg.Engine(workers=1)
    for reward in REWARDS:
        for agent in ("random", "greedy", "beam:2", "planner:2", "igt-rg"):
            cg.evaluate(agent, [grid(3, 3), library()], reward, steps=4, episodes=2, engine=here)
    for family in ("rg", "ws", "ba", "er"):
        cg.generate(family, nodes=10, seed=0)
    cg.measure(library(), ["music", "physics", "chemistry"])
    compute_layout(library())
    walks = [cg.explore(library(), "random", start=start, steps=8, seed=0) for start in ("music", "logic", "biology")]
    people = cg.human.Trajectories.from_walks(walks, graph=library())
    cg.profile(library(), people)
    cg.human.compare_growth(library(), people, steps=3, replicates=1, engine=here)
    returning = cg.human.Trajectories.from_walks([["music", "physics", "music", "physics"]] * 10, graph=library())
    cg.human.hypotheses(
        library(), returning, motives=["degree", "markov"], burn_in=1, weights=True, returns=True, engine=here
    )
    weighted = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 2.0), (2, 0, 0.5), (2, 3, 1.0)], directed=True)
    heavy = cg.Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5)])
    cg.profile(weighted, cg.human.Trajectories.from_walks([[0, 1, 2]], graph=weighted), measures=["edge_weight"])
    for graph in (library(), weighted, heavy, cg.Graph.from_edges([(0, 1)], directed=True)):
        labels = graph.labels[:2]
        cg.rate_distortion(graph)
        cg.walk_statistics(graph, "random", walks=2, steps=4)
        cg.pagerank(graph, history=labels)
        cg.pagerank(graph, history=[labels] * 4)
    cg.gaps(library()).to_frame()
    cg.measure_persistence(heavy, [0, 1, 2])
    for vectors in ([[1.0], [2.0], [3.0]], csr_array([[1.0], [2.0], [3.0]])):
        cg.Similarity.from_embeddings(heavy, vectors).compute_pairs([0], [1])
    cg.recommend(library(), ["music", "physics"], diversity=0.5)
    cg.human.cooccurrence_graph(people, fewest=1)
    for env in (ExplorationEnv(grid(3, 3), observation="subgraph"), ExplorationVectorEnv(2, [grid(3, 3), library()])):
        env.reset(seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.tsv"
        path.write_text("a\tb\nb\tc\n")
        cg.read_graph(path)
    return time.perf_counter() - start
