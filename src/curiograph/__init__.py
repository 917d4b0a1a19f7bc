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

from curiograph import errors
from curiograph.exploration.gym_registration import register_when_imported

if TYPE_CHECKING:
    from curiograph import human as human
    from curiograph.agents.base import Agent as Agent
    from curiograph.agents.evaluate import Evaluation as Evaluation
    from curiograph.agents.evaluate import evaluate as evaluate
    from curiograph.agents.explore import Walk as Walk
    from curiograph.agents.explore import explore as explore
    from curiograph.agents.pretrained import load_agent as load_agent
    from curiograph.agents.pretrained import save_agent as save_agent
    from curiograph.agents.pretrained import shipped_agents as shipped_agents
    from curiograph.agents.registry import check_agent as check_agent
    from curiograph.agents.standardize import standardize_reward as standardize_reward
    from curiograph.centrality.curious_pagerank import CuriousPageRank as CuriousPageRank
    from curiograph.centrality.curious_pagerank import curious_pagerank as curious_pagerank
    from curiograph.centrality.mixture import mixture as mixture
    from curiograph.centrality.pagerank import PageRank as PageRank
    from curiograph.centrality.pagerank import pagerank as pagerank
    from curiograph.centrality.push import TopPageRank as TopPageRank
    from curiograph.centrality.push import pagerank_top as pagerank_top
    from curiograph.centrality.rank_transition import rank_transition as rank_transition
    from curiograph.centrality.walk_statistics import WalkComparison as WalkComparison
    from curiograph.centrality.walk_statistics import WalkStatistics as WalkStatistics
    from curiograph.centrality.walk_statistics import compare_walks as compare_walks
    from curiograph.centrality.walk_statistics import walk_statistics as walk_statistics
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
    from curiograph.exploration.gym_env import ExplorationEnv as ExplorationEnv
    from curiograph.exploration.gym_vector_env import ExplorationVectorEnv as ExplorationVectorEnv
    from curiograph.exploration.mdp import Candidates as Candidates
    from curiograph.exploration.mdp import Exploration as Exploration
    from curiograph.exploration.mdp import begin as begin
    from curiograph.graph import toys as toys
    from curiograph.graph.curriculum import generate_curriculum as generate_curriculum
    from curiograph.graph.generators import generate as generate
    from curiograph.graph.generators import generate_large as generate_large
    from curiograph.graph.generators import generate_split as generate_split
    from curiograph.graph.graph import Graph as Graph
    from curiograph.graph.io.read import read_graph as read_graph
    from curiograph.graph.io.write import write_graph as write_graph
    from curiograph.graph.similarity import Similarity as Similarity
    from curiograph.graph.splits import Split as Split
    from curiograph.graph.splits import read_split as read_split
    from curiograph.growth.covariates import GrowthCorrelations as GrowthCorrelations
    from curiograph.growth.covariates import correlate_growth as correlate_growth
    from curiograph.growth.gap_loops import gap_loops as gap_loops
    from curiograph.growth.groups import GroupComparison as GroupComparison
    from curiograph.growth.groups import compare_groups as compare_groups
    from curiograph.growth.measure import measure as measure
    from curiograph.growth.persistence import Persistence as Persistence
    from curiograph.growth.persistence import Persistences as Persistences
    from curiograph.growth.persistence import PersistentGap as PersistentGap
    from curiograph.growth.persistence import measure_persistence as measure_persistence
    from curiograph.growth.plots import animate_walk as animate_walk
    from curiograph.growth.plots import plot_walk as plot_walk
    from curiograph.growth.records import Gap as Gap
    from curiograph.growth.records import Growth as Growth
    from curiograph.growth.records import Growths as Growths
    from curiograph.growth.survival import GapSurvival as GapSurvival
    from curiograph.human.profile.profile import profile as profile
    from curiograph.leaderboard.gym_policy import GymPolicy as GymPolicy
    from curiograph.leaderboard.results import SuiteResult as SuiteResult
    from curiograph.leaderboard.results import TaskResult as TaskResult
    from curiograph.leaderboard.suite import Suite as Suite
    from curiograph.leaderboard.suite import suite as suite
    from curiograph.recommendation.prepared import CuriousRanker as CuriousRanker
    from curiograph.recommendation.ranker import Ranker as Ranker
    from curiograph.recommendation.ranker import check_ranker as check_ranker
    from curiograph.recommendation.rankers import MixtureRanker as MixtureRanker
    from curiograph.recommendation.rankers import PageRankRanker as PageRankRanker
    from curiograph.recommendation.reasons import Reason as Reason
    from curiograph.recommendation.recommender import Recommendations as Recommendations
    from curiograph.recommendation.recommender import Recommender as Recommender
    from curiograph.recommendation.recommender import recommend as recommend
    from curiograph.recommendation.recommender import recommend_many as recommend_many
    from curiograph.rewards.base import Reward as Reward
    from curiograph.rewards.base import Tracker as Tracker
    from curiograph.rewards.combined import CombinedReward as CombinedReward
    from curiograph.rewards.custom import CallableReward as CallableReward
    from curiograph.rewards.rate_distortion import RateDistortion as RateDistortion
    from curiograph.rewards.rate_distortion import compressibility as compressibility
    from curiograph.rewards.rate_distortion import rate_distortion as rate_distortion
    from curiograph.rewards.registry import as_reward as as_reward
    from curiograph.rewards.registry import check_reward as check_reward
    from curiograph.rewards.topology import betti as betti
    from curiograph.training.sweep import train_many as train_many
    from curiograph.training.sweep_results import SeedMean as SeedMean
    from curiograph.training.sweep_results import Training as Training
    from curiograph.training.sweep_results import Trainings as Trainings
    from curiograph.training.trainer import train as train

