"""`curiograph predict` and the experiments on human choices, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curiograph.human.prediction.predict import Effort
from curiograph.paper import diffusion, examples, table2
from curiograph.paper.people import PAPER, Settings
from curiograph.parallel import resolve_engine
from support import people

AT_ONCE = ("--igt", "greedy", "--cpt", "greedy", "--quick", "--splits", "1", "--workers", "1")
"""Quick, and what is quick is quicker still here; see `quick`."""
SMALL = Effort(splits=2, trials=3, train_steps=4, walkers=10, trained_walkers=5, steps=2, windows=60, all_windows=20)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curiograph.human.prediction.predict.QUICK", SMALL)


@pytest.fixture(scope="module")
def movielens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people.ml_100k(tmp_path_factory.mktemp("data") / "ml-100k", people.tastes(users=120, items=70, visits=40))


def test_an_ml_100k_folder(run, movielens, tmp_path):
    ran = run("predict", "movielens", "--from", movielens, *AT_ONCE, "--json", "--out", tmp_path / "p.csv")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["name"] == "movielens"
    methods = {row["method"] for row in document["methods"] if row["candidates"] == "last"}
    assert {"uniform", "degree", "popularity", "markov", "item-knn", "rp3beta", "pagerank", "igt+cpt"} <= methods
    assert document["recipe"]["burn_in"] == 6
    assert (tmp_path / "p.csv").read_text().startswith("candidates,method,percentile,reciprocal,hit10,ndcg10,r,")


def test_a_table_of_events(run, tmp_path):
    lines = [",".join(map(str, event)) for event in people.tastes()]
    (tmp_path / "log.csv").write_text("\n".join(["user,item,time", *lines]) + "\n")
    wishes = ("--mean-degree", "8", "--item-users", "3", "--burn-in", "2")
    ran = run("predict", tmp_path / "log.csv", *wishes, *AT_ONCE, "--out", tmp_path / "p.png")
    assert ran.code == 0, ran.err
    assert "choices among the out-neighbours of the last node" in ran.out
    assert "igt+cpt changes percentile ranks" in ran.out
    assert (tmp_path / "p.png").stat().st_size > 10_000


def test_walks_on_a_graph_of_ones_own(run, tmp_path):
    data = people.walkers()
    rows = [(a, b) for a in range(60) for b in data.graph.neighbors(a) if a < b]
    (tmp_path / "links.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    walks = [";".join(map(str, data.walks.labels(i))) for i in range(len(data.walks))]
    (tmp_path / "walks.txt").write_text("\n".join(walks) + "\n")
    arguments = ("predict", tmp_path / "walks.txt", "--graph", tmp_path / "links.tsv", *AT_ONCE)
    ran = run(*arguments, "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["study"]["along_edges"] == 1.0
    (tmp_path / "walks.txt").write_text("\n".join([*walks, "0;nowhere"]) + "\n")
    ran = run(*arguments)
    assert ran.code == 2
    assert "no node 'nowhere'" in ran.err
    assert run(*arguments, "--lenient", "--json").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wikispedia",), "there is no dataset and no file 'wikispedia'"),
        (("movielens", "--from", "/nowhere"), "there is no such folder"),
        (("movielens", "--igt", "greedy"), "give agents for both"),
        (("movielens", "--out", "p.txt"), "cannot write .txt"),
    ],
)
def test_bad_input_ends_with_a_sentence(run, arguments, message):
    ran = run("predict", *arguments)
    assert ran.code == 2
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_a_bad_row_is_named_and_skipped_only_if_asked(run, tmp_path):
    lines = [",".join(map(str, event)) for event in people.tastes()]
    (tmp_path / "log.csv").write_text("\n".join(["user,item,time", "u1,i1,noon", *lines]) + "\n")
    wishes = ("--mean-degree", "8", "--item-users", "3", *AT_ONCE)
    ran = run("predict", tmp_path / "log.csv", *wishes)
    assert ran.code == 2
    assert "line 2" in ran.err
    ran = run("predict", tmp_path / "log.csv", "--lenient", *wishes)
    assert ran.code == 0, ran.err
    assert "bad rows skipped: 1" in ran.err


# ---- experiments ----------------------------------------------------------------------------------------------------


def test_table2_diffusion_and_examples_share_a_run_folder(movielens, tmp_path):
    settings = Settings(("movielens",), SMALL)
    found = table2.run(settings, movielens, resolve_engine(workers=1, run=tmp_path))
    text = table2.to_markdown(found)
    assert "| MovieLens |" in text
    assert "+7.9% ± 1.7%" in text  # the paper's
    assert "below the paper's +7.9%" in text or "at or above the paper's" in text
    table2.save_plot(found, tmp_path / "table2.png")
    document = table2.to_dict(found, settings)
    assert document["paper"]["wikispeedia"]["igt+cpt"] == (0.322, 0.077)

    told: list[str] = []

    def tell(message: str, share: float | None = None) -> None:
        told.append(message)

    spread = diffusion.run(
        settings, diffusion.Walking(10, 8), movielens, resolve_engine(workers=1, run=tmp_path), progress=tell
    )
    assert set(spread["movielens"]) == {"unbiased", "igt", "cpt", "greedy igt", "greedy cpt"}
    diffusion.save_plot(spread, tmp_path / "diffusion.png")
    assert "links from the start" in diffusion.to_markdown(spread, diffusion.Walking(10, 8))

    shown = examples.run(settings, 2, movielens, resolve_engine(workers=1, run=tmp_path), progress=tell)
    jobs = [message for message in told if " of " in message and "counts of" not in message]
    assert jobs
    assert all("found in the run folder" in message for message in jobs)  # all of it was kept
    assert len(shown) == 2
    for example in shown:
        assert example.choice.startswith("Film ")
        assert len(example.offers["igt+cpt"]) == 5
        assert not set(example.history) & set(example.offers["pagerank"])
    examples.save_plot(shown, tmp_path / "examples.png")
    assert "## MovieLens" in examples.to_markdown(shown)


def test_a_title_cannot_break_the_table():
    odd = examples.Example("movielens", ["a|b"], "<i>", 7, {"pagerank": ["x"]}, {"pagerank": 0.5})
    assert "a\\|b" in examples.to_markdown([odd])
    assert "&lt;i>" in examples.to_markdown([odd])


def test_reproduce_says_where_data_is_missing(run, tmp_path, monkeypatch):
    monkeypatch.delenv("CURIOGRAPH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ran = run("reproduce", "table2", "--only", "wikispeedia", "--out", tmp_path / "r")
    assert ran.code == 2
    assert "curiograph data get wikispeedia" in ran.err
    ran = run("reproduce", "table2", "--only", "netflix")
    assert ran.code == 2
    assert "the datasets are movielens, books, wikispeedia" in ran.err


def test_reproduce_examples_from_the_command_line(run, movielens, tmp_path):
    common = ("--only", "movielens", "--from", movielens, "--quick", "--run", tmp_path / "runs", "--out", tmp_path)
    ran = run("reproduce", "examples", *common, "--workers", "1", "--count", "1")
    assert ran.code == 0, ran.err
    assert "went to Film" in ran.out
    ran = run("reproduce", "table2", *common, "--workers", "1", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["settings"]["effort"]["trials"] == 3
    assert {"table2.md", "table2.json", "table2.png", "examples.md"} <= {path.name for path in tmp_path.iterdir()}


def test_the_paper_is_quoted_as_printed():
    assert [PAPER[name]["igt+cpt"][0] for name in ("movielens", "books", "wikispeedia")] == [0.079, 0.096, 0.322]
