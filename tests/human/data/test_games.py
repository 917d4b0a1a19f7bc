"""Games that a function plays, online and from a file of answers."""

from __future__ import annotations

import json
from itertools import count

import numpy as np
import pandas as pd
import pytest

import curiograph as cg
from curiograph.errors import UnknownNodeError
from curiograph.graph.toys import grid, library

GAMES = [("music", "medicine"), ("dance", "logic"), ("music", "medicine"), ("music", None), ("logic", "logic")]


def choose(history, candidates, target=None):
    """Return the target if possible, or else a candidate that depends on the whole history."""
    return target if target in candidates else candidates[len("".join(map(str, history))) % len(candidates)]


def test_games_end_at_the_target_a_dead_end_or_the_limit():
    graph = cg.Graph.from_edges([("a", "b"), ("b", "c"), ("b", "a"), ("c", "d"), ("e", "e2")], directed=True)
    games = [("a", "c"), ("a", None), ("a", "a"), ("a", "e")]
    walks = cg.human.play_games(graph, lambda history, candidates: candidates[-1], games, steps=3)
    assert list(walks) == [["a", "b", "c"], ["a", "b", "c"], ["a"], ["a", "b", "c"]]
    assert [node if node < 0 else walks.names[node] for node in walks.targets.tolist()] == ["c", -1, "a", "e"]
    back = cg.human.play_games(graph, lambda history, candidates: candidates[0], [("a", "e")] * 2, steps=5)
    assert list(back) == [["a", "b", "a", "b", "a"]] * 2
    assert cg.human.play_games(graph, lambda history, candidates: candidates[0], [("a", "e")], returns=False)[0] == [
        "a", "b", "c", "d",
    ]  # fmt: skip


def test_target_and_texts_arrive():
    seen = []

    def look(history, candidates, target, texts):
        seen.append((target, set(texts)))
        return candidates[0]

    cg.human.play_games(
        library(), look, [("music", "logic")], steps=2, texts={"music": "x", "logic": "y", "biology": "z"}
    )
    assert seen == [("logic", {"music", "logic"})]


def test_results_are_of_a_group_for_profiles_and_hypotheses():
    games = [(label, "medicine") for label in library().labels] * 3
    walks = cg.human.play_games(library(), choose, games, steps=8, name="gpt")
    assert (walks.user(0), walks.num_users) == ("gpt-1", len(games))
    frame = cg.profile(library(), walks).to_frame()
    assert set(frame["group"]) == {"gpt"}
    assert cg.human.hypotheses(library(), walks, motives=["uniform", "degree"]) is not None


def test_repeated_games_are_asked_separately_and_paid_once(tmp_path):
    number = count()
    calls = []

    def wander(history, candidates):
        calls.append(history)
        return candidates[next(number) % len(candidates)]

    settings = {"steps": 6, "journal": tmp_path / "a.jsonl"}
    walks = list(cg.human.play_games(library(), wander, [("music", "medicine")] * 6, **settings))
    paid = len(calls)
    assert len({tuple(walk) for walk in walks}) > 1
    assert list(cg.human.play_games(library(), wander, [("music", "medicine")] * 6, **settings)) == walks
    fewer = [("dance", "dance"), *[("music", "medicine")] * 2]
    assert list(cg.human.play_games(library(), wander, fewer, **settings))[1:] == walks[:2]
    assert len(calls) == paid
    cg.human.play_games(library(), wander, [("music", "medicine")], **settings, seed=1)
    assert len(calls) > paid  # another seed is another repetition


@pytest.mark.parametrize("graph", [library(), grid(3, 4)], ids=["text", "tuples"])
def test_answers_from_elsewhere_give_the_same_games(graph, tmp_path):
    labels = graph.labels
    games = [(labels[0], labels[-1]), (labels[3], labels[5]), (labels[0], labels[-1])]
    expected = cg.human.play_games(graph, choose, games, steps=7, journal=tmp_path / "online.jsonl")
    path = tmp_path / "offline.jsonl"
    by_text = {str(label): label for label in labels}
    for _ in range(max(expected.lengths) - 1):  # all games advance in each round
        with pytest.raises(cg.errors.UnansweredError, match=r"offline\.jsonl") as caught:
            cg.human.play_games(graph, None, games, steps=7, journal=path)
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        waiting = [row for row in rows if row["answer"] is None]
        assert f"{len(waiting)} prompts" in str(caught.value)
        for row in waiting:
            history, candidates = ([by_text[label] for label in row[name]] for name in ("history", "candidates"))
            row["answer"] = str(choose(history, candidates, by_text[row["target"]]))
        path.write_text("\n".join(map(json.dumps, rows)))
    walks = cg.human.play_games(graph, None, games, steps=7, journal=path)
    assert list(walks) == list(expected)
    again = cg.human.play_games(graph, None, games, steps=7, journal=tmp_path / "online.jsonl")
    assert list(again) == list(expected)


def test_invalid_answers_are_counted_by_game():
    def answer(history, candidates, target):
        return "nowhere" if history[0] == "music" else choose(history, candidates, target)

    agent = cg.agents.from_function(answer, retries=0)
    walks = cg.human.play_games(library(), agent, GAMES, steps=4)
    moves = (walks.lengths - 1).tolist()
    assert walks.user_columns["invalid"] == [moves[0], 0, moves[2], moves[3], 0]
    assert agent.invalid == sum(walks.user_columns["invalid"])
    assert list(walks) == list(cg.human.play_games(library(), answer, GAMES, steps=4, retries=0))


@pytest.mark.parametrize(
    ("games", "settings", "error", "words"),
    [
        ([("music", "nowhere")], {}, cg.UnknownNodeError, "'nowhere'"),
        (["music"], {}, cg.SettingError, "'music'"),
        ([3], {}, cg.SettingError, "3"),
        (GAMES, {"steps": 0}, cg.SettingError, "0"),
    ],
)
def test_bad_games(games, settings, error, words):
    with pytest.raises(error, match=words):
        cg.human.play_games(library(), choose, games, **settings)


def test_settings_belong_to_the_agent():
    with pytest.raises(cg.SettingError, match="retries"):
        cg.human.play_games(library(), cg.agents.from_function(choose), GAMES, retries=3)


LOG = {"user": ["ann"] * 6, "page": list("abcdab"), "goal": ["c", None, None, "b", None, None]}


def test_events_without_a_target_belong_to_the_game_before():
    walks = cg.human.Trajectories.from_frame(pd.DataFrame(LOG))
    assert list(walks) == [["a", "b", "c"], ["d", "a", "b"]]
    assert [walks.names[node] for node in walks.targets] == ["c", "b"]
    sessions = pd.DataFrame(LOG | {"session": [1, 1, 1, 1, 2, 2]})
    assert cg.human.Trajectories.from_frame(sessions).targets.tolist() == [2, 1, -1]


def test_targets_outside_the_graph_are_counted():
    graph = cg.Graph.from_edges([("a", "b"), ("b", "d"), ("d", "a"), ("b", "c")])
    walks = cg.human.Trajectories.from_walks([["a", "b"], ["b", "d"], ["d", "a"]], targets=np.array(["x", "c", "x"]))
    placed = walks.on(graph)
    assert placed.targets.tolist() == [-1, graph.position("c"), -1]
    assert placed.skipped.reasons == {"targets outside the graph": 2}
    with pytest.raises(UnknownNodeError, match="'x'"):
        cg.human.hypotheses(graph, walks)
