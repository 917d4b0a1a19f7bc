"""Human walks on graphs: datasets, trajectories, prediction of choices, and tests of motives.

>>> import curiograph as cg
>>> cg.human.Trajectories.from_walks([["a", "b"], ["b", "c", "a"]])
Trajectories(2 walks by 2 users, 5 visits of 3 nodes)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curiograph.human.choices.metrics import choice_ranks as choice_ranks
    from curiograph.human.choices.windows import Windows as Windows
    from curiograph.human.data.cooccurrence import cooccurrence_graph as cooccurrence_graph
    from curiograph.human.data.cooccurrence import core as core
    from curiograph.human.data.coverage import GraphCoverage as GraphCoverage
    from curiograph.human.data.coverage import measure_graph_coverage as measure_graph_coverage
    from curiograph.human.data.dataset import Dataset as Dataset
    from curiograph.human.data.load import load_dataset as load_dataset
    from curiograph.human.data.texts import read_texts as read_texts
    from curiograph.human.data.trajectory_file import read_trajectories as read_trajectories
    from curiograph.human.motives.hypotheses import hypotheses as hypotheses
    from curiograph.human.motives.results import Motives as Motives
    from curiograph.human.motives.weight_results import MotiveWeights as MotiveWeights
    from curiograph.human.null_models.compare import compare_growth as compare_growth
    from curiograph.human.null_models.results import GrowthComparison as GrowthComparison
    from curiograph.human.prediction.predict import FULL as FULL
    from curiograph.human.prediction.predict import QUICK as QUICK
    from curiograph.human.prediction.predict import Effort as Effort
    from curiograph.human.prediction.predict import predict as predict
    from curiograph.human.prediction.protocol import Recipe as Recipe
    from curiograph.human.prediction.results import Outcome as Outcome
    from curiograph.human.prediction.results import Prediction as Prediction
    from curiograph.human.profile.results import Profile as Profile
    from curiograph.human.profile.styles import Styles as Styles
    from curiograph.human.profile.styles import curiosity_styles as curiosity_styles
    from curiograph.human.profile.styles import simulate_styles as simulate_styles
    from curiograph.human.recommenders.evaluate import evaluate_recommenders as evaluate_recommenders
    from curiograph.human.recommenders.results import RecommenderEvaluation as RecommenderEvaluation
    from curiograph.human.recommenders.splits import split_log as split_log
    from curiograph.human.returns.levy import LevyWalks as LevyWalks
    from curiograph.human.returns.levy import fit_levy_walks as fit_levy_walks
    from curiograph.human.returns.levy import simulate_levy_walks as simulate_levy_walks
    from curiograph.human.returns.recurrence import Returns as Returns
    from curiograph.human.returns.recurrence import measure_returns as measure_returns
    from curiograph.human.trajectories import Trajectories as Trajectories

_HOMES = {
    "choices.metrics": ["choice_ranks"],
    "choices.windows": ["Windows"],
    "data.cooccurrence": ["cooccurrence_graph", "core"],
    "data.coverage": ["GraphCoverage", "measure_graph_coverage"],
    "data.dataset": ["Dataset"],
    "data.load": ["load_dataset"],
    "data.texts": ["read_texts"],
    "data.trajectory_file": ["read_trajectories"],
    "motives.hypotheses": ["hypotheses"],
    "motives.results": ["Motives"],
    "motives.weight_results": ["MotiveWeights"],
    "null_models.compare": ["compare_growth"],
    "null_models.results": ["GrowthComparison"],
    "prediction.predict": ["Effort", "FULL", "QUICK", "predict"],
    "prediction.protocol": ["Recipe"],
    "prediction.results": ["Outcome", "Prediction"],
    "recommenders.evaluate": ["evaluate_recommenders"],
    "recommenders.results": ["RecommenderEvaluation"],
    "recommenders.splits": ["split_log"],
    "returns.levy": ["LevyWalks", "fit_levy_walks", "simulate_levy_walks"],
    "returns.recurrence": ["Returns", "measure_returns"],
    "profile.results": ["Profile"],
    "profile.styles": ["Styles", "curiosity_styles", "simulate_styles"],
    "trajectories": ["Trajectories"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'curiograph.human' has no attribute {name!r}")
    return getattr(import_module(f"curiograph.human.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
