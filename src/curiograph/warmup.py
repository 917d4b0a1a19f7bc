"""Compile all kernels ahead of time by small calls with the argument types of real calls."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from scipy.sparse import csr_array

from curiograph.agents.evaluate import evaluate
from curiograph.centrality.pagerank import pagerank
from curiograph.centrality.push import pagerank_top
from curiograph.centrality.walk_statistics import compare_walks
from curiograph.exploration.gym_env import ExplorationEnv
from curiograph.exploration.gym_vector_env import ExplorationVectorEnv
from curiograph.graph.graph import Graph
from curiograph.graph.io.read import read_graph
from curiograph.graph.similarity import Similarity
from curiograph.graph.toys import grid, library
from curiograph.growth.measure import measure
from curiograph.growth.persistence import measure_persistence
from curiograph.human.data.cooccurrence import cooccurrence_graph
from curiograph.human.motives.hypotheses import hypotheses
from curiograph.human.people.growth_comparison import compare_growth
from curiograph.human.people.null_models import NULL_MODELS
from curiograph.human.people.profile import profile
from curiograph.human.trajectories import Trajectories
from curiograph.parallel import IN_PROCESS
from curiograph.recommendation.recommender import recommend
from curiograph.rewards.rate_distortion import rate_distortion
from curiograph.rewards.registry import REWARDS


def warm_up() -> float:
    """Compile all kernels, or load them from the cache; return the seconds that it took."""
    start = time.perf_counter()
    for reward in REWARDS:
        for agent in ("random", "greedy", "beam:2", "igt-rg", "planner"):
            evaluate(agent, [grid(3, 3), library()], reward, steps=4, episodes=2)
    measure(library(), ["music", "physics", "chemistry"])
    people = Trajectories.from_walks([["music", "physics", "chemistry"]], graph=library())
    profile(library(), [library().labels, library().labels[2:9]]).styles(4)
    compare_growth(library(), people, nulls=list(NULL_MODELS), steps=3, replicates=1, engine=IN_PROCESS)
    returning = Trajectories.from_walks([["music", "physics", "music", "physics"]] * 10, graph=library())
    hypotheses(library(), returning, motives=["degree"], burn_in=1, weights=True, returns=True, workers=1)
    weighted = Graph.from_edges([(0, 1, 1.0), (1, 2, 2.0), (2, 0, 0.5), (2, 3, 1.0)], directed=True)
    rate_distortion(weighted, pairs="best")
    profile(weighted, [0, 1, 2], measures="edge_weight")
    for graph in (library(), weighted):
        compare_walks(graph, {"unbiased": None, "random": "random"}, walks=2, steps=4)
    rate_distortion(library())
    heavy = Graph.from_edges([(0, 1, 1.0), (1, 2, 2.0)])
    rate_distortion(heavy)
    measure_persistence(Graph.from_edges([(0, 1, 1.0), (1, 2, 0.5)]), [0, 1, 2])
    Similarity.from_embeddings(heavy, [[1.0], [2.0], [3.0]]).compute_pairs([0], [1])
    Similarity.from_embeddings(heavy, csr_array([[1.0], [2.0], [3.0]])).compute_pairs([0], [1])
    for graph in (library(), weighted, heavy, Graph.from_edges([(0, 1)], directed=True)):
        labels = graph.labels[:2]
        pagerank(graph, history=labels)
        pagerank(graph, history=[labels] * 4)
        pagerank_top(graph, labels, k=2)
    recommend(library(), ["music", "physics"], diversity=0.5).to_dict()
    cooccurrence_graph(people, fewest=1)
    for env in (ExplorationEnv(grid(3, 3), observation="subgraph"), ExplorationVectorEnv(2, [grid(3, 3), library()])):
        env.reset(seed=0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.tsv"
        path.write_text("a\tb\nb\tc\n")
        graph = read_graph(path)
        graph.save(path.with_suffix(".safetensors"))
        read_graph(path.with_suffix(".safetensors")).position("a")
    return time.perf_counter() - start
