"""Experiments on human choices with small settings: Table 2, motives, meaning, profiles and recommenders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import curiograph as cg
import reproduction.people
from curiograph.graph.similarity import Similarity
from curiograph.human.prediction.predict import Effort
from curiograph.parallel import Engine
from curiograph.results import to_plain
from reproduction import diffusion, examples, fidelity, meaning, motives, profile, recommenders, table2
from reproduction.report import Setup
from support import people

SMALL = Effort(splits=2, trials=3, train_steps=4, walkers=10, trained_walkers=5, steps=2, windows=60, all_windows=20)


@pytest.fixture(scope="module")
def movielens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return people.ml_100k(tmp_path_factory.mktemp("data") / "ml-100k", people.tastes(users=120, items=70, visits=40))


@pytest.fixture(scope="module")
def wikispeedia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of users who prefer articles of the category of the last one; unfinished games follow the graph longer."""
    folder = tmp_path_factory.mktemp("data") / "wikispeedia"
    folder.mkdir()
    graph, rng = cg.generate("er", nodes=40, seed=0), np.random.default_rng(0)
    names = [f"A{node}" for node in range(40)]
    (folder / "articles.tsv").write_text("\n".join(names) + "\n")
    rows = np.repeat(np.arange(40), graph.degrees)
    links = [f"{names[u]}\t{names[v]}" for u, v in zip(rows, graph.indices, strict=True)]
    (folder / "links.tsv").write_text("\n".join(links) + "\n")
    (folder / "categories.tsv").write_text("".join(f"{name}\tsubject.C{i % 5}\n" for i, name in enumerate(names)))
    for kind, end, steps in (("finished", "NULL", 7), ("unfinished", "x\tx", 10)):
        games = []
        for game in range(120):
            walk = [int(rng.integers(40))]
            for _ in range(steps):
                near = [node for node in graph.neighbors(walk[-1]) if node not in walk]
                chances = np.array([4.0 if node % 5 == walk[-1] % 5 else 1.0 for node in near])
                if near:
                    walk.append(near[int(rng.choice(len(near), p=chances / chances.sum()))])
            games.append(f"u{game % 30}\t{game}\t9\t{';'.join(names[node] for node in walk)}\t{end}")
        (folder / f"paths_{kind}.tsv").write_text("\n".join(games) + "\n")
    return folder


@pytest.mark.long
def test_table2_diffusion_and_examples_share_a_run_folder(movielens, tmp_path, monkeypatch):
    monkeypatch.setattr(reproduction.people, "FULL", SMALL)
    messages: list[str] = []

    def report(message: str, share: float | None = None) -> None:
        messages.append(message)

    setup = Setup(movielens, engine=Engine(workers=1, run=tmp_path), progress=report)
    table = to_plain(table2.compute(setup, ("movielens",)))
    text = table2.report(table).to_markdown()
    assert "| MovieLens | highest |" in text
    assert "+7.9% ± 1.7%" in text  # the paper's
    assert "below the paper's +7.9%" in text or "at or above the paper's" in text
    messages.clear()

    spread = to_plain(diffusion.compute(setup, ("movielens",), walks=10, steps=8))
    assert set(spread["walkers"]["movielens"]) == {"unbiased", "igt", "cpt", "greedy igt", "greedy cpt"}
    assert diffusion.report(spread).tables["Links from the start"].shape == (5, 7)

    drawn = to_plain(examples.compute(setup, ("movielens",), count=2))
    jobs = [message for message in messages if " of " in message and "counts of" not in message]
    assert jobs
    assert all("found in the run folder" in message for message in jobs)  # nothing was computed again
    assert len(drawn["examples"]) == 2
    for example in drawn["examples"]:
        assert example["choice"].startswith("Film ")
        assert len(example["offers"]["igt+cpt"]) == 5
        assert not set(example["history"]) & set(example["offers"]["pagerank"])
    drawn["examples"][0]["choice"] = "<i|j>"
    assert "&lt;i\\|j>" in examples.report(drawn).to_markdown()


def test_weights_of_motives(wikispeedia):
    found = to_plain(motives.compute(Setup(wikispeedia), games=100, motives=("uniform", "degree", "markov")))
    (table,) = motives.report(found).tables.values()
    assert table["motive"].tolist() == ["degree", "markov"]
    assert len(found["people"]) == found["users"]


def test_similarity_is_found_and_additions_are_those_of_hypotheses(wikispeedia):
    found = to_plain(meaning.compute(Setup(wikispeedia), folds=3))
    plain, similar, _ = meaning.GIVEN
    gains, weights = found["gains"], found["weights"]
    assert gains[similar]["low"] > max(0.05, gains[plain]["high"])
    assert weights["similarity"] == max(weights.values())
    added = {(each["given"], each["added"]): each["bits"] for each in found["additions"]}
    assert abs(added[similar, "igt"]["value"]) < 0.05
    data = cg.human.load_dataset(wikispeedia)
    names = ["degree", "pagerank", "similarity", "igt"]
    texts = Similarity.from_texts(data.graph, data.texts)
    wanted = cg.human.hypotheses(data.graph, data.walks, motives=names, similarity=texts, folds=3, weights=True)
    assert added[similar, "igt"]["value"] == pytest.approx(wanted["igt"].adds.value, abs=1e-4)
    assert "degree, PageRank, similarity " in meaning.report(found).to_markdown()


def test_profiles_of_games_are_compared(wikispeedia):
    found = to_plain(profile.compute(Setup(wikispeedia), permutations=99))
    assert found["games"]["whole"] == {"finished": 30, "unfinished": 30}
    nodes = {row["games"]: row for row in found["rows"] if row["measure"] == "nodes"}
    assert nodes["whole"]["mean"] < nodes["whole"]["other_mean"]  # unfinished games are longer here
    assert nodes["first"]["mean"] == nodes["first"]["other_mean"] == 5
    assert "| clustering" in profile.report(found).to_markdown()


def test_recommenders_are_compared(movielens, monkeypatch):
    grids = {name: {each: values[-1:] for each, values in grid.items()} for name, grid in recommenders.GRIDS.items()}
    monkeypatch.setattr(recommenders, "GRIDS", grids | {"als": {"factors": (8,), "regularization": (1, 10)}})
    found = to_plain(recommenders.compute(Setup(movielens), ("movielens",), users=30))
    assert list(found["datasets"]) == ["MovieLens, time", "MovieLens, last"]
    shown = recommenders.report(found)
    assert all("NDCG@10 of" in remark for remark in shown.remarks)
    table = next(iter(shown.tables.values())).set_index("method")
    assert list(table.index) == list(recommenders.GRIDS)
    assert table.settings["als"] in ("factors 8, regularization 1", "factors 8, regularization 10")


def test_named_items_are_true_largest_contributors(movielens):
    found = to_plain(fidelity.compute(Setup(movielens), ("movielens",), users=20, visits=8))
    for each in found["datasets"].values():
        assert each["named"] == each["true"] > each["random"]
    (table,) = fidelity.report({"settings": {"visits": 8}, **found}).tables.values()
    assert table["log, ranker"].tolist() == ["MovieLens, pagerank", "MovieLens, mixture"]
