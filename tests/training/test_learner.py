"""Learners: targets, agreement of numpy and torch, and bit-identical restoring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: make test installs it")

import curiograph as cg  # noqa: E402
from curiograph.agents.beam import BeamAgent  # noqa: E402
from curiograph.agents.gnn import GnnShape, Subgraphs  # noqa: E402
from curiograph.agents.planner import compute_features  # noqa: E402
from curiograph.exploration.mdp import begin  # noqa: E402
from curiograph.rewards.reward_names import as_reward  # noqa: E402
from curiograph.training.dqn import DqnLearner, GnnNetwork, PaperDqnLearner  # noqa: E402
from curiograph.training.learner import load_checkpoint, save_checkpoint  # noqa: E402
from curiograph.training.training_settings import TrainingSettings  # noqa: E402
from curiograph.training.value_learning import ValueLearner  # noqa: E402

GRAPHS = cg.generate_split("er", nodes=14, train=4, val=0, test=0, seed=3).train
SMALL = TrainingSettings(train_steps=40, warmup=5, batch=8, buffer=60, walk_nodes=6, beam=4, far_nodes=9)


class SmallDqnLearner(DqnLearner):
    target_every = 4


class SmallValueLearner(ValueLearner):
    walks, options, updates_per_step = 4, 4, 2


LEARNERS = {"gnn": SmallDqnLearner, "paper": PaperDqnLearner, "planner": SmallValueLearner}


def make_learner(name: str, seed: int = 1, **changes):
    return LEARNERS[name](replace(SMALL, **changes), GRAPHS, as_reward("igt"), seed)


def run_steps(learner, count: int):
    for _ in range(count):
        learner.step()
    return learner


def same(a, b) -> bool:
    one, other = a.get_state(), b.get_state()
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k], equal_nan=True) for k in one)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("stop", [3, 13])
def test_restored_learner_continues_bit_for_bit(name, stop, tmp_path):
    whole = run_steps(make_learner(name), stop + 9)
    save_checkpoint(tmp_path / "c", run_steps(make_learner(name), stop).get_state())
    again = make_learner(name)
    again.restore_state(load_checkpoint(tmp_path / "c"))
    assert same(whole, run_steps(again, 9))


@pytest.mark.parametrize("name", LEARNERS)
def test_seed_determines_the_result(name):
    assert same(run_steps(make_learner(name), 9), run_steps(make_learner(name), 9))
    assert not same(run_steps(make_learner(name), 9), run_steps(make_learner(name, seed=2), 9))


def walk_five_nodes():
    exploration = begin(GRAPHS, [[0, 3]] * len(GRAPHS), "igt", 9, seed=0)
    for _ in range(4):
        exploration = exploration.step(exploration.best(np.zeros(len(exploration.candidates.nodes))))
    return exploration


def read_subgraphs(shape):
    ex = walk_five_nodes()
    return Subgraphs.read(shape, ex.stack, ex.nodes, ex.lengths, ex.candidates.offsets, ex.candidates.nodes)


@pytest.mark.parametrize("shape", [GnnShape(), GnnShape(log_features=True, inner_triangles=True, aggregation="sum")])
def test_gradients_match_finite_differences(shape):
    """Along random directions; float32 allows a rough comparison only, but wrong messages differ by far."""
    torch.manual_seed(0)
    network, read = GnnNetwork(shape), read_subgraphs(shape)
    parameters = list(network.parameters())
    network(read).sum().backward()
    generator = torch.Generator().manual_seed(0)
    for _ in range(4):
        directions = [torch.randn(p.shape, generator=generator) for p in parameters]
        slope = sum(float((p.grad * d).sum()) for p, d in zip(parameters, directions, strict=True))
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                for p, d in zip(parameters, directions, strict=True):
                    p.add_(d, alpha=sign * 3e-4)
                ends.append(float(network(read).sum()))
                for p, d in zip(parameters, directions, strict=True):
                    p.sub_(d, alpha=sign * 3e-4)
        assert (ends[0] - ends[1]) / 6e-4 == pytest.approx(slope, rel=0.1, abs=0.1)


@pytest.mark.parametrize("returns", [1, 9])
def test_dqn_targets_follow_the_definition(returns):
    made = make_learner("gnn")
    made.returns = returns
    rows = run_steps(made, 24).replay.rows(np.arange(len(made.replay)))
    s, stack = made.settings, made.exploration.stack
    targets = made.compute_targets(rows)
    for i in range(len(targets)):
        graph, _ = stack.split(int(rows["nodes"][i, 0]))
        first = stack.starts[np.searchsorted(stack.starts, rows["nodes"][i, 0], side="right") - 1]
        walk = [int(v - first) for v in rows["nodes"][i, : rows["counted"][i]]]
        rewards = cg.measure(graph, walk).beta1[int(rows["length"][i]) - 1 :]
        assert len(rewards) <= returns
        expected = sum(s.discount**k * float(r) for k, r in enumerate(rewards))
        if len(walk) < s.walk_nodes:
            here = begin([graph], [[walk[0]]], "igt", s.walk_nodes)
            here = replace(here, nodes=np.array([walk + [-1] * (s.walk_nodes - len(walk))], np.int32),
                           lengths=np.array([len(walk)]))  # fmt: skip
            expected += s.discount ** len(rewards) * made.target_agent.scores(here).max()
        assert targets[i] == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_transitions_end_with_the_walk_and_are_stored_once():
    made = make_learner("gnn", buffer=1000)
    made.returns = 3
    run_steps(made, 15)  # three episodes of five steps
    lengths = made.replay.rows(np.arange(len(made.replay)))["length"]
    assert np.bincount(lengths).tolist() == [0, 0, *[3 * len(GRAPHS)] * 5]


def test_epsilon_decays_from_first_to_last():
    made, seen = make_learner("paper", train_steps=100), []
    for made.step_number in (0, 50, 100, 150):
        seen.append(made.epsilon)
    assert seen == pytest.approx([1.0, 0.55, 0.1, 0.1])


def test_planner_learns_what_beam_search_still_earns():
    learner = make_learner("planner")
    walks = begin(GRAPHS[:1], [[0, 3]], "igt", 6, seed=0)
    learner.store_values(walks, BeamAgent(200))
    picked = learner.sample_candidates(walks)
    features, unit = compute_features(walks, learner.shape.fan)
    returns = BeamAgent(200).scores(walks)[picked]
    left = walks.steps - 1 - walks.lengths[walks.candidates.walks[picked]]
    expected = (returns - walks.candidate_values[picked] * (1 + left)) / (left * (left + 1) / 2) / unit[picked]
    stored = learner.replay.rows(np.arange(2))
    filled = np.arange(learner.options) < stored["count"][:, None]
    np.testing.assert_allclose(stored["slopes"][filled], expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(stored["features"][filled], features[picked])


def test_large_candidate_sets_are_sampled():
    star = cg.Graph.from_edges([(0, leaf) for leaf in range(1, 30)] + [(1, 2)])
    learner = SmallValueLearner(SMALL, [star], as_reward("igt"), 0)
    picked = learner.sample_candidates(begin([star], [[0, 0]], "igt", 6))
    assert len(set(picked.tolist())) == len(picked) == 8  # four of each walk
