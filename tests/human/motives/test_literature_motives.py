"""Motives of the literature against slow references that follow their definitions."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import curiograph as cg
from curiograph.errors import FileFormatError, SettingError, WalkError
from curiograph.human.choices.choice_sets import find_choices
from curiograph.human.choices.choice_table import ChoiceTable, read_choices
from curiograph.human.motives.catalog import MOTIVES, OPTION_MOTIVES, TARGET_MOTIVES, as_motives
from tests.oracles import motives as oracle
from tests.support.returning_walks import as_frame, draw_rows, wander


def draw_choices(seed):
    rng = np.random.default_rng(seed)
    whole = nx.gnp_random_graph(12, 0.3, seed=seed, directed=True)
    graph = cg.Graph.from_networkx(whole)
    return graph, find_choices(graph, wander(graph, rng), burn_in=1, returns=True)[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("leak", [1.0, 0.9, 0.7])
@pytest.mark.parametrize("name", ["novelty", "surprise", "information-gain", "recency"])
def test_motives_of_visits(seed, leak, name):
    graph, choices = draw_choices(seed)
    found = MOTIVES[name]().score_candidates(choices, leak)
    for row, visit in enumerate(choices.windows.visits.tolist()):
        past = oracle.list_past(choices.walks, visit)
        first, last = choices.candidates.offsets[row : row + 2]
        for place in range(first, last):
            node = int(choices.candidates.nodes[place])
            expected = {
                "novelty": lambda past=past, node=node: oracle.score_novelty(past, node, leak),
                "surprise": lambda past=past, node=node: oracle.score_surprise(graph, past, node, leak),
                "information-gain": lambda past=past, node=node: oracle.score_information_gain(graph, past, node, leak),
                "recency": lambda past=past, node=node: oracle.score_recency(past, node),
            }[name]()
            assert found[place] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_motives_of_nodes(seed):
    graph, choices = draw_choices(seed)
    for name, score in (("empowerment", oracle.score_empowerment), ("hub", oracle.score_hub)):
        found = (MOTIVES | TARGET_MOTIVES)[name]().score_candidates(choices)
        assert found == pytest.approx([score(graph, int(node)) for node in choices.candidates.nodes])


@pytest.mark.parametrize("seed", range(3))
def test_learned_graph(seed):
    graph, choices = draw_choices(seed)
    adjacency = nx.to_numpy_array(graph.to_networkx(), nodelist=list(graph.names), weight=None)
    last = choices.windows.histories[choices.candidates.walks, -1]
    motive = MOTIVES["learned-graph"]()
    for eta, found in zip(motive.parameters, motive.score_all(choices, motive.parameters), strict=True):
        expected = oracle.learn_graph(adjacency, eta)[last, choices.candidates.nodes]
        kept = expected > 1e-6
        assert np.exp(found[kept]) == pytest.approx(expected[kept], rel=1e-6 if eta < 0.9 else 0.05)
        assert found == pytest.approx(motive.score_candidates(choices, eta))


@pytest.mark.parametrize("seed", range(3))
def test_target_distance(seed):
    graph, choices = draw_choices(seed)
    found = TARGET_MOTIVES["target-distance"]().score_candidates(choices)
    links = graph.to_networkx()
    for place, (row, node) in enumerate(zip(choices.candidates.walks, choices.candidates.nodes, strict=True)):
        target = int(choices.targets[row])
        if target < 0:
            assert found[place] == 0
        elif nx.has_path(links, graph.label(int(node)), graph.label(target)):
            expected = nx.shortest_path_length(links, graph.label(int(node)), graph.label(target))
            assert found[place] == -expected
        else:
            assert found[place] == found.min()


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", ["novelty", "surprise", "information-gain", "empowerment", "recency"])
def test_options_of_tables(seed, name):
    rows = draw_rows(np.random.default_rng(seed))
    table = ChoiceTable.from_frame(as_frame(rows))
    choices, _ = table.find_choices()
    for discount in (0.0, 0.8, 0.95):
        found = OPTION_MOTIVES[name]().score_candidates(choices, discount)
        expected = oracle.score_table(rows, name, discount)
        for place, row in enumerate(choices.windows.visits.tolist()):
            first, last = choices.candidates.offsets[place : place + 2]
            assert sorted(found[first:last]) == pytest.approx(sorted(expected[row].values()), abs=1e-6)


@pytest.mark.parametrize("name", ["novelty", "surprise", "information-gain", "recency", "learned-graph"])
def test_parts_have_the_scores_of_the_whole(name):
    _, choices = draw_choices(7)
    motive = MOTIVES[name]()
    whole = motive.score_candidates(choices, 0.9)
    half = choices.rows(np.arange(0, len(choices), 2))
    slots = np.isin(choices.candidates.walks, np.arange(0, len(choices), 2))
    assert motive.score_candidates(half, 0.9) == pytest.approx(whole[slots])


def test_returns_are_choices_above_a_tenth_of_the_moves():
    graph = cg.generate("ba", nodes=20, seed=0)
    rng = np.random.default_rng(0)
    returning = wander(graph, rng, people=6, steps=30, jump=0.0)
    found = cg.human.hypotheses(graph, returning, motives=["uniform", "recency"])
    assert found.left_out["revisit"] == 0
    assert cg.human.hypotheses(graph, returning, motives=["uniform"], returns=False).left_out["revisit"] > 0


def test_default_motives():
    _, choices = draw_choices(1)
    names = [motive.name for motive in as_motives(None, [], "igt", choices)]
    assert {"target-distance", "hub", "novelty"} <= set(names)
    walks = cg.human.Trajectories.from_walks([[0, 1, 2, 3]] * 4, graph=cg.toys.complete(6))
    found = cg.human.hypotheses(cg.toys.complete(6), walks, burn_in=1)
    assert "novelty" not in found  # everything is new
    with pytest.raises(SettingError, match="target-distance"):
        cg.human.hypotheses(cg.toys.complete(6), walks, motives=["target-distance"])


@pytest.mark.parametrize(
    ("change", "error", "quoted"),
    [
        ({"chosen": ["c", "a"]}, WalkError, "'c'"),
        ({"options": ["a;a", "a;b"]}, WalkError, "'a;a'"),
        ({"options": ["a;b;", "a;b"]}, WalkError, "'a;b;'"),
        ({"options": [["a", None], ["a", "b"]]}, WalkError, "None"),
        ({"options": [3, "a;b"]}, WalkError, "3"),
        ({"chosen": ["a", " "]}, WalkError, "chosen"),
        ({"state": [None, "y"]}, WalkError, "state"),
    ],
)
def test_wrong_rows(change, error, quoted):
    good = {"user": [1, 1], "state": ["x", "y"], "options": ["a;b", "a;b"], "chosen": ["a", "b"]}
    assert len(ChoiceTable.from_frame(pd.DataFrame(good))) == 2
    with pytest.raises(error, match=quoted):
        ChoiceTable.from_frame(pd.DataFrame(good | change))


@pytest.mark.parametrize(
    "columns",
    [
        {"state": [1, 2, 1, 2]},
        {"state": [" x", "y", "x ", "y"]},
        {"state": [1, 2, 1, 2], "outcome": [2, 1, 2, None]},
        {"state": pd.array([1, 2, 1, 2], "Int64"), "outcome": pd.array([2, 1, 2, None], "Int64")},
        {"state": ["1", "2", "1", "2"], "outcome": ["2.0", "1.0", "2.0", ""]},
        {"state": [1, 2, 1, 2], "options": [np.array([1, 2])] * 4, "chosen": [1.0, 2.0, 1.0, 2.0]},
        {"state": [1, 2, 1, 2], "options": ["a, b; c"] * 4, "chosen": ["c"] * 4},
    ],
)
def test_labels_of_states_and_outcomes_agree(columns):
    rows = {"user": ["ann"] * 4, "options": ["a;b"] * 4, "chosen": ["a"] * 4} | columns
    table = ChoiceTable.from_frame(pd.DataFrame(rows))
    assert table.states.tolist() == [0, 1, 0, 1]
    assert table.outcomes.tolist() == [1, 0, 1, -1]
    assert table.candidates.counts.tolist() == [2] * 4


def test_tables_have_no_walks_and_agents():
    table = ChoiceTable.from_frame(as_frame(draw_rows(np.random.default_rng(0))))
    for wrong in ({"walks": cg.human.Trajectories.from_walks([[0, 1]])}, {"agents": ["greedy"]}):
        with pytest.raises(SettingError, match=next(iter(wrong))):
            cg.human.hypotheses(table, **wrong)


def test_results_say_whether_returns_are_choices():
    graph = cg.toys.cycle(6)
    walks = cg.human.Trajectories.from_walks([[0, 1, 2, 1, 0, 5], [3, 4, 3, 2, 1, 2]], graph=graph)
    found = cg.human.hypotheses(graph, walks, agents=["random"], burn_in=2)
    assert found.returns
    assert "visited nodes are choices" in found.answer
    assert "random" in found  # agents are never left out
    with pytest.raises(SettingError, match="returns"):
        cg.human.hypotheses(graph, walks, agents=["planner"], burn_in=2)
    assert not cg.human.hypotheses(graph, walks, burn_in=1, returns=False, motives=["degree"]).returns


def test_wrong_tables(tmp_path):
    with pytest.raises(WalkError, match=r"\[1\]"):
        ChoiceTable.from_frame([1])
    with pytest.raises(FileFormatError, match="'options'"):
        ChoiceTable.from_frame(pd.DataFrame({"user": [1], "state": ["x"], "chosen": ["a"]}))
    with pytest.raises(WalkError, match="no rows"):
        ChoiceTable.from_frame(pd.DataFrame(columns=["user", "state", "options", "chosen"]))
    with pytest.raises(FileFormatError, match=r"none\.csv"):
        read_choices(tmp_path / "none.csv")
    file = tmp_path / "choices.tsv"
    file.write_text("user\tstate\toptions\tchosen\nann\tx\ta;b\tb\nann\ty\ta;b\ta\n")
    assert repr(read_choices(file)) == "ChoiceTable(2 choices by 1 users, 4 options of 2 states)"
