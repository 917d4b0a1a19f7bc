"""Agents made from a function: prompts, answers, the journal, and how a run resumes."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import curiograph as cg
from curiograph.agents.function_agent import match_answer
from curiograph.graph.toys import cycle, grid, library


class Counting:
    """Chooses the last candidate, counts the calls, and raises at some of them."""

    def __init__(self, *failing: int) -> None:
        self.calls: list[tuple] = []
        self.failing = failing

    def __call__(self, history, candidates):
        self.calls.append((tuple(history), tuple(candidates)))
        if len(self.calls) in self.failing:
            raise TimeoutError("busy")
        return candidates[-1]


def read_rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_fulfills_the_contract():
    assert cg.check_agent(cg.agents.from_function(Counting())) is None


@pytest.mark.parametrize(("graph", "start"), [(library(), "music"), (cycle(6), 2), (grid(3, 3), (1, 1))])
def test_walks_over_labels_of_any_type(graph, start, tmp_path):
    choose = Counting()
    walk = cg.explore(graph, cg.agents.from_function(choose, journal=tmp_path / "a.jsonl"), start=start, steps=4)
    assert [list(history) for history, _ in choose.calls] == [walk.nodes[:1], walk.nodes[:2], walk.nodes[:3]]
    assert all(node == candidates[-1] for node, (_, candidates) in zip(walk.nodes[1:], choose.calls, strict=True))
    assert set(choose.calls[0][1]) == set(graph.neighbors(start))
    again = cg.explore(graph, cg.agents.from_function(choose, journal=tmp_path / "a.jsonl"), start=start, steps=4)
    assert (again.nodes, len(choose.calls)) == (walk.nodes, 3)


def test_target_and_texts_arrive_where_they_are_accepted():
    texts = {label: label.upper() for label in library().labels}
    seen = []

    def choose(history, candidates, target=None, texts=None):
        seen.append((target, texts))
        return candidates[0]

    plain = cg.agents.from_function(lambda history, candidates: candidates[0], target="dance", texts=texts)
    full = cg.agents.from_function(choose, target="dance", texts=texts)
    rest = cg.agents.from_function(lambda *given, **more: choose(*given, **more), target="dance", texts=texts)
    walks = [cg.explore(library(), agent, start="logic", steps=2).nodes for agent in (plain, full, rest)]
    assert walks[0] == walks[1] == walks[2]
    labels = {"logic", "dance", *library().neighbors("logic")}
    assert seen == [("dance", {label: label.upper() for label in labels})] * 2


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("is_random", [False, True])
def test_evaluate_repeats_the_journal_whatever_the_workers(is_random, workers, tmp_path):
    def choose(history, candidates):
        return secrets.choice(candidates) if is_random else candidates[len(str(history)) % len(candidates)]

    def evaluate(engine, choose, journal=None):
        agent = cg.agents.from_function(choose, journal=journal)
        result = cg.evaluate(agent, [grid(3, 3), library()], steps=4, episodes=130, engine=engine)
        return np.concatenate(result.returns)

    returns = evaluate(cg.Engine(workers=workers), choose, tmp_path / "a.jsonl")
    assert np.array_equal(evaluate("local", None, tmp_path / "a.jsonl"), returns)
    assert is_random or np.array_equal(evaluate("local", choose), returns)
    keys = [row["key"] for row in read_rows(tmp_path / "a.jsonl")]
    assert len(keys) == len(set(keys))  # paid once, also by workers


def test_hypotheses_take_it():
    graph = library()
    agent = cg.agents.from_function(lambda history, candidates: candidates[-1], name="last")
    walks = [cg.explore(graph, agent, start=label, steps=5).nodes for label in graph.labels] * 4
    found = cg.human.hypotheses(graph, cg.human.Trajectories.from_walks(walks), motives=["uniform"], agents=[agent])
    assert "last" in str(found.to_frame().to_dict())


@pytest.mark.parametrize(
    ("answer", "candidates", "place"),
    [
        ("New York", ["Newark", "New York"], 1),
        (" new york\n", ["Newark", "New York"], 1),
        ("New_York", ["Newark", "New York"], None),
        ("us", ["US", "Us"], None),
        ("US", ["US", "Us"], 0),
        ("3", [2, 3], 1),
        (np.int64(3), [2, 3], 1),
        ("3", [3, "3"], 1),
        (3, ["3", 3], 1),
        ("(0, 1)", [(1, 0), (0, 1)], 1),
        ("I would go to a", ["a", "b"], None),
        ("", ["a"], None),
        (True, [1], None),
    ],
)
def test_answers_are_matched(answer, candidates, place):
    assert match_answer(answer, candidates) == place


@pytest.mark.parametrize("answer", ["nowhere", None, {"a": 1}, float("nan")])
def test_invalid_answers_are_counted_and_drawn(answer, tmp_path):
    calls = []
    nodes = []
    for journal in (tmp_path / "a.jsonl", tmp_path / "a.jsonl", None):
        agent = cg.agents.from_function(lambda *_: calls.append(1) or answer, retries=1, journal=journal)
        nodes.append(cg.explore(library(), agent, start="music", steps=5).nodes)
        assert agent.invalid == 4
    assert nodes[0] == nodes[1] == nodes[2]
    assert len(calls) == 4 * 2 * 2  # the second run reads the journal
    other = cg.agents.from_function(lambda *_: answer, seed=1)
    seeds = [cg.explore(library(), other, start="music", steps=12).nodes, nodes[0]]
    assert seeds[0][:5] != seeds[1]


def test_a_valid_answer_at_a_second_try_is_kept(tmp_path):
    answers = iter(["x", "dance", "y", "poetry"])
    agent = cg.agents.from_function(lambda *_: next(answers), journal=tmp_path / "a.jsonl")
    assert cg.explore(library(), agent, start="music", steps=3).nodes == ["music", "dance", "poetry"]
    assert agent.invalid == 0
    assert [row["answer"] for row in read_rows(tmp_path / "a.jsonl")] == ["x", "dance", "y", "poetry"]


def test_exceptions_are_retried(tmp_path):
    choose = Counting(2, 3)
    agent = cg.agents.from_function(choose, journal=tmp_path / "a.jsonl")
    assert len(cg.explore(library(), agent, start="music", steps=4)) == 4
    assert len(choose.calls) == 5


def test_a_run_resumes_after_an_exception(tmp_path):
    def run(choose, journal):
        agent = cg.agents.from_function(choose, journal=journal, retries=0)
        return cg.evaluate(agent, library(), steps=5, episodes="all").returns[0]

    complete = Counting()
    expected = run(complete, None)
    choose = Counting(20)
    with pytest.raises(cg.errors.AgentError, match="TimeoutError") as caught:
        run(choose, tmp_path / "a.jsonl")
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert len(read_rows(tmp_path / "a.jsonl")) == len(choose.calls) - 1
    assert np.array_equal(run(choose, tmp_path / "a.jsonl"), expected)
    assert len(choose.calls) == len(complete.calls) + 1


def test_a_killed_run_resumes(tmp_path):
    code = """
        import os, sys
        import curiograph as cg

        def choose(history, candidates):
            with open("calls", "a") as file:
                file.write("x")
            if os.path.getsize("calls") == int(sys.argv[1]):
                os.kill(os.getpid(), 9)
            return candidates[-1]

        agent = cg.agents.from_function(choose, journal="a.jsonl")
        print(cg.explore(cg.toys.library(), agent, start="music", steps=8).nodes)
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def run(kill_at: int) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", textwrap.dedent(code), str(kill_at)]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    assert run(5).returncode == -signal.SIGKILL
    assert len(read_rows(tmp_path / "a.jsonl")) == 4
    done = run(0)
    assert len((tmp_path / "calls").read_text()) == 7 + 1  # the call that was killed is made again
    expected = cg.explore(library(), cg.agents.from_function(Counting()), start="music", steps=8).nodes
    assert done.stdout.strip() == str(expected)