__version__ = "0.1.0"

_HOMES = {
    "agents.base": ["Agent"],
    "agents.evaluate": ["Evaluation", "evaluate"],
    "agents.explore": ["Walk", "explore"],
    "agents.pretrained": ["load_agent", "save_agent", "shipped_agents"],
    "agents.registry": ["check_agent"],
    "agents.standardize": ["standardize_reward"],
    "centrality.curious_pagerank": ["CuriousPageRank", "curious_pagerank"],
    "centrality.mixture": ["mixture"],
    "centrality.pagerank": ["PageRank", "pagerank"],
    "centrality.push": ["TopPageRank", "pagerank_top"],
    "centrality.rank_transition": ["rank_transition"],
    "centrality.walk_statistics": ["WalkComparison", "WalkStatistics", "compare_walks", "walk_statistics"],
    "errors": [name for name, value in vars(errors).items() if isinstance(value, type)],
    "exploration.gym_env": ["ExplorationEnv"],
    "exploration.gym_vector_env": ["ExplorationVectorEnv"],
    "exploration.mdp": ["Candidates", "Exploration", "begin"],
    "graph.curriculum": ["generate_curriculum"],
    "graph.generators": ["generate", "generate_large", "generate_split"],
    "graph.graph": ["Graph"],
    "graph.io.read": ["read_graph"],
    "graph.io.write": ["write_graph"],
    "graph.similarity": ["Similarity"],
    "graph.splits": ["Split", "read_split"],
    "growth.covariates": ["GrowthCorrelations", "correlate_growth"],
    "growth.gap_loops": ["gap_loops"],
    "growth.groups": ["GroupComparison", "compare_groups"],
    "growth.measure": ["measure"],
    "growth.persistence": ["Persistence", "Persistences", "PersistentGap", "measure_persistence"],
    "growth.plots": ["animate_walk", "plot_walk"],
    "growth.records": ["Gap", "Growth", "Growths"],
    "growth.survival": ["GapSurvival"],
    "human.profile.profile": ["profile"],
    "leaderboard.gym_policy": ["GymPolicy"],
    "leaderboard.results": ["SuiteResult", "TaskResult"],
    "leaderboard.suite": ["Suite", "suite"],
    "recommendation.prepared": ["CuriousRanker"],
    "recommendation.ranker": ["Ranker", "check_ranker"],
    "recommendation.rankers": ["MixtureRanker", "PageRankRanker"],
    "recommendation.reasons": ["Reason"],
    "recommendation.recommender": ["Recommendations", "Recommender", "recommend", "recommend_many"],
    "rewards.base": ["Reward", "Tracker"],
    "rewards.combined": ["CombinedReward"],
    "rewards.custom": ["CallableReward"],
    "rewards.rate_distortion": ["RateDistortion", "compressibility", "rate_distortion"],
    "rewards.registry": ["as_reward", "check_reward"],
    "rewards.topology": ["betti"],
    "training.sweep": ["train_many"],
    "training.trainer": ["train"],
    "training.sweep_results": ["SeedMean", "Training", "Trainings"],
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
