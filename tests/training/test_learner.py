"""Learners: targets, agreement of numpy and torch, and bit-identical restoring."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs torch: make test installs it")

import curiograph as cg  # noqa: E402
from curiograph.agents.beam import BeamAgent  # noqa: E402
from curiograph.agents.gnn import GnnShape, Subgraphs  # noqa: E402
from curiograph.agents.horizon import HorizonShape, Neighborhoods  # noqa: E402
from curiograph.agents.planner import PlannerShape, compute_features  # noqa: E402
from curiograph.exploration.mdp import begin  # noqa: E402
from curiograph.rewards.registry import as_reward  # noqa: E402
from curiograph.training.checkpoint import load_checkpoint, save_checkpoint  # noqa: E402
from curiograph.training.config import DqnSettings, ExpertIterationSettings, ValueSettings  # noqa: E402
from curiograph.training.dqn import DqnLearner  # noqa: E402
from curiograph.training.expert_iteration import ExpertIterationLearner  # noqa: E402
from curiograph.training.value_learning import ValueLearner  # noqa: E402

PROGRESS = {"finished": False, "best": 0.5, "best_step": 0, "stale": 0, "seconds": 0.0}
GRAPHS = cg.generate_split("er", nodes=14, train=4, val=0, test=0, seed=3).train
SMALL_DQN = replace(DqnSettings(), train_steps=40, warmup=5, batch=8, buffer=60, target_every=4, walk_nodes=6)
SMALL_EXPERT = replace(
    ExpertIterationSettings(), train_steps=40, warmup=5, batch=8, buffer=50, walks=3, beam=2, walk_nodes=6, far_nodes=9,
    shape=HorizonShape(width=8, layers=2, near=6),
)  # fmt: skip
SMALL_VALUES = replace(
    ValueSettings(), train_steps=40, warmup=3, batch=8, buffer=50, walks=4, beam=4, updates=2, options=4, walk_nodes=6,
    far_nodes=9, shape=PlannerShape(fan=8),
)  # fmt: skip
LEARNERS = {
    "gnn": (DqnLearner, SMALL_DQN),
    "gnn, 1-step, double": (DqnLearner, replace(SMALL_DQN, returns=1, double=True)),
    "gnn, paper": (DqnLearner, replace(SMALL_DQN, act_with="target", returns=1, loss="mse", scale_returns=False)),
    "horizon": (ExpertIterationLearner, SMALL_EXPERT),
    "planner": (ValueLearner, SMALL_VALUES),
}


def make_learner(name: str, reward: str = "igt", seed: int = 1):
    made, settings = LEARNERS[name]
    return made(settings, GRAPHS, as_reward(reward), seed)


def run_steps(learner, count: int):
    for _ in range(count):
        learner.step()
    return learner


def same(a, b) -> bool:
    one, other = a.get_state(), b.get_state()
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k], equal_nan=True) for k in one)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("stop", [0, 3, 8, 13])
def test_restored_learner_continues_bit_for_bit(name, stop, tmp_path):
    whole = run_steps(make_learner(name), stop + 9)
    save_checkpoint(tmp_path / "c", run_steps(make_learner(name), stop).get_state(), PROGRESS)
    again = make_learner(name, seed=1)
    again.restore_state(load_checkpoint(tmp_path / "c")[0])
    assert same(whole, run_steps(again, 9))


@pytest.mark.parametrize("name", LEARNERS)
def test_seed_determines_the_result(name):
    assert same(run_steps(make_learner(name), 9), run_steps(make_learner(name), 9))
    assert not same(run_steps(make_learner(name), 9), run_steps(make_learner(name, seed=2), 9))


def test_numpy_and_torch_agree():
    rng = np.random.default_rng(0)
    exploration = begin(GRAPHS, [[0, 3, 5]] * len(GRAPHS), "igt", 9, seed=0)
    for _ in range(5):
        exploration = exploration.step(exploration.best(rng.random(len(exploration.candidates.nodes))))
        for name in ("gnn", "horizon"):
            made = run_steps(make_learner(name), 12)
            c, walks = exploration.candidates, (exploration.stack, exploration.nodes, exploration.lengths)
            if name == "gnn":
                read = Subgraphs.read(made.settings.shape, *walks, c.offsets, c.nodes)
                expected = made.network(read).detach().numpy() * made.network.scale.item()
            else:
                ahead = made.settings.shape.ahead(exploration.lengths, exploration.steps)
                read = Neighborhoods.read(made.settings.shape, *walks, ahead, c.offsets, c.nodes)
                level, spread = made.network.scale.tolist()
                expected = level * ahead[c.walks] + spread * made.network(read).detach().numpy()
            assert np.allclose(made.agent.scores(exploration), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [GnnShape(), GnnShape(log_features=True, inner_triangles=True)])
def test_gradients_of_gnn_match_finite_differences(shape):
    made = DqnLearner(replace(SMALL_DQN, shape=shape), GRAPHS, as_reward("igt"), 0)
    _check_gradients(made, lambda: made.network(_read_gnn(shape)).sum())


def test_gradients_of_horizon_match_finite_differences():
    made = run_steps(make_learner("horizon"), 3)
    ex = _walk_five_nodes()
    c = ex.candidates
    ahead = made.settings.shape.ahead(ex.lengths, ex.steps)
    read = Neighborhoods.read(made.settings.shape, ex.stack, ex.nodes, ex.lengths, ahead, c.offsets, c.nodes)
    _check_gradients(made, lambda: made.network(read).sum())


def _walk_five_nodes():
    exploration = begin(GRAPHS, [[0, 3]] * len(GRAPHS), "igt", 9, seed=0)
    for _ in range(4):
        exploration = exploration.step(exploration.best(np.zeros(len(exploration.candidates.nodes))))
    return exploration


def _read_gnn(shape):
    ex = _walk_five_nodes()
    return Subgraphs.read(shape, ex.stack, ex.nodes, ex.lengths, ex.candidates.offsets, ex.candidates.nodes)


def _check_gradients(made, total) -> None:
    """Compare along random directions; float32 allows a rough comparison only, but wrong messages differ by far."""
    parameters = list(made.network.parameters())
    made.network.zero_grad()
    total().backward()
    generator = torch.Generator().manual_seed(0)
    for _ in range(4):
        directions = [torch.randn(p.shape, generator=generator) for p in parameters]
        slope = sum(float((p.grad * d).sum()) for p, d in zip(parameters, directions, strict=True))
        ends = []
        for sign in (1, -1):
            with torch.no_grad():
                for p, d in zip(parameters, directions, strict=True):
                    p.add_(d, alpha=sign * 3e-4)
                ends.append(float(total()))
                for p, d in zip(parameters, directions, strict=True):
                    p.sub_(d, alpha=sign * 3e-4)
        assert (ends[0] - ends[1]) / 6e-4 == pytest.approx(slope, rel=0.1, abs=0.1)


@pytest.mark.parametrize("returns", [1, 2, 9])
@pytest.mark.parametrize("double", [False, True])
def test_dqn_targets_follow_the_definition(returns, double):
    made = DqnLearner(replace(SMALL_DQN, returns=returns, double=double), GRAPHS, as_reward("igt"), 0)
    made = run_steps(made, 24)
    rows = made.replay.rows(np.arange(len(made.replay)))
    s, stack = made.settings, made.exploration.stack
    targets = made._compute_targets(rows)
    for i in range(len(targets)):
        graph, _ = stack.split(int(rows["nodes"][i, 0]))
        first = stack.starts[np.searchsorted(stack.starts, rows["nodes"][i, 0], side="right") - 1]
        walk = [int(v - first) for v in rows["nodes"][i, : rows["counted"][i]]]
        length = int(rows["length"][i])
        rewards = cg.measure(graph, walk).beta1[length - 1 :]
        assert len(rewards) <= returns
        expected = sum(s.discount**k * float(r) for k, r in enumerate(rewards))
        if len(walk) < s.walk_nodes:
            here = begin([graph], [[walk[0]]], "igt", s.walk_nodes)
            here = replace(here, nodes=np.array([walk + [-1] * (s.walk_nodes - len(walk))], np.int32),
                           lengths=np.array([len(walk)]))  # fmt: skip
            fixed, online = made._target_agent.scores(here), made._online_agent.scores(here)
            best = fixed[np.argmax(online)] if double else fixed.max()
            expected += s.discount ** len(rewards) * best
        assert targets[i] == pytest.approx(expected, rel=1e-4, abs=1e-4)


def test_transitions_end_with_the_walk_and_are_stored_once():
    made = DqnLearner(replace(SMALL_DQN, returns=3, buffer=1000), GRAPHS, as_reward("igt"), 0)
    run_steps(made, 15)  # three episodes of five steps
    rows = made.replay.rows(np.arange(len(made.replay)))
    assert len(rows["length"]) == 3 * 5 * len(GRAPHS)
    counts = {int(n): int(np.sum(rows["length"] == n)) for n in range(2, 7)}
    assert set(counts.values()) == {3 * len(GRAPHS)}


def test_epsilon_decays_from_first_to_last():
    made = DqnLearner(replace(DqnSettings.paper(), train_steps=100, walk_nodes=6), GRAPHS, as_reward("igt"), 0)
    seen = []
    for step in (0, 50, 100, 150):
        made.step_number = step
        seen.append(made.epsilon)
    assert seen == pytest.approx([1.0, 0.55, 0.1, 0.1])


def test_planner_values_equal_those_of_beam_search():
    made = make_learner("horizon")
    here = made.exploration
    ahead = made.settings.shape.ahead(here.lengths, here.steps)
    assert ahead.tolist() == [5, 5, 5]
    values = made._evaluate_candidates(here)
    assert np.allclose(values, BeamAgent(made.settings.beam).scores(here))
    kept = made.replay.rows(np.arange(3))
    for walk in range(3):
        low, high = here.candidates.offsets[walk : walk + 2]
        assert kept["count"][walk] == high - low
        assert np.array_equal(kept["options"][walk, : high - low], here.candidates.nodes[low:high])
        assert np.allclose(kept["values"][walk, : high - low], values[low:high])


def test_large_candidate_sets_are_sampled():
    star = cg.Graph.from_edges([(0, leaf) for leaf in range(1, 30)] + [(1, 2)])
    settings = replace(SMALL_EXPERT, options=4, shape=replace(SMALL_EXPERT.shape, near=6))
    made = ExpertIterationLearner(settings, [star], as_reward("igt"), 0)
    run_steps(made, 8)
    kept = made.replay.rows(np.arange(len(made.replay)))
    assert kept["count"].max() == 4
    for row in range(len(kept["count"])):
        options = kept["options"][row, : kept["count"][row]].tolist()
        assert len(set(options)) == len(options)
        assert not set(options) & set(kept["nodes"][row, : kept["length"][row]].tolist())


def test_long_walk_states_are_longer_than_training_walks():
    made = run_steps(make_learner("horizon"), 25)
    kept = made.replay.rows(np.arange(len(made.replay)))
    far = kept["length"] >= made.settings.walk_nodes
    assert np.any(far)
    assert np.all(kept["ahead"][far] <= made.settings.shape.far_lookahead)


def test_planner_learns_what_beam_search_still_earns():
    learner = run_steps(make_learner("planner"), 2)
    rows = learner.replay.rows(np.arange(len(learner.replay)))
    filled = np.arange(learner.settings.options) < rows["count"][:, None]
    assert np.all(np.isfinite(rows["slopes"][filled]))
    walks = begin(GRAPHS[:1], [[0, 3]], "igt", 6, seed=0)
    learner.replay.added = 0
    assert learner._store_values(walks, BeamAgent(200)) == 2
    picked = learner._sample_candidates(walks)
    features, unit = compute_features(walks, learner.settings.shape.fan)
    returns = BeamAgent(200).scores(walks)[picked]
    left = walks.steps - 1 - walks.lengths[walks.candidates.walks[picked]]
    expected = (returns - walks.candidate_values[picked] * (1 + left)) / (left * (left + 1) / 2) / unit[picked]
    stored = learner.replay.rows(np.arange(2))
    filled = np.arange(learner.settings.options) < stored["count"][:, None]
    np.testing.assert_allclose(stored["slopes"][filled], expected, rtol=1e-5, atol=1e-6)
    assert np.array_equal(stored["features"][filled], features[picked])
