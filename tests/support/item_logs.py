"""Random logs of items, and graphs made from them."""

from __future__ import annotations

from hypothesis import strategies as st

from curiograph.errors import SettingError, WalkError
from curiograph.human.trajectories import Trajectories

LOGS = st.lists(st.tuples(st.integers(0, 8), st.lists(st.sampled_from("abcdefg"), max_size=8)), min_size=1, max_size=20)
SIMILARITIES = st.sampled_from(["cosine", "pmi"])


def make_walks(log):
    """Return walks from pairs of user and items."""
    return Trajectories.from_walks([walk for _, walk in log], users=[user for user, _ in log])


def build_or_none(build, walks, **settings):
    """Return a graph, or None if the walks are too few for it."""
    try:
        return build(walks, **settings)
    except (SettingError, WalkError):
        return None


def list_edges(graph):
    return {(a, b) for a in graph.labels for b in graph.neighbors(a) if str(a) < str(b)}


def list_histories(walks):
    """Return the walks of each user as lists of labels."""
    histories = {}
    for number, walk in enumerate(walks):
        histories.setdefault(walks.user(number), []).append(walk)
    return histories
