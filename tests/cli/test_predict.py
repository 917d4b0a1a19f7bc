"""`curiograph predict`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curiograph.human.prediction.predict import Effort
from support import people

FAST = ("--igt", "greedy", "--cpt", "greedy", "--quick", "--splits", "1", "--workers", "1")
"""Options of a short run; the fixture `quick` makes it shorter."""
SMALL = Effort(splits=2, trials=3, train_steps=4, walkers=10, trained_walkers=5, steps=2, windows=60, all_windows=20)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curiograph.human.prediction.predict.QUICK", SMALL)


@pytest.fixture(scope="module")
def movielens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people.ml_100k(tmp_path_factory.mktemp("data") / "ml-100k", people.tastes(users=120, items=70, visits=40))


def test_folder_of_movielens_100k(run, movielens, tmp_path):
    ran = run("predict", "movielens", "--from", movielens, *FAST, "--json", "--out", tmp_path / "p.csv")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["name"] == "movielens"
    methods = {row["method"] for row in document["methods"] if row["candidates"] == "last"}
    assert {"uniform", "degree", "popularity", "markov", "item-knn", "rp3beta", "pagerank", "igt+cpt"} <= methods
    assert document["recipe"]["burn_in"] == 6
    assert (tmp_path / "p.csv").read_text().startswith("candidates,method,percentile,reciprocal,hit10,ndcg10,r,")


def test_table_of_events(run, tmp_path):
    lines = [",".join(map(str, event)) for event in people.tastes()]
    (tmp_path / "log.csv").write_text("\n".join(["user,item,time", *lines]) + "\n")
    settings = ("--neighbors", "8", "--item-users", "3", "--burn-in", "2")
    ran = run("predict", tmp_path / "log.csv", *settings, *FAST, "--out", tmp_path / "p.png")
    assert ran.code == 0, ran.err
    assert "choices among the out-neighbors of the last node" in ran.out
    assert "igt+cpt changes percentile ranks" in ran.out
    assert (tmp_path / "p.png").stat().st_size > 10_000


def test_the_graph_of_a_dense_core_stays_available(run, movielens):
    arguments = ("predict", "movielens", "--from", movielens, *FAST, "--json", "--item-graph", "highest")
    document = json.loads(run(*arguments, "--item-users", "5", "--user-items", "10").out)
    assert document["recipe"]["keep"] == "highest"
    assert document["recipe"]["mean_degree"] == 16
    ran = run(*arguments, "--item-users", "1000")
    assert ran.code == 2
    assert "no items are left that 1000 users visited who visited 20 of them; give a smaller item_users" in ran.err
    assert "--item-users" in ran.err


def test_walks_on_a_given_graph(run, tmp_path):
    data = people.walkers()
    rows = [(a, b) for a in range(60) for b in data.graph.neighbors(a) if a < b]
    (tmp_path / "links.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    walks = [";".join(map(str, walk)) for walk in data.walks]
    (tmp_path / "walks.txt").write_text("\n".join(walks) + "\n")
    arguments = ("predict", tmp_path / "walks.txt", "--graph", tmp_path / "links.tsv", *FAST)
    ran = run(*arguments, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["study"]["along_edges"] == 1.0
    (tmp_path / "walks.txt").write_text("\n".join([*walks, "0;nowhere"]) + "\n")
    assert "outside the graph: 1" in run(*arguments, "--json").err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wikispedia",), "there is no dataset and no file 'wikispedia'"),
        (("movielens", "--from", "/nowhere"), "there is no such folder"),
        (("movielens", "--igt", "greedy"), "give agents for both"),
        (("movielens", "--out", "p.txt"), "cannot write .txt"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(run, arguments, message):
    ran = run("predict", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_bad_rows_are_left_out(run, tmp_path):
    lines = [",".join(map(str, event)) for event in people.tastes()]
    (tmp_path / "log.csv").write_text("\n".join(["user,item,time", "u1,i1,noon", *lines]) + "\n")
    settings = ("--neighbors", "8", "--item-users", "3", *FAST)
    ran = run("predict", tmp_path / "log.csv", *settings)
    assert ran.code == 0, ran.err
    assert "left out: bad time: 1" in ran.err
