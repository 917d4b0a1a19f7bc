"""Curiosity on graphs: measure how a walk grows knowledge, explore with curious agents, rank and recommend.

>>> import curiograph as cg
>>> g = cg.generate("rg", nodes=50, seed=0)
>>> walk = cg.explore(g, agent="beam", reward="igt", start=0, steps=10, seed=0)
>>> len(walk.nodes)
10
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from curiograph.exploration.registration import register_when_imported

if TYPE_CHECKING:
    from curiograph import human as human
    from curiograph.agents.contract import Agent as Agent
    from curiograph.agents.evaluation import Evaluation as Evaluation
    from curiograph.agents.evaluation import evaluate as evaluate
    from curiograph.agents.files import load_agent as load_agent
    from curiograph.agents.files import save_agent as save_agent
    from curiograph.agents.files import shipped_agents as shipped_agents
    from curiograph.agents.registry import check_agent as check_agent
    from curiograph.agents.running import Walk as Walk
    from curiograph.agents.running import explore as explore
    from curiograph.centrality.curious import CuriousPageRank as CuriousPageRank
    from curiograph.centrality.curious import curious_pagerank as curious_pagerank
    from curiograph.centrality.mixture import mixture as mixture
    from curiograph.centrality.pagerank import PageRank as PageRank
    from curiograph.centrality.pagerank import pagerank as pagerank
    from curiograph.centrality.parts import CuriousRanker as CuriousRanker
    from curiograph.centrality.push import TopPageRank as TopPageRank
    from curiograph.centrality.push import pagerank_top as pagerank_top
    from curiograph.centrality.ranker_check import check_ranker as check_ranker
    from curiograph.centrality.rankers import MixtureRanker as MixtureRanker
    from curiograph.centrality.rankers import PageRankRanker as PageRankRanker
    from curiograph.centrality.rankers import Ranker as Ranker
    from curiograph.centrality.ranks import rank_transition as rank_transition
    from curiograph.centrality.reasons import Reason as Reason
    from curiograph.centrality.recommend import Recommendations as Recommendations
    from curiograph.centrality.recommend import Recommender as Recommender
    from curiograph.centrality.recommend import recommend as recommend
    from curiograph.centrality.statistics import WalkComparison as WalkComparison
    from curiograph.centrality.statistics import WalkStatistics as WalkStatistics
    from curiograph.centrality.statistics import compare_walks as compare_walks
    from curiograph.centrality.statistics import walk_statistics as walk_statistics
    from curiograph.drawing import animate_walk as animate_walk
    from curiograph.drawing import plot_walk as plot_walk
    from curiograph.errors import AgentError as AgentError
    from curiograph.errors import ConvergenceError as ConvergenceError
    from curiograph.errors import CuriographError as CuriographError
    from curiograph.errors import FileFormatError as FileFormatError
    from curiograph.errors import GraphError as GraphError
    from curiograph.errors import JobError as JobError
    from curiograph.errors import JobStopped as JobStopped
    from curiograph.errors import MissingExtraError as MissingExtraError
    from curiograph.errors import RankerError as RankerError
    from curiograph.errors import RewardError as RewardError
    from curiograph.errors import SettingError as SettingError
    from curiograph.errors import UnknownNameError as UnknownNameError
    from curiograph.errors import UnknownNodeError as UnknownNodeError
    from curiograph.errors import WalkError as WalkError
    from curiograph.exploration.batch import Candidates as Candidates
    from curiograph.exploration.batch import Exploration as Exploration
    from curiograph.exploration.batch import begin as begin
    from curiograph.exploration.environment import ExplorationEnv as ExplorationEnv
    from curiograph.graph import toys as toys
    from curiograph.graph.container import Graph as Graph
    from curiograph.graph.environments import Split as Split
    from curiograph.graph.environments import read_split as read_split
    from curiograph.graph.families import generate as generate
    from curiograph.graph.families import generate_split as generate_split
    from curiograph.graph.large import generate_large as generate_large
    from curiograph.graph.read import read_graph as read_graph
    from curiograph.graph.write import write_graph as write_graph
    from curiograph.growth import Gap as Gap
    from curiograph.growth import Growth as Growth
    from curiograph.growth import Growths as Growths
    from curiograph.growth import measure as measure
    from curiograph.loops import gap_loops as gap_loops
    from curiograph.rewards.contract import Reward as Reward
    from curiograph.rewards.contract import Tracker as Tracker
    from curiograph.rewards.custom import CallableReward as CallableReward
    from curiograph.rewards.rate_distortion import RateDistortion as RateDistortion
    from curiograph.rewards.rate_distortion import compressibility as compressibility
    from curiograph.rewards.rate_distortion import rate_distortion as rate_distortion
    from curiograph.rewards.registry import check_reward as check_reward
    from curiograph.rewards.topology import betti as betti
    from curiograph.training.many import train_many as train_many
    from curiograph.training.running import train as train
    from curiograph.training.trainings import SeedMean as SeedMean
    from curiograph.training.trainings import Training as Training
    from curiograph.training.trainings import Trainings as Trainings

__version__ = "0.1.0"

_HOMES = {
    "agents.contract": ["Agent"],
    "agents.files": ["load_agent", "save_agent", "shipped_agents"],
    "agents.registry": ["check_agent"],
    "agents.evaluation": ["Evaluation", "evaluate"],
    "agents.running": ["Walk", "explore"],
    "centrality.curious": ["CuriousPageRank", "curious_pagerank"],
    "centrality.mixture": ["mixture"],
    "centrality.pagerank": ["PageRank", "pagerank"],
    "centrality.parts": ["CuriousRanker"],
    "centrality.push": ["TopPageRank", "pagerank_top"],
    "centrality.ranker_check": ["check_ranker"],
    "centrality.rankers": ["MixtureRanker", "PageRankRanker", "Ranker"],
    "centrality.ranks": ["rank_transition"],
    "centrality.reasons": ["Reason"],
    "centrality.recommend": ["Recommendations", "Recommender", "recommend"],
    "centrality.statistics": ["WalkComparison", "WalkStatistics", "compare_walks", "walk_statistics"],
    "drawing": ["animate_walk", "plot_walk"],
    "errors": [
        "AgentError",
        "ConvergenceError",
        "CuriographError",
        "FileFormatError",
        "GraphError",
        "JobError",
        "JobStopped",
        "MissingExtraError",
        "RankerError",
        "RewardError",
        "SettingError",
        "UnknownNameError",
        "UnknownNodeError",
        "WalkError",
    ],
    "exploration.batch": ["Candidates", "Exploration", "begin"],
    "exploration.environment": ["ExplorationEnv"],
    "graph.container": ["Graph"],
    "graph.environments": ["Split", "read_split"],
    "graph.families": ["generate", "generate_split"],
    "graph.large": ["generate_large"],
    "graph.read": ["read_graph"],
    "graph.write": ["write_graph"],
    "growth": ["Gap", "Growth", "Growths", "measure"],
    "loops": ["gap_loops"],
    "rewards.contract": ["Reward", "Tracker"],
    "rewards.custom": ["CallableReward"],
    "rewards.rate_distortion": ["RateDistortion", "compressibility", "rate_distortion"],
    "rewards.registry": ["check_reward"],
    "rewards.topology": ["betti"],
    "training.many": ["train_many"],
    "training.running": ["train"],
    "training.trainings": ["SeedMean", "Training", "Trainings"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_MODULES = {"human": "curiograph.human", "toys": "curiograph.graph.toys"}

__all__ = ["__version__", *sorted(_HOME_OF), *_MODULES]

register_when_imported()


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import curiograph` stays instant."""
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name not in _HOME_OF:
        raise AttributeError(f"module 'curiograph' has no attribute {name!r}")
    value = getattr(import_module(f"curiograph.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
