"""What people do on graphs: datasets, trajectories, prediction of their choices, tests of their motives.

>>> import curiograph as cg
>>> cg.human.Trajectories.from_walks([["a", "b"], ["b", "c", "a"]])
Trajectories(2 walks by 2 users, 5 visits of 3 nodes)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from curiograph.human.cooccurrence import cooccurrence_graph as cooccurrence_graph
    from curiograph.human.cooccurrence import core as core
    from curiograph.human.dataset import Dataset as Dataset
    from curiograph.human.evidence import Motives as Motives
    from curiograph.human.evidence import hypotheses as hypotheses
    from curiograph.human.loading import load_dataset as load_dataset
    from curiograph.human.nulls import GrowthComparison as GrowthComparison
    from curiograph.human.nulls import compare_growth as compare_growth
    from curiograph.human.outcome import Outcome as Outcome
    from curiograph.human.outcome import Prediction as Prediction
    from curiograph.human.prediction import FULL as FULL
    from curiograph.human.prediction import QUICK as QUICK
    from curiograph.human.prediction import Effort as Effort
    from curiograph.human.prediction import predict as predict
    from curiograph.human.ranking import choice_ranks as choice_ranks
    from curiograph.human.study import Recipe as Recipe
    from curiograph.human.tables import read_trajectories as read_trajectories
    from curiograph.human.trajectories import Trajectories as Trajectories
    from curiograph.human.windows import Windows as Windows

_HOMES = {
    "cooccurrence": ["cooccurrence_graph", "core"],
    "dataset": ["Dataset"],
    "evidence": ["Motives", "hypotheses"],
    "loading": ["load_dataset"],
    "nulls": ["GrowthComparison", "compare_growth"],
    "outcome": ["Outcome", "Prediction"],
    "prediction": ["FULL", "QUICK", "Effort", "predict"],
    "ranking": ["choice_ranks"],
    "study": ["Recipe"],
    "tables": ["read_trajectories"],
    "trajectories": ["Trajectories"],
    "windows": ["Windows"],
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
