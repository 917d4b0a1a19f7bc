"""Guided beam search against exhaustive search and against the guide itself."""

from __future__ import annotations

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.base import Agent
from curiograph.agents.beam import BeamAgent, GuidedBeamAgent
from curiograph.agents.gnn import GnnAgent, GnnShape
from curiograph.agents.horizon import HorizonAgent, HorizonShape
from curiograph.agents.pretrained import save_agent
from curiograph.agents.registry import as_agent
from curiograph.graph.generators import FAMILIES
from oracles import reference


class ExactGuide(Agent):
    """Predicts returns by beam search."""

    name = "oracle"
    predicts_returns = True

    def scores(self, exploration: cg.Exploration) -> np.ndarray:
        return BeamAgent(64).scores(exploration)


class InvertedGuide(ExactGuide):
    """Predicts the negative of the return."""

    name = "pessimist"

    def scores(self, exploration: cg.Exploration) -> np.ndarray:
        return -super().scores(exploration)


class CustomGuide:
    """A custom guide that does not inherit from Agent and has no name."""

    predicts_returns = True

    def scores(self, exploration: cg.Exploration) -> np.ndarray:
        return exploration.candidates.nodes.astype(float)


class ArbitraryGuide(ExactGuide):
    """Predicts arbitrary values, different for every candidate of every walk."""

    name = "fickle"

    def scores(self, exploration: cg.Exploration) -> np.ndarray:
        walked = np.where(exploration.nodes >= 0, exploration.nodes * np.sqrt(np.arange(2, exploration.steps + 2)), 0)
        return np.sin(walked.sum(axis=1)[exploration.candidates.walks] + 7.3 * exploration.candidates.nodes)


def horizon(seed: int = 0) -> HorizonAgent:
    shape = HorizonShape(width=8, layers=2)
    return HorizonAgent(shape, reference.draw_weights(shape.weights(), seed), "small")


@pytest.mark.parametrize("fallback", ["frontier", "anywhere"])
@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("width", [1, 3])
def test_an_exact_guide_leads_to_the_best_walk(width, reward, fallback):
    """For any width, on graphs small enough for exhaustive search."""
    rng = np.random.default_rng(3)
    for _ in range(3):
        graph = reference.draw_graph(rng, 7, 0.35, directed=bool(rng.integers(2)))
        starts = np.flatnonzero(graph.degrees)[:2]
        batch = cg.begin([graph], [starts], reward, 5, fallback=fallback)
        found = GuidedBeamAgent(width, guide=ExactGuide()).run(batch).returns
        best = [reference.find_best_return(graph, int(start), 5, reward, fallback) for start in starts]
        assert found == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("guide", [InvertedGuide(), horizon(), CustomGuide()], ids=lambda guide: type(guide).__name__)
def test_wide_beam_finds_the_best_walk_with_any_guide(guide, reward):
    graph = reference.draw_graph(np.random.default_rng(5), 7, 0.35)
    starts = np.flatnonzero(graph.degrees)[:3]
    found = GuidedBeamAgent(5000, guide=guide).run(cg.begin([graph], [starts], reward, 5)).returns
    assert found == pytest.approx([reference.find_best_return(graph, int(s), 5, reward) for s in starts], abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_return_is_at_least_that_of_the_guide(family):
    graph = cg.generate(family, nodes=20, seed=0)
    batch = cg.begin([graph], [range(4)], "igt", 5)
    followed = ExactGuide().run(batch)
    for width in (1, 2, 8):
        assert np.all(GuidedBeamAgent(width, guide=ExactGuide()).run(batch).returns >= followed.returns)


@pytest.mark.parametrize("reward", ["igt", "cpt"])
@pytest.mark.parametrize("family", FAMILIES)
def test_width_one_follows_the_guide(family, reward):
    """For scores without ties."""
    graph = cg.generate(family, nodes=40, seed=2)
    guide = ArbitraryGuide()
    batch = cg.begin([graph], [range(40)], reward, 8)
    scores = guide.scores(batch)
    assert len(np.unique(scores.round(6))) == len(scores)
    assert GuidedBeamAgent(1, guide=guide).run(batch).nodes.tolist() == guide.run(batch).nodes.tolist()


def test_ranks_by_rewards_plus_predicted_return():
    """Two paths whose immediate rewards and predicted returns rank them in opposite order."""
    graph = cg.Graph.from_edges([(0, 1), (0, 2), (1, 3), (2, 4)])
    worth = {1: 1.0, 2: 0.0, 3: 0.0, 4: 5.0}

    class FixedGuide(CustomGuide):
        name = "tipster"
        tip = 4.0

        def scores(self, exploration: cg.Exploration) -> np.ndarray:
            tips = {1: 3.0, 2: self.tip, 3: 0.0, 4: 5.0}
            return np.array([tips[int(v)] for v in exploration.candidates.nodes])

    def reward(subgraph: cg.Graph) -> float:
        return sum(worth.get(v, 0.0) for v in subgraph.labels)

    agent = GuidedBeamAgent(1, guide=FixedGuide())
    assert cg.explore(graph, agent, reward, 0, 3).nodes == [0, 2, 4]
    FixedGuide.tip = 2.0
    assert cg.explore(graph, agent, reward, 0, 3).nodes == [0, 1, 3]
    assert cg.explore(graph, GuidedBeamAgent(2, guide=FixedGuide()), reward, 0, 3).nodes == [0, 2, 4]


def test_scores_are_achievable_returns():
    """The score of a candidate is the return of the best walk found through it."""
    graph = reference.draw_graph(np.random.default_rng(8), 7, 0.4)
    batch = cg.begin([graph], [[0]], "igt", 5)
    scores = GuidedBeamAgent(5000, guide=horizon()).scores(batch)
    walks = list(reference.list_walks(graph, 0, 5, "frontier"))
    for v, score in zip(batch.candidates.nodes, scores, strict=True):
        assert score == max(reference.compute_return(graph, walk, "igt") for walk in walks if walk[1] == v)


@pytest.mark.parametrize("guide", [horizon(), ExactGuide()], ids=["horizon", "oracle"])
def test_contract(guide):
    assert cg.check_agent(GuidedBeamAgent(3, guide=guide)) is None
    assert (
        cg.check_agent(GuidedBeamAgent(3, guide=guide), cg.Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (4, 5)]))
        is None
    )


