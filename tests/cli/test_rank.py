"""`curiograph rank`."""

from __future__ import annotations

import csv
import json

import pytest

import curiograph as cg
from support.bad_input import BAD_HISTORIES, check_rejected, write_agent_with_wrong_features


@pytest.fixture(autouse=True)
def change_folder(monkeypatch, tmp_path):
    """Each test has its own current folder."""
    monkeypatch.chdir(tmp_path)


def test_rank_is_pagerank(run):
    found = run("rank", "toy:library", "--history", "music,logic", "-k", "3", "--json").document
    wanted = cg.pagerank(cg.toys.library(), 0.85, ["music", "logic"]).top(3)
    assert [(row["node"], row["score"]) for row in found["ranking"]] == wanted
    assert found["residual"] < 1e-11
    everyone = run("rank", "toy:library", "--alpha", "0.5", "--json").document
    assert (everyone["history"], everyone["alpha"], len(everyone["ranking"])) == (None, 0.5, 10)


def test_rank_weighs_the_history(run):
    weighted = run("rank", "toy:cycle", "--history", "0,3", "--history-weights", "1,0", "--json").document
    plain = run("rank", "toy:cycle", "--history", "0", "--json").document
    assert weighted["ranking"] == plain["ranking"]


def test_rank_with_an_agent_has_errors_and_a_seed(run):
    line = ("rank", "toy:library", "--history", "music", "--agent", "max-degree", "--p-g", "0.9")
    line += ("--max-walks", "200", "--tolerance", "0.001")
    first, second, other = (run(*line, "--seed", seed, "--json") for seed in "112")
    assert first.out == second.out != other.out
    assert {"rank", "node", "score", "stderr"} == set(first.document["ranking"][0])
    assert not first.document["converged"]
    done = run(*line)
    assert "raise --max-walks" in done.err
    assert "music" in done.out
    assert run(*line, "--quiet").err == ""


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_rank_writes(run, tmp_path, ending):
    out = tmp_path / f"ranking.{ending}"
    assert run("rank", "toy:library", "-k", "2", "--out", out).code == 0
    text = out.read_text()
    rows = json.loads(text)["ranking"] if ending == "json" else list(csv.DictReader(text.splitlines()))
    assert [row["node"] for row in rows] == [label for label, _ in cg.pagerank(cg.toys.library()).top(2)]


def test_rank_draws_a_picture(run, tmp_path):
    assert run("rank", "toy:library", "--history", "music", "--out", "bars.png").code == 0
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")


def test_many_histories_are_ranked_from_a_file(run, tmp_path):
    (tmp_path / "h.txt").write_text("music,physics\nlogic\n")
    asked = ["rank", "toy:library", "--histories", tmp_path / "h.txt", "-k", "2", "--json"]
    for agent in ([], ["--agent", "greedy", "--run", tmp_path / "run"]):
        users = run(*asked, *agent).document["users"]
        alone = run("rank", "toy:library", "--history", "logic", "-k", "2", "--json", *agent[:2]).document
        assert [user["history"] for user in users] == [["music", "physics"], ["logic"]]
        nodes = [[each["node"] for each in user["ranking"]] for user in (users[1], alone)]
        assert nodes[0] == nodes[1]
    assert len(list(tmp_path.rglob("*.task"))) == 2
    refused = run("rank", "toy:library", "--history", "logic", "--agent", "greedy", "--workers", "2")
    assert refused.code == 2
    assert "--histories FILE" in refused.err


BAD = [
    (["--history-weights", "1"], "--history-weights has 1"),
    (["--history", "a", "--history-weights", "1,2"], "--history-weights has 2"),
    (["--history", "a", "--history-weights", "-1"], "is -1"),
    (["--history", "a", "--history-weights", "x"], "--history-weights is 'x'; write numbers separated by commas"),
    (["--agent", "gready"], "there is no agent 'gready'"),
    (["--agent", "other.safetensors"], "other.safetensors: "),
    (["--agent", "greedy", "--reward", "joy"], "there is no reward 'joy'"),
    (["--agent", "greedy", "--fallback", "home"], "fallback is 'home'"),
    (["--agent", "greedy", "--tolerance", "0"], "tolerance is 0"),
    (["--agent", "greedy", "--max-walks", "0"], "--max-walks is 0"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_HISTORIES + BAD)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, bad_files, arguments, message):
    write_agent_with_wrong_features(bad_files)
    check_rejected(run, bad_files, ["rank", "links.tsv", *arguments, "--json"], message)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ("negative.csv", "weight"),
        ("none.tsv", "there is no such file"),
        ("toy:moon", "there is no toy graph 'moon'"),
    ],
)
def test_bad_graphs(run, bad_files, graph, message):
    check_rejected(run, bad_files, ["rank", graph, "--history", "a", "--out", "x.json"], message)
    check_rejected(run, bad_files, ["rank", graph, "--history", "a", "--json"], message)


def test_graph_without_edges_gives_the_history(run, bad_files, monkeypatch):
    monkeypatch.chdir(bad_files)
    ranking = run("rank", "alone.json", "--history", "a", "--json").document["ranking"]
    assert [(row["node"], row["score"]) for row in ranking] == [("a", 1), ("b", 0)]


@pytest.mark.parametrize("option", [("--p-g", "0.9"), ("--tolerance", "0.1"), ("--reward", "cpt")])
def test_options_of_curious_pagerank_need_an_agent(run, option):
    done = run("rank", "toy:library", "--history", "music", *option)
    assert (done.code, done.out) == (2, "")
    assert f"{option[0]} is for curious PageRank only; add --agent" in done.err