@pytest.mark.parametrize("cut", [1, 5, 60])
def test_a_row_that_was_cut_off_is_asked_again(cut, tmp_path):
    path, choose = tmp_path / "a.jsonl", Counting()
    walk = cg.explore(library(), cg.agents.from_function(choose, journal=path), start="music", steps=5)
    written = path.read_bytes()
    last = written.splitlines(keepends=True)[-1]
    path.write_bytes(written.removesuffix(last) + last[:cut])
    again = cg.explore(library(), cg.agents.from_function(choose, journal=path), start="music", steps=5)
    assert (again.nodes, len(choose.calls), path.read_bytes()) == (walk.nodes, 5, written)


def test_a_last_row_without_an_end_of_line_is_kept(tmp_path):
    path, choose = tmp_path / "a.jsonl", Counting()
    for steps in (3, 4):
        cg.explore(library(), cg.agents.from_function(choose, journal=path), start="music", steps=steps)
        path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert (len(choose.calls), len(read_rows(path))) == (3, 3)


def test_a_journal_that_was_removed_is_begun_again(tmp_path):
    path, choose = tmp_path / "a.jsonl", Counting()
    agent = cg.agents.from_function(choose, journal=path)
    cg.explore(library(), agent, start="music", steps=3)
    path.unlink()
    cg.explore(library(), agent, start="music", steps=4)
    assert (len(choose.calls), len(read_rows(path))) == (3, 1)