def test_walks_that_end_early_and_empty_batches():
    graph = cg.Graph.from_edges([(0, 1), (2, 3), (3, 4), (4, 2), (4, 5)])
    agent = GuidedBeamAgent(2, guide=horizon())
    ended = agent.run(cg.begin([graph], [[0, 2, 1]], "igt", 4))
    assert ended.lengths.tolist() == [2, 4, 2]
    assert agent.run(cg.begin([graph], [[]], "igt", 4)).nodes.shape == (0, 4)


# ---- names and refusals ---------------------------------------------------------------------------------------------


def test_names(tmp_path):
    assert GuidedBeamAgent(guide=horizon()).name == "small+beam:8"
    assert GuidedBeamAgent(3, guide=ExactGuide()).name == "oracle+beam:3"
    assert as_agent("horizon+beam").name == "horizon+beam:8"
    assert as_agent("horizon+beam:256").name == "horizon+beam:256"
    file = tmp_path / "a+b.safetensors"
    save_agent(horizon(), file)
    agent = as_agent(f"{file}+beam:4")
    assert isinstance(agent, GuidedBeamAgent)
    assert (agent.name, agent.width) == ("small+beam:4", 4)
    assert as_agent(str(file)).name == "small"  # a plus in a path is not yet a beam


@pytest.mark.parametrize("text", ["greedy+beam:8", "random+beam", "beam+beam:8", "igt-rg+beam:8"])
def test_agents_without_predicted_returns_cannot_guide(text):
    guide = as_agent(text.rpartition("+")[0]).name
    with pytest.raises(cg.SettingError) as caught:
        as_agent(text)
    assert str(caught.value) == (
        f"{guide} cannot guide a beam: its scores are not predicted returns; use a horizon agent."
    )


@pytest.mark.parametrize(
    "guide", [None, "horizon", 3, GnnAgent(GnnShape(), reference.draw_weights(GnnShape().weights(), 0)), object()]
)
def test_objects_that_cannot_guide(guide):
    with pytest.raises(cg.SettingError, match="cannot guide a beam"):
        GuidedBeamAgent(8, guide=guide)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("horizon+beam:0", cg.SettingError, "beam width is 0"),
        ("horizon+beam:-3", cg.SettingError, "beam width is -3"),
        ("horizon+beam:", cg.SettingError, "beam width is ''"),
        ("horizon+beam:wide", cg.SettingError, "beam width is 'wide'"),
        ("horizon+beam:2.5", cg.SettingError, r"beam width is '2\.5'"),
        ("horizont+beam:8", cg.UnknownNameError, "no agent 'horizont'"),
        ("horizon+bean:8", cg.UnknownNameError, r"no agent 'horizon\+bean:8'"),
        ("+beam:8", cg.UnknownNameError, "''"),
        ("horizon+", cg.UnknownNameError, r"no agent 'horizon\+'"),
    ],
)
def test_bad_names(text, error, words):
    with pytest.raises(error, match=words):
        as_agent(text)


def test_bad_settings():
    with pytest.raises(cg.SettingError, match="beam width is 0"):
        GuidedBeamAgent(0, guide=horizon())
    with pytest.raises(cg.SettingError, match="discount is 0"):
        GuidedBeamAgent(2, 0, guide=horizon())