@pytest.mark.parametrize(
    "content", ["a,b\n1,2\n", "notes", '{"answer": 1}\n', "[1]\n", '{"key": "p1"\n{"key": "p2"}\n', "\x89PNG", "{"]
)
def test_other_files_are_refused_unchanged(content, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(content, encoding="latin-1")
    if content == "{":  # a row that was cut off after a byte
        assert cg.agents.from_function(Counting(), journal=path).invalid == 0
        return
    with pytest.raises(cg.FileFormatError, match=r"a\.jsonl"):
        cg.agents.from_function(Counting(), journal=path)
    assert path.read_text(encoding="latin-1") == content


def test_places_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    for path in (tmp_path, tmp_path / "file" / "a.jsonl"):
        with pytest.raises(cg.FileFormatError, match=tmp_path.name):
            cg.explore(library(), cg.agents.from_function(Counting(), journal=path), start="music", steps=3)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "choose is None"),
        ({"choose": "gpt"}, "'gpt'"),
        ({"choose": len, "retries": -1}, "-1"),
        ({"choose": len, "seed": "x"}, "'x'"),
        ({"choose": len, "texts": ["a"]}, r"\['a'\]"),
    ],
)
def test_bad_settings(settings, words):
    with pytest.raises(cg.SettingError, match=words):
        cg.agents.from_function(**settings)


def test_without_a_function_prompts_wait_for_answers(tmp_path):
    path = tmp_path / "a.jsonl"
    agent = cg.agents.from_function(journal=path, texts={"dance": "to music"})
    for _ in range(2):  # a prompt is written once
        with pytest.raises(cg.errors.UnansweredError, match=r"1 prompts .*a\.jsonl"):
            cg.explore(library(), agent, start="music", steps=2)
    (row,) = read_rows(path)
    assert (row["history"], row["texts"], row["answer"]) == (["music"], {"dance": "to music"}, None)
    with path.open("a") as file:  # an answer may be another row
        file.write(json.dumps({"key": row["key"], "answer": "Dance"}))
    assert cg.explore(library(), agent, start="music", steps=2).nodes == ["music", "dance"]


def test_run_folders_need_a_fingerprint(tmp_path):
    agent = cg.agents.from_function(Counting())
    with pytest.raises(cg.SettingError, match="'function'"):
        cg.evaluate(agent, library(), steps=3, episodes=2, engine=cg.Engine(workers=1, run=tmp_path))
    agent.fingerprint = "1"
    assert cg.evaluate(agent, library(), steps=3, episodes=2, engine=cg.Engine(workers=1, run=tmp_path)).episodes == 2


def test_functions_without_a_signature_are_named():
    with pytest.raises(cg.errors.AgentError, match="max"):
        cg.explore(library(), cg.agents.from_function(max), start="music", steps=3)
